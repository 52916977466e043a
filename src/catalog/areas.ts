import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import {
  ADMIN_DEFAULTS,
  type AdminArea,
  AdminAreaList,
  AdminFeatureCollection,
  AdminQuery,
  type AdminReference,
  adminSchemas,
  LEVELS_BELOW,
  MAX_LEVEL,
} from '#schemas/areas.ts'
import { ref } from '#schemas/common.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import type { Database } from '#src/data/client.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, errorResponses, noAreas, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { negotiate } from '#src/http/formats.ts'
import { cursorAfter, decodeCursor, readQuery } from '#src/http/parameters.ts'
import { allowCaching, dataTag } from '#src/http/plugins/caching.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { Cache, cacheValue } from '#src/lib/cache.ts'
import { nameKey } from '#src/lib/names.ts'
import { round, roundVisibly } from '#src/lib/round.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import {
  type AdminCountry,
  type AreaFilter,
  type AreaRow,
  type CountryWithSets,
  findAdminCountry,
  hasAreaAbove,
  listAreas,
  listCountriesWithSets,
  listCountryCodes,
} from './area-queries.ts'

/** Decimals of square kilometres, and of degrees in extents and centres (10 cm). */
const AREA_DECIMALS = 2
const DEGREE_DECIMALS = 6

/** A page of areas as the plain answer. */
export function areaList(countryCode: string, rows: AreaRow[], next: string | null): AdminAreaList {
  return {
    items: rows.map(
      (row): AdminArea => ({
        code: row.code,
        name: row.name,
        level: row.level,
        country_code: countryCode,
        parents: parentsOf(row),
        area_km2: roundVisibly(row.area_km2, AREA_DECIMALS),
        bbox: bboxOf(row),
        centroid: {
          lat: round(row.centroid_lat, DEGREE_DECIMALS),
          lng: round(row.centroid_lng, DEGREE_DECIMALS),
        },
        ...(row.geometry && { geometry: row.geometry }),
      }),
    ),
    next_cursor: next,
  }
}

/** A page of areas as GeoJSON. Map programs show the members of objects and lists badly: all is flat. */
export function featureCollection(
  countryCode: string,
  rows: AreaRow[],
  next: string | null,
): AdminFeatureCollection {
  return {
    type: 'FeatureCollection',
    features: rows.map((row) => ({
      type: 'Feature',
      id: row.code,
      bbox: bboxOf(row),
      geometry: row.geometry,
      properties: {
        code: row.code,
        name: row.name,
        level: row.level,
        country_code: countryCode,
        area_km2: roundVisibly(row.area_km2, AREA_DECIMALS),
        centroid_lat: round(row.centroid_lat, DEGREE_DECIMALS),
        centroid_lng: round(row.centroid_lng, DEGREE_DECIMALS),
        ...Object.fromEntries(
          parentsOf(row).flatMap(({ level, code, name }) => [
            [`adm${level}_code`, code],
            [`adm${level}_name`, name],
          ]),
        ),
      },
    })),
    next_cursor: next,
  }
}

function parentsOf(row: AreaRow): AdminReference[] {
  return LEVELS_BELOW.toReversed().flatMap((above) => {
    const [code, name] = [row[`parent_code_${above}`], row[`parent_name_${above}`]]
    return code && name ? [{ level: row.level - above, code, name }] : []
  })
}

function bboxOf({ west, south, east, north }: AreaRow): number[] {
  return [west, south, east, north].map((degrees) => round(degrees, DEGREE_DECIMALS))
}

/** Where answers have areas from. */
export interface AreaSource {
  /** A country, and its loaded boundaries. */
  country(name: string, level: number): Promise<AdminCountry | undefined>
  countryCodes(): Promise<string[]>
  /** Whether a country has an area with a code above a level. */
  hasAreaAbove(country: AdminCountry, level: number, code: string): Promise<boolean>
  /** A page of the areas of a level, in the order of their codes. */
  page(filter: AreaFilter): Promise<AreaRow[]>
}

/** The areas as the database has them at the moment. */
export function storedAreas(db: Kysely<Tables>): AreaSource {
  return {
    country: (name, level) => findAdminCountry(db, name, level),
    countryCodes: () => listCountryCodes(db),
    hasAreaAbove: ({ code: countryCode }, level, code) => hasAreaAbove(db, countryCode, level, code),
    page: (filter) => listAreas(db, filter),
  }
}

/** What areas may take of the memory of a process. */
interface AreaRoom {
  /** Areas of one level that are read at once. */
  areasOfLevel: number
  /** Of all levels, about. */
  bytes: number
}

const ROOM: AreaRoom = { areasOfLevel: 50_000, bytes: 32 * 2 ** 20 }

/** What an area takes beside its texts, about. */
const BYTES_OF_AREA = 300

/** How a request waits. */
interface Waits {
  /** For what all ask for together. */
  wait: Wait
  /** For what takes a connection of its own. */
  waitInTurn: Wait
}

/**
 * Makes what keeps areas in memory, without their shapes.
 *
 * @param maxAgeMs how old what is known of the countries, and of which boundaries are loaded, may be
 */
