import type { LightMyRequestResponse } from 'fastify'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { createTestAppWithPerson, type Person, type TestAppWithPerson } from '#test/setup/people.ts'

export const FIELD = {
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [38.5, 9.5],
        [38.51, 9.5],
        [38.51, 9.51],
        [38.5, 9.5],
      ],
    ],
  },
}
export const POINT = { lat: 9.5, lng: 38.5 }

interface Call {
  url: string
  key?: string
  payload: object
  /** The service's person, where it is left out; nobody, where it is null. */
  who?: Person | null
  headers?: Record<string, string>
}

/** A service, and what its person asks with keys of idempotency. */
export interface CalledService extends TestAppWithPerson {
  post(call: Call): Promise<LightMyRequestResponse>
  historyOf(who: Person): Promise<string[]>
  /** What is stored of an account's requests. */
  records(userId?: string): Promise<{ answer: Buffer | null }[]>
  /** Has the person's requests be made so long ago, and not answered yet where that is said. */
  age(interval: string, answered?: boolean): Promise<void>
}

export async function createCalledService(): Promise<CalledService> {
  // What is in memory stays there.
  const service = await createTestAppWithPerson({ settings: { RELEASE_MAX_AGE_MS: '60000' } })
  const { app, database, person } = service
  return {
    ...service,
    post({ url, key, payload, who = person, headers = {} }) {
      const named = key === undefined ? {} : { 'idempotency-key': key }
      return app.inject({ method: 'POST', url, payload, headers: { ...who?.headers, ...named, ...headers } })
    },
    async historyOf(who) {
      const { items } = (await app.inject({ url: '/history/my', headers: who.headers })).json()
      return items.map(({ id }: { id: string }) => id)
    },
    records: (userId = person.user.id) =>
      database.writer.selectFrom('idempotency_record').selectAll().where('user_id', '=', userId).execute(),
    async age(interval, answered = true) {
      await sql`
        update idempotency_record
        set begun_at = now() - ${interval}::interval, answer = case when ${answered} then answer end
        where user_id = ${person.user.id}`.execute(database.writer)
    },
  }
}

export function expectReplayed(again: LightMyRequestResponse, first: LightMyRequestResponse): void {
  expect([again.statusCode, again.body]).toEqual([first.statusCode, first.body])
  expect(first.headers).not.toHaveProperty('idempotency-replayed')
  expect(again.headers['idempotency-replayed']).toBe('true')
  const same = ['content-type', 'cache-control', 'advisory-release'] as const
  for (const name of same) expect(again.headers[name]).toBe(first.headers[name])
}
