import { join } from 'node:path'
import type { Manifest } from '#src/ingest/manifest.ts'
import { type Bench, byTurns, compare, load, median, say, warmUp } from '../bench.ts'
import type { LoadResult } from '../load/generator.ts'
import type { Section } from '../options.ts'
import type { EmbeddedResult, Results, StartUpResult } from '../results.ts'
import { ingest, startService, withDatabase } from '../service.ts'
import { compareAnswers } from './answers.ts'
import { measureLoads } from './loads.ts'
import { startBare } from './points.ts'

const CONNECTIONS = [1, 16, 64]
const LIMITED = 16

/** The same points on the embedded database, beside the bare route. */
export async function measureEmbedded(bench: Bench, folder: string): Promise<EmbeddedResult> {
  say('embedded: loading')
  const where = { DATA_DIR: folder }
  const [fertilizer] = bench.data.manifests as [Manifest]
  await withDatabase(where, (database) => ingest(database, fertilizer))
  const service = await startService(bench.cleanup, where)
  const bare = await startBare(bench)
  for (const { port } of [bare, service]) await warmUp(bench, port)
  const rounds = new Map(CONNECTIONS.map((connections) => [connections, { bare: [], service: [] } as Rounds]))
  for (let round = 0; round < bench.effort.roundsOfLimits; round++) {
    say(`embedded, round ${round + 1} of ${bench.effort.roundsOfLimits}`)
    for (const [connections, results] of rounds) {
      if (round >= bench.effort.rounds && connections !== LIMITED) continue
      const turns = [
        { port: bare.port, results: results.bare },
        { port: service.port, results: results.service },
      ]
      for (const turn of byTurns(turns, round)) {
        const task = { list: 'uniform', order: 'uniform', connections, round } as const
        turn.results.push(await load(bench, turn.port, task))
      }
    }
  }
  const answers = await compareAnswers(bench, [{ name: 'embedded', port: service.port, givesReasons: true }])
  const memory = service.memory().resident
  await service.stop()
  await bare.stop()
  return {
    cells: [...rounds].map(([connections, results]) => ({
      connections,
      ...compare(results.service, results.bare),
    })),
    answers,
    memory,
  }
}

interface Rounds {
  bare: LoadResult[]
  service: LoadResult[]
}

/** Seconds from the start of the process until it listens, on a server whose schema is up to date. */
export async function measureServerStart({ cleanup, effort }: Bench, url: string): Promise<number> {
  say('start-up on the server')
  const seconds: number[] = []
  for (let start = 0; start < effort.rounds; start++) {
    const service = await startService(cleanup, { DATABASE_URL: url })
    seconds.push(service.startedIn)
    await service.stop()
  }
  return median(seconds)
}

/** The same for the embedded database in an empty folder, demo data included, and then once more. */
export async function measureEmbeddedStart(
  { cleanup }: Bench,
  folder: string,
): Promise<Pick<StartUpResult, 'embeddedFirst' | 'embeddedSecond'>> {
  say('start-up of the embedded database')
  const first = await startService(cleanup, { DATA_DIR: folder })
  await first.stop()
  const second = await startService(cleanup, { DATA_DIR: folder })
  await second.stop()
  return { embeddedFirst: first.startedIn, embeddedSecond: second.startedIn }
}

/** The sections of the embedded database, one after the other in one folder. */
export async function measureOnEmbedded(bench: Bench, only: Section[], results: Results): Promise<void> {
  const folder = join(bench.folder, 'embedded')
  if (only.includes('startup')) {
    const starts = await measureEmbeddedStart(bench, folder)
    results.startUp = { server: null, ...results.startUp, ...starts }
  }
  if (only.includes('embedded')) results.embedded = await measureEmbedded(bench, folder)
  if (only.includes('loads')) {
    const { rows = [], raster2pgsql = null } = results.loads ?? {}
    const where = { DATA_DIR: join(bench.folder, 'loads') }
    results.loads = { rows: [...rows, await measureLoads(bench, where)], raster2pgsql }
  }
}
