import { PRODUCTS } from '#schemas/products/index.ts'
import { type Bench, byTurns, load, medians, POINT_PATH, ratio, requestBody, say } from '../bench.ts'
import { join, makeKey } from '../load/client.ts'
import type { LoadResult } from '../load/generator.ts'
import { startServer } from '../processes.ts'
import type { Point } from '../rasters/raster.ts'
import type { Call, CallsResult } from '../results.ts'
import { startService } from '../service.ts'
import { startBare } from './points.ts'

const CONNECTIONS = 64
const MOST_ROUNDS = 5
/** All calls are for the same places, of which the tiles of all products fit into memory together. */
const PLACES = 5_000

/** Where a call goes, and which list of requests it takes. */
interface Target {
  port: number
  list: string
  expected?: number[]
}

/** What callers do beside anonymous points, by turns with those and with two servers that know the answer. */
export async function measureCalls(bench: Bench, url: string): Promise<CallsResult> {
  const service = await startService(bench.cleanup, { DATABASE_URL: url })
  const bare = await startBare(bench)
  const raw = await startRaw(bench)
  await prepareLists(bench, service.port)
  const { port } = service
  const targets: Record<Call, Target> = {
    raw: { port: raw.port, list: 'anonymous' },
    bare: { port: bare.port, list: 'anonymous' },
    anonymous: { port, list: 'anonymous' },
    key: { port, list: 'with-key' },
    token: { port, list: 'with-token' },
    location: { port, list: 'locations' },
    // Not every product has a value everywhere.
    'single-products': { port, list: 'single-products', expected: [200, 404] },
    'all-products': { port, list: 'all-products' },
  }
  // Reads the tiles of all products.
  const { list, expected } = targets['single-products']
  await load(bench, port, { list, order: 'once', connections: CONNECTIONS, round: 0 }, expected)
  const rounds = await measureByTurns(bench, targets)
  for (const server of [service, bare, raw]) await server.stop()
  const { 'single-products': single, 'all-products': all } = rounds
  return {
    connections: CONNECTIONS,
    rows: (Object.keys(targets) as Call[]).map((call) => ({
      call,
      ...medians(rounds[call]),
      rateToRaw: ratio(rounds[call], rounds.raw),
      rateToBare: ratio(rounds[call], rounds.bare),
      rateToAnonymous: ratio(rounds[call], rounds.anonymous),
    })),
    allProductsCost: ratio(single, all) / PRODUCTS.list.length,
  }
}

/** Node's HTTP without anything else, which gives the answer of the first point to everybody. */
function startRaw({ cleanup, data, places }: Bench) {
  const [point] = places.uniform as [Point]
  return startServer(cleanup, ['bin/run.mjs', 'bench/baselines/raw.ts'], {
    ANSWER: data.answerAt(point) as string,
  })
}

async function prepareLists({ generator, places }: Bench, port: number): Promise<void> {
  const key = await makeKey(await join({ port }))
  const { token } = await join({ port })
  const bodies = places.uniform.slice(0, PLACES).map(requestBody)
  const eachProduct = PRODUCTS.list.map(({ code }) => `/advisory/${code}/point`)
  for (const requests of [
    { list: 'anonymous', paths: [POINT_PATH] },
    { list: 'with-key', paths: [POINT_PATH], token: key },
    { list: 'with-token', paths: [POINT_PATH], token },
    { list: 'locations', paths: ['/validate_location'], token },
    { list: 'single-products', paths: eachProduct },
    { list: 'all-products', paths: ['/advisory/point'] },
  ]) {
    await generator.prepare({ ...requests, bodies })
  }
}

async function measureByTurns(
  bench: Bench,
  targets: Record<Call, Target>,
): Promise<Record<Call, LoadResult[]>> {
  const calls = Object.keys(targets) as Call[]
  const rounds = Object.fromEntries(calls.map((call) => [call, []])) as unknown as Record<Call, LoadResult[]>
  const last = Math.min(bench.effort.roundsOfLimits, MOST_ROUNDS)
  // The first round is for V8.
  for (let round = 0; round <= last; round++) {
    say(round === 0 ? 'calls, warming up' : `calls, round ${round} of ${last}`)
    for (const call of byTurns(calls, round)) {
      const { port, list, expected } = targets[call]
      const task = { list, order: 'uniform', connections: CONNECTIONS, round } as const
      const result = await load(bench, port, task, expected)
      if (round > 0) rounds[call].push(result)
    }
  }
  return rounds
}
