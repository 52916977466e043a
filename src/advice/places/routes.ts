import type { FastifyReply, FastifyRequest } from 'fastify'
import { type TObject, type TSchema, Type } from 'typebox'
import { PointAnswerTable, type PointSchemas, ReleaseHeader } from '#schemas/advisory.ts'
import { ref } from '#schemas/common.ts'
import {
  definePlaceQuery,
  documentPlaceQuery,
  type PointRequest,
  toQuerySchema,
} from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, BASE, type ErrorCode, NO_VALUE_ERRORS } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { CSV } from '#src/http/formats.ts'
import { ignoredMember, ignoredNoter, readQuery } from '#src/http/parameters.ts'
import { allowCaching, mayBeShared } from '#src/http/plugins/caching.ts'
import { OPTIONAL_TOKEN } from '#src/http/plugins/openapi.ts'
import { varyBy } from '#src/http/request.ts'
import type { LocatableRequest } from '#src/lookup/places.ts'
import { positionOf } from '#src/lookup/releases.ts'
import { refuseProvenance } from '../bodies.ts'
import { createPlaces, type Place, type Places } from '../location/place.ts'
import type { PointSource } from '../point/answer.ts'
import { type PointHandlers, readFormat, refuseFurther } from '../point/handlers.ts'
import { documentErrors, documentTexts } from '../point/routes.ts'
import { listStatisticKeys } from '../polygon/figures.ts'
import { createOutline } from '../polygon/geometry.ts'
import { adviseOnRegion, type RegionParts } from './advise.ts'

const DESCRIPTION =
  'The mean of an area or a saved field, or the values at a position. The tag `advisory` has the rules.'

interface PlaceOptions extends RegionParts {
  points: PointHandlers
}

type Asked = Omit<PointRequest, 'lat' | 'lng'> & {
  place: string
  level?: number
  format?: string
}
type Call = FastifyRequest<{ Querystring: Asked }>

/** The operations for places by their names: one for each product, and one for all. */
export function placeRoutes(
  app: App,
  schemas: readonly PointSchemas<ProductDefinition>[],
  answers: readonly TObject[],
  options: PlaceOptions,
): void {
  const places = createPlaces(app, options.lookup)
  const { readRules } = options
  const products = schemas.map(({ product }) => product)
  for (const [index, { product, request, response }] of schemas.entries()) {
    const source = { products: [product], hasSections: false, readRules }
    const answer = Type.Union([ref(answers[index] as TObject), ref(response)])
    app.route(placeRoute(app, source, request, answer, places, options))
  }
  const source = { products, hasSections: true, readRules }
  app.route(placeRoute(app, source, app.additions.request, ref(answers.at(-1) as TObject), places, options))
}

