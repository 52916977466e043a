import { expect, test } from 'vitest'
import { inTransaction } from '#src/data/sql.ts'
import {
  findSigningKey,
  keepSigningKey,
  listSigningKeys,
  retireSigningKey,
} from '#src/extensions/signatures/signing-queries.ts'
import { findStatement } from '#src/extensions/signatures/statement-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { openService } from '#test/setup/open-service.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

// Runs on the embedded database alone: what these statements are for is tested on a server.

const service = openService()

test('statements of releases and the keys that sign them', async () => {
  const db = service.database.writer
  const source = onePixelRelease({ Urea: 4 }, { forecastPeriod: '2030-04-01' })
  const { code } = await loadRelease(service.database, source, { publish: false })
  expect(await findStatement(db, code, true)).toContain(`"release":"${code}"`)
  expect(await findStatement(db, code, false)).toBeUndefined()

  const key = { kid: 'a', public_key: Buffer.alloc(32) }
  for (let time = 0; time < 2; time++) await inTransaction(db, (trx) => keepSigningKey(trx, key))
  await inTransaction(db, (trx) => retireSigningKey(trx, 'a'))
  expect(await findSigningKey(db, 'a')).toMatchObject({ ...key, retired_at: expect.any(Date) })
  expect(await listSigningKeys(db)).toHaveLength(1)
})
