import { expect, test } from 'vitest'
import { findRelease, type ReleaseRow } from '#src/catalog/release-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import {
  claimUnproven,
  findProofs,
  findRoots,
  giveBackHashing,
  renewHashing,
  storeRoot,
} from '#src/extensions/signatures/proof-queries.ts'
import {
  findSigningKey,
  keepSigningKey,
  listSigningKeys,
  retireSigningKey,
} from '#src/extensions/signatures/signing-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { openService } from '#test/setup/open-service.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

// Runs on the embedded database alone: what these statements are for is tested on a server.

const service = openService()

test('statements of proofs and the keys that sign them', async () => {
  const db = service.database.writer
  const source = onePixelRelease({ Urea: 4 }, { forecastPeriod: '2030-04-01' })
  const { code } = await loadRelease(service.database, source, { publish: false })
  const { id } = (await findRelease(db, code)) as ReleaseRow
  const position = { longitude: 38.5, latitude: 9.5 }
  const find = async () => (await findProofs(db, [id], position)).get(id)
  const found = await find()
  expect(found?.pixels).toMatchObject([{ grid: 1, column: 0, row: 0, width: 1, height: 1 }])
  expect(await findRoots(db, [id])).toMatchObject([{ root: found?.root }])
  expect(await claimUnproven(db)).toBeUndefined()
  await db.deleteFrom('release_proof').where('release_id', '=', id).execute()
  expect(await find()).toBeUndefined()
  const claimed = { id, store: 'postgis' as const, grids: [{ width: 1, height: 1 }] }
  expect(await claimUnproven(db)).toMatchObject(claimed)
  expect(await claimUnproven(db)).toBeUndefined()
  await renewHashing(db, id)
  await giveBackHashing(db, id)
  expect(await claimUnproven(db)).toMatchObject(claimed)
  expect(await storeRoot(db, { id, store: 'files' }, [])).toBe(false)
  expect(await storeRoot(db, claimed, [found?.grids as Buffer])).toBe(true)
  expect(await find()).toEqual(found)

  const key = { kid: 'a', public_key: Buffer.alloc(32) }
  for (let time = 0; time < 2; time++) await inTransaction(db, (trx) => keepSigningKey(trx, key))
  await inTransaction(db, (trx) => retireSigningKey(trx, 'a'))
  expect(await findSigningKey(db, 'a')).toMatchObject({ ...key, retired_at: expect.any(Date) })
  expect(await listSigningKeys(db)).toHaveLength(1)
})
