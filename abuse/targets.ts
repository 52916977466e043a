import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Cleanup, temporaryFolder } from '#bench/cleanup.ts'
import { askHeld, HELD_MEMORY } from '#bench/held-memory.ts'
import { join as joinService, type Member } from '#bench/load/client.ts'
import { openDatabaseServer } from '#bench/postgres.ts'
import { freePort, type Server } from '#bench/processes.ts'
import { startService, type Where } from '#bench/service.ts'
import type { Memory, Target } from './scenario.ts'

/** Which databases the service is attacked on. */
export type Kind = 'server' | 'embedded'

/** What the door for SMS is opened with. */
export const DOOR = {
  SMS_SECRET: 'a-secret-of-a-gateway-with-32-characters',
  SENDER_KEY: 'a key of 32 bytes at least, of attacks alone',
}

const MIB = 2 ** 20
let newcomers = 0

/** Registers somebody at an address of their own, who has logged in. */
function newcomerAt(port: number): Promise<Member> {
  newcomers++
  return joinService({ port, address: `127.66.${newcomers >> 8}.${newcomers & 255}` })
}

/** A service that somebody else has started on this machine. */
export function runningTarget({ port }: URL): Target {
  return {
    port: Number(port),
    memory: undefined,
    stored: undefined,
    withdraw: undefined,
    newcomer: () => newcomerAt(Number(port)),
  }
}

/** Starts the service with the demo data on a database of its own; undefined where there is no such database. */
export async function startTarget(cleanup: Cleanup, kind: Kind): Promise<Target | undefined> {
  const place = kind === 'server' ? await onServer(cleanup) : onFolder(cleanup)
  if (!place) return undefined
  const { where, stored } = place
  const folder = temporaryFolder(cleanup, 'abuse')
  const settings = {
    ...DOOR,
    DEMO_DATA: 'true',
    LOG_LEVEL: 'fatal',
    NODE_OPTIONS: `--import=${HELD_MEMORY}`,
    HELD_MEMORY_FILE: join(folder, 'held'),
    // Receivers of webhooks are on this machine.
    WEBHOOK_ALLOW_PRIVATE: 'true',
    PORT: `${await freePort()}`,
  }
  let service = await startService(cleanup, where, settings)
  const { port } = service
  return {
    port,
    memory: () => memoryOf(service, join(folder, 'held')),
    stored,
    async withdraw(release) {
      // One process at a time has the folder of an embedded database.
      if (kind === 'embedded') await service.stop()
      await runAgro(where, 'releases', 'rollback', release, '--yes')
      // A start with the demo data would load the withdrawn release again, and nothing would have changed.
      if (kind === 'embedded')
        service = await startService(cleanup, where, { ...settings, DEMO_DATA: 'false' })
    },
    newcomer: () => newcomerAt(port),
  }
}

const AGRO = fileURLToPath(new URL('../bin/agro.mjs', import.meta.url))

/** Runs a command of the operator. */
async function runAgro(where: Where, ...parameters: string[]): Promise<void> {
  const env = { PATH: process.env.PATH, ENV_FILE: devNull, LOG_LEVEL: 'fatal', ...where }
  await promisify(execFile)(process.execPath, [AGRO, ...parameters], { env })
}

/** Asks the process, which has loaded `held-memory.mjs`. */
async function memoryOf({ pid, memory }: Server, file: string): Promise<Memory> {
  const { resident } = memory()
  const { main, threads } = await askHeld(pid, file)
  return { held: main + threads, resident }
}

interface Place {
  where: Where
  stored: () => Promise<number>
}

async function onServer(cleanup: Cleanup): Promise<Place | undefined> {
  const server = await openDatabaseServer(cleanup)
  if (!server) return undefined
  const url = await server.createDatabase('abuse')
  return {
    where: { DATABASE_URL: url },
    async stored() {
      const [row] = await server.execute(url, 'select pg_database_size(current_database())::float8 as bytes')
      return (row as { bytes: number }).bytes / MIB
    },
  }
}

function onFolder(cleanup: Cleanup): Place {
  const data = join(temporaryFolder(cleanup, 'abuse'), 'data')
  mkdirSync(data)
  return { where: { DATA_DIR: data }, stored: async () => bytesIn(data) / MIB }
}

/** What the files of a folder take; those that are gone meanwhile take nothing. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
    (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
