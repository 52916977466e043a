import { readUntil } from '#src/database/cancellable.ts'
import type { Database } from '#src/database/client.ts'
import { createTileStores } from '#src/tiles/stores.ts'
import type { Computation } from '../computing.ts'
import { readingTiles } from '../reading-tiles.ts'

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
