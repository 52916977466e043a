import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { bodyIn, MEDIA_TYPES, rowsOf, send } from './forms.ts'

// Runs on a server alone: what bodies may be is the same on both.

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({
    settings: { BODY_LIMIT_BYTES: '100000', BATCH_BODY_LIMIT_BYTES: '2000000' },
  })
})
afterAll(() => service.close())

const FIELD = { lat: 9.5, lng: 38.5 }

const of = (count: number) => Array.from({ length: count }, () => FIELD)

async function refusal(type: string, payload: string) {
  const response = await send(service.app, 'yield', { payload, type })
  return { status: response.statusCode, ...response.json() }
}

describe('a call may have so many points', () => {
  test.each(MEDIA_TYPES)('1,000 without a token: %s', async (type) => {
    const enough = await send(service.app, 'yield', { payload: bodyIn(type, of(1000)), type })
    expect(enough.statusCode).toBe(200)
    expect(await refusal(type, bodyIn(type, of(1001)))).toEqual({
      status: 413,
      error:
        'The call has 1001 points. Without a token a call may have 1000 points, with one (log in with POST /auth/login) 20000.',
      code: 'TOO_MANY_POINTS',
      request_id: expect.any(String),
    })
  })

  test('20,000 with a token, and not one more', async () => {
    const type = 'application/x-ndjson'
    const { headers } = service.person
    const payload = bodyIn(type, of(20_001))
    const response = await send(service.app, 'yield', { payload, type, headers })
    expect(response.statusCode).toBe(413)
    expect(response.json()).toEqual({
      error: 'The call has more than 20000 points. A call may have 20000 points: send several.',
      code: 'TOO_MANY_POINTS',
      request_id: expect.any(String),
    })
  })

  test('all of them are answered', async () => {
    const sent = of(20_000).map((point, id) => ({ id, ...point }))
    const payload = bodyIn('text/csv', sent)
    const response = await send(service.app, 'yield', {
      payload,
      type: 'text/csv',
      accept: 'text/csv',
      headers: service.person.headers,
    })
    expect(response.statusCode).toBe(200)
    const rows = rowsOf(response.body)
    expect(rows.map(({ id }) => Number(id))).toEqual(sent.map(({ id }) => id))
    expect(new Set(rows.map((row) => row['yield_kg_ha Normal']))).toEqual(new Set(['3694']))
  })

  test.each(MEDIA_TYPES)('at least one: %s', async (type) => {
    for (const payload of ['', bodyIn(type, [])]) {
      const { status, code, details } = await refusal(type, payload)
      expect([status, code]).toEqual([400, 'INVALID_PARAMETERS'])
      expect(details).toEqual([{ field: 'points', message: 'points must not be empty' }])
    }
  })
})

describe('a body may be so long', () => {
  test.each(MEDIA_TYPES)('and one line of it no longer: %s', async (type) => {
    const { status, code, error } = await refusal(type, 'x'.repeat(100_001))
    expect([status, code]).toEqual([413, 'BODY_TOO_LARGE'])
    expect(error).toContain(
      'The body is larger than 100000 bytes. Without a token a call may have 1000 points',
    )
  })

  test('longer with a token', async () => {
    const point = { ...FIELD, note: 'x'.repeat(150_000) }
    const sent = { payload: bodyIn('application/json', [point]), type: 'application/json' }
    expect((await send(service.app, 'yield', sent)).statusCode).toBe(413)
    expect((await send(service.app, 'yield', { ...sent, headers: service.person.headers })).statusCode).toBe(
      200,
    )
    const tooLong = { payload: 'x'.repeat(2_000_001), type: 'text/csv', headers: service.person.headers }
    expect((await send(service.app, 'yield', tooLong)).json().code).toBe('BODY_TOO_LARGE')
  })
})
