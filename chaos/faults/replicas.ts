import { setTimeout } from 'node:timers/promises'
import type { Cluster } from '#bench/cluster.ts'
import { execute } from '#bench/postgres.ts'
import type { Fault, ReleaseStage, Stage } from '../fault.ts'
import { EVERYTHING } from '../load/plan.ts'
import { hang, serverOf } from './server.ts'

const replicaOf = (stage: Stage): Cluster => serverOf(stage).replica as Cluster

/** The service is never less available with a replica than without one: nobody notices anything. */
const replicaFault = (name: string, happens: string, inject: Fault['inject']): Fault => ({
  name,
  on: 'replica',
  happens,
  unnoticed: [...EVERYTHING],
  recoveryMs: 0,
  inject,
})

const stopped = (mode: 'fast' | 'immediate') =>
  replicaFault(
    `replica-stopped-${mode}`,
    `the replica is stopped (${mode}), and started again after five seconds`,
    async (stage) => {
      const replica = replicaOf(stage)
      await replica.stop(mode)
      await setTimeout(5000)
      await replica.start()
    },
  )

const hung = replicaFault(
  'replica-hung',
  'all processes of the replica do nothing for five seconds (SIGSTOP)',
  (stage) => hang(replicaOf(stage), 5000),
)

const replayPaused = replicaFault(
  'replica-replay-paused',
  'the replica replays nothing for ten seconds, in which a release is published and deleted again',
  async (stage) => {
    const { url } = replicaOf(stage)
    const { first, second, publish, deleteSecond } = stage.releases as ReleaseStage
    await execute(url, 'select pg_wal_replay_pause()')
    await publish(second)
    await setTimeout(5000)
    await publish(first)
    await deleteSecond()
    await setTimeout(5000)
    await execute(url, 'select pg_wal_replay_resume()')
  },
)

/** The last one deletes a release for good. */
export const REPLICA_FAULTS = [stopped('fast'), stopped('immediate'), hung, replayPaused]
