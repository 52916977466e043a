import { randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { transformPolygons } from '#src/advice/polygon/queries.ts'
import { publishesSynthetic } from '#src/catalog/release-queries.ts'
import type { Ask } from '#src/data/database.ts'
import { deleteOldItems, FIRST_ACCOUNT, findRetention } from '#src/history/retention-queries.ts'
import { createIdempotencyRecords } from '#src/http/idempotency-queries.ts'
import { cutByNearestSeat } from '#src/ingest/demo/queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { clearSummaries } from '#src/ingest/queries.ts'
import { findCells } from '#src/lookup/queries.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { onePixelRelease, PIXEL_CENTRE } from '#test/setup/releases.ts'

/* What starts, timers and repairs send, and grids of other systems ask: no other test of this process waits for it. */

const service = openService()

test('items of imports that are too old are deleted account by account', async () => {
  const { app, database, person } = service
  const { writer: db } = database
  const at = `lat=${PIXEL_CENTRE.lat}&lng=${PIXEL_CENTRE.lng}`
  await call(app, `POST /advisory/yield/point?${at}`, { by: person })
  await sql`
    insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
    select uuid_at(now() - interval '4 months'), user_id, template_id, bytes, subject_id, crop_code, request, answer
    from history_item`.execute(db)
  await sql`update history_size set items = 2 * items, bytes = 2 * bytes`.execute(db)
  expect(await findRetention(db, 1)).toEqual({ going: false, old: true })
  expect(await deleteOldItems(db, 1, FIRST_ACCOUNT)).toBe(person.user.id)
  expect(await findRetention(db, 1)).toEqual({ going: false, old: false })
})

test('a start looks for synthetic data, and cuts the demo where there are no districts', async () => {
  const { writer: db } = service.database
  expect(await publishesSynthetic(db)).toBe(true)
  const seats = [
    { code: 'ETH-01', longitude: 37, latitude: 9 },
    { code: 'ETH-02', longitude: 41, latitude: 8 },
  ]
  expect(await cutByNearestSeat(db, 'eth', seats, [1])).toHaveLength(2)
})

test('an answer is left to the next attempt, expired ones go, and summaries are cleared', async () => {
  const { writer: db } = service.database
  const records = createIdempotencyRecords(db, 1000, () => {})
  await records.abandon({ id: randomBytes(32), attempt: randomUUID() })
  await records.deleteExpired()
  const { id } = await db.selectFrom('coverage').select('id').executeTakeFirstOrThrow()
  await clearSummaries(db, id)
  const left = db.selectFrom('tile_summary').select('coverage_id').where('coverage_id', '=', id)
  expect(await left.execute()).toEqual([])
})

test('a position has its cell, and a polygon is moved into the system of a grid', async () => {
  const { writer: db } = service.database
  const source = onePixelRelease({ Urea: 4 }, { forecastPeriod: '2030-03-01' })
  const { code } = await loadRelease(service.database, source, { publish: false })
  const { id: coverageId } = await db
    .selectFrom('coverage')
    .innerJoin('release', 'release.id', 'release_id')
    .select('coverage.id')
    .where('code', '=', code)
    .executeTakeFirstOrThrow()
  const position = { coverageId, longitude: PIXEL_CENTRE.lng, latitude: PIXEL_CENTRE.lat }
  expect(await findCells(db, [position])).toEqual([{ row: 0, column: 0 }])
  const ask: Ask = async (query) => (await query.execute(db)).rows
  const triangle = [Float64Array.of(38, 9, 39, 9, 39, 10, 38, 9)]
  expect(await transformPolygons(ask, [triangle], 3857, 1)).toHaveLength(1)
})
