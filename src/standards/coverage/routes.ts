import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { TObject, TSchema } from 'typebox'
import { ref } from '#schemas/common.ts'
import {
  COVERAGE_DEFAULTS,
  type CoverageQuery,
  coverageQueryOf,
  coverageSchemasOf,
} from '#schemas/coverage.ts'
import { queryOf } from '#schemas/point-request.ts'
import type { RegionFigures } from '#src/advice/polygon/region-figures.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { attach, csvRow, DISPOSITION, negotiate } from '#src/http/formats.ts'
import { cursorAfter, placeOf, readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { wordKey } from '#src/lib/names.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { ofAnother, releaseNamed } from '#src/lookup/pinned-request.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { type Atlas, type AtlasFilter, type CoverageItem, createAtlas } from './coverage.ts'

/** Areas that are written at a time: less than a millisecond's worth. */
const AREAS_A_SLICE = 50

const COLUMNS = [
  ...['country_code', 'level', 'code', 'name'],
  ...['product', 'crop', 'release', 'forecast_period', 'covered_percent', 'reason'],
]

/** The texts of items, which many pages have. */
const jsonTexts = new WeakMap<CoverageItem, string>()

/** A page as JSON. */
async function jsonOf(items: readonly CoverageItem[], next: string | null, pause: Pause): Promise<string> {
  const texts: string[] = []
  for (const [at, item] of items.entries()) {
    if (at % AREAS_A_SLICE === 0) await pause()
    const text = jsonTexts.get(item) ?? JSON.stringify(item)
    jsonTexts.set(item, text)
    texts.push(text)
  }
  return `{"items":[${texts.join()}],"next_cursor":${JSON.stringify(next)}}`
}

/** A page as CSV, with a header and a row for each area and release. */
async function csvOf(items: readonly CoverageItem[], pause: Pause): Promise<string> {
  let text = csvRow(COLUMNS)
  for (const [at, item] of items.entries()) {
    if (at % AREAS_A_SLICE === 0) await pause()
    const { country_code, level, code, name, products } = item
    for (const {
      product,
      crop,
      release,
      forecast_period,
      covered_percent,
      code: reason = null,
    } of products) {
      const area = [country_code, level, code, name]
      text += csvRow([...area, product, crop, release, forecast_period, covered_percent, reason])
    }
  }
  return text
}

const MEDIA_TYPES = ['application/json', 'text/csv'] as const

/** Pages that are kept in memory, in characters of their texts. */
const CHARACTERS_KEPT = 8_000_000

/** What a page can begin after: the code of a country, and that of an area. */
const AREA = /^([a-z]{3}) ([^\0]+)$/

const DESCRIPTION = `
The share of each administrative area with values, by product and release, or the reason for none: nothing published, crop not offered, area outside the grid, or pixels without values. \`area\` asks about one area.

Coverage is computed once for each release. A page with much to compute ends early; \`next_cursor\` continues it.`

interface CoverageSchemas {
  query: TObject
  list: TObject
  table: TSchema
}

type Call = FastifyRequest<{ Querystring: CoverageQuery }>

/** A page as it is sent. */
interface SentPage {
  text: string
  tag: string
  next: string | null
  /** Whether it has not ended early: then another one would be longer. */
  whole: boolean
}

function coverageRoute(app: App, lookup: Lookup, atlas: Atlas, schemas: CoverageSchemas): void {
  const pages = createPages()

  async function make(call: Call, reply: FastifyReply, snapshot: Snapshot, form: string): Promise<SentPage> {
    const { release: code, cursor, limit = COVERAGE_DEFAULTS.limit } = call.query
    const named = code === undefined ? null : await releaseNamed(lookup, code.trim(), call, reply)
    const filter = named ? filterFor(named, filterOf(call, snapshot)) : filterOf(call, snapshot)
    const filters = [...Object.values(filter), code ?? null]
    const [, countryCode, area] = cursor === undefined ? [] : placeOf(cursor, filters, AREA)
    const { items, last } = await atlas.page({
      request: call,
      reply,
      snapshot,
      filter,
      releases: named ? [named] : snapshot.published,
      after: countryCode === undefined ? null : { countryCode, code: area as string },
      limit,
    })
    const next = last && cursorAfter(`${last.countryCode} ${last.code}`, filters)
    const pause = () => app.turns.next(clientKeyOf(call))
    const text = await (form === 'text/csv' ? csvOf(items, pause) : jsonOf(items, next, pause))
    return { text, tag: entityTag(form, text), next, whole: last === null || items.length === limit }
  }

  app.get(
    '/coverage',
    {
      config: { public: true, caching: 'own', ownTurns: true },
      schema: documentationOf(schemas),
      preValidation: readQuery(schemas.query),
    },
    async (call: Call, reply: FastifyReply) => {
      const form = negotiate(call, reply, MEDIA_TYPES)
      const snapshot = await withTimeout(call, reply, lookup.current)
      const key = call.query.release === undefined ? `${form} ${JSON.stringify(call.query)}` : undefined
      const page = pages.get(snapshot, key) ?? (await make(call, reply, snapshot, form))
      if (page.whole) pages.set(snapshot, key, page)
      const { text, tag, next } = page
      if (next !== null) reply.header('link', `<${nextPage(call, next)}>; rel="next"`)
      if (allowCaching(call, reply, tag)) return reply.code(304).send()
      attach(reply, form, 'coverage')
      return reply.type(`${form}; charset=utf-8`).send(text)
    },
  )
}

function documentationOf({ query, list, table }: CoverageSchemas) {
  return {
    operationId: 'getCoverage',
    summary: 'Coverage of areas, with reasons for gaps',
    description: DESCRIPTION.trim(),
    tags: ['catalog'],
    querystring: queryOf(query),
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

function filterOf({ query }: Call, { cropNamed }: Snapshot): AtlasFilter {
  const { level = COVERAGE_DEFAULTS.level, country_code, area, product = null, crop } = query
  return {
    level,
    countryCode: country_code?.trim().toLowerCase() ?? null,
    area: area?.trim() ?? null,
    product,
    crop: crop === undefined ? null : cropNamed(wordKey(crop)),
  }
}

/**
 * A filter of what a release is of: of anything else it would be told that nothing is published.
 *
 * @throws {ApiError} INVALID_PARAMETERS where something else is asked for
 */
function filterFor(release: PublishedRelease, filter: AtlasFilter): AtlasFilter {
  const { code, countryCode, product, cropCode } = release
  const own = { country_code: countryCode, product, crop: cropCode }
  const asked = { country_code: filter.countryCode, product: filter.product, crop: filter.crop }
  for (const field of ['country_code', 'product', 'crop'] as const) {
    const [is, wanted] = [own[field], asked[field]]
    // A release without a crop is of all of them.
    if (is === null || wanted === null || wanted === is) continue
    throw ofAnother(field, `${is} or left out`, code, is)
  }
  return { ...filter, countryCode, product, crop: cropCode }
}

/** Keeps pages of what is published now. */
function createPages() {
  let of: Snapshot | undefined
  const kept = new LRUCache<string, SentPage>({
    maxSize: CHARACTERS_KEPT,
    sizeCalculation: ({ text }) => 1 + text.length,
  })
  return {
    get(snapshot: Snapshot, key: string | undefined): SentPage | undefined {
      return of === snapshot && key !== undefined ? kept.get(key) : undefined
    },
    set(snapshot: Snapshot, key: string | undefined, page: SentPage): void {
      if (of !== snapshot) kept.clear()
      of = snapshot
      if (key !== undefined) kept.set(key, page)
    },
  }
}

/** The URL of the page after the one that was asked for. */
function nextPage({ url, basePath, server }: Call, cursor: string): string {
  const [path, query] = url.split('?') as [string, string?]
  const parameters = new URLSearchParams(query)
  parameters.set('cursor', cursor)
  return `${basePath}${path.slice(server.config.BASE_PATH.length)}?${parameters}`
}

interface CoverageOptions {
  lookup: Lookup
  figures: RegionFigures
}

/** The atlas: how much of each area has values. */
export async function coverage(app: App, { lookup, figures }: CoverageOptions): Promise<void> {
  const { list: products } = app.products
  const { components, ...answers } = coverageSchemasOf(products)
  for (const schema of components) app.addSchema(schema)
  coverageRoute(app, lookup, createAtlas(app, figures), { query: coverageQueryOf(products), ...answers })
}
