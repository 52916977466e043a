import type { Fault } from '../fault.ts'
import { DISK_FAULTS } from './disks.ts'
import { EMBEDDED_FAULTS } from './embedded.ts'
import { LOCK_FAULTS } from './locks.ts'
import { MIGRATION_FAULTS } from './migrations.ts'
import { NETWORK_FAULTS } from './network.ts'
import { PROCESS_FAULTS } from './processes.ts'
import { RELEASE_FAULTS } from './releases.ts'
import { REPLICA_FAULTS } from './replicas.ts'
import { SERVER_FAULTS } from './server.ts'

/** What happens to a service, one after the other. */
export const FAULTS: Fault[] = [
  ...SERVER_FAULTS,
  ...NETWORK_FAULTS,
  ...LOCK_FAULTS,
  ...MIGRATION_FAULTS,
  ...DISK_FAULTS,
  ...RELEASE_FAULTS,
  ...PROCESS_FAULTS,
  ...REPLICA_FAULTS,
  ...EMBEDDED_FAULTS,
]
