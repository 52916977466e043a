import { type Bench, load, requestBody, say, warmUp } from '../bench.ts'
import type { MemoryResult } from '../results.ts'
import { startService } from '../service.ts'

const CONNECTIONS = 64

/**
 * The memory of a process with the default settings. The tiles of both releases together are larger
 * than the memory that they may take, so after asking for all of them it is full.
 */
export async function measureMemory(bench: Bench, url: string): Promise<MemoryResult> {
  say('memory')
  const { effort, generator, places } = bench
  await generator.prepare({
    list: 'tiles-of-yield',
    paths: ['/advisory/yield/point'],
    bodies: places.tiles.map(requestBody),
  })
  const service = await startService(bench.cleanup, { DATABASE_URL: url })
  const idle = service.memory().resident
  await load(bench, service.port, { list: 'zipf', order: 'zipf', connections: CONNECTIONS, round: 0 })
  const loaded = service.memory().resident
  await warmUp(bench, service.port)
  for (const [list, order] of [
    ['tiles-of-yield', 'once'],
    ['tiles-of-yield', 'uniform'],
    ['uniform', 'uniform'],
  ] as const) {
    const seconds = 2 * effort.seconds
    await load(bench, service.port, { list, order, connections: CONNECTIONS, seconds, round: 0 })
  }
  const { resident: full, peak = null } = service.memory()
  await service.stop()
  return { idle, loaded, full, peak }
}
