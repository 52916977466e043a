// Runs on a server alone: the embedded database has one connection.
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { listReleases, lockReleases, publishRelease } from '#src/catalog/release-queries.ts'
import { seedNext } from '#src/ingest/demo/seed.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

const opened = openDatabase('empty')

test('a release that is published while the demo loads one is not replaced by it', async () => {
  const { database } = opened
  const { writer } = database
  const { code } = await loadRelease(database, onePixelRelease({ Urea: 1 }), { publish: false })
  const seeding = await writer.transaction().execute(async (trx) => {
    await lockReleases(trx)
    const begun = seedNext(database)
    begun.catch(() => {})
    await vi.waitFor(async () => {
      const { rows } = await sql`
        select from pg_locks where relation = 'publication'::regclass and not granted`.execute(trx)
      expect(rows).toHaveLength(1)
    }, PATIENCE)
    await publishRelease(trx, code)
    return { begun }
  })
  await expect(seeding.begun).rejects.toThrow('Releases that are not synthetic were published meanwhile.')
  expect((await listReleases(writer)).map((release) => [release.code, release.publishedAt !== null])).toEqual(
    [[code, true]],
  )
  expect(await seedNext(database)).toEqual({ loaded: 0, of: 0, isNew: false })
})