export function createAreaMemory(
  { reader, standsStill }: Pick<Database, 'reader' | 'standsStill'>,
  maxAgeMs: number,
  room = ROOM,
): (waits: Waits) => AreaSource {
  const stored = storedAreas(reader)
  const levels = createLevels(reader, room)
  let latest: CountryWithSets[] | undefined
  const load = async () => {
    latest = await listCountriesWithSets(reader)
    return latest
  }
  const fresh = cacheValue('countries of areas', load, maxAgeMs)
  // While nothing can change, nothing grows too old.
  const countries = () => (latest && standsStill() ? Promise.resolve(latest) : fresh())

  return ({ wait, waitInTurn }) => {
    /** Null where they are too many to be kept, or others are being loaded. */
    async function areasOf(countryCode: string, level: number): Promise<AreaRow[] | null> {
      const version = versionOf(await wait(countries), countryCode, level)
      const key = `${countryCode} ${level} ${version}`
      const cached = levels.cache.get(key)
      if (cached !== undefined) return cached
      const read = () => levels.read(countryCode, level, version)
      return (await waitInTurn(() => levels.cache.load(key, read))) ?? null
    }

    return {
      async country(name, level) {
        const found = countryNamed(await wait(countries), nameKey(name))
        if (!found) return undefined
        return {
          code: found.code,
          name: found.name,
          levels: found.sets.map((set) => set.level),
          version: found.sets
            .filter((set) => set.level <= level)
            .map(({ checksum }) => checksum)
            .join(' '),
        }
      },
      countryCodes: async () => (await wait(countries)).map(({ code }) => code),
      async hasAreaAbove(country, level, code) {
        for (const above of country.levels.filter((one) => one < level)) {
          const areas = await areasOf(country.code, above)
          if (!areas) return waitInTurn(() => stored.hasAreaAbove(country, level, code))
          if (areas.some((area) => area.code === code)) return true
        }
        return false
      },
      async page(filter) {
        const areas = await areasOf(filter.countryCode, filter.level)
        return areas ? pageOf(areas, filter) : waitInTurn(() => stored.page(filter))
      },
    }
  }
}

/** Caches the areas of levels, in the order of their codes; null where they are too many for the cache. */
function createLevels(db: Kysely<Tables>, { areasOfLevel, bytes }: AreaRoom) {
  const cache = new Cache<string, AreaRow[] | null | undefined>('areas', { maxSize: bytes, sizeOf })

  /** Undefined where other boundaries are loaded. */
  async function read(countryCode: string, level: number, version: string) {
    const filter = {
      countryCode,
      level,
      parent: null,
      after: null,
      limit: areasOfLevel,
      geometry: 'none',
    } as const
    // Of one source: a replica may not have what the writer says is loaded.
    return db.connection().execute(async (source) => {
      const found = await listAreas(source, filter)
      const countries = await listCountriesWithSets(source)
      if (versionOf(countries, countryCode, level) !== version) return undefined
      return !found.at(-1)?.more && sizeOf(found, version) <= bytes ? found : null
    })
  }

  return { cache, read }
}

/** About how many bytes a level takes. */
function sizeOf(areas: AreaRow[] | null | undefined, key: string): number {
  let bytes = BYTES_OF_AREA + key.length
  for (const area of areas ?? []) {
    bytes += BYTES_OF_AREA
    for (const value of Object.values(area)) if (typeof value === 'string') bytes += value.length
  }
  return bytes
}

/** The country that a name or a code is of, both as `nameKey` gives them; names that somebody has listed come first. */
function countryNamed(countries: CountryWithSets[], key: string): CountryWithSets | undefined {
  return (
    countries.find(({ aliases }) => aliases.includes(key)) ??
    countries.find(({ code, lowerName }) => code === key || lowerName === key)
  )
}

/** Which boundaries of a country are loaded, down to a level. */
function versionOf(countries: CountryWithSets[], countryCode: string, level: number): string {
  const sets = countries.find(({ code }) => code === countryCode)?.sets ?? []
  return JSON.stringify(sets.filter((set) => set.level <= level))
}

function pageOf(areas: AreaRow[], { parent, after, limit }: AreaFilter): AreaRow[] {
  const page: AreaRow[] = []
  for (let at = after === null ? 0 : placeAfter(areas, after); at < areas.length; at++) {
    const area = areas[at] as AreaRow
    if (parent !== null && !LEVELS_BELOW.some((above) => area[`parent_code_${above}`] === parent)) continue
    if (page.length === limit) return [...page.slice(0, -1), { ...(page.at(-1) as AreaRow), more: true }]
    page.push({ ...area, more: false })
  }
  return page
}

/** How many areas have codes up to one, in the order of the database: that of their bytes. */
function placeAfter(areas: AreaRow[], after: string): number {
  const bytes = Buffer.from(after)
  let [low, high] = [0, areas.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (Buffer.compare(Buffer.from((areas[middle] as AreaRow).code), bytes) <= 0) low = middle + 1
    else high = middle
  }
  return low
}

const JSON_TYPE = 'application/json'
const GEOJSON = 'application/geo+json'

const MEDIA_TYPES = [JSON_TYPE, GEOJSON] as const

/** What a page can begin after. */
const AREA_CODE = /^[^\0]+$/

const DESCRIPTION = `
The areas of one level of a country, in the order of their codes: code, name, parents, size, extent and centre. Shapes are optional.

With its \`ETag\` in \`If-None-Match\`, an unchanged answer is a 304 without a body. In the demo, areas of level 1 to ${MAX_LEVEL} are approximate; \`GET /catalog\` says which ones.`

function adminRoutes(app: App): void {
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
      const wait: Wait = (something) => withTimeout(request, reply, something)
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
  const after = cursor === undefined ? null : (decodeCursor(cursor, filters, AREA_CODE)[0] as string)
  if (parent !== undefined) await refuseUnknownParent(source, country, level, parent.trim())

  // The request is valid: there is an answer, and the client may have it.
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

/** The administrative areas of the countries, level by level. */
export async function admin(app: App): Promise<void> {
  for (const schema of adminSchemas) app.addSchema(schema)
  adminRoutes(app)
}
