import type { RecordAdvisory } from '#src/history/keep-answer.ts'
import type { App } from '#src/http/app.ts'
import { type Lookup, observeLookup } from '#src/lookup/lookup.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { formerRefusal } from './additions.ts'
import { batchRoutes } from './batch/routes.ts'
import { pointRoutes } from './point/routes.ts'
import type { Advisors } from './polygon/advisors.ts'
import { polygonRoutes } from './polygon/routes.ts'
import { manyRoutes } from './polygons/routes.ts'
import type { ReadRules } from './quantities/rules.ts'
import { computeAreas } from './region-statistics.ts'
import type { AdviceSchemas } from './schemas.ts'

interface AdvisoryOptions {
  schemas: AdviceSchemas
  lookup: Lookup
  advisors: Advisors
  record: RecordAdvisory
  readRules: ReadRules
}

export async function advisory(app: App, options: AdvisoryOptions): Promise<void> {
  const { lookup, advisors, record, readRules } = options
  const { points, allProducts, batch, polygons, many } = options.schemas

  app.addHook('preValidation', formerRefusal)
  observeLookup(app, lookup)
  app.metrics.observe('agro_queue_waiting', app.slices.waiting, { queue: 'slices' })
  const prefix = '/advisory'
  const ofPoints = { lookup, record, readRules }
  await app.register(async (scope) => pointRoutes(scope, points, allProducts.response, ofPoints), { prefix })
  await app.register(batchRoutes, { prefix, lookup, readRules, ...batch })
  await app.register(polygonRoutes, { prefix, lookup, advisors, schemas: polygons, record, readRules })
  await app.register(manyRoutes, { prefix, lookup, advisors, readRules, ...many })
  computeAreas(app, advisors)
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Asks this process for pages and points before its first request. A failure only makes the first answers slower. */
    warmUp(): Promise<void>
  }
}

/** Bounds for a busy machine. */
const PAGES_MS = 10_000
const POINTS_MS = 5000

/** Enough points for V8 to compile the code, and few enough places that their tiles are in memory. */
const MOST_POINTS = 3000
const MOST_PLACES = 100

/** Parts of the width and height of a grid: some place of a country with a ragged border has values. */
const PARTS = [0.3, 0.5, 0.7]

/** Has this process compile the code of frequent requests, and plan their statements. */
export async function warmUp(app: App, lookup: Lookup): Promise<void> {
  try {
    const { published } = await lookup.current()
    const [example] = published.flatMap(chooseExample)
    if (!example) return
    await app.warmUpPages(example, PAGES_MS)
    const requests = published.flatMap((release) => requestsFor(release, app.config.BASE_PATH))
    await app.sendWarmUp(repeat(requests.slice(0, MOST_PLACES)), POINTS_MS)
  } catch (error) {
    app.logFailure(error, 'no points could be asked for before the first request')
  }
}

function chooseExample({ code, countryCode, coverages }: PublishedRelease) {
  return coverages.slice(0, 1).map(({ extent: [west, south, east, north] }) => {
    return { release: code, countryCode, lat: (south + north) / 2, lng: (west + east) / 2 }
  })
}

function* repeat(requests: string[]): Generator<string> {
  for (let point = 0; point < MOST_POINTS; point++) yield requests[point % requests.length] as string
}

function requestsFor(release: PublishedRelease, base: string): string[] {
  const { product, countryCode, cropCode, coverages } = release
  const crop = cropCode === null ? {} : { crop: cropCode }
  return coverages.slice(0, 1).flatMap(({ extent: [west, south, east, north] }) =>
    PARTS.flatMap((across) =>
      PARTS.map((up) => {
        const place = { lat: south + up * (north - south), lng: west + across * (east - west) }
        const body = JSON.stringify({ ...place, ...crop, country_code: countryCode })
        return (
          `POST ${base}/advisory/${product}/point HTTP/1.1\r\nhost: localhost\r\n` +
          `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
        )
      }),
    ),
  )
}
