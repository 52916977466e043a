import type { Cleanup } from '../cleanup.ts'
import type { LoadGenerator } from '../load/generator.ts'
import type { DatabaseServer } from '../postgres.ts'

/** What is measured with. */
export interface Stage {
  cleanup: Cleanup
  server: DatabaseServer
  /** The processes of the database server. */
  serverProcesses(): number[]
  generator: LoadGenerator
  /** A temporary folder, removed at the end. */
  folder: string
}

/** A database with one release, and where its tiles are. */
export interface LoadedDatabase {
  url: string
  /** TILE_STORE. */
  tileStore: string
}

/** The settings that name it. */
export function whereIs({ url, tileStore }: LoadedDatabase) {
  return { DATABASE_URL: url, TILE_STORE: tileStore }
}
