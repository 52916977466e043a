// Runs on both databases: hashes are bytes in tables, and tiles are rasters.
import { beforeAll, expect, test, vi } from 'vitest'
import type { Proof } from '#src/extensions/signatures/schemas.ts'
import { call } from '#test/setup/calls.ts'
import { captureLog } from '#test/setup/log.ts'
import { openService } from '#test/setup/open-service.ts'

const service = openService({ settings: { LOG_LEVEL: 'error' } })

/** What the service tells the operator. */
let log: string[]
beforeAll(() => {
  log = captureLog(service.app)
})

const QUERY = 'lat=9.5&lng=38.5'

async function ask(path: string) {
  const { status, body } = await call(service.app, `GET /advisory/${path}`)
  return { status, body }
}

async function readError(path: string) {
  const { status, body } = await ask(path)
  return [status, body.code, body.error]
}

const UNREADABLE = [503, 'DATABASE_UNAVAILABLE', 'The rasters cannot be read at present; try again later.']

/** Where the proof of the answer lies in the tables. */
async function locate() {
  const { release, pixels } = (await ask(`yield/point?${QUERY}&proof=true`)).body.proof[0] as Proof
  const [{ grid, column, row }] = pixels as [Proof['pixels'][number]]
  const { rows } = await service.database.pool.query(
    'select release_id, coverage.id from coverage join release on release.id = release_id where code = $1 order by coverage.id',
    [release],
  )
  const { release_id, id } = rows[grid - 1]
  return { release, releaseId: release_id, coverageId: id, column, row }
}

const flip = (column: string, byte: number) =>
  `${column} = set_byte(${column}, ${byte}, get_byte(${column}, ${byte}) # 1)`

type Place = Awaited<ReturnType<typeof locate>>

const tileOf = ({ coverageId, column, row }: Place) =>
  `raster_tile where coverage_id = ${coverageId} and tile_row = ${row >> 4} and tile_column = ${column >> 4}`
const nodesOf = ({ coverageId }: Place, level: number) =>
  `proof_node where coverage_id = ${coverageId} and level = ${level}`
const rootOf = ({ releaseId }: Place) => `release_proof where release_id = ${releaseId}`

/** @param pixel of the tile, from 0 */
const addTo = (column: number, row: number) =>
  `rast = st_setvalue(rast, 1, ${column + 1}, ${row + 1}, st_value(rast, 1, ${column + 1}, ${row + 1}) + 1)`

test.each<[what: string, rows: (place: Place) => string, change: (place: Place) => string | null]>([
  ['its number', tileOf, ({ column, row }) => addTo(column & 15, row & 15)],
  ['a number of its tile', tileOf, ({ column, row }) => addTo((column & 15) ^ 8, (row & 15) ^ 1)],
  ['its tile, which is missing', tileOf, () => null],
  ['the hashes of tiles', (place) => nodesOf(place, 0), () => flip('hashes', 0)],
  ['the hashes of tiles, which are missing', (place) => nodesOf(place, 0), () => null],
  ['the hashes of chunks', (place) => nodesOf(place, 1), () => flip('hashes', 31)],
  ['the hashes of chunks, which are missing', (place) => nodesOf(place, 1), () => null],
  ['the hashes of grids', rootOf, () => flip('grids', 7)],
  ['the header', rootOf, () => "header = header || ' '"],
  ['the root', rootOf, () => flip('root', 16)],
])('without a proof that holds, it is refused as a damaged file is: %s', async (_, rowsOf, change) => {
  const { pool } = service.database
  const plain = await ask(`yield/point?${QUERY}`)
  const proven = await ask(`yield/point?${QUERY}&proof=true`)
  const place = await locate()
  const rows = rowsOf(place)
  const [table] = rows.split(' ')
  await pool.query(`create table kept as select * from ${rows}`)
  const changed = change(place)
  await pool.query(
    changed === null ? `delete from ${rows}` : `update ${rows.replace(' where', ` set ${changed} where`)}`,
  )
  expect(await readError(`yield/point?${QUERY}&proof=true`)).toEqual(UNREADABLE)
  expect(await readError(`point?${QUERY}&proof=true`)).toEqual(UNREADABLE)
  expect(await ask(`yield/point?${QUERY}`)).toEqual(plain)

  await pool.query(`delete from ${rows}`)
  await pool.query(`insert into ${table} select * from kept`)
  await pool.query('drop table kept')
  expect(await ask(`yield/point?${QUERY}&proof=true`)).toEqual(proven)
})

test('the operator is told of it by the log and a metric', async () => {
  const { release, column, row } = await locate()
  const { incident, reason } = JSON.parse(log[0] as string)
  expect([incident, reason]).toEqual([
    'DATABASE_UNAVAILABLE',
    `the proof of ${release} fails at column ${column}, row ${row} of grid 1: its tile or its hashes were changed`,
  ])
  const readers = service.app.metrics.readers().get('agro_tile_files_errors_total') ?? []
  const samples = readers.flatMap((read) => read())
  expect(samples.find(({ labels }) => labels.reason === 'differs')?.value).toBe(20)
})

test('proofs of pixels are computed by turns, one at a time', async () => {
  const next = vi.spyOn(service.app.turns, 'next')
  const { status, body } = await call(service.app, 'GET /advisory/point?lat=9.5&lng=38.5&proof=true')
  const turns = next.mock.calls.filter(([, signal]) => signal)
  next.mockRestore()
  expect(status).toBe(200)
  const pixels = body.proof.flatMap(({ pixels }: Proof) => pixels)
  expect(pixels.length).toBeGreaterThan(3)
  expect(turns).toHaveLength(pixels.length)
  expect(new Set(turns.map(([{ network }]) => network))).toEqual(new Set(['127.0.0.1']))
})
