import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import { collectionOf } from '#test/advice/polygons/ask.ts'
import { call, type Sent } from '#test/setup/calls.ts'
import { callUntilMade } from '#test/setup/made-answers.ts'
import type { Person } from '#test/setup/people.ts'
import type { ProxiedApp } from '#test/setup/proxied-app.ts'
import { FIELD_IN_PIXEL } from '#test/setup/releases.ts'

const FIELD = { type: 'Feature', id: 'f1', geometry: FIELD_IN_PIXEL, properties: null }
export const POINT = '/advisory/yield/point?lat=9.5&lng=38.5'
export const IMPATIENT = { STATEMENT_TIMEOUT_MS: '1000' }

/** Doors whose answer to somebody with a token is another one than to anybody. */
export const DOORS: [door: string, request: string, sent?: Omit<Sent, 'by'>][] = [
  ['a saved field as a place', 'GET /advisory/yield?place=coop/f1'],
  ['a saved field as the place of all products', 'GET /advisory?place=coop/f1'],
  ['a saved field as the place of a text', 'GET /advisory/yield?place=coop/f1&format=text'],
  ['a point to be kept once', `POST ${POINT}`, { headers: { 'idempotency-key': randomUUID() } }],
  ['its text', `POST ${POINT}`, { headers: { 'idempotency-key': randomUUID(), accept: 'text/plain' } }],
  ['more points than anybody may send', 'POST /advisory/yield/points', { payload: pointsOf(1001) }],
  ['polygons', 'POST /advisory/yield/polygons', { payload: { fields: 'coop' } }],
  ['a polygon', 'POST /advisory/yield', { payload: { field: 'coop/f1' } }],
  ['fields', 'GET /fields'],
  ['advice on fields', 'GET /fields/coop/advice?product=yield'],
  ['the history', 'GET /history/my'],
  ['the profile', 'GET /user/profile'],
]

/** What an admin alone finds. */
export const ADMIN_DOORS: typeof DOORS = [
  ['a list of releases', 'GET /releases?product=fertilizer'],
  ['a release that was never published', 'GET /releases/fertilizer-eth-wheat-2026-07-v1'],
  [
    'a point of it',
    'GET /advisory/fertilizer/point?lat=9.5&lng=38.5&release=fertilizer-eth-wheat-2026-07-v1',
  ],
]

function pointsOf(count: number) {
  return { points: Array.from({ length: count }, () => ({ lat: 9.5, lng: 38.5 })) }
}

export async function keepField(app: ProxiedApp['app'], by: Person): Promise<void> {
  const sent = { by, headers: { 'content-type': 'application/geo+json' } }
  const kept = await callUntilMade(app, 'PUT /fields/coop', {
    ...sent,
    payload: JSON.stringify(collectionOf([FIELD])),
  })
  expect(kept.status).toBe(200)
}

export async function keyOf(app: ProxiedApp['app'], by: Person): Promise<Sent['by']> {
  return (await call(app, 'POST /auth/keys', { by, payload: { name: 'x' } })).body.key
}

export async function expectAway(app: ProxiedApp['app'], request: string, sent: Sent): Promise<void> {
  const { status, headers, body, text } = await call(app, request, sent)
  const code = body?.code ?? text
  expect([request, status, code]).toEqual([
    request,
    503,
    text.startsWith('{') ? 'DATABASE_UNAVAILABLE' : expect.stringMatching(/try again/i),
  ])
  expect(headers).not.toHaveProperty('www-authenticate')
  expect(headers['retry-after']).toBe('1')
}
