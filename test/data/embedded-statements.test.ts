import { randomBytes, randomUUID } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { cleanUp } from '#src/accounts/index.ts'
import {
  addKeyUsage,
  deleteApiKeys,
  deleteOldUsage,
  findKeyUser,
  touchKey,
} from '#src/accounts/key-queries.ts'
import { endSession, hasUsedNetwork } from '#src/accounts/queries.ts'
import {
  admitRegistration,
  countRegistrations,
  findRegistrations,
  insertRegistration,
  renewRegistration,
  wasUsed,
} from '#src/accounts/token-queries.ts'
import { deleteUser, emailKey, listUsers, removePiece, setRole } from '#src/accounts/user-queries.ts'
import { findNearestCountries } from '#src/advice/location/queries.ts'
import { findSourceOfValues } from '#src/advice/point/provenance-queries.ts'
import { transformPolygons } from '#src/advice/polygon/queries.ts'
import { FULL_SHAPE, findOutlines, listAreas, refuseWithoutAreas } from '#src/catalog/area-queries.ts'
import {
  findPredecessor,
  findRelease,
  listLayers,
  listReleaseSizes,
  publishesSynthetic,
  publishRelease,
  type ReleaseRow,
} from '#src/catalog/release-queries.ts'
import { pruneRelease } from '#src/catalog/removal-queries.ts'
import {
  findSchedule,
  findTimeToPublication,
  publishNextDue,
  refusePast,
  scheduleRelease,
  unscheduleRelease,
} from '#src/catalog/schedule-queries.ts'
import { deleteOldRecords, listRecords, listReleaseRecords } from '#src/data/audit-queries.ts'
import type { Ask } from '#src/data/database.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import { createMonths, createMonthsAhead } from '#src/history/queries.ts'
import { deleteOldest, findAccounts } from '#src/history/recording-queries.ts'
import {
  deleteOldItems,
  dropMonthPiece,
  FIRST_ACCOUNT,
  findRetention,
} from '#src/history/retention-queries.ts'
import { addRequestCounts, countErrors, countRequests, countUsers } from '#src/history/stats-queries.ts'
import { createIdempotencyRecords } from '#src/http/idempotency-queries.ts'
import { noLatencies } from '#src/http/metrics/requests.ts'
import { cutByNearestSeat } from '#src/ingest/demo/queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { clearSummaries } from '#src/ingest/queries.ts'
import { findAreasAt, findCells, findPixels, findReleaseState } from '#src/lookup/queries.ts'
import type { Layer } from '#src/maps/published.ts'
import { readMeans, transformPositions } from '#src/maps/queries.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

// Runs on the embedded database alone.

/* Statements of commands and jobs, each once: what they are for is tested on a server. */

const HOUR_MS = 3_600_000
const PAST_DAY = '2025-01-31'

const service = openService()
let db: Kysely<Tables>
beforeAll(async () => {
  db = service.database.writer
})

const within = <Result>(work: (trx: Transaction<Tables>) => Promise<Result>) => inTransaction(db, work)

/** Loads a release of a month, which nobody is answered from. */
const load = async (rate: number, month = '2030-01') =>
  (
    await loadRelease(service.database, onePixelRelease({ Urea: rate }, { forecastPeriod: `${month}-01` }), {
      publish: false,
    })
  ).code

