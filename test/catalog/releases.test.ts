import { beforeAll, expect, test } from 'vitest'
import { withdrawRelease } from '#src/catalog/removal-queries.ts'
import { lockWork } from '#src/data/work-lock.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { computeLoadLock, insertRelease } from '#src/ingest/queries.ts'
import type { Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { makeAdmin, type Person } from '#test/setup/people.ts'
import { onePixelRelease, operatorOf, releaseDescription } from '#test/setup/releases.ts'

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const code = (version: number) => `fertilizer-eth-wheat-2026-07-v${version}`

const service = openService({ template: 'empty' })
beforeAll(async () => {
  const { database } = service
  const { remove, rollback } = operatorOf(database)
  await loadRelease(database, onePixelRelease({ Urea: 1, DAP: 10.25 }))
  await loadRelease(database, onePixelRelease({ Urea: 2 }))
  await rollback(code(2))
  await loadRelease(database, onePixelRelease({ Urea: 3 }), { publish: false })
  await loadRelease(database, onePixelRelease({ Urea: 4 }, { forecastPeriod: '2026-08-01' }))
  await database.writer
    .transaction()
    .execute((trx) => withdrawRelease(trx, 'fertilizer-eth-wheat-2026-08-v1'))
  await loadRelease(database, onePixelRelease({ Urea: 5 }, { forecastPeriod: '2026-09-01' }))
  await remove('fertilizer-eth-wheat-2026-09-v1', true)
  await makeAdmin(service)
})

test('all see the releases that are or were published, and admins the others', async () => {
  const shown = [`${code(1)} published`, `${code(2)} replaced`, 'fertilizer-eth-wheat-2026-08-v1 replaced']
  expect(await list()).toEqual(shown)
  expect(await list('?country_code=ETH&crop=Wheat&product=fertilizer')).toEqual(shown)
  for (const query of ['?product=yield', '?country_code=rwa', '?state=unpublished']) {
    expect(await list(query)).toEqual([])
  }
  expect(await list('?state=published')).toEqual([`${code(1)} published`])
  expect(await list('?state=deleted')).toEqual(['fertilizer-eth-wheat-2026-09-v1 deleted'])
  const { person: by } = service
  expect(await list('', by)).toContain(`${code(3)} unpublished`)
  expect((await get(`/${code(3)}`)).status).toBe(404)
  const unpublished = { state: 'unpublished', published_from: null }
  expect((await get(`/${code(3)}`, { by })).body).toMatchObject(unpublished)
})

test('admins see which loads are under way and which were cut off, where they ask for them', async () => {
  const { database, person } = service
  const { writer } = database
  const description = releaseDescription({ forecastPeriod: '2026-10-01' })
  const release = await insertRelease(writer, description)
  const loads = async (by?: Person) => {
    const { items } = (await get('?state=incomplete', { by })).body
    return items.map((item: { release: string; load: string }) => `${item.release} ${item.load}`)
  }
  expect(await loads(person)).toEqual([`${release.code} cut_off`])
  expect([await loads(), await list('', person)]).toEqual([
    [],
    expect.not.arrayContaining([expect.stringContaining(release.code)]),
  ])
  const { unlock } = await lockWork(database, computeLoadLock(description))
  // The embedded database has one process, which does not load while it answers: there is no lock.
  const state = database.kind === 'server' ? 'running' : 'cut_off'
  expect(await loads(person)).toEqual([`${release.code} ${state}`])
  unlock()
  await writer.updateTable('release').set({ load_lock: null }).where('id', '=', release.id).execute()
  expect(await loads(person)).toEqual([`${release.code} unknown`])
  await writer.deleteFrom('release').where('id', '=', release.id).execute()
})

test('the list has pages, and cursors of other filters are refused', async () => {
  const page = async (query: string) => (await get(`?limit=2${query}`)).body
  const codesOf = ({ items }: { items: { release: string }[] }) => items.map(({ release }) => release)
  const first = await page('')
  expect(codesOf(first)).toEqual([code(1), code(2)])
  const rest = await page(`&cursor=${first.next_cursor}`)
  expect([codesOf(rest), rest.next_cursor]).toEqual([['fertilizer-eth-wheat-2026-08-v1'], null])
  const other = await page(`&state=replaced&cursor=${first.next_cursor}`)
  expect(other.code).toBe('INVALID_PARAMETERS')
})

test('a release is described, with when it was published and what it is of', async () => {
  const { headers, body } = await get(`/${code(1)}`)
  expect(body).toEqual({
    release: code(1),
    files: [],
    signature: null,
    product: 'fertilizer',
    country_code: 'eth',
    crop: 'wheat',
    forecast_period: '2026-07',
    version: 1,
    state: 'published',
    synthetic: false,
    valid_until: '2027-07-31',
    source: 'A test',
    licence: 'CC0-1.0',
    checksum: '1,10.25',
    loaded_at: TIME,
    published_from: TIME,
    published_to: null,
    deleted_at: null,
    periods: [
      { from: TIME, to: TIME },
      { from: TIME, to: null },
    ],
    grids: [
      {
        srid: 4326,
        width: 1,
        height: 1,
        resolution: { x: 1, y: 1, unit: 'degree', metres_x: 109_803, metres_y: 110_601 },
        extent: [38, 9, 39, 10],
      },
    ],
    layers: [
      ['DAP', 10.25],
      ['Urea', 1],
    ].map(([input, value], index) => ({
      ...{ layer: index + 1, input, scenario: 'Normal', unit: 'kg/ha', decimals: 2, scale: 1, offset: 0 },
      ...{ pixel_type: '32BF', grid: 1, pixels: 1, minimum: value, maximum: value, mean: value },
    })),
    packs: expect.stringMatching(/^http:.*\/packs\/eth\/\{area\}\.\{format\}$/),
  })
  const again = await get(`/${code(1)}`, { headers: { 'if-none-match': String(headers.etag) } })
  expect(again.status).toBe(304)
})

test('of a deleted release it is told what it was, and when', async () => {
  expect((await get('/fertilizer-eth-wheat-2026-09-v1')).body).toMatchObject({
    state: 'deleted',
    source: 'A test',
    published_from: TIME,
    published_to: TIME,
    deleted_at: TIME,
    periods: [{ from: TIME, to: TIME }],
    grids: [],
    layers: [],
    packs: null,
  })
  expect((await get('/nothing')).body).toMatchObject({
    code: 'NOT_FOUND',
    error: 'No release nothing is or was published; `GET /releases` lists those that are there.',
  })
})

const get = (path: string, sent?: Sent) => service.get(`/releases${path}`, sent)

async function list(query = '', by?: Person): Promise<string[]> {
  const { status, body } = await get(query, { by })
  expect(status).toBe(200)
  return body.items.map((item: { release: string; state: string }) => `${item.release} ${item.state}`)
}