function placeRoute(
  { additions }: App,
  source: PointSource,
  request: TObject,
  answer: TSchema,
  places: Places,
  options: PlaceOptions,
) {
  const { products, hasSections } = source
  const [{ code, names, seasonal }] = products as [ProductDefinition]
  const name = hasSections ? 'Everything' : code.charAt(0).toUpperCase() + code.slice(1)
  const path = hasSections ? '' : `/${code}`
  const { formats } = additions
  const texts = documentTexts(formats)
  const query = definePlaceQuery(request, hasSections ? ['json'] : ['json', 'csv'], formats)
  const note = ignoredNoter(Object.keys(query.properties))
  const errors: ErrorCode[] = [
    ...(seasonal ? (['CROP_NOT_AVAILABLE'] as const) : []),
    ...(['INVALID_PARAMETERS', 'UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'UNKNOWN_AREA', 'NOT_FOUND'] as const),
    ...([...NO_VALUE_ERRORS, 'RELEASE_GONE', 'QUERY_TIMEOUT'] as const),
  ]
  return {
    method: 'GET',
    url: path,
    prefixTrailingSlash: 'no-slash',
    config: {
      public: true,
      scope: 'advisory',
      caching: 'shared',
      takesOwnPermit: true,
      preferences: ['history=none', 'handling=strict'],
    },
    schema: {
      operationId: `get${name}AtPlace`,
      summary: `${hasSections ? 'Everything' : names.title} for a place by its name`,
      description: DESCRIPTION,
      tags: ['advisory'],
      security: OPTIONAL_TOKEN,
      querystring: toQuerySchema(query),
      queryAlternative: documentPlaceQuery(query, additions),
      response: {
        200: {
          description: 'The means of the area or the field, or the values at the position.',
          headers: { 'Advisory-Release': ReleaseHeader, ...texts.headers },
          content: {
            'application/json': { schema: answer },
            ...texts.content,
            ...(!hasSections && { 'text/csv': { schema: ref(PointAnswerTable) } }),
          },
        },
        304: { type: 'null', description: 'The answer is the one that `If-None-Match` names.' },
        ...documentErrors(formats, errors),
      },
    },
    preValidation: readQuery(query, (call) => {
      refusePosition(call, path)
      note(call)
    }),
    handler: (call: Call, reply: FastifyReply) => {
      respond({ source, places, options }, call.exchange).catch((error) => reply.send(error))
    },
  } as const
}

/** Names that a longitude and a latitude are sent by. */
const POSITION_NAMES = { lat: ['lat', 'latitude', 'y'], lng: ['lng', 'lon', 'long', 'longitude', 'x'] }

/** @throws {ApiError} INVALID_PARAMETERS for a position, with the address that answers for it */
function refusePosition({ query: sent }: FastifyRequest, path: string): void {
  const query = sent as Record<string, string | string[]>
  const find = (names: string[]) =>
    names.map((name) => query[name]).find((value) => typeof value === 'string')
  const [lat, lng] = [find(POSITION_NAMES.lat), find(POSITION_NAMES.lng)]
  if (lat === undefined || lng === undefined) return
  const names = Object.values(POSITION_NAMES).flat()
  const others = Object.entries(query).filter(([name]) => name !== 'place' && !names.includes(name))
  const point = new URLSearchParams({ lat: String(lat), lng: String(lng) })
  for (const [name, value] of others) point.append(name, String(value))
  const address = `GET ${BASE}/advisory${path}/point?${point}`
  const message = query.place
    ? `place must stand alone: for a position send ${address}`
    : `place is required: for a position send ${address}`
  throw new ApiError('INVALID_PARAMETERS', `${message}.`, [{ field: 'place', message }])
}

interface Parts {
  source: PointSource
  places: Places
  options: PlaceOptions
}

async function respond(parts: Parts, exchange: Exchange<Call>): Promise<void> {
  const { request: call, reply } = exchange
  const { source, places, options } = parts
  const { format: named, place: text, level, ...asked } = call.query
  const format = readFormat(call, asked, named)
  const { country_code } = asked
  refuseFurther(call, format, asked)
  const find = () => places.findPlace(text, { country_code, level }, exchange)
  const isShared = () => mayBeShared(exchange)

  const contextOf = async (place: Extract<Place, { kind: 'position' }>) => {
    const point = { ...asked, lat: place.lat, lng: place.lng }
    await fillPlace(point, parts, exchange)
    return { source, point, format, place: describePlace(text, place), request: call, reply }
  }
  const adviseOn = async (place: Exclude<Place, { kind: 'position' }>) => {
    refuseProvenance(call)
    const where = place.kind === 'area' ? place.area : createOutline(place.polygons)
    const name = asked.name ?? (place.kind === 'field' ? place.name : undefined)
    const country = place.kind === 'area' ? { country_code: place.area.countryCode } : {}
    const question = { ...source, where, asked: { ...asked, ...(name && { name }), ...country } }
    const answer = await adviseOnRegion(options, question, exchange)
    reply.header('advisory-release', answer.releases.join(', '))
    return answer
  }

  if (typeof format === 'object') {
    const wish = { products: source.products, asked, keepsName: true, isShared }
    await format.reply(exchange, wish, async () => {
      const place = await find()
      if (place.kind === 'position') return options.points.bodyAt(await contextOf(place))
      return (await adviseOn(place)).body
    })
    return
  }
  varyBy(reply, 'Accept')
  const place = await find()
  if (place.kind === 'position') {
    options.points.answerAt(await contextOf(place))
    return
  }
  const { body, table } = await adviseOn(place)
  const answer = source.hasSections ? inFormOfPoint(body, source.products) : body
  const written =
    format === 'csv'
      ? table()
      : JSON.stringify({ ...answer, place: describePlace(text, place), ...ignoredMember(call) })
  if (isShared() && allowCaching(exchange, entityTag(written))) {
    reply.code(304).send()
    return
  }
  reply.type(format === 'csv' ? CSV.contentType : 'application/json; charset=utf-8').send(written)
}

/** An answer for all products has the form of that at a point: the location and the values alone. */
function inFormOfPoint(body: Record<string, unknown>, products: readonly ProductDefinition[]): object {
  const { name, lat, lng, type } = body.location as Record<string, unknown>
  const sections = products.map((product) => {
    const { code, entries, value } = product
    const section = body[code] as Record<string, object[] | null>
    const statistics = new Set(listStatisticKeys(product).filter((key) => key !== value.key))
    const plain = section[entries]?.map((entry) =>
      Object.fromEntries(Object.entries(entry).filter(([key]) => !statistics.has(key))),
    )
    return [code, { ...section, [entries]: plain ?? null }]
  })
  return { ...body, location: { name, lat, lng, type }, ...Object.fromEntries(sections) }
}

/** Fills in the country of a position without one, and its crop where a product has crops. */
async function fillPlace(
  point: PointRequest & LocatableRequest,
  { source, options: { lookup } }: Parts,
  exchange: Exchange,
): Promise<void> {
  const { crop, release } = point
  if (release !== undefined) return
  await exchange.wait(async () => {
    await lookup.places.fill(point, positionOf(point))
    await lookup.places.fillCrop(point)
  })
  if (crop === undefined && !source.products.some(({ seasonal }) => seasonal)) delete point.crop
}

function describePlace(asked: string, place: Place): object {
  const { kind } = place
  if (kind !== 'area') {
    return { asked, found: kind === 'field' ? place.name : `${place.lat}, ${place.lng}`, kind, near: false }
  }
  const { name, match, code, countryCode, level } = place.area
  return { asked, found: name, kind, near: match !== 'exact', code, country_code: countryCode, level }
}