test('of registrations, roles and sessions', async () => {
  const email = `${randomUUID()}@example.org`
  const user = { email, passwordHash: 'x', name: 'Kofi', organisation: null }
  const token = () => ({ hash: randomBytes(32), hours: 1 })
  await insertRegistration(db, user, token())
  expect(await countRegistrations(db, email)).toBe(1)
  const renewed = token()
  expect(await renewRegistration(db, email, renewed)).toMatchObject({ email })
  const [waiting] = await findRegistrations(db, renewed.hash)
  expect(await within((trx) => admitRegistration(trx, waiting as NonNullable<typeof waiting>))).toBe(
    waiting?.id,
  )
  expect(await setRole(db, email, 'admin')).toBe(waiting?.id)
  expect((await listUsers(db)).map((one) => one.email)).toContain(email)

  const { person } = service
  expect(await hasUsedNetwork(db, emailKey(person.email), '127.0.0.1')).toBe(true)
  expect(await within((trx) => wasUsed(trx, randomBytes(32)))).toBe(false)
  await endSession(db, randomUUID())
  const made = await call(service.app, 'POST /auth/keys', { by: person, payload: { name: 'tests' } })
  const keyId: string = made.body.id
  expect(await findKeyUser(db, randomBytes(32))).toBeUndefined()
  await touchKey(db, keyId)
  await addKeyUsage(db, [{ keyId, day: PAST_DAY, requests: 1 }])
  await deleteOldUsage(db)
  expect(await deleteApiKeys(db, person.user.id)).toBe(1)
  for await (const { kind } of listRecords(db, {
    userId: person.user.id,
    kind: 'login',
    since: new Date(0),
  })) {
    expect(kind).toBe('login')
  }
  const records = createIdempotencyRecords(db, 1000, () => {})
  await records.abandon({ id: randomBytes(32), attempt: randomUUID() })
  await records.deleteExpired()
  expect(await deleteOldRecords(db, 1, 10)).toBe(0)
})

test('of releases that are scheduled, compared and pruned', async () => {
  const [first, second] = [await load(1), await load(2)]
  const soon = { publishAt: new Date(Date.now() + HOUR_MS), allowed: [], strict: false }
  await refusePast(db, soon.publishAt)
  await within((trx) => scheduleRelease(trx, first, soon))
  const { id } = (await findRelease(db, first)) as ReleaseRow
  expect(await findSchedule(db, id)).toMatchObject(soon)
  expect(await findTimeToPublication(db, [])).toBeGreaterThan(0)
  await within((trx) => unscheduleRelease(trx, first))

  const past = (hours: number) => ({ ...soon, publishAt: new Date(Date.now() - hours * HOUR_MS) })
  await within((trx) => scheduleRelease(trx, first, past(2)))
  await within((trx) => scheduleRelease(trx, second, past(1)))
  const publish = (trx: Transaction<Tables>, { code }: { code: string }) =>
    publishRelease(trx, code).then(() => ({ replaced: undefined }))
  expect(await publishNextDue(db, publish, [id])).toMatchObject({ due: { code: second } })
  expect((await findSchedule(db, id))?.refusal).toContain(second)
  expect((await listReleaseRecords(db, first)).map(({ kind }) => kind)).toContain('release_refused')

  const rowOf = async (code: string) => (await findRelease(db, code)) as ReleaseRow
  expect(await findPredecessor(db, await rowOf(first))).toMatchObject({ release: { code: second } })
  expect(await findPredecessor(db, await rowOf(second))).toBeUndefined()
  const elsewhere = await load(3, '2030-02')
  expect((await findPredecessor(db, await rowOf(elsewhere)))?.reason).toContain('without a month')
  expect(await pruneRelease(db, elsewhere, 0, () => {})).toBe(true)
  expect(await publishesSynthetic(db)).toBe(true)
})

test('of pixels', async () => {
  const code = await load(4, '2030-03')
  const { id } = (await findRelease(db, code)) as ReleaseRow
  const coverages = db.selectFrom('coverage').select('id').where('release_id', '=', id)
  const { id: coverageId } = await coverages.executeTakeFirstOrThrow()
  const pixels = [{ coverageId, longitude: 38.5, latitude: 9.5 }]
  expect(await findPixels(db, pixels)).toEqual([[4]])
  expect(await findCells(db, pixels)).toEqual([{ row: 0, column: 0 }])
  expect(await listLayers(db, id)).toHaveLength(1)
  expect(await transformPositions(db, 3857, [0], [0])).toEqual([{ x: 0, y: expect.closeTo(0) }])
  expect(await findReleaseState(db, code)).toMatchObject({ id, status: 'ready' })
  const layer = { coverage: { id: coverageId }, band: 1 } as Layer
  const block = { level: 0, firstRow: 0, lastRow: 0, firstColumn: 0, lastColumn: 0 }
  expect(await readMeans(db, layer, block)).toMatchObject([{ row: 0, column: 0, mean: 4 }])
  await clearSummaries(db, coverageId)
  const found = await findSourceOfValues(db, id, { longitude: 38.5, latitude: 9.5 })
  expect(found?.pixels).toMatchObject([{ coverageId, column: 0, row: 0 }])
  expect([...(await listReleaseSizes(db, id)).keys()]).toEqual([id])
})

