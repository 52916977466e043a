import { Kysely } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import type { Reading } from '#src/data/database.ts'
import { readingDialect } from '#src/data/replica-reads.ts'
import type { Tables } from '#src/data/tables.ts'
import type { TestApp } from '#test/setup/app.ts'
import { clientOf } from '#test/setup/calls.ts'
import { createTestDatabase } from '#test/setup/database.ts'
import { documentOf, operationsOf } from '#test/setup/document.ts'
import { asSomebody, examplesOf } from '#test/setup/example-requests.ts'
import { PATIENCE } from '#test/setup/patience.ts'

// Runs on a server alone: the embedded database has no replica.

describe('with a replica', () => {
  let service: TestApp
  /** How often a reading was begun. One of the replica ends at the primary where a busy machine answers late. */
  const begun = { replica: 0, atPrimary: 0 }
  const counted = (at: keyof typeof begun, begin: () => Reading) => {
    const counting = () => {
      begun[at]++
      return begin()
    }
    return [counting, new Kysely<Tables>({ dialect: readingDialect(counting) })] as const
  }
  beforeAll(async () => {
    const testDatabase = await createTestDatabase('demo')
    // What is asked where is the same when both lead to one server.
    const config = loadConfig({
      ...testDatabase.environment,
      DATABASE_READ_URL: testDatabase.config.DATABASE_URL as string,
      TILE_CACHE_MB: '0',
      RELEASE_MAX_AGE_MS: '0',
      SMTP_URL: 'smtp://127.0.0.1:1',
      MAIL_FROM: 'noreply@example.org',
    })
    const cluster = await openCluster(config)
    const connected = cluster.connect()
    const [beginReading, reader] = counted('replica', connected.beginReading)
    const [beginReadingAtPrimary, readerAtPrimary] = counted('atPrimary', connected.beginReadingAtPrimary)
    const database = { ...connected, beginReading, reader, beginReadingAtPrimary, readerAtPrimary }
    const app = await buildApp(config, database)
    // Work in the background would read between requests and count for the next of them.
    vi.spyOn(app.jobs, 'wake').mockReturnValue()
    service = {
      ...{ app, database, ...clientOf(app) },
      async close() {
        await app.close()
        await database.close()
        await cluster.close()
        await testDatabase.drop()
      },
    } as TestApp
  })
  afterAll(() => service.close())

  test('what is asked of it is what reads.txt has, and all else is read where it is written', async () => {
    const document = await documentOf(service.app, 'all')
    const asked: string[] = []
    for (const { method, path, operation } of operationsOf(document)) {
      const [{ mediaType, body, query }] = examplesOf(document, operation) as [
        ReturnType<typeof examplesOf>[number],
      ]
      const { url, headers, payload } = await asSomebody(service, operation, path, body)
      const before = begun.replica
      const sent = {
        headers: { ...headers, ...(mediaType && { 'content-type': mediaType }) },
        payload: payload as object,
      }
      const ask = () => service.ask(`${method.toUpperCase()} ${url}${query}`, sent)
      // What takes longer than ten seconds goes on behind its answer, and would read for the next ones.
      const isAnswered = async () => expect((await ask()).status, operation.operationId).not.toBe(503)
      await vi.waitFor(isAnswered, PATIENCE)
      if (begun.replica > before) asked.push(operation.operationId as string)
    }
    // Nothing is in memory here: points and polygons look up each time what is published.
    await expect(`${asked.join('\n')}\n`).toMatchFileSnapshot('reads.txt')
    // The replica had all of it.
    expect(begun.atPrimary).toBe(0)
  })
})
