import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'

// Runs on a server alone: its statements are tried on both databases in edr.test.ts.

/** More than any memory of ours had room for. */
const RELEASES = 5001

const service = openService({
  template: 'empty',
  settings: { RELEASE_MAX_AGE_MS: '0' },
  prepare: async (database) => {
    const outline = feature({ code: 'ETH', name: 'Ethiopia' }, rectangle(33, 3, 48, 15))
    await loadFile(database, await boundaryFile([outline]), 'eth', 0)
    await publishMany(database)
  },
})

/** A release of one layer for each month from January 1600 on. */
async function publishMany({ writer }: Database): Promise<void> {
  await sql`
    with new as (
      insert into release (code, product, country_code, crop_code, forecast_period, version, source, licence, checksum, status)
      select
        'r' || lpad(month::text, 4, '0'), 'yield', 'eth', 'wheat', date '1600-01-01' + month * interval '1 month',
        1, 'A test', 'CC0-1.0', '', 'ready'
      from generate_series(0, ${RELEASES - 1}::integer) as month
      returning *
    ), grid as (
      insert into coverage (release_id, srid, origin_x, origin_y, pixel_width, pixel_height, width, height, tile_size,
        west, south, east, north)
      select id, 4326, 38, 9, 1, -1, 1, 1, 16, 38, 8, 39, 9 from new
      returning *
    ), band as (
      insert into layer (release_id, ordinal, coverage_id, band, scenario, unit, scale, "offset", decimals, pixel_type,
        valid_count)
      select release_id, 1, id, 1, 'Normal', 'kg/ha', 1, 0, 2, '32BF', 0 from grid
    )
    insert into publication (product, country_code, crop_code, forecast_period, release_id)
    select product, country_code, crop_code, forecast_period, id from new`.execute(writer)
}

const get = (path: string, headers: Record<string, string> = {}) =>
  service.app.inject({ url: `/ogc${path}`, headers })

const idsIn = (body: { collections: { id: string }[] }) => body.collections.map(({ id }) => id)

const CODES = Array.from({ length: RELEASES }, (_, at) => `r${String(at).padStart(4, '0')}`)

const LISTS: [path: string, ids: string[]][] = [
  ['/collections', ['areas-eth-0', ...CODES.map((code) => `advisory-${code}-0`)]],
  ['/edr/collections', CODES],
]

test.each(LISTS)('%s has all that is published, however much that is', async (path, ids) => {
  const response = await get(path)
  expect(response.statusCode).toBe(200)
  expect(idsIn(response.json())).toEqual(ids)
})

test.each(LISTS)('%s is made in slices, once for an address and form', async (path, ids) => {
  const next = vi.spyOn(service.app.turns, 'next')
  const slicesOf = async (headers: Record<string, string>) => {
    next.mockClear()
    const response = await get(path, headers)
    return { slices: next.mock.calls.length, response }
  }
  for (const accept of ['application/json', 'text/html']) {
    const made = await slicesOf({ accept, host: `${ids.length}.example.org` })
    expect(made.slices).toBeGreaterThanOrEqual(ids.length / 50)
    expect(made.response.body).toContain(`http://${ids.length}.example.org/ogc${path}/${ids.at(-1)}?f=`)
    expect(made.response.body).not.toContain('localhost')
    const kept = await slicesOf({ accept, host: `${ids.length}.example.org` })
    expect([kept.slices, kept.response.statusCode]).toEqual([0, 200])
    expect(kept.response.body === made.response.body).toBe(true)
    const tag = String(made.response.headers.etag)
    const same = await slicesOf({ accept, host: `${ids.length}.example.org`, 'if-none-match': tag })
    expect([same.slices, same.response.statusCode]).toEqual([0, 304])
  }
  next.mockRestore()
})

test.each(LISTS)('%s has no more what is withdrawn', async (path, ids) => {
  const before = await get(path)
  const last = idsIn(before.json()).at(-1) as string
  const { writer } = service.database
  await sql`
    delete from publication where release_id = (select max(release_id) from publication)`.execute(writer)
  const after = await get(path, { 'if-none-match': String(before.headers.etag) })
  expect(after.statusCode).toBe(200)
  expect(idsIn(after.json())).toEqual(ids.slice(0, ids.indexOf(last)))
})
