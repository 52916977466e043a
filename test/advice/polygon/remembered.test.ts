import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { App } from '#src/http/app.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { withOtherService } from '#test/accounts/other-service.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { gridOf, layerOf, releaseOn } from '#test/setup/releases.ts'
import { ringOf } from '#test/setup/square.ts'
import { askForMany, collectionOf, linesOf } from '../polygons/ask.ts'
import { askWithin } from './ask.ts'

const DEGREES = gridOf(4326, [38, 10], [0.01, -0.01], [70, 50])
const METRES = gridOf(32637, [400_000, 1_100_000], [500, -500], [90, 70])

/** Two products have a grid in common, and those of the next month another one. */
const JULY = { forecastPeriod: '2026-07-01', grid: DEGREES }
const AUGUST = { forecastPeriod: '2026-08-01', grid: METRES }

const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
beforeAll(async () => {
  const { database } = service
  for (const { grid, forecastPeriod } of [JULY, AUGUST]) {
    for (const [product, input] of [
      ['yield', null],
      ['fertilizer', 'Urea'],
    ] as const) {
      const pixels = Float32Array.from({ length: grid.width * grid.height }, (_, at) =>
        at % 90 < 10 ? -1 : 100 * product.length + ((at * 7919) % 1013) / 7,
      )
      const layer = { ...layerOf('', { nodata: -1 }), input }
      await loadRelease(database, releaseOn(grid, [layer], [pixels], { product, forecastPeriod }))
    }
  }
  const area = feature({ code: 'A', name: 'An area' }, rectangle(38.111, 9.522, 38.444, 9.888))
  await loadFile(database, await boundaryFile([area]), 'eth', 1)
})
beforeEach(() => service.database.pool.query('delete from area_result'))

const ring = (west: number, south: number, east: number, north: number) =>
  rectangle(west, south, east, north).coordinates[0]

const REGIONS = {
  'a field': { geometry: rectangle(38.2031, 9.7033, 38.2042, 9.7042) },
  'polygons with a hole, beyond the grids': {
    geometry: {
      type: 'MultiPolygon',
      coordinates: [
        [ring(38.0511, 9.6022, 38.4033, 9.9044), ring(38.1511, 9.7022, 38.2022, 9.7933)],
        [ring(37.5, 9.4, 38.02, 9.5)],
      ],
    },
  },
  'an area': { admin: { country_code: 'eth', code: 'A' } },
}

const DISTRIBUTION = { quantiles: [0.1, 0.5], histogram: 3 }

const MONTHS = ['July 2026', 'August 2026']

test.each([
  ['with its distribution', DISTRIBUTION],
  ['alone', {}],
])('answers with remembered weights are those with new ones, %s', async (_, distribution) => {
  const askAll = async (app: App, product: string, months: string[]) => {
    const answers: Record<string, unknown>[] = []
    for (const month of months) {
      for (const [name, region] of Object.entries(REGIONS)) {
        answers.push({ name, ...(await ask(app, product, { ...region, ...distribution }, month)) })
      }
    }
    return answers
  }
  const remembered = await others(async (app) => {
    await askAll(app, 'yield', MONTHS)
    return askAll(app, 'fertilizer', MONTHS)
  })
  await service.database.pool.query('delete from area_result')
  // Each month has a process of its own: weights of one grid may not be taken for those of the other.
  const anew = []
  for (const month of MONTHS) anew.push(...(await others((app) => askAll(app, 'fertilizer', [month]))))
  expect(remembered).toEqual(anew)
  for (const answer of remembered) {
    expect(answer).toMatchObject({ fertilizer_data: [{ rate_kg_ha: expect.any(Number) }] })
  }
})

test('many fields in one call answer as each does alone, with new and with remembered weights', async () => {
  const fields = Array.from({ length: 18 }, (_, at) => {
    const [west, south] = [38.2 + 0.0013 * (at % 10), 9.7 + 0.0017 * Math.floor(at / 10)]
    return { type: 'Feature', id: at, geometry: rectangle(west, south, west + 0.001, south + 0.001) }
  })
  const many = async (app: App, product: string, query: string) => {
    const sent = {
      query: `?country_code=eth&crop=wheat&forecast_period=August+2026${query}`,
      accept: 'application/x-ndjson',
    }
    return linesOf((await askForMany(app, service.person, product, collectionOf(fields), sent)).text)
  }
  const alone = async (app: App, product: string, wanted: object) => {
    const answers = []
    for (const { id, geometry } of fields) {
      answers.push({ id, ...(await ask(app, product, { geometry, ...wanted }, 'August 2026')) })
    }
    return answers
  }
  for (const [query, wanted] of [
    ['', {}],
    ['&quantiles=0.1,0.5', { quantiles: DISTRIBUTION.quantiles }],
  ] as const) {
    const answers = await others(async (app) => [
      await many(app, 'yield', query),
      await many(app, 'fertilizer', query),
    ])
    // The one that the memory is new for is asked first.
    const [fertilizer, yields] = await others(async (app) => [
      await alone(app, 'fertilizer', wanted),
      await alone(app, 'yield', wanted),
    ])
    expect(answers).toEqual([yields, fertilizer])
  }
})

test('the shape of an area is read once a grid', async () => {
  const { pool } = service.database
  const { rows } = await pool.query("select geom from admin_area where code = 'A'")
  await others(async (app) => {
    const before = await ask(app, 'yield', REGIONS['an area'], 'July 2026')
    // In no file of boundaries: those have a new version.
    await pool.query(
      "update admin_area set geom = st_translate(st_scale(geom, 0.5, 0.5), 20, 5) where code = 'A'",
    )
    const after = await ask(app, 'fertilizer', REGIONS['an area'], 'July 2026')
    expect(after.location).toEqual(before.location)
    await pool.query("update admin_area set geom = $1 where code = 'A'", [rows[0].geom])
  })
})

test('an invalid polygon is refused each time', async () => {
  const crossing = {
    type: 'Polygon',
    coordinates: [ringOf('38.2 9.7, 38.3 9.8, 38.3 9.7, 38.2 9.8, 38.2 9.7')],
  }
  const asked = { geometry: crossing, country_code: 'eth', crop: 'wheat' }
  for (let call = 0; call < 2; call++) {
    const { body } = await askWithin(service.app, service.person, 'yield', asked)
    expect(body.code).toBe('INVALID_GEOMETRY')
  }
})

async function ask(app: App, product: string, payload: object, forecast_period: string) {
  const asked = { ...payload, country_code: 'eth', crop: 'wheat', forecast_period }
  const { status, body } = await askWithin(app, service.person, product, asked)
  const { history_id: _, ...answer } = body
  expect(status).toBe(200)
  return answer
}

const others = <Result>(work: (app: App) => Promise<Result>) =>
  withOtherService(service, { RELEASE_MAX_AGE_MS: '0' }, work)
