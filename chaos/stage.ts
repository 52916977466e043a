import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type Cleanup, temporaryFolder } from '#bench/cleanup.ts'
import { type Cluster, startReplica } from '#bench/cluster.ts'
import { execute, startDatabaseServer } from '#bench/postgres.ts'
import { freePort, type Server } from '#bench/processes.ts'
import { publish, startService, type Where, withDatabase } from '#bench/service.ts'
import { deleteRelease } from '#src/catalog/removal-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import { seedDemo } from '#src/ingest/demo/seed.ts'
import { DEMO_RELEASES, demoSource } from '#src/ingest/demo/source.ts'
import { loadRelease } from '#src/ingest/load.ts'
import type { ReleaseSource } from '#src/ingest/source.ts'
import {
  type DatabaseStage,
  type Kind,
  type Publication,
  REPLICA_MAX_LAG_MS,
  type ReleaseStage,
  type Service,
  type Stage,
} from './fault.ts'
import { mountDisk, unmountDisk } from './faults/disks.ts'
import { startNetwork } from './network.ts'
import type { Subject } from './trial.ts'

/** A stage, and what those who judge need to know of it. */
export type Rig = Stage & Subject

const END_WORKER = fileURLToPath(new URL('end-worker.mjs', import.meta.url))

/** Room for the database, and for what is written into it. */
const DISK_MB = 600

/** The tiles of the demo have not all room in memory: some points need the database each time. */
export const SETTINGS = { TILE_CACHE_MB: '2', ACCESS_TOKEN_MINUTES: '60' }

/** Starts the service with the demo data; undefined where there is no such database. */
export async function setUp(
  cleanup: Cleanup,
  kind: Kind,
  settings: Record<string, string> = {},
): Promise<Rig | undefined> {
  if (kind === 'embedded') return setUpEmbedded(cleanup, settings)
  const server = await startDatabaseServer(cleanup)
  if (!server) return undefined
  const url = await server.createDatabase('chaos')
  const { cluster } = server
  await makeServiceRole(cluster)
  if (kind === 'server') return setUpOn(cleanup, url, settings, { cluster, serviceUrl: asService(url) })
  const replica = await startReplica(cleanup, cluster)
  const readUrl = new URL(asService(url))
  readUrl.port = new URL(replica.url).port
  const reading = { DATABASE_READ_URL: readUrl.href, READ_MAX_LAG_MS: `${REPLICA_MAX_LAG_MS}` }
  return setUpOn(cleanup, url, { ...reading, ...settings }, { cluster, replica, serviceUrl: asService(url) })
}

/** A server of a run's own. */
interface OwnServer {
  /** It may be stopped and crashed, and so may what streams from it. */
  cluster?: Cluster
  replica?: Cluster
  /** The database as the service logs in to it. */
  serviceUrl?: string
}

/** Starts the service on a database of a server. */
export async function setUpOn(
  cleanup: Cleanup,
  url: string,
  settings: Record<string, string> = {},
  { cluster, replica, serviceUrl = url }: OwnServer = {},
): Promise<Rig> {
  const network = await startNetwork(cleanup, serviceUrl)
  const { service, complaints } = await startProcess(
    cleanup,
    { DATABASE_URL: network.urlOf(serviceUrl) },
    settings,
  )
  const publications: Publication[] = []
  const database: DatabaseStage = {
    ...(cluster && { cluster }),
    ...(replica && { replica }),
    network,
    url,
    role: new URL(serviceUrl).username,
    execute: (statement) => execute(url, statement),
    async connect() {
      const client = new pg.Client(url)
      client.on('error', () => {})
      await client.connect()
      return client
    },
  }
  const releases = await loadSecondRelease({ DATABASE_URL: url }, publications)
  return { service, complaints, publications, database, releases }
}

