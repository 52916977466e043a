import { setTimeout } from 'node:timers/promises'
import type { Fault } from '../fault.ts'
import { serverFault, serverOf } from './server.ts'

/** What has lanes of its own. Requests that wait for the table take places at the database, which others miss. */
const AROUND_DATABASE: Fault['unnoticed'] = ['point', 'point from the database', 'batch']

const locked = (table: string, unnoticed: Fault['unnoticed']): Fault => ({
  name: `locked-${table.replace('_', '-')}`,
  on: 'server',
  happens: `another session locks the table ${table} for ten seconds`,
  unnoticed,
  recoveryMs: 3000,
  async inject(stage) {
    const other = await serverOf(stage).connect()
    await other.query(`begin; lock table ${table} in access exclusive mode`)
    await setTimeout(10_000)
    await other.query('rollback')
    await other.end()
  },
})

const deadlocks = serverFault(
  'deadlocks',
  'another session waits for rows of accounts and their history in the opposite order, for five seconds',
  async (stage) => {
    const other = await serverOf(stage).connect()
    const end = performance.now() + 5000
    while (performance.now() < end) {
      // Whichever of the two the server undoes: the service, or this one.
      await other
        .query(`begin; select 1 from history_item limit 50 for update; select 1 from app_user for update`)
        .catch(() => {})
      await other.query('rollback')
      await setTimeout(50)
    }
    await other.end()
  },
  { unnoticed: AROUND_DATABASE, recoveryMs: 2000 },
)

const slowTrigger = serverFault(
  'slow-trigger',
  'a trigger on the history takes twenty seconds, for five seconds',
  async (stage) => {
    const { execute } = serverOf(stage)
    await execute(`create function chaos_waits() returns trigger language plpgsql as
    $$ begin perform pg_sleep(20); return new; end $$`)
    await execute(`set lock_timeout = 0; create trigger chaos_waits before insert on history_item
    for each row execute function chaos_waits()`)
    await setTimeout(5000)
    await execute('drop function chaos_waits cascade')
  },
  { unnoticed: AROUND_DATABASE, recoveryMs: 4000 },
)

export const LOCK_FAULTS = [
  locked('app_user', AROUND_DATABASE),
  locked('history_item', AROUND_DATABASE),
  locked('publication', ['login', 'refresh', 'registration']),
  deadlocks,
  slowTrigger,
]
