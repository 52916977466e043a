import { type Bench, byTurns, compare, type Effort, load, median, ratio, say, warmUp } from '../bench.ts'
import type { LoadResult } from '../load/generator.ts'
import { type Server, startServer } from '../processes.ts'
import type { Point } from '../rasters/raster.ts'
import type { PointsResult, Spread, Target } from '../results.ts'
import { startService } from '../service.ts'

/** The targets, each a process of its own. */
export type Targets = Record<Target, Server>

const LIMITED = 64
const COLD_SECONDS = 3

interface Cell {
  target: Target
  spread: Spread
  connections: number
  rounds: LoadResult[]
}

/** Starts the service, with and without tiles in memory, and what it is compared with. */
export async function startTargets(bench: Bench, url: string, release: string): Promise<Targets> {
  const { cleanup } = bench
  const where = { DATABASE_URL: url }
  const startOneQuery = (table: 'raster2pgsql' | 'service') =>
    startServer(cleanup, ['bin/run.mjs', 'bench/baselines/one-query.ts'], {
      ...where,
      RELEASE: release,
      TABLE: table,
    })
  return {
    bare: await startBare(bench),
    'one-query': await startOneQuery('raster2pgsql'),
    'one-query-own-tiles': await startOneQuery('service'),
    memory: await startService(cleanup, where),
    'no-cache': await startService(cleanup, where, { TILE_CACHE_MB: '0' }),
  }
}

/** The bare route, which gives the answer of the first point to everybody. */
export function startBare({ cleanup, data, places }: Bench): Promise<Server> {
  const [point] = places.uniform as [Point]
  return startServer(cleanup, ['bin/run.mjs', 'bench/baselines/bare.ts'], {
    ANSWER: data.answerAt(point) as string,
  })
}

/** Measures the targets by turns under every load. */
export async function measurePoints(bench: Bench, url: string, targets: Targets): Promise<PointsResult> {
  for (const { port } of Object.values(targets)) await warmUp(bench, port)
  if (bench.effort.loads.some(({ spread }) => spread === 'anywhere')) {
    for (const target of ['memory', 'no-cache'] as const) await warmUpAnywhere(bench, targets[target].port)
  }
  const names = Object.keys(targets) as Target[]
  const cells = new Map<string, Cell>()
  for (let round = 0; round < bench.effort.roundsOfLimits; round++) {
    say(`points, round ${round + 1} of ${bench.effort.roundsOfLimits}`)
    const loads =
      round < bench.effort.rounds
        ? everyLoad(bench.effort)
        : [{ spread: 'uniform' as const, connections: LIMITED }]
    for (const { spread, connections } of loads) {
      for (const target of byTurns(names, round)) {
        const task = {
          list: spread,
          order: spread === 'zipf' ? spread : 'uniform',
          connections,
          round,
        } as const
        const result = await load(
          bench,
          targets[target].port,
          task,
          spread === 'anywhere' ? [200, 404] : [200],
        )
        const key = `${spread} ${connections} ${target}`
        const cell = cells.get(key) ?? { target, spread, connections, rounds: [] }
        cell.rounds.push(result)
        cells.set(key, cell)
      }
    }
  }
  const roundsOf = (target: Target, { spread, connections }: Cell) =>
    (cells.get(`${spread} ${connections} ${target}`) as Cell).rounds
  return {
    cells: [...cells.values()].map((cell) => {
      const { target, spread, connections, rounds } = cell
      const compared = compare(rounds, roundsOf('bare', cell), roundsOf('one-query', cell))
      return { target, spread, connections, ...compared }
    }),
    cold: await measureCold(bench, url),
  }
}

/** Which tiles are not there, and why points have no value, is kept in memory as well. */
async function warmUpAnywhere(bench: Bench, port: number): Promise<void> {
  const task = { list: 'anywhere', order: 'once', connections: LIMITED, round: 0 } as const
  await load(bench, port, task, [200, 404])
}

function everyLoad({ loads }: Effort): { spread: Spread; connections: number }[] {
  return loads.flatMap(({ spread, connections }) =>
    connections.map((count) => ({ spread, connections: count })),
  )
}

type Cold = 'bare' | 'memory' | 'no-cache'

/** The first seconds of processes that have just become ready, and the same processes warm. */
async function measureCold(bench: Bench, url: string): Promise<PointsResult['cold']> {
  const { cleanup, effort } = bench
  const measured = () => ({ bare: [], memory: [], 'no-cache': [] }) as Record<Cold, LoadResult[]>
  const [rounds, warm] = [measured(), measured()]
  const where = { DATABASE_URL: url }
  // As after an upgrade: a process has been asked for these points before.
  const before = await startService(cleanup, where)
  await warmUp(bench, before.port)
  await before.stop()
  for (let round = 0; round < effort.rounds; round++) {
    say(`cold start, round ${round + 1} of ${effort.rounds}`)
    const memory = await startService(cleanup, where)
    const noCache = await startService(cleanup, where, { TILE_CACHE_MB: '0' })
    const bare = await startBare(bench)
    for (const [target, server] of Object.entries({ bare, memory, 'no-cache': noCache })) {
      const task = { list: 'uniform', order: 'uniform', connections: LIMITED, round } as const
      const cold = await load(bench, server.port, { ...task, seconds: COLD_SECONDS })
      rounds[target as Cold].push(cold)
      await warmUp(bench, server.port)
      warm[target as Cold].push(await load(bench, server.port, task))
    }
    for (const server of [bare, memory, noCache]) await server.stop()
  }
  return (Object.keys(rounds) as Cold[]).map((target) => ({
    target,
    seconds: COLD_SECONDS,
    rate: median(rounds[target].map(({ rate }) => rate)),
    rateToBare: ratio(rounds[target], rounds.bare),
    rateToWarm: ratio(rounds[target], warm[target]),
    p99: median(rounds[target].map(({ p99 }) => p99)),
  }))
}
