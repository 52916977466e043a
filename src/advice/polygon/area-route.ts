import type { FastifyReply, FastifyRequest } from 'fastify'
import { ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import { ShortText, toQuerySchema } from '#schemas/point-request.ts'
import { type AreaQuery, defineAreaQuery, type PolygonSchemas } from '#schemas/polygon.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, NO_VALUE_ERRORS } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { ignoredMember, ignoredNoter, readQuery } from '#src/http/parameters.ts'
import { allowCaching, mayBeShared } from '#src/http/plugins/caching.ts'
import { prefersText, varyBy } from '#src/http/request.ts'
import type { NamedArea } from '#src/lookup/gazetteer.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { withReleaseNamed } from '#src/lookup/pinned-request.ts'
import { type Places, readPlace, UnknownPlace } from '../location/place.ts'
import { documentErrors, TEXT_HEADERS } from '../point/routes.ts'
import { LANGUAGES } from '../texts/languages.ts'
import { replyInText } from '../texts/reply.ts'
import type { Advisors } from './advisors.ts'
import { makeRegionAnswer } from './answer.ts'

const DESCRIPTION =
  'Answers as POST does for an administrative area, by its name, for everybody and for clients and proxies that cache. Nothing is stored in a history.'

interface AreaOptions {
  lookup: Lookup
  advisors: Advisors
  places: Places
}

type Call = FastifyRequest<{ Querystring: AreaQuery }>

/** The route for the statistics of a product in an area. */
export function areaRoute({ product, response }: PolygonSchemas<ProductDefinition>, options: AreaOptions) {
  const { code, names } = product
  const query = defineAreaQuery(product, [...LANGUAGES.served.keys()])
  return {
    method: 'GET',
    url: `/${code}`,
    config: {
      public: true,
      scope: 'advisory',
      caching: 'shared',
      ownTurns: true,
      onlyReads: true,
      preferences: ['handling=strict'],
    },
    schema: {
      operationId: `get${code.charAt(0).toUpperCase()}${code.slice(1)}InArea`,
      summary: `${names.title} in an area, to be cached`,
      description: DESCRIPTION,
      tags: ['advisory'],
      querystring: toQuerySchema(query),
      response: {
        200: {
          description: 'The statistics of the layers in the area.',
          headers: { 'Advisory-Release': ReleaseHeader, ...TEXT_HEADERS },
          content: {
            'application/json': { schema: ref(response) },
            'text/plain': { schema: ref(ShortText) },
          },
        },
        304: { type: 'null', description: 'The answer is the one that `If-None-Match` names.' },
        ...documentErrors(
          'INVALID_PARAMETERS',
          ...(product.seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
          'UNKNOWN_AREA',
          ...NO_VALUE_ERRORS,
          'RELEASE_GONE',
          'QUERY_TIMEOUT',
        ),
      },
    },
    preValidation: readQuery(query, ignoredNoter(Object.keys(query.properties))),
    handler: async (call: Call, reply: FastifyReply) => {
      const { format, lang: language, max_segments: maxSegments, ...asked } = call.query
      const answer = async () => {
        const area = await findNamedArea(asked, options.places, call, reply)
        return adviseOnArea(product, { ...asked, area }, options, call, reply)
      }
      const isShared = () => mayBeShared(call, reply)
      if (format === 'text' || (format === undefined && prefersText(call, 'text/plain'))) {
        return replyInText(
          call,
          reply,
          { products: [product], maxSegments, language, keepsName: true, isShared },
          answer,
        )
      }
      varyBy(reply, 'Accept')
      const text = JSON.stringify({ ...(await answer()), ...ignoredMember(call) })
      if (isShared() && allowCaching(call, reply, entityTag(text))) return reply.code(304).send()
      return reply.type('application/json; charset=utf-8').send(text)
    },
  } as const
}

/** @throws {ApiError} INVALID_PARAMETERS for another place, UNKNOWN_AREA */
async function findNamedArea(
  { place, country_code, level }: AreaQuery,
  places: Places,
  request: Call,
  reply: FastifyReply,
): Promise<NamedArea> {
  const read = readPlace(place)
  if (!('name' in read)) throw ApiError.invalid('place', 'must be the code or the name of an area')
  const found = await places.findArea(read.name, { country_code, level }, { request, reply })
  if (!('area' in found)) throw new UnknownPlace(found, 'place')
  return found.area
}

async function adviseOnArea(
  product: ProductDefinition,
  {
    area,
    place: _,
    level: __,
    ...sent
  }: Omit<AreaQuery, 'format' | 'lang' | 'max_segments'> & { area: NamedArea },
  { lookup, advisors }: AreaOptions,
  call: Call,
  reply: FastifyReply,
): Promise<Record<string, unknown>> {
  const { countryCode, level, code } = area
  const request = { ...sent, country_code: countryCode }
  const asked = await withReleaseNamed(lookup, [product], request, call, reply)
  const advice = await advisors.adviseWithTimeout(call, reply, (waiting) =>
    advisors.adviseOn({ countryCode, level, code }, { product, asked, wanted: null }, waiting),
  )
  reply.header('advisory-release', advice.release.code)
  return makeRegionAnswer(product, asked, advice, null)
}
