import { mkdtemp, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildApp } from '#src/app.ts'
import { type Config, loadConfig } from '#src/config.ts'
import { type Cluster, openCluster } from '#src/database/client.ts'
import { prepare } from '#src/process/prepare.ts'

const HOST = '127.0.0.1'

export interface OwnServiceOptions {
  /** Told how far the start is. */
  say: (message: string) => void
  /** Ends the start between its steps. */
  signal: AbortSignal
}

/**
 * Runs work with a service that has the demo data on an embedded database of its own. None of the operator's settings
 * counts, and nothing of it stays.
 *
 * @param work is given where the service is
 */
export async function withOwnService<Result>(
  work: (origin: string) => Promise<Result>,
  { say, signal }: OwnServiceOptions,
): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-tour-'))
  try {
    const config = loadConfig({ DATA_DIR: folder, LOG_LEVEL: 'silent', ACCESS_TOKEN_MINUTES: '1440' })
    const cluster = await openCluster(config, say)
    try {
      signal.throwIfAborted()
      await prepare(config, cluster, say)
      signal.throwIfAborted()
      return await served(config, cluster, work)
    } finally {
      await cluster.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function served<Result>(
  config: Config,
  cluster: Cluster,
  work: (origin: string) => Promise<Result>,
): Promise<Result> {
  const database = cluster.connect()
  try {
    const app = await buildApp(config, database)
    try {
      await app.listen({ host: HOST, port: 0 })
      const { port } = app.server.address() as AddressInfo
      return await work(`http://${HOST}:${port}`)
    } finally {
      await app.close()
    }
  } finally {
    await database.close()
  }
}
