// Runs on both databases: making a key public is a transaction.
import { expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { retireSigningKey } from '#src/extensions/signatures/signing-queries.ts'
import { call } from '#test/setup/calls.ts'
import { captureLog } from '#test/setup/log.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { makeKey } from './made.ts'

const service = openService({ settings: { SIGNING_KEY: makeKey(), LOG_LEVEL: 'warn' } })

test('a key that a process makes public has a record, once', async () => {
  const kid = await askKey(service)
  const record = { kind: 'signing_key_made', kid, by: true }
  expect(await listKeyRecords()).toEqual([record])
  const { config, database } = service.app
  const other = await buildApp(config, database)
  expect(await askKey({ app: other })).toBe(kid)
  await other.close()
  expect(await listKeyRecords()).toEqual([record])
})

test('within ten seconds signatures do not ask for the key again', async () => {
  const sql: string[] = []
  const { statements } = service.database
  const note = (event: { query: { sql: string } }) => sql.push(event.query.sql)
  const first = await askKey(service)
  statements.on('asked', note)
  const signed = await Promise.all(Array.from({ length: 5 }, () => askKey(service)))
  statements.off('asked', note)
  expect(signed).toEqual(Array(5).fill(first))
  expect(sql.filter((text) => text.includes('signing_key'))).toEqual([])
})

test('a retired key in the setting is a warning at the start, and signs nothing', async () => {
  const { config, database } = service.app
  const kid = await askKey(service)
  await database.writer.transaction().execute((trx) => retireSigningKey(trx, kid as string))
  const other = await buildApp(config, database)
  try {
    const log = captureLog(other)
    expect(await askKey({ app: other })).toBeNull()
    const warned = () => log.map((line) => JSON.parse(line)).filter((line) => line.kid === kid)
    await vi.waitFor(() => expect(warned()).toHaveLength(1), PATIENCE)
    expect(warned()[0].msg).toBe('the key of SIGNING_KEY is retired: releases have no signature')
  } finally {
    await other.close()
  }
})

/** The key of the signature of a release of the demo; null without a signature. */
async function askKey({ app }: Pick<typeof service, 'app'>): Promise<string | null> {
  const { body } = await call(app, 'GET /releases/synthetic-yield-eth-wheat-2026-07-v1')
  const [head] = body.signature?.split('.') ?? []
  return head === undefined ? null : JSON.parse(String(Buffer.from(head, 'base64url'))).kid
}

/** Kinds and keys of the records of keys. */
async function listKeyRecords() {
  const { rows } = await service.database.pool.query(
    "select kind, detail ->> 'kid' as kid, operator is not null as by from audit_record where kind like 'signing_key%' order by id",
  )
  return rows
}
