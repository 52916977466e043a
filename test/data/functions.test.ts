import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { findRelease } from '#src/catalog/release-queries.ts'
import { deleteOldRecords } from '#src/data/audit-queries.ts'
import { deleteOldest } from '#src/history/recording-queries.ts'
import { dropMonthPiece, findRetention } from '#src/history/retention-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { findPixels } from '#src/lookup/queries.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { onePixelRelease, PIXEL_CENTRE } from '#test/setup/releases.ts'

// Runs on both databases: what a function of PL/pgSQL does is compiled when it is called, and no operation of the document calls these.

const service = openService()

test('pixel_values', async () => {
  const { writer: db } = service.database
  const source = onePixelRelease({ Urea: 4 }, { forecastPeriod: '2030-03-01' })
  const { code } = await loadRelease(service.database, source, { publish: false })
  const release = await findRelease(db, code)
  const coverages = db
    .selectFrom('coverage')
    .select('id')
    .where('release_id', '=', release?.id as number)
  const { id: coverageId } = await coverages.executeTakeFirstOrThrow()
  const pixel = { coverageId, longitude: PIXEL_CENTRE.lng, latitude: PIXEL_CENTRE.lat }
  expect(await findPixels(db, [pixel])).toEqual([[4]])
})

test('delete_old_audit_records', async () => {
  expect(await deleteOldRecords(service.database.writer, 1, 10)).toBe(0)
})

test('oldest_history_items, detach_history_month, drop_history_month and keep_vacuum_away', async () => {
  const { app, database, person } = service
  const { writer: db } = database
  const at = `lat=${PIXEL_CENTRE.lat}&lng=${PIXEL_CENTRE.lng}`
  const kept = await call(app, `POST /advisory/yield/point?${at}`, { by: person })
  expect(kept.body.history_id).toEqual(expect.any(String))
  await sql`
    insert into history_item (id, user_id, template_id, bytes, subject_id, crop_code, request, answer)
    select uuid_at(now() - interval '4 months'), user_id, template_id, bytes, subject_id, crop_code, request, answer
    from history_item`.execute(db)
  await sql`update history_size set items = 2 * items, bytes = 2 * bytes`.execute(db)
  await dropMonthPiece(db, 1)
  await sql`create table history_item_going_month () inherits (history_item_going)`.execute(db)
  expect(await dropMonthPiece(db, undefined)).toBe(true)
  expect(await findRetention(db, undefined)).toEqual({ going: false, old: false })
  const { rows } = await sql`select to_regclass('history_item_going_month') as month`.execute(db)
  expect(rows).toEqual([{ month: null }])
  const quota = { items: 2, bytes: 1e6, full: 'oldest' } as const
  expect(await deleteOldest(db, person.user.id, quota, 10)).toBe(1)
})
