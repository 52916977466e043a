import type { Cleanup } from '#bench/cleanup.ts'
import type { Server } from '#bench/processes.ts'
import { startService } from '#bench/service.ts'
import { type Publication, REPLICA_MAX_LAG_MS, type ReleaseStage } from '../fault.ts'
import { loadDemo, SETTINGS } from '../stage.ts'
import type { Subject } from '../trial.ts'
import { type Members, startMembers } from './members.ts'

/** Two processes of the service on a cluster. */
export interface ClusterStage extends Subject {
  members: Members
  releases: ReleaseStage
}

/** Starts a cluster with the demo data, and two processes of the service on it. */
export async function setUpCluster(cleanup: Cleanup): Promise<ClusterStage> {
  const members = await startMembers(cleanup)
  const { maintenance } = members.urls
  const publications: Publication[] = []
  const releases = await loadDemo({ DATABASE_URL: maintenance }, publications)
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
  const reading = { DATABASE_READ_URL: replica, READ_MAX_LAG_MS: `${REPLICA_MAX_LAG_MS}` }
  const settings = { ...SETTINGS, MIGRATE_ON_START: 'false', ...reading }
  return startService(cleanup, { DATABASE_URL: leader }, settings)
}
