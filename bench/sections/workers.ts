import { spawnSync } from 'node:child_process'
import { SETTINGS } from '#src/config.ts'
import { type Bench, load, medians, POINT_PATH, ratio, requestBody, say, warmUp } from '../bench.ts'
import { type LoadResult, startGenerator } from '../load/generator.ts'
import type { WorkersResult } from '../results.ts'
import { startService } from '../service.ts'

const CONNECTIONS = 64
const MOST_ROUNDS = 5
/** The core that the generator may use: it is to take no more from two workers than from one. */
const ONE_CORE = ['taskset', '--cpu-list', '0']
const WORKERS = [1, 2]
/** Each worker has tiles of its own, and gets about half of the requests for each. */
const WARM_UPS = 3

/** One port with one worker behind it and with two; undefined where the service has one process always. */
export async function measureWorkers(bench: Bench, url: string): Promise<WorkersResult | undefined> {
  if (!SETTINGS.includes('WORKERS')) {
    say('workers: left out, this version has no setting WORKERS')
    return undefined
  }
  if (spawnSync('taskset', ['--version']).error) {
    say('workers: left out, there is no taskset here, which keeps the load generator on one core')
    return undefined
  }
  const generator = startGenerator(bench.cleanup, ONE_CORE)
  for (const list of ['uniform', 'tiles'] as const) {
    await generator.prepare({ list, paths: [POINT_PATH], bodies: bench.places[list].map(requestBody) })
  }
  const pinned = { ...bench, generator }
  const targets: { workers: number; port: number; rounds: LoadResult[] }[] = []
  const services = []
  for (const workers of WORKERS) {
    const service = await startService(bench.cleanup, { DATABASE_URL: url }, { WORKERS: `${workers}` })
    for (let time = 0; time < WARM_UPS; time++) await warmUp(pinned, service.port)
    services.push(service)
    targets.push({ workers, port: service.port, rounds: [] })
  }
  const last = Math.min(bench.effort.roundsOfLimits, MOST_ROUNDS)
  for (let round = 0; round < last; round++) {
    say(`workers, round ${round + 1} of ${last}`)
    for (const { port, rounds } of round % 2 === 0 ? targets : targets.toReversed()) {
      const task = { list: 'uniform', order: 'uniform', connections: CONNECTIONS, round } as const
      rounds.push(await load(pinned, port, task))
    }
  }
  for (const service of services) await service.stop()
  await generator.stop()
  const [one] = targets
  return {
    rows: targets.map(({ workers, rounds }) => ({
      workers,
      ...medians(rounds),
      rateToOne: ratio(rounds, one?.rounds ?? []),
      generatorLoad: Math.max(...rounds.map(({ generatorLoad }) => generatorLoad)),
    })),
  }
}