export async function setUpEmbedded(cleanup: Cleanup, settings: Record<string, string>): Promise<Rig> {
  const parent = temporaryFolder(cleanup, 'chaos')
  const folder = join(parent, 'disk')
  mkdirSync(folder)
  const isMounted = mountDisk(folder, DISK_MB)
  if (isMounted) cleanup.add(() => unmountDisk(folder))
  const { service, complaints } = await startProcess(
    cleanup,
    { DATA_DIR: join(folder, 'data') },
    { NODE_OPTIONS: `--import=${END_WORKER}`, ...settings },
  )
  return { service, complaints, publications: [], ...(isMounted && { folder }) }
}

async function startProcess(
  cleanup: Cleanup,
  where: Where,
  settings: Record<string, string>,
): Promise<{ service: Service; complaints: () => number }> {
  const port = await freePort()
  const start = () =>
    startService(cleanup, where, { PORT: `${port}`, DEMO_DATA: 'true', ...SETTINGS, ...settings })
  const servers: Server[] = [await start()]
  const newest = () => servers.at(-1) as Server
  const service: Service = {
    port,
    pid: () => newest().pid,
    memory: () => newest().memory(),
    async end(signal) {
      if (signal === 'SIGTERM') return newest().stop()
      process.kill(newest().pid, signal)
      await newest().ended
    },
    async start() {
      servers.push(await start())
    },
  }
  return { service, complaints: () => servers.reduce((sum, { complaints }) => sum + complaints(), 0) }
}

/** Fills a database with the demo, and a second release of a series. */
export async function loadDemo(where: Where, publications: Publication[]): Promise<ReleaseStage> {
  await withDatabase(where, (database) => seedDemo(database, () => {}))
  return loadSecondRelease(where, publications)
}

/** Loads a release of the series that is asked for whose values differ, and leaves the first one published. */
async function loadSecondRelease(where: Where, publications: Publication[]): Promise<ReleaseStage> {
  const demo = DEMO_RELEASES.find(
    ({ product, countryCode }) => product.code === 'yield' && countryCode === 'eth',
  )
  const source = demoSource(demo as (typeof DEMO_RELEASES)[number])
  const loaded = await withDatabase(where, (database) => loadRelease(database, doubled(source)))
  const first = loaded.replaced as string
  const stage: ReleaseStage = {
    first,
    second: loaded.code,
    async publish(code) {
      const from = Date.now()
      await withDatabase(where, (database) => publish(database, code))
      publications.push({ code, from, done: Date.now() })
    },
    async deleteSecond() {
      await withDatabase(where, ({ writer }) =>
        inTransaction(writer, (trx) => deleteRelease(trx, loaded.code, false)),
      )
    },
  }
  await stage.publish(first)
  return stage
}

/** The same with values twice as large, and the same odds. */
function doubled({ description, coverages }: ReleaseSource): ReleaseSource {
  return {
    description: { ...description, checksum: `${description.checksum} doubled` },
    coverages: coverages.map((coverage) => ({
      ...coverage,
      layers: coverage.layers.map((layer) =>
        layer.role === 'probability' ? layer : { ...layer, scale: layer.scale * 2 },
      ),
    })),
  }
}

const ROLE = 'agro'
const PASSWORD = 'teff-grows-at-dawn'

/** Makes a role that the server asks for its password, as it does on machines that others reach. */
async function makeServiceRole({ url, data }: Cluster): Promise<void> {
  await execute(url, `create role ${ROLE} superuser login password '${PASSWORD}'`)
  const file = join(data, 'pg_hba.conf')
  const rules = readFileSync(file, 'utf8')
  // The first rule that fits counts; everybody else is trusted.
  writeFileSync(file, `host all ${ROLE} all scram-sha-256\n${rules}`)
  await execute(url, 'select pg_reload_conf()')
}

/** The URL of a database as that role. */
function asService(database: string): string {
  const url = new URL(database)
  url.username = ROLE
  url.password = PASSWORD
  return url.href
}
