import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { createTestApp } from '#test/setup/app.ts'
import { captureLog } from '#test/setup/log.ts'
import { newPerson } from '#test/setup/people.ts'
import { createProxiedApp } from '#test/setup/proxied-app.ts'

const POINT = { lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' }

/** Makes whatever reads the publications run, or fail, in another way. */
function publicationsThat(condition: string) {
  return ({ writer }: Database) =>
    sql
      .raw(`alter table publication rename to real_publication;
        create view publication as select real_publication.* from real_publication where ${condition}`)
      .execute(writer)
}

test('an outage is one line of the log when it begins and one when it is over, however many requests meet it', async () => {
  const service = await createProxiedApp({ LOG_LEVEL: 'warn', RELEASE_MAX_AGE_MS: '0' })
  const lines = captureLog(service.app)
  const { headers } = await newPerson(service.app)
  lines.length = 0
  await service.proxy.cut()
  const point = { method: 'POST', url: '/advisory/yield/point', payload: POINT } as const
  for (let time = 0; time < 20; time++) {
    expect((await service.app.inject(point)).statusCode).toBe(503)
    expect((await service.app.inject({ ...point, headers })).statusCode).toBe(503)
  }
  expect(lines.join('')).not.toContain('    at ')
  service.proxy.mend()
  await service.close()
  const logged = lines.map((line) => JSON.parse(line)).filter(({ incident }) => incident)
  expect(logged).toEqual([
    expect.objectContaining({ level: 50, reqId: expect.any(String), reason: expect.any(String) }),
    expect.objectContaining({
      level: 40,
      msg: 'this is over',
      incident: 'DATABASE_UNAVAILABLE',
      seconds: expect.any(Number),
      failures: { 'yieldAtPoint 503': 40, 'a caller could not be looked up': 20 },
    }),
  ])
})

test('a statement that fails is a 500 without SQL, and one line of the log with its stack, however many meet it', async () => {
  const service = await createTestApp({
    settings: { LOG_LEVEL: 'warn' },
    prepare: publicationsThat('1 / (select count(*) - count(*) from country) = 0'),
  })
  const lines = captureLog(service.app)
  for (let time = 0; time < 20; time++) {
    const answer = await service.app.inject('/catalog')
    expect([answer.statusCode, answer.json()]).toEqual([
      500,
      {
        error: 'Internal error. The request may be valid.',
        code: 'INTERNAL',
        request_id: expect.any(String),
      },
    ])
  }
  const { rows } = await sql`select code from country where code = 'eth'`.execute(service.database.reader)
  expect(rows).toEqual([{ code: 'eth' }])
  await service.close()
  const logged = lines.map((line) => JSON.parse(line))
  expect(logged).toEqual([
    expect.objectContaining({
      level: 50,
      reqId: expect.any(String),
      err: expect.objectContaining({
        message: 'division by zero',
        stack: expect.stringContaining('    at '),
      }),
    }),
    expect.objectContaining({ level: 40, msg: 'this is over', failures: { 'getCatalog 500': 20 } }),
  ])
})
