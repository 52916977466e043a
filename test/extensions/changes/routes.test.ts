import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import type { Sent } from '#test/setup/calls.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'
import { makeAdmin, newPerson } from '#test/setup/people.ts'
import { tellRefusals } from '#test/setup/refusals.ts'
import { layerOf, onePixelRelease, operatorOf, releaseOn } from '#test/setup/releases.ts'

// In every run: what is refused of changes.

const SIDE = 40
const NODATA = -1
const FIRST = 'fertilizer-eth-wheat-2026-07-v1'
const SECOND = 'fertilizer-eth-wheat-2026-07-v2'

type ValueAt = (row: number, column: number) => number

const before: ValueAt = (row, column) => 100 + row + column / 10
/** More in the west, by as much again; nothing in the north-east. */
const after: ValueAt = (row, column) =>
  column < 20 ? 2 * before(row, column) : row < 10 ? NODATA : before(row, column)

/** Pixels of a tenth of a degree, 36..40 E and 7..11 N. */
const DEGREES = { srid: 4326, originX: 36, originY: 11, pixelWidth: 0.1, pixelHeight: -0.1 }

/** Pixels of a kilometre in zone 37 of UTM, around 39.2 E and 9.8 N. */
const METRES = { srid: 32637, originX: 500_000, originY: 1_105_000, pixelWidth: 1000, pixelHeight: -1000 }

function load(valueAt: ValueAt, product = 'fertilizer', place = DEGREES, series = {}) {
  const pixels = Float32Array.from({ length: SIDE * SIDE }, (_, at) =>
    valueAt(Math.floor(at / SIDE), at % SIDE),
  )
  const grid = { ...place, width: SIDE, height: SIDE }
  const described = { product, checksum: valueAt.toString(), ...series }
  return loadRelease(
    service.database,
    releaseOn(grid, [layerOf('Urea', { nodata: NODATA })], [pixels], described),
  )
}

const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
beforeAll(async () => {
  await makeAdmin(service)
  const areas = [
    feature({ code: 'W', name: 'West' }, rectangle(36, 7, 38, 11)),
    feature({ code: 'E', name: 'East, "beyond"' }, rectangle(38, 7, 40, 11)),
  ]
  await loadFile(service.database, await boundaryFile(areas), 'eth', 1)
  await load(before)
  await load(after)
})

