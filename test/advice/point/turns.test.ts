import type { LightMyRequestResponse } from 'fastify'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'

// Runs on a server alone: who waits for whom is the same on both.

const POINT = '/advisory/yield/point'
const INSIDE = { lat: 9, lng: 38.7 }

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ settings: { RELEASE_MAX_AGE_MS: '60000', DATABASE_QUEUE_LIMIT: '1200' } })
})
afterAll(() => service.close())

/** Keeps the database from answering anybody until what comes out is called. */
async function holdDatabase(): Promise<() => void> {
  const { pool } = service.database
  // What is published is known from then on.
  expect((await ask(INSIDE)).statusCode).toBe(200)
  const held = await Promise.all(
    Array.from({ length: pool.options.max }, (): Promise<pg.PoolClient> => pool.connect()),
  )
  return () => {
    for (const connection of held) connection.release()
  }
}

function ask(payload: object, headers = {}, remoteAddress = '192.0.2.1'): Promise<LightMyRequestResponse> {
  return service.app.inject({ method: 'POST', url: POINT, payload, headers, remoteAddress })
}

/** Waits until something waits for a connection. */
async function untilAsked(): Promise<void> {
  await vi.waitFor(() => expect(service.database.pool.waitingCount).toBeGreaterThan(0), PATIENCE)
}

/** Points of the Indian Ocean, each in a cell of its own of those that the countries are known by. */
function pointsAtSea(count: number, south: number): { lat: number; lng: number }[] {
  return Array.from({ length: count }, (_, index) => ({
    lat: south - Math.floor(index / 40) / 16,
    lng: 60 + (index % 40) / 16,
  }))
}

describe('points that wait for the database', () => {
  test('of one network do not keep one of another waiting for all of them', async () => {
    const release = await holdDatabase()
    const answered: string[] = []
    const askAtSea = async (network: string, point: object) => {
      const { statusCode } = await ask(point, {}, network)
      answered.push(network)
      return statusCode
    }
    const many = pointsAtSea(1000, -10).map((point) => askAtSea('192.0.2.1', point))
    await untilAsked()
    const one = askAtSea('198.51.100.1', { lat: -30.03, lng: 61.03 })
    release()
    expect(await one).toBe(404)
    expect(new Set(await Promise.all(many))).toEqual(new Set([404]))
    // It is in the next query of 200, after the two at most that were under way.
    expect(answered.indexOf('198.51.100.1')).toBeLessThanOrEqual(600)
  })

  test('are refused where too many wait: the newest of the network that has most', async () => {
    const release = await holdDatabase()
    const many = pointsAtSea(1500, -40).map((point) => ask(point))
    await untilAsked()
    const few = pointsAtSea(3, -60).map((point) => ask(point, {}, '198.51.100.1'))
    await vi.waitFor(async () => expect((await ask({ lat: -70, lng: 61 })).statusCode).toBe(503), PATIENCE)
    release()
    expect((await Promise.all(few)).map(({ statusCode }) => statusCode)).toEqual([404, 404, 404])
    const statuses = (await Promise.all(many)).map(({ statusCode }) => statusCode)
    expect(statuses.filter((status) => status === 404)).toHaveLength(1197)
    expect(statuses.filter((status) => status === 503)).toHaveLength(303)
  })
})

test('answers that wait to be kept for one caller do not keep those of another waiting for all of them', async () => {
  const [attacker, neighbour] = [await newPerson(service.app), await newPerson(service.app)]
  for (const { headers } of [attacker, neighbour]) {
    expect((await ask(INSIDE, { ...headers, prefer: 'history=none' })).statusCode).toBe(200)
  }
  const release = await holdDatabase()
  const answered: string[] = []
  const keep = async (name: string, headers: object) => {
    const { statusCode, body } = await ask(INSIDE, headers)
    answered.push(name)
    expect([statusCode, Object.keys(JSON.parse(body))]).toEqual([200, expect.arrayContaining(['history_id'])])
  }
  const many = Array.from({ length: 2000 }, () => keep('attacker', attacker.headers))
  await untilAsked()
  const one = keep('neighbour', neighbour.headers)
  release()
  await Promise.all([...many, one])
  // It is in the next statement of 500, after the one that was under way.
  expect(answered.indexOf('neighbour')).toBeLessThanOrEqual(1000)
})
