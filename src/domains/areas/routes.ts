import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  ADMIN_DEFAULTS,
  AdminAreaList,
  AdminFeatureCollection,
  AdminQuery,
  MAX_LEVEL,
} from '#schemas/areas.ts'
import { ref } from '#schemas/common.ts'
import { queryOf } from '#schemas/point-request.ts'
import { ApiError, errorResponses, noAreas, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { cursorAfter, placeOf } from '#src/http/cursor.ts'
import { negotiate } from '#src/http/negotiation.ts'
import { readQuery } from '#src/http/parameters.ts'
import { allowCaching, dataTag } from '#src/http/plugins/caching.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import type { Wait } from '#src/lib/patience.ts'
import { areaList, featureCollection } from './answer.ts'
import { createAreaMemory } from './memory.ts'
import type { AdminCountry } from './queries.ts'
import { type AreaSource, storedAreas } from './source.ts'

const JSON_TYPE = 'application/json'
const GEOJSON = 'application/geo+json'

const MEDIA_TYPES = [JSON_TYPE, GEOJSON] as const

/** What a page can begin after. */
const AREA_CODE = /^[^\0]+$/

const DESCRIPTION = `
The areas of one level of a country, in the order of their codes: code, name, parents, size, extent and centre. Shapes are optional.

With its \`ETag\` in \`If-None-Match\`, an unchanged answer is a 304 without a body. In the demo, areas of level 1 to ${MAX_LEVEL} are approximate; \`GET /catalog\` says which ones.`

export function adminRoutes(app: App): void {
  const stored = storedAreas(app.database.reader)
  const inMemory = createAreaMemory(app.database, app.config.RELEASE_MAX_AGE_MS)

  app.get(
    '/admin',
    {
      config: { scope: 'advisory', caching: 'own', ownTurns: true, onlyReads: true },
      schema: {
        operationId: 'listAdminAreas',
        summary: 'Administrative areas of a country',
        description: DESCRIPTION.trim(),
        tags: ['places'],
        querystring: queryOf(AdminQuery),
        response: {
          200: {
            description: 'A page of areas.',
            content: {
              [JSON_TYPE]: { schema: ref(AdminAreaList) },
              [GEOJSON]: { schema: ref(AdminFeatureCollection) },
            },
          },
          304: { type: 'null', description: 'The boundaries are those that `If-None-Match` names.' },
          ...errorResponses(
            'UNAUTHORIZED',
            'INSUFFICIENT_SCOPE',
            'INVALID_PARAMETERS',
            'UNKNOWN_COUNTRY',
            'NO_AREAS',
            'NOT_ACCEPTABLE',
          ),
        },
      },
      preValidation: readQuery(AdminQuery),
    },
    async (request: Call, reply) => {
      const waitInTurn: Wait = (something) => app.inTurn(request, reply, something)
      const { geometry = ADMIN_DEFAULTS.geometry } = request.query
      // Shapes are too large to be kept.
      if (geometry !== 'none') return waitInTurn(() => answerFrom(stored, request, reply))
      const wait: Wait = (something) => inTime(request, reply, something)
      return answerFrom(inMemory({ wait, waitInTurn }), request, reply)
    },
  )
}

type Call = FastifyRequest<{ Querystring: AdminQuery }>

async function answerFrom(source: AreaSource, request: Call, reply: FastifyReply) {
  const asGeoJson = mediaTypeOf(request, reply) === GEOJSON
  const { admin0, level, parent, geometry = ADMIN_DEFAULTS.geometry, limit, cursor } = request.query
  const country = await source.country(admin0, level)
  if (!country) throw unknownCountry('admin0', await source.countryCodes())
  if (!country.levels.includes(level)) throw noAreas(country, level)

  const filters = [country.code, level, parent?.trim() ?? null]
  const after = cursor === undefined ? null : (placeOf(cursor, filters, AREA_CODE)[0] as string)
  if (parent !== undefined) await refuseUnknownParent(source, country, level, parent.trim())

  // What is wrong with the request has been said: there is an answer, and the client may have it.
  const tag = dataTag(request, country.version, asGeoJson ? 'geojson' : 'json')
  if (allowCaching(request, reply, tag)) return reply.code(304).send()

  const rows = await source.page({
    countryCode: country.code,
    level,
    parent: parent?.trim() ?? null,
    after,
    limit: limit ?? ADMIN_DEFAULTS.limit,
    geometry,
  })
  const last = rows.at(-1)
  const next = last?.more ? cursorAfter(last.code, filters) : null
  if (!asGeoJson) return areaList(country.code, rows, next)
  return reply.type(GEOJSON).send(featureCollection(country.code, rows, next))
}

async function refuseUnknownParent(
  source: AreaSource,
  country: AdminCountry,
  level: number,
  parent: string,
): Promise<void> {
  if (await source.hasAreaAbove(country, level, parent)) return
  throw ApiError.invalid('parent', `must be the code of an area of ${country.name} above level ${level}`)
}

/** The parameter decides; without it, the media type that the client would rather have. */
function mediaTypeOf(request: Call, reply: FastifyReply): string {
  const { format } = request.query
  if (format === undefined) return negotiate(request, reply, MEDIA_TYPES)
  return format === 'geojson' ? GEOJSON : JSON_TYPE
}
