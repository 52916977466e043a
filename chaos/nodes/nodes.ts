import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Cleanup, temporaryFolder } from '#bench/cleanup.ts'
import { freePorts } from '#bench/processes.ts'

/** Processes of the service behind HAProxy, as `ops/nodes` starts them. */
export interface Nodes {
  /** Where HAProxy listens, and each process itself. */
  port: number
  ports: number[]
  /** Drains and stops the one of a number, which begins at 1. */
  down(number: number): Promise<void>
  /** Starts what does not run, and waits until it is asked. */
  up(): Promise<void>
  /** Stops all of them, and starts them with more settings. */
  restart(settings: Record<string, string>): Promise<void>
}

const FOLDER = fileURLToPath(new URL('../../ops/nodes', import.meta.url))
const run = promisify(execFile)

/** Starts so many processes, with no settings but those given, in a folder and on ports of their own. */
export async function startNodes(
  cleanup: Cleanup,
  count: number,
  settings: Record<string, string>,
): Promise<Nodes> {
  const parent = temporaryFolder(cleanup, 'chaos-nodes')
  const port = await freePorts(count + 1)
  const { PATH, HOME, TMPDIR } = process.env
  const env = {
    PATH,
    HOME,
    TMPDIR,
    ENV_FILE: devNull,
    JWT_SECRET: randomBytes(32).toString('hex'),
    NODES: String(count),
    NODES_FOLDER: join(parent, 'nodes'),
    NODES_PORT: String(port),
    ...settings,
  }
  const up = async (more = {}) => void (await run(join(FOLDER, 'up'), [], { env: { ...env, ...more } }))
  const down = async (...parameters: string[]) => void (await run(join(FOLDER, 'down'), parameters, { env }))
  cleanup.add(() => down('--remove'))
  await up()
  return {
    port,
    ports: Array.from({ length: count }, (_, index) => port + 1 + index),
    down: (number) => down(String(number)),
    up,
    async restart(more) {
      await down()
      await up(more)
    },
  }
}
