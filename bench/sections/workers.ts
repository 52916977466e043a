import { spawnSync } from 'node:child_process'
import {
  type Bench,
  byTurns,
  load,
  median,
  medians,
  POINT_PATH,
  ratio,
  requestBody,
  say,
  warmUp,
} from '../bench.ts'
import { type LoadResult, startGenerator } from '../load/generator.ts'
import type { Server } from '../processes.ts'
import type { WorkersResult } from '../results.ts'
import { startService } from '../service.ts'

const CONNECTIONS = 64
const MOST_ROUNDS = 5
/** The core that the generator may use: it is to take no more from two workers than from one. */
const ONE_CORE = ['taskset', '--cpu-list', '0']
/** More workers than cores say nothing of the rate, but of the cost of a request. */
const WORKERS = [1, 2, 4]
const MOST_CORES = 2
/** In less time, compilation and garbage of each worker are most of the cost. */
const COST_SECONDS = 3
/** Each worker has tiles of its own, and gets its part of the requests for each. */
const WARM_UPS = 2

/** Services with some workers behind one port. */
interface Workers {
  workers: number
  service: Server
  rates: LoadResult[]
  /** Microseconds of CPU that a request took, with one a core at a time: more would wait for cores. */
  costs: number[]
}

/** Services with one worker and with several; undefined where the generator cannot be kept on one core. */
export async function measureWorkers(bench: Bench, url: string): Promise<WorkersResult | undefined> {
  if (spawnSync('taskset', ['--version']).error) {
    say('workers: left out, there is no taskset here, which keeps the load generator on one core')
    return undefined
  }
  const generator = startGenerator(bench.cleanup, ONE_CORE)
  for (const list of ['uniform', 'tiles'] as const) {
    await generator.prepare({ list, paths: [POINT_PATH], bodies: bench.places[list].map(requestBody) })
  }
  const pinned = { ...bench, generator }
  const longer = { ...pinned, effort: { ...bench.effort, seconds: COST_SECONDS } }
  const targets: Workers[] = []
  for (const workers of WORKERS) {
    const service = await startService(bench.cleanup, { DATABASE_URL: url }, { WORKERS: `${workers}` })
    for (let time = 0; time < WARM_UPS * workers; time++) await warmUp(pinned, service.port)
    targets.push({ workers, service, rates: [], costs: [] })
  }
  const last = Math.min(bench.effort.roundsOfLimits, MOST_ROUNDS)
  for (let round = 0; round < last; round++) {
    say(`workers, round ${round + 1} of ${last}`)
    for (const { workers, service, rates, costs } of byTurns(targets, round)) {
      const task = { list: 'uniform', order: 'uniform', round } as const
      if (workers <= MOST_CORES)
        rates.push(await load(pinned, service.port, { ...task, connections: CONNECTIONS }))
      const before = service.cpuSeconds()
      const underWay = Math.min(workers, MOST_CORES)
      const { statuses } = await load(longer, service.port, { ...task, connections: underWay })
      costs.push((1e6 * (service.cpuSeconds() - before)) / (statuses[200] ?? Number.NaN))
    }
  }
  for (const { service } of targets) await service.stop()
  await generator.stop()
  const [one] = targets as [Workers]
  return {
    rows: targets
      .filter(({ rates }) => rates.length > 0)
      .map(({ workers, rates }) => ({
        workers,
        ...medians(rates),
        rateToOne: ratio(rates, one.rates),
        generatorLoad: Math.max(...rates.map(({ generatorLoad }) => generatorLoad)),
      })),
    costs: targets.map(({ workers, costs }) => ({
      workers,
      cpu: median(costs),
      cpuToOne: median(costs.map((cost, round) => cost / (one.costs[round] as number))),
    })),
  }
}
