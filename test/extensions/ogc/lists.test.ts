import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import type { Database } from '#src/data/database.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'

// Runs on a server alone: its statements are tried on both databases in edr.test.ts.

/** Far more than a slice has. */
const RELEASES = 1501

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

const CODES = Array.from({ length: RELEASES }, (_, at) => `r${String(at).padStart(4, '0')}`)

test.each<[path: string, idsOf: (codes: string[]) => string[]]>([
  ['/collections', (codes) => ['areas-eth-0', ...codes.map((code) => `advisory-${code}-0`)]],
  ['/edr/collections', (codes) => codes],
])(
  '%s has all that is published, however much that is: made in slices, once for an address and form',
  async (path, idsOf) => {
    const ids = idsOf(CODES)
    const host = `${ids.length}.example.org`
    for (const accept of ['application/json', 'text/html']) {
      const made = await listAt(path, { accept, host })
      expect(made.slices).toBeGreaterThanOrEqual(ids.length / 50)
      expect(made.ids).toEqual(accept === 'text/html' ? undefined : ids)
      expect(made.text).toContain(`http://${host}/ogc${path}/${ids.at(-1)}?f=`)
      expect(made.text).not.toContain('localhost')
      const cached = await listAt(path, { accept, host })
      expect([cached.slices, cached.status, cached.text === made.text]).toEqual([0, 200, true])
      const tag = { accept, host, 'if-none-match': made.headers.etag }
      expect(await listAt(path, tag)).toMatchObject({ slices: 0, status: 304 })
    }
    // What is withdrawn is there no more.
    const { headers } = await get(path, { host })
    await sql`
    delete from publication where release_id = (select max(release_id) from publication)`.execute(
      service.database.writer,
    )
    CODES.pop()
    const after = await listAt(path, { host, 'if-none-match': headers.etag })
    expect([after.status, after.ids]).toEqual([200, idsOf(CODES)])
  },
)

const get = (path: string, headers = {}) => service.get(`/ogc${path}`, { headers })

/** The ids in a list, and in how many slices it was made. */
async function listAt(path: string, headers = {}) {
  const next = vi.spyOn(service.app.slices, 'next')
  const answer = await get(path, headers)
  const slices = next.mock.calls.length
  next.mockRestore()
  return { ...answer, slices, ids: answer.body?.collections?.map(({ id }: { id: string }) => id) }
}
