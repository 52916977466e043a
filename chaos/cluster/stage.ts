import type { Cleanup } from '#bench/cleanup.ts'
import type { Server } from '#bench/processes.ts'
import { startService, withDatabase } from '#bench/service.ts'
import { seedDemo } from '#src/ingest/demo/seed.ts'
import { type Publication, REPLICA_MAX_LAG_MS, type ReleaseStage } from '../fault.ts'
import { loadSecondRelease } from '../stage.ts'
import type { Subject } from '../trial.ts'
import { type Members, startMembers } from './members.ts'

/** Two processes of the service on a cluster. */
export interface ClusterStage extends Subject {
  members: Members
  releases: ReleaseStage
}

/** The tiles of the demo have not all room in memory: some points need the database each time. */
const SETTINGS = {
  TILE_CACHE_MB: '2',
  ACCESS_TOKEN_MINUTES: '60',
  MIGRATE_ON_START: 'false',
  READ_MAX_LAG_MS: `${REPLICA_MAX_LAG_MS}`,
}

/** Starts a cluster with the demo data, and two processes of the service on it. */
export async function setUpCluster(cleanup: Cleanup): Promise<ClusterStage> {
  const members = await startMembers(cleanup)
  const { maintenance } = members.urls
  const publications: Publication[] = []
  const where = { DATABASE_URL: maintenance }
  await withDatabase(where, (database) => seedDemo(database, () => {}))
  const releases = await loadSecondRelease(where, publications)
  const [first, second] = [await startOn(cleanup, members), await startOn(cleanup, members)]
  return {
    service: { port: first.port, pid: () => first.pid },
    otherPorts: [second.port],
    members,
    releases,
    publications,
    complaints: () => first.complaints() + second.complaints(),
  }
}

/** Starts a process of the service on a cluster, with the settings that faults are tried with. */
export function startOn(cleanup: Cleanup, { urls: { leader, replica } }: Members): Promise<Server> {
  return startService(cleanup, { DATABASE_URL: leader }, { ...SETTINGS, DATABASE_READ_URL: replica })
}
