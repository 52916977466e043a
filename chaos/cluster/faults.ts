import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { parse } from 'yaml'
import type { Fault } from '../fault.ts'
import type { What } from '../load/plan.ts'
import { type Member, type Members, untilAnother } from './members.ts'
import type { ClusterStage } from './stage.ts'

const { bootstrap } = parse(readFileSync(new URL('../../ops/cluster/patroni.yml', import.meta.url), 'utf8'))
const TTL_MS: number = bootstrap.dcs.ttl * 1000

/** Where the leader of etcd is gone, too, all keys live for as long as others take to elect one, and a second more. */
const ETCD_ELECTION_MS = 3000

/** How often the rarest of each is asked for: as much later may be found that it is answered again. */
const READS_EVERY_MS = 300
const OF_LEADER_EVERY_MS = 1000

/** What is read from replicas, though not from memory. */
const READS: What[] = ['point from the database', 'batch', 'catalog']

/** What is read and written where the leader is. Polygons are kept. */
const OF_LEADER: What[] = [
  'polygon',
  'kept point',
  'history',
  'feedback',
  'deletion',
  'login',
  'refresh',
  'registration',
  'key',
]

const clusterFault = (
  name: string,
  happens: string,
  inject: (members: Members, stage: ClusterStage) => Promise<void>,
  withoutLeaderMs = TTL_MS + 2000,
): Fault<ClusterStage> => ({
  name,
  on: 'cluster',
  happens,
  unnoticed: ['point'],
  stops: [
    { what: READS, longestMs: 1000 + READS_EVERY_MS },
    { what: OF_LEADER, longestMs: withoutLeaderMs + OF_LEADER_EVERY_MS },
  ],
  recoveryMs: 2000,
  inject: (stage) => inject(stage.members, stage),
})

/** @param kill ends something of the leader, which is started again when another leads */
const leaderFault = (
  name: string,
  happens: string,
  kill: (members: Members, leader: Member) => void,
  withoutLeaderMs?: number,
) =>
  clusterFault(
    name,
    happens,
    async (members) => {
      const leader = (await members.find('leader')) as Member
      kill(members, leader)
      await untilAnother(members, 'leader', leader)
      await members.up()
    },
    withoutLeaderMs,
  )

const leaderKilled = leaderFault(
  'leader-killed',
  'the leader is killed, and started again when another leads',
  (members, leader) => members.kill(leader),
)

const machineKilled = leaderFault(
  'machine-killed',
  'the leader is killed together with its etcd, and both are started again when another leads',
  (members, leader) => {
    members.kill(leader)
    members.killEtcd(leader)
  },
  TTL_MS + 2000 + ETCD_ELECTION_MS,
)

/** One that went on would take the lead back, which is for watchdogs to prevent: docs/operations.md says why. */
const leaderHung = clusterFault(
  'leader-hung',
  'the server of the leader does nothing (SIGSTOP) until another leads, and is killed then as a watchdog would do',
  async (members) => {
    const leader = (await members.find('leader')) as Member
    members.pauseServer(leader)
    await untilAnother(members, 'leader', leader)
    members.kill(leader)
    await members.up()
  },
)

const poolsKilled = clusterFault(
  'pools-killed',
  'the PgBouncer of the leader is killed and started again, and then that of the replica that is read from',
  async (members) => {
    for (const find of [() => members.find('leader'), members.read]) {
      members.killPool((await find()) as Member)
      await members.up()
    }
  },
)

/** One replica after the other does without something for five seconds: first the one that is read from. */
const replicasFault = (name: string, happens: string, begin: 'kill' | 'pause') =>
  clusterFault(name, happens, async (members) => {
    for (const find of [members.read, () => members.find('sync')]) {
      const member = (await find()) as Member
      members[begin](member)
      await setTimeout(5000)
      if (begin === 'pause') members.resume(member)
      await members.up()
    }
  })

const replicasKilled = replicasFault(
  'replicas-killed',
  'the replica that is read from is killed, and the synchronous one after it, each for five seconds',
  'kill',
)

const replicasPaused = replicasFault(
  'replicas-paused',
  'the replica that is read from does nothing for five seconds (SIGSTOP), and then the synchronous one',
  'pause',
)

const replicaBehind = clusterFault(
  'replica-behind',
  'the replica that is read from replays five seconds late, for ten seconds in which two releases take turns',
  async (members, { releases }) => {
    const member = await members.read()
    const delay = async (value: string) => {
      await members.execute(member, `alter system set recovery_min_apply_delay = '${value}'`)
      await members.execute(member, 'select pg_reload_conf()')
    }
    await delay('5s')
    await releases.publish(releases.second)
    await setTimeout(5000)
    await releases.publish(releases.first)
    await setTimeout(5000)
    await delay('0')
  },
)

const filesLost = clusterFault(
  'files-lost',
  'a replica is killed, its files are removed, and it is started again',
  async (members) => {
    const member = await members.read()
    members.kill(member)
    members.lose(member)
    await members.up()
  },
)

const etcdWithoutMajority = clusterFault(
  'etcd-without-majority',
  `two of three etcd are killed, for ${TTL_MS / 1000 + 5} seconds`,
  async (members) => {
    for (const member of [1, 2] as const) members.killEtcd(member)
    await setTimeout(TTL_MS + 5000)
    await members.up()
  },
)

/** What happens to a cluster, one after the other. */
export const CLUSTER_FAULTS = [
  replicasKilled,
  replicasPaused,
  replicaBehind,
  filesLost,
  etcdWithoutMajority,
  poolsKilled,
  leaderHung,
  machineKilled,
]

/** What happens to it ten times after that, or once in a hurry. */
export const REPEATED_FAULT = leaderKilled