describe('GET /releases/{a}/diff/{b}', () => {
  test('says what the second release changes from the first, in each area, with the means that advice for it has', async () => {
    const { status, body } = await compare(`${FIRST}/diff/${SECOND}`)
    expect(status).toBe(200)
    const asked = { level: 1, threshold_percent: 10, exact: false }
    expect(body).toMatchObject({ before: FIRST, after: SECOND, ...asked })
    const [east, west] = body.areas
    expect(body.worst).toEqual([west, east])
    expect(west).toMatchObject({
      ...{ code: 'W', name: 'West', input: 'Urea', scenario: 'Normal', unit: 'kg/ha' },
      ...{ change_percent: 100, covered_before_percent: 100, covered_after_percent: 100 },
      ...{ gained_percent: 0, lost_percent: 0, changed_percent: 100 },
      ...{ changed_percent_least: 100, changed_percent_most: 100 },
    })
    expect(east.lost_percent).toBeGreaterThan(24)
    expect(east.lost_percent + east.covered_after_percent).toBeCloseTo(100, 3)
    expect([west.mean_after, 100]).toEqual(await rateIn('W'))
    expect([east.mean_after, east.covered_after_percent]).toEqual(await rateIn('E'))
    await operatorOf(service.database).publish(FIRST)
    expect([west.mean_before, 100]).toEqual(await rateIn('W'))
    expect([east.mean_before, 100]).toEqual(await rateIn('E'))
  })

  test('looks at every pixel where that is asked for', async () => {
    const { exact, areas, layers } = (await compare(`${FIRST}/diff/${SECOND}?exact=true&threshold=100`)).body
    expect([exact, areas]).toMatchObject([true, [{ changed_percent: 0 }, { changed_percent: 0 }]])
    expect(layers[0]).toMatchObject({ changed_percent_least: 0, changed_percent_most: 0 })
  })

  test('answers in CSV', async () => {
    const { headers, text } = await compare(`${FIRST}/diff/${SECOND}`, { headers: { accept: 'text/csv' } })
    expect(headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="changes.csv"',
    })
    const [head, east, west, ...rest] = text.split('\r\n')
    expect(head).toMatch(/^code,name,input,scenario,unit,mean_before,.*,changed_percent_most$/)
    expect(east).toMatch(/^E,"East, ""beyond""",Urea,Normal,kg\/ha,/)
    expect(west).toMatch(/^W,West,Urea,Normal,kg\/ha,.*,100,100,100,0,0,100,100,100$/)
    expect(rest).toEqual([''])
  })

  test('is for admins alone', async () => {
    const { status, body } = await compare(`${FIRST}/diff/${SECOND}`, { by: await newPerson(service.app) })
    expect([status, body.code]).toEqual([403, 'FORBIDDEN'])
  })

  testOnServer('releases that cannot be compared are refused, as refused.txt has it', async () => {
    const { code: ofYield } = await load(before, 'yield')
    const paths = [
      `${SECOND}/diff/nothing`,
      `${FIRST}/diff/${SECOND}?level=2`,
      `${ofYield}/diff/${SECOND}`,
      `${FIRST}/diff/${SECOND}?threshold=-1`,
    ]
    const refusals = await tellRefusals(paths.map((path) => [path, () => compare(path)]))
    await expect(refusals).toMatchFileSnapshot('refused.txt')
  })

  test('takes all that either release covers for one area where none are loaded', async () => {
    const inRwanda = { countryCode: 'rwa', cropCode: 'potato' }
    await load(() => 1, 'fertilizer', DEGREES, inRwanda)
    await load(() => 2, 'fertilizer', { ...DEGREES, originX: 42 }, inRwanda)
    const codes = [1, 2].map((version) => `fertilizer-rwa-potato-2026-07-v${version}`)
    const { level, areas } = (await compare(codes.join('/diff/'))).body
    expect([level, areas]).toMatchObject([null, [{ covered_before_percent: 40, covered_after_percent: 40 }]])
  })

  test('counts areas far beyond a grid of metres, which nothing changes in', async () => {
    const near = rectangle(38, 7, 40, 11)
    const far = rectangle(46, 5, 47, 6)
    const totalWith = async (...shapes: object[]) => {
      const areas = shapes.map((shape, index) => feature({ code: `A${index}`, name: `${index}` }, shape))
      await loadFile(service.database, await boundaryFile(areas), 'eth', 1)
      const { body } = await compare('isfm-eth-wheat-2026-07-v1/diff/isfm-eth-wheat-2026-07-v2')
      return body.layers[0]
    }
    await load(before, 'isfm', METRES)
    await load((row, column) => 2 * before(row, column), 'isfm', METRES)
    const alone = await totalWith(near)
    const both = await totalWith(near, far)
    expect(alone.changed_percent).toBeGreaterThan(1)
    expect([both.changed_percent, both.changed_percent_least]).toEqual([
      both.changed_percent_most,
      both.covered_after_percent,
    ])
    // The part of both areas that the near one is, on the ellipsoid.
    expect(both.changed_percent / alone.changed_percent).toBeCloseTo(0.8881, 2)
  })

  test('refuses a level with more areas than so many layers are compared in', async () => {
    const rates = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`Input ${index}`, index]))
    const series = { forecastPeriod: '2026-09-01' }
    const { code } = await loadRelease(service.database, onePixelRelease(rates, series))
    const path = `${FIRST}/diff/${code}?level=1`
    expect((await compare(path)).status).toBe(200)
    await sql`
      insert into admin_area (
        country_code, level, code, name, geom, area_km2, west, south, east, north, centroid_lng, centroid_lat,
        positions, simplified)
      select country_code, level, 'new ' || number, name, geom, area_km2, west, south, east, north, centroid_lng,
        centroid_lat, positions, simplified
      from (select * from admin_area where level = 1 limit 1) as area, generate_series(1, 2000) as number
    `.execute(service.database.writer)
    const error = 'level must be one with at most 1980 areas: that many are compared in 101 layers.'
    expect(await compare(path)).toMatchObject({ status: 400, body: { error } })
  })
})

const compare = (path: string, sent?: Sent) =>
  service.get(`/releases/${path}`, { by: service.person, ...sent })

async function rateIn(code: string) {
  const payload = { admin: { country_code: 'eth', code } }
  const { body } = await service.post('/advisory/fertilizer', { by: service.person, payload })
  const [{ rate_kg_ha, covered_percent }] = body.fertilizer_data
  return [rate_kg_ha, covered_percent]
}
