import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import { ref } from '#schemas/common.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { RegionValues } from '#src/advice/region-statistics.ts'
import type { AreaRow, LoadedLevel, Rectangle } from '#src/catalog/area-queries.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import { ApiError, BASE, noAreas, unknownCountry } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { attach, csvRow, DISPOSITION } from '#src/http/formats.ts'
import { cursorAfter, decodeCursor, readQuery } from '#src/http/parameters.ts'
import { allowCaching, dataTag } from '#src/http/plugins/caching.ts'
import { negotiate } from '#src/http/request.ts'
import { isoMonth } from '#src/lib/dates.ts'
import { wordKey } from '#src/lib/names.ts'
import { describeNotPublished, type Lookup } from '#src/lookup/lookup.ts'
import { contradicts, releaseNamed } from '#src/lookup/pinned-request.ts'
import { type PublishedRelease, versionOf } from '#src/lookup/releases.ts'
import { listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import { versionOfAll } from '#src/maps/published.ts'
import { createContext, forbidCaching, type ReadContext } from './api.ts'
import type { Areas } from './areas.ts'
import {
  COVERAGE_DEFAULTS,
  type CoverageEntry,
  type CoverageQuery,
  defineCoverageQuery,
  defineCoverageSchemas,
} from './schemas.ts'

/** How long a page waits for computing, and for reading; then it ends, and the next one goes on. */
const COMPUTING_MS = 4000
const READING_MS = 1500

/** A column of the areas of a country: a release of a product, or the reason for none. */
type Column = PublishedRelease | CoverageEntry

/** The filter of a request; null for all. */
interface CoverageFilter {
  level: number
  countryCode: string | null
  area: string | null
  product: string | null
  crop: string | null
}

/** The columns of a country, by product and crop, the newest month first; a reason where nothing is published. */
function listColumns(
  products: readonly ProductDefinition[],
  country: Country,
  releases: readonly PublishedRelease[],
  filter: CoverageFilter,
): Column[] {
  return products
    .filter(({ code }) => filter.product === null || code === filter.product)
    .flatMap((product) => {
      const found = releases.filter(
        (release) => release.product === product.code && release.countryCode === country.code,
      )
      return listCrops(product, country, found, filter.crop).flatMap((crop): Column[] => {
        const ofCrop = found.filter(({ cropCode }) => cropCode === crop)
        return ofCrop.length > 0 ? ofCrop.toSorted(compareMonths) : [describeGap(product, country, crop)]
      })
    })
}

function listCrops(
  { seasonal }: ProductDefinition,
  { crops }: Country,
  found: readonly PublishedRelease[],
  only: string | null,
): (string | null)[] {
  if (!seasonal) return [null]
  if (only !== null) return [only]
  const all = [...new Set([...crops, ...found.flatMap(({ cropCode }) => cropCode ?? [])])].toSorted()
  return all.length > 0 ? all : [null]
}

/** The newest first. */
function compareMonths(one: PublishedRelease, other: PublishedRelease): number {
  return (
    (other.forecastPeriod ?? '').localeCompare(one.forecastPeriod ?? '') || (one.code < other.code ? -1 : 1)
  )
}

/** The reason for a product without a release. */
function describeGap(product: ProductDefinition, country: Country, crop: string | null): CoverageEntry {
  const none = { product: product.code, crop, release: null, forecast_period: null, covered_percent: 0 }
  const isOffered = !product.seasonal || (crop !== null && country.crops.includes(crop))
  if (!isOffered) {
    const offered = country.crops.length > 0 ? `its crops are: ${country.crops.join(', ')}` : 'it has none'
    const reason = `The crop is not available for ${country.name}; ${offered}.`
    return { ...none, code: 'CROP_NOT_AVAILABLE', reason }
  }
  const subject = { values: product.names.values, crop, country: country.name }
  return { ...none, code: 'NO_RELEASE', reason: describeNotPublished(subject, null, []) }
}

function describeShare(release: PublishedRelease, area: Rectangle, percent: number): CoverageEntry {
  const { code, product, cropCode, forecastPeriod, coverages } = release
  const entry = {
    product,
    crop: cropCode,
    release: code,
    forecast_period: forecastPeriod && isoMonth(forecastPeriod),
    covered_percent: percent,
  }
  if (percent > 0) return entry
  const [left, bottom, right, top] = area
  const meets = ([west, south, east, north]: Rectangle) =>
    left <= east && right >= west && bottom <= north && top >= south
  if (!coverages.some(({ extent }) => meets(extent))) {
    return { ...entry, code: 'OUTSIDE_GRID', reason: `The area lies outside the grid of ${code}.` }
  }
  const reason = `No pixel of ${code} in the area has a value: its source has left them out.`
  return { ...entry, code: 'NO_DATA', reason }
}

/** The percentage of the layer that covers most; 0 where none has a value. */
function coveredPercent(columns: readonly string[], found: RegionValues): number {
  const percents = columns.map((column, at) =>
    column.startsWith('covered_percent') ? (found.statistics[at] ?? 0) : 0,
  )
  return Math.max(0, ...percents)
}

/** An area with its entries, as text of a page. */
type WriteArea = (countryCode: string, area: AreaRow, products: readonly CoverageEntry[]) => string

const COLUMNS = [
  ...['country_code', 'level', 'code', 'name'],
  ...['product', 'crop', 'release', 'forecast_period', 'covered_percent', 'reason'],
]

const WRITERS: Record<'application/json' | 'text/csv', WriteArea> = {
  'application/json': (country_code, { level, code, name }, products) =>
    JSON.stringify({ country_code, level, code, name, products }),
  'text/csv': (countryCode, { level, code, name }, products) =>
    products
      .map((entry) =>
        csvRow([
          ...[countryCode, level, code, name, entry.product, entry.crop, entry.release],
          ...[entry.forecast_period, entry.covered_percent, entry.code ?? null],
        ]),
      )
      .join(''),
}

/** @property until when computing ends, on the clock of `performance.now()` */
type PageContext = ReadContext & { until: number }

interface PageRequest {
  filter: CoverageFilter
  format: keyof typeof WRITERS
  /** The releases that may be in it. */
  releases: readonly PublishedRelease[]
  /** The area that it begins after; null for the first page. */
  after: { countryCode: string; code: string } | null
  limit: number
}

/** The texts of a page, and its last area; null where no other page follows. */
interface CoveragePage {
  texts: string[]
  last: { countryCode: string; code: string } | null
}

/** Areas that are read at a time, and that are written without letting others go on. */
const AREAS_A_PART = 100
const AREAS_A_SLICE = 20

/** Reads pages of areas. They end early where computing takes long. */
function createPages({ products }: App, areas: Areas) {
  /** Writes areas of a country, up to the first one that takes too long. */
  async function write(
    countryCode: string,
    found: readonly AreaRow[],
    columns: readonly Column[],
    format: PageRequest['format'],
    context: PageContext,
  ): Promise<string[]> {
    let computed = found
    const percents = new Map<Column, number[]>()
    for (const column of columns) {
      if (!('coverages' in column)) continue
      const names = areas.columnsOf(column)
      const statistics = await areas.statistics(column, computed, context, context.until)
      percents.set(
        column,
        statistics.map((values) => coveredPercent(names, values)),
      )
      computed = computed.slice(0, statistics.length)
    }
    const texts: string[] = []
    for (const [at, area] of computed.entries()) {
      if (at % AREAS_A_SLICE === 0) await context.pause()
      const entries = columns.map((column) =>
        'coverages' in column
          ? describeShare(column, area.extent, percents.get(column)?.[at] as number)
          : column,
      )
      texts.push(WRITERS[format](countryCode, area, entries))
    }
    return texts
  }

  return async (page: PageRequest, context: PageContext): Promise<CoveragePage> => {
    const { filter, format, releases, after, limit } = page
    const { snapshot } = context
    refuseUnlessLoaded(snapshot, await areas.loaded(context), filter)
    const readingEnd = performance.now() + READING_MS
    const texts: string[] = []
    let last: CoveragePage['last'] = null
    for (const country of listCountries(snapshot, filter, after)) {
      const columns = listColumns(products.list, country, releases, filter)
      const countryCode = country.code
      let code = after?.countryCode === countryCode ? after.code : null
      for (;;) {
        // A full page has another one behind it where there is one more area.
        const part = Math.min(AREAS_A_PART, limit - texts.length) || 1
        const wanted = { countryCode, levels: [filter.level], code: filter.area, after: code, limit: part }
        const { areas: found } = await areas.page(wanted, context)
        if (found.length === 0) break
        if (texts.length === limit) return { texts, last }
        const written = await write(countryCode, found, columns, format, context)
        texts.push(...written)
        code = found[written.length - 1]?.code as string
        last = { countryCode, code }
        if (written.length < found.length) return { texts, last }
        if (performance.now() > readingEnd && texts.length < limit) {
          forbidCaching(context)
          return { texts, last }
        }
      }
    }
    if (texts.length === 0 && after === null) throw nothingFound(filter)
    return { texts, last: null }
  }
}

/** @throws {ApiError} for an unknown country, and for a level without areas in it */
function refuseUnlessLoaded(
  snapshot: Snapshot,
  loaded: readonly LoadedLevel[],
  { countryCode, level }: CoverageFilter,
): void {
  if (countryCode === null) return
  const country = snapshot.countries.find(({ code }) => code === countryCode)
  if (!country) throw unknownCountry('country_code', listCodes(snapshot))
  const ofCountry = loaded.filter((one) => one.countryCode === countryCode)
  if (ofCountry.some((one) => one.level === level && one.areas > 0)) return
  throw noAreas({ name: country.name, levels: ofCountry.map((one) => one.level) }, level)
}

function listCountries(
  { countries }: Snapshot,
  { countryCode }: CoverageFilter,
  after: PageRequest['after'],
): Country[] {
  return countries.filter(
    ({ code }) => (countryCode === null || code === countryCode) && (!after || code >= after.countryCode),
  )
}

function nothingFound({ level, area }: CoverageFilter): ApiError {
  if (area === null) return new ApiError('NO_AREAS', `No areas of level ${level} are loaded.`)
  return new ApiError(
    'UNKNOWN_AREA',
    `There is no area of level ${level} with the code ${area}; GET ${BASE}/admin lists them.`,
  )
}

/** The cursor of a page: the code of a country, and that of an area. */
const AREA = /^([a-z]{3}) ([^\0]+)$/

const DESCRIPTION = `
The share of each administrative area with values, by product and release, or the reason for none: nothing published, crop not offered, area outside the grid, or pixels without values. \`area\` asks about one area.

Coverage is computed once for each release. A page with much to compute ends early; \`next_cursor\` continues it.`

type CoverageRequest = FastifyRequest<{ Querystring: CoverageQuery }>

function documentRoute(query: TObject, list: TObject, table: TSchema) {
  return {
    operationId: 'getCoverage',
    summary: 'Coverage of areas, with reasons for gaps',
    description: DESCRIPTION.trim(),
    tags: ['catalog'],
    querystring: toQuerySchema(query),
    response: {
      200: {
        description: 'A page of areas.',
        headers: {
          Link: { type: 'string', description: 'The next page, where there is one (`rel="next"`).' },
          'Content-Disposition': DISPOSITION,
        },
        content: {
          'application/json': { schema: ref(list) },
          'text/csv': { schema: ref(table) },
        },
      },
      304: { type: 'null', description: 'The page is the one that `If-None-Match` names.' },
      ...errorResponses(
        'INVALID_PARAMETERS',
        'NO_AREAS',
        'UNKNOWN_AREA',
        'NOT_FOUND',
        'RELEASE_GONE',
        'NOT_ACCEPTABLE',
        'QUERY_TIMEOUT',
      ),
    },
  } as const
}

function readFilter({ query }: CoverageRequest, { cropNamed }: Snapshot): CoverageFilter {
  const { level = COVERAGE_DEFAULTS.level, country_code, area, product = null, crop } = query
  return {
    level,
    countryCode: country_code?.trim().toLowerCase() ?? null,
    area: area?.trim() ?? null,
    product,
    crop: crop === undefined ? null : cropNamed(wordKey(crop)),
  }
}

/** A filter with the country, product and crop of a release. @throws {ApiError} INVALID_PARAMETERS for others */
function narrowFilter(release: PublishedRelease, filter: CoverageFilter): CoverageFilter {
  const { code, countryCode, product, cropCode } = release
  for (const [field, own, requested] of [
    ['country_code', countryCode, filter.countryCode],
    ['product', product, filter.product],
    ['crop', cropCode, filter.crop],
  ] as const) {
    // A release without a crop is of all of them.
    if (own === null || requested === null || requested === own) continue
    throw contradicts(field, `${own} or left out`, code, own)
  }
  return { ...filter, countryCode, product, crop: cropCode }
}

/** The URL of the page after the requested one. */
function nextPage({ url, basePath, server }: CoverageRequest, cursor: string): string {
  const [path, query] = url.split('?') as [string, string?]
  const parameters = new URLSearchParams(query)
  parameters.set('cursor', cursor)
  return `${basePath}${path.slice(server.config.BASE_PATH.length)}?${parameters}`
}

/** How much of each area has values. */
export async function coverage(app: App, { lookup, areas }: { lookup: Lookup; areas: Areas }): Promise<void> {
  const { components, list, table } = defineCoverageSchemas(app.products.list)
  for (const schema of components) app.addSchema(schema)
  const query = defineCoverageQuery(app.products.list)
  const readPage = createPages(app, areas)

  app.get(
    '/coverage',
    {
      config: { public: true, caching: 'own', takesOwnPermit: true },
      schema: documentRoute(query, list, table),
      preValidation: readQuery(query),
    },
    async (request: CoverageRequest, reply: FastifyReply) => {
      const format = negotiate(request.exchange, ['application/json', 'text/csv'])
      const { release: code, cursor, limit = COVERAGE_DEFAULTS.limit } = request.query
      const snapshot = await request.exchange.wait(lookup.current)
      const version = versionOfAll(snapshot)
      const release = code === undefined ? null : await releaseNamed(lookup, code.trim(), request.exchange)
      const filter = release
        ? narrowFilter(release, readFilter(request, snapshot))
        : readFilter(request, snapshot)
      const filters = [...Object.values(filter), code ?? null]
      const [, countryCode, area] = cursor === undefined ? [] : decodeCursor(cursor, filters, AREA)
      const after = countryCode === undefined ? null : { countryCode, code: area as string }
      const tag = dataTag(request, format, request.url, version, release ? versionOf(release) : '')
      if (allowCaching(request.exchange, tag)) return reply.code(304).send()

      const releases = release ? [release] : snapshot.published
      const until = performance.now() + COMPUTING_MS
      const context = { ...createContext(request.exchange, snapshot), until }
      const { texts, last } = await readPage({ filter, format, releases, after, limit }, context)
      const next = last && cursorAfter(`${last.countryCode} ${last.code}`, filters)
      if (next !== null) reply.header('link', `<${nextPage(request, next)}>; rel="next"`)
      attach(reply, format, 'coverage')
      const text =
        format === 'text/csv'
          ? csvRow(COLUMNS) + texts.join('')
          : `{"items":[${texts.join()}],"next_cursor":${JSON.stringify(next)}}`
      return reply.type(`${format}; charset=utf-8`).send(text)
    },
  )
}
