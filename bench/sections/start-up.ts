import { type Bench, median, say } from '../bench.ts'
import type { StartUpResult } from '../results.ts'
import { startService } from '../service.ts'

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
