// Runs on both databases: making a key public is a transaction.
import { generateKeyPairSync } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import type { Proof } from '#src/extensions/signatures/schemas.ts'
import { retireSigningKey } from '#src/extensions/signatures/signing-queries.ts'
import { call } from '#test/setup/calls.ts'
import { captureLog } from '#test/setup/log.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const { privateKey } = generateKeyPairSync('ed25519')
const SIGNING_KEY = String(privateKey.export({ format: 'pem', type: 'pkcs8' }))

const service = openService({ settings: { SIGNING_KEY, LOG_LEVEL: 'warn' } })

async function prove({ app }: Pick<typeof service, 'app'>): Promise<Proof> {
  const { body } = await call(app, 'GET /advisory/yield/point?lat=9.5&lng=38.5&proof=true')
  return body.proof[0]
}

/** Kinds and keys of the records of keys. */
async function listKeyRecords() {
  const { rows } = await service.database.pool.query(
    "select kind, detail ->> 'kid' as kid, operator is not null as by from audit_record where kind like 'signing_key%' order by id",
  )
  return rows
}

test('a key that a process makes public has a record, once', async () => {
  const { kid } = await prove(service)
  const record = { kind: 'signing_key_made', kid, by: true }
  expect(await listKeyRecords()).toEqual([record])
  const { config, database } = service.app
  const other = await buildApp(config, database)
  expect((await prove({ app: other })).kid).toBe(kid)
  await other.close()
  expect(await listKeyRecords()).toEqual([record])
})

test('within ten seconds proofs do not ask for the key again', async () => {
  const sql: string[] = []
  const { statements } = service.database
  const note = (event: { query: { sql: string } }) => sql.push(event.query.sql)
  const first = await prove(service)
  statements.on('asked', note)
  const proofs = await Promise.all(Array.from({ length: 5 }, () => prove(service)))
  statements.off('asked', note)
  expect(proofs).toEqual(Array(5).fill(first))
  expect(sql.filter((text) => text.includes('signing_key'))).toEqual([])
})

test('a retired key in the setting is a warning at the start, and signs nothing', async () => {
  const { config, database } = service.app
  const { kid } = await prove(service)
  await database.writer.transaction().execute((trx) => retireSigningKey(trx, kid as string))
  const other = await buildApp(config, database)
  try {
    const log = captureLog(other)
    const { merkle_root, ...proof } = await prove({ app: other })
    expect(proof).toMatchObject({ kid: null, signature: null })
    const warned = () => log.map((line) => JSON.parse(line)).filter((line) => line.kid === kid)
    await vi.waitFor(() => expect(warned()).toHaveLength(1), PATIENCE)
    expect(warned()[0].msg).toBe('the key of SIGNING_KEY is retired: proofs have no signature')
    expect(merkle_root).toMatch(/^[\w-]{43}$/)
  } finally {
    await other.close()
  }
})
