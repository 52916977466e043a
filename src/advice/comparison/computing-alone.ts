import { readUntil } from '#src/data/cancellable.ts'
import type { Database } from '#src/data/client.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { type Computation, readingTiles } from '../polygon/computing.ts'

/** What a command computes with: nobody else waits, and nothing ends it but the command itself. */
export function computingAlone(database: Database): Computation {
  const reads = readUntil(database, new AbortController().signal)
  return {
    ...reads,
    readTiles: readingTiles(createTileStores(database), reads),
    wait: (something) => something(),
    pause: async () => {},
  }
}
