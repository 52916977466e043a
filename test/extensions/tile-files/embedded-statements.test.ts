import { expect, test } from 'vitest'
import { findRelease } from '#src/catalog/release-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import {
  clearStore,
  listMovedCoverages,
  listSomeGranules,
  listUsedFiles,
  namesFiles,
  switchStore,
} from '#src/extensions/tile-files/queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { openService } from '#test/setup/open-service.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

// Runs on the embedded database alone: what these statements are for is tested on a server.

const service = openService()

test('statements of moves and sweeps', async () => {
  const db = service.database.writer
  const source = onePixelRelease({ Urea: 4 }, { forecastPeriod: '2030-03-01' })
  const { code } = await loadRelease(service.database, source, { publish: false })
  const release = await findRelease(db, code)
  const [coverage] = await listMovedCoverages(db, release?.id as number)
  await clearStore(db, 'files', coverage?.id as number)
  await inTransaction(db, (trx) => switchStore(trx, code, 'postgis'))
  expect(await listUsedFiles(db, ['none.tif'])).toEqual(new Set())
  expect(await namesFiles(db)).toBe(false)
  expect(await listSomeGranules(db, 1)).toEqual([])
})