test('of areas and accounts', async () => {
  expect(await findAreasAt(db, [{ longitude: 38.5, latitude: 9.5 }])).not.toEqual([[]])
  expect(await findNearestCountries(db, [{ longitude: -0.5, latitude: 2 }])).toMatchObject([
    { country_code: 'gha' },
  ])
  const shapes = { ...FULL_SHAPE, tolerance: 0.01 }
  const near = {
    countryCode: 'eth',
    levels: [1, 2],
    rectangle: [38, 9, 39, 10] as const,
    offset: 0,
    limit: 1,
  }
  expect((await listAreas(db, { ...near, shape: shapes })).areas).toHaveLength(1)
  const country = { code: 'eth', name: 'Ethiopia', levels: [1], version: '' }
  const parent = { field: 'parent', parent: 'none' }
  await expect(refuseWithoutAreas(db, country, 1, parent)).rejects.toThrow('must be the code of an area')
  expect(await findOutlines(db, [{ countryCode: 'eth', code: 'none', level: null }])).toEqual([null])
  const seats = [
    { code: 'ETH-01', longitude: 37, latitude: 9 },
    { code: 'ETH-02', longitude: 41, latitude: 8 },
  ]
  const ask: Ask = async (query) => (await query.execute(db)).rows
  const triangle = [Float64Array.of(38, 9, 39, 9, 39, 10, 38, 9)]
  expect(await transformPolygons(ask, [triangle], 3857, 1)).toHaveLength(1)
  expect(await cutByNearestSeat(db, 'eth', seats, [1])).toHaveLength(2)
  const { id } = service.person.user
  expect(await findAccounts(db, [id])).toEqual(new Set([id]))
})

test('of histories and figures', async () => {
  const { app, person } = service
  const kept = await call(app, 'POST /advisory/yield/point?lat=9.5&lng=38.5', { by: person })
  const mine = await call(app, 'GET /history/my?product=yield&kind=point&country_code=eth', { by: person })
  expect(mine.body.items).toEqual([expect.objectContaining({ id: kept.body.history_id })])
  await sql`
    insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
    select uuid_at(now() - interval '4 months'), user_id, template_id, bytes, subject_id, crop_code, request, answer
    from history_item`.execute(db)
  await sql`update history_size set items = 2 * items, bytes = 2 * bytes`.execute(db)
  expect(await findRetention(db, 1)).toEqual({ going: false, old: true })
  expect(await deleteOldItems(db, 1, FIRST_ACCOUNT)).toBe(person.user.id)
  expect(await findRetention(db, 1)).toEqual({ going: false, old: false })
  await dropMonthPiece(db, 1)
  await sql`create table history_item_going_month () inherits (history_item_going)`.execute(db)
  expect(await dropMonthPiece(db, undefined)).toBe(true)
  expect(await findRetention(db, undefined)).toEqual({ going: false, old: false })
  expect(await deleteOldest(db, person.user.id, { items: 10, bytes: 1e6, full: 'oldest' }, 10)).toBe(0)

  await createMonthsAhead(db)
  await createMonths(db, '00000000-0000-7000-8000-000000000000')
  const failure = { operation: 'getCatalog', status: 500, code: 'INTERNAL', requests: 1 }
  const latencies = noLatencies().fill(1, 0, 1)
  await addRequestCounts(db, [{ ...failure, day: PAST_DAY, totalMs: 1, maxMs: 1, latencies }])
  const scope = { from: PAST_DAY, to: PAST_DAY, userId: null }
  expect((await countUsers(db, scope)).registered).toBeGreaterThan(0)
  expect(await countRequests(db, scope)).toHaveLength(3)
  expect(await countErrors(db, scope)).toEqual([{ status: 500, code: 'INTERNAL', requests: 1 }])
})

test('of what is over', async () => {
  await db
    .updateTable('session')
    .set({ ended_at: new Date(0) })
    .execute()
  await cleanUp(db)
  expect(await db.selectFrom('session').select('id').execute()).toEqual([])
  expect(await within((trx) => deleteUser(trx, service.person.user.id))).toMatchObject({ accounts: 1 })
  while (await removePiece(db));
  expect(await db.selectFrom('account_removal').select('user_id').execute()).toEqual([])
})
