import type pg from 'pg'
import { expect, test, vi } from 'vitest'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'

// Runs on a server alone: who waits for whom is the same on both.

const INSIDE = { lat: 9, lng: 38.7 }

const service = openService({ settings: { RELEASE_MAX_AGE_MS: '60000', DATABASE_QUEUE_LIMIT: '1200' } })

test('points of one network that wait for the database are refused beyond half of the places, those of others not', async () => {
  const release = await holdDatabase()
  const many = pointsAtSea(700, -10).map((point) => ask(point))
  await untilAsked()
  const few = pointsAtSea(3, -60).map((point) => ask(point, {}, '198.51.100.1'))
  await vi.waitFor(async () => expect((await ask({ lat: -70, lng: 61 })).status).toBe(503), PATIENCE)
  release()
  expect((await Promise.all(few)).map(({ status }) => status)).toEqual([404, 404, 404])
  const statuses = (await Promise.all(many)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 404)).toHaveLength(600)
  expect(statuses.filter((status) => status === 503)).toHaveLength(100)
})

test('answers of one caller that wait to be kept have half of the room, and those of another are kept', async () => {
  const [attacker, neighbour] = [await newPerson(service.app), await newPerson(service.app)]
  for (const { headers } of [attacker, neighbour]) {
    expect((await ask(INSIDE, { ...headers, prefer: 'history=none' })).status).toBe(200)
  }
  const release = await holdDatabase()
  const isKept = async (headers: object) => {
    const { status, text } = await ask(INSIDE, headers)
    expect(status).toBe(200)
    return 'history_id' in JSON.parse(text)
  }
  const many = Array.from({ length: 3500 }, () => isKept(attacker.headers))
  await untilAsked()
  const one = isKept(neighbour.headers)
  release()
  expect(await one).toBe(true)
  const kept = (await Promise.all(many)).filter(Boolean).length
  expect(kept).toBeGreaterThan(2000)
  expect(kept).toBeLessThan(3200)
})

const POINT = '/advisory/yield/point'

/** Keeps the database from answering anybody until what comes out is called. */
async function holdDatabase(): Promise<() => void> {
  const { pool } = service.database
  // What is published is known from then on.
  expect((await ask(INSIDE)).status).toBe(200)
  const held = await Promise.all(
    Array.from({ length: pool.options.max }, (): Promise<pg.PoolClient> => pool.connect()),
  )
  return () => {
    for (const connection of held) connection.release()
  }
}

function ask(payload: object, headers = {}, from = '192.0.2.1') {
  return service.post(POINT, { payload, headers, from })
}

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
