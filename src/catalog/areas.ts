import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import {
  ADMIN_DEFAULTS,
  type AdminArea,
  AdminAreaList,
  AdminFeatureCollection,
  AdminQuery,
  adminSchemas,
  MAX_LEVEL,
} from '#schemas/areas.ts'
import { ref } from '#schemas/common.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import type { Db } from '#src/data/tables.ts'
import { unknownCountry } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { cursorAfter, decodeCursor, readQuery } from '#src/http/parameters.ts'
import { allowCaching, dataTag } from '#src/http/plugins/caching.ts'
import { negotiate } from '#src/http/request.ts'
import { round, roundAmount } from '#src/lib/round.ts'
import { type AreaRow, FULL_SHAPE, findAdminCountry, listAreas, refuseWithoutAreas } from './area-queries.ts'
import { listCountries } from './reference-queries.ts'

/** Decimals of degrees in extents and centres: 10 cm. */
const DEGREE_DECIMALS = 6

const degrees = (value: number) => round(value, DEGREE_DECIMALS)

const describeArea = (countryCode: string, { code, name, level, area_km2 }: AreaRow) => ({
  code,
  name,
  level,
  country_code: countryCode,
  area_km2: roundAmount(area_km2),
})

function describeItem(countryCode: string, area: AreaRow): AdminArea {
  const { parents, extent, latitude, longitude, shape } = area
  return {
    ...describeArea(countryCode, area),
    parents,
    bbox: extent.map(degrees),
    centroid: { lat: degrees(latitude), lng: degrees(longitude) },
    ...(shape !== null && { geometry: JSON.parse(shape) }),
  }
}

/** An area as GeoJSON. Map programs show the members of objects and lists badly: all is flat. */
function describeFeature(countryCode: string, area: AreaRow): AdminFeatureCollection['features'][number] {
  const { code: id, parents, extent, latitude, longitude, shape } = area
  return {
    type: 'Feature',
    id,
    bbox: extent.map(degrees),
    geometry: shape && JSON.parse(shape),
    properties: {
      ...describeArea(countryCode, area),
      centroid_lat: degrees(latitude),
      centroid_lng: degrees(longitude),
      ...Object.fromEntries(
        parents.flatMap(({ level, code, name }) => [
          [`adm${level}_code`, code],
          [`adm${level}_name`, name],
        ]),
      ),
    },
  }
}

const JSON_TYPE = 'application/json'
const GEOJSON = 'application/geo+json'

const MEDIA_TYPES = [JSON_TYPE, GEOJSON] as const

/** What a page can begin after. */
const AREA_CODE = /^[^\0]+$/

const DESCRIPTION = `
The areas of one level of a country, in the order of their codes: code, name, parents, size, extent and centre. Shapes are optional.

With its \`ETag\` in \`If-None-Match\`, an unchanged answer is a 304 without a body. In the demo, areas of level 1 to ${MAX_LEVEL} are approximate; \`GET /catalog\` says which ones.`

async function requireCountry(db: Db, admin0: string, level: number) {
  const country = await findAdminCountry(db, admin0, level)
  if (country) return country
  const codes = (await listCountries(db)).map(({ code }) => code)
  throw unknownCountry('admin0', codes)
}

export async function admin(app: App): Promise<void> {
  for (const schema of adminSchemas) app.addSchema(schema)
  const db = app.database.reader
  app.get(
    '/admin',
    {
      config: { scope: 'advisory', caching: 'own', onlyReads: true },
      schema: {
        operationId: 'listAdminAreas',
        summary: 'Administrative areas of a country',
        description: DESCRIPTION.trim(),
        tags: ['places'],
        querystring: toQuerySchema(AdminQuery),
        response: {
          200: {
            description: 'A page of areas.',
            content: {
              [JSON_TYPE]: { schema: ref(AdminAreaList) },
              [GEOJSON]: { schema: ref(AdminFeatureCollection) },
            },
          },
          304: { type: 'null', description: 'The boundaries are those that `If-None-Match` names.' },
          ...errorResponses('INVALID_PARAMETERS', 'UNKNOWN_COUNTRY', 'NO_AREAS', 'NOT_ACCEPTABLE'),
        },
      },
      preValidation: readQuery(AdminQuery),
    },
    async (request: FastifyRequest<{ Querystring: Static<typeof AdminQuery> }>, reply: FastifyReply) => {
      const { format, admin0, level, geometry, limit, cursor } = { ...ADMIN_DEFAULTS, ...request.query }
      // The parameter decides; without it, the media type that the client prefers.
      const asGeoJson = format ? format === 'geojson' : negotiate(request.exchange, MEDIA_TYPES) === GEOJSON
      const parent = request.query.parent?.trim() ?? null
      const country = await requireCountry(db, admin0, level)
      const filters = [country.code, level, parent]
      const after = cursor === undefined ? null : (decodeCursor(cursor, filters, AREA_CODE)[0] as string)
      await refuseWithoutAreas(db, country, level, { field: 'parent', parent })

      // The request is valid: there is an answer, and the client may have it.
      const tag = dataTag(request, country.version, asGeoJson ? 'geojson' : 'json')
      if (allowCaching(request.exchange, tag)) return reply.code(304).send()

      const { matched, areas } = await listAreas(db, {
        countryCode: country.code,
        levels: [level],
        parent: parent === null ? null : { code: parent, level: null },
        after,
        limit,
        shape: ({ none: null, simplified: 'simplified', full: FULL_SHAPE } as const)[geometry],
      })
      const last = matched > areas.length ? areas.at(-1) : undefined
      const next_cursor = last ? cursorAfter(last.code, filters) : null
      if (!asGeoJson) return { items: areas.map((area) => describeItem(country.code, area)), next_cursor }
      const features = areas.map((area) => describeFeature(country.code, area))
      return reply.type(GEOJSON).send({ type: 'FeatureCollection', features, next_cursor })
    },
  )
}
