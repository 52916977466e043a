// Runs on a server alone: its statements are tried on both databases in edr.test.ts.
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '#src/database/client.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

/** More than any memory of ours had room for. */
const RELEASES = 5001

let service: TestApp

beforeAll(async () => {
  service = await createTestApp({ template: 'empty', prepare: publishMany })
})
afterAll(() => service.close())

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

test.each([
  ['/edr/collections', CODES],
  ['/maps/collections', CODES.map((code) => `${code}-1`)],
])('%s has all that is published, however much that is', async (path, ids) => {
  const response = await get(path)
  expect(response.statusCode).toBe(200)
  expect(idsIn(response.json())).toEqual(ids)
})
