// Runs on a server alone: it starts a cluster of its own.
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createCleanup } from '#bench/cleanup.ts'
import { ask } from '#bench/load/client.ts'
import type { Server } from '#bench/processes.ts'
import { withDatabase } from '#bench/service.ts'
import { type Member, type Members, missingPrograms, PROGRAMS, startMembers } from '#chaos/cluster/members.ts'
import { startOn } from '#chaos/cluster/stage.ts'
import { judge, type Outcome } from '#chaos/judge.ts'
import { beginLoad } from '#chaos/load/begin.ts'
import { client, learnAnswers, planFor } from '#chaos/load/load.ts'
import type { Plan } from '#chaos/load/plan.ts'
import { ready } from '#chaos/trial.ts'
import { verify } from '#chaos/verify.ts'
import { DEMO_RELEASES, demoSource } from '#src/ingest/demo/source.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { PATIENCE } from '#test/setup/patience.ts'

/** Debian's packages etcd-server, etcd-client, patroni, haproxy and pgbouncer have them. */
const missing = await missingPrograms(PROGRAMS)
if (missing.length > 0) console.log(`there is no ${missing.join(', ')} here: a cluster is not tried`)

/** A fifth of the load of `npm run cluster`: some twenty requests a second. */
const SLOWNESS = 5
/** Of these, so many are sent before something happens, and so many after it. */
const SOME = 40

/** Each is on two disks before it is acknowledged: what nobody asks for is left out. */
const ASKED_FOR = DEMO_RELEASES.filter(
  ({ product, countryCode }) => countryCode === 'eth' && ['yield', 'forage'].includes(product.code),
)

/** Points in memory are answered all the while; on a busy machine anything else may be refused for long, by 503. */
const CRASH: Outcome['fault'] = {
  name: 'leader-crashed',
  on: 'cluster',
  happens: 'the server of the leader is killed',
  unnoticed: ['point'],
  recoveryMs: Number.POSITIVE_INFINITY,
}

describe.skipIf(missing.length > 0)('the service on a cluster of three members', () => {
  const cleanup = createCleanup()
  let members: Members
  let service: Server
  let known: Plan['known']
  beforeAll(async () => {
    members = await startMembers(cleanup)
    await withDatabase({ DATABASE_URL: members.urls.maintenance }, async (database) => {
      for (const release of ASKED_FOR) await loadRelease(database, demoSource(release))
    })
    service = await startOn(cleanup, members)
    await ready(service.port)
    known = await learnAnswers({ service })
  })
  afterAll(() => cleanup.run())

  test('loses nothing and answers nothing wrongly when the server of the leader is killed', async () => {
    const plan = await planFor(service.port, known)
    let sent = 0
    const countedPort = () => {
      sent++
      return service.port
    }
    const load = beginLoad(plan, countedPort, SLOWNESS)
    onTestFinished(() => void load.stop())
    const more = async () => {
      const from = sent
      await vi.waitFor(() => expect(sent).toBeGreaterThan(from + SOME), PATIENCE)
    }
    await more()
    const from = Date.now()
    const leader = await leaderOf(members)
    members.killServer(leader)
    await vi.waitFor(async () => expect(await leaderOf(members)).not.toBe(leader), PATIENCE)
    await vi.waitFor(() => register(service.port), PATIENCE)
    await members.up()
    const to = Date.now()
    await more()
    const { asked, ledger } = await load.stop()

    expect(ledger.kept.length).toBeGreaterThan(0)
    const { mistakes, unanswered } = judge({
      fault: CRASH,
      from,
      to,
      // How late answers are is tried by `npm run cluster`, on a machine that does nothing else.
      asked: asked.map((one) => ({ ...one, ms: Math.min(one.ms, 1000) })),
      publications: [],
      lost: await verify(plan, ledger),
      acknowledged: 0,
      complaints: 0,
      isUp: true,
    })
    expect({ mistakes, unanswered }).toEqual({ mistakes: [], unanswered: 0 })
  })

  test('ends whole: no process is left, and no file', async () => {
    const { folder } = members
    expect(processesOf(folder)).not.toEqual([])
    await cleanup.run()
    expect([processesOf(folder), existsSync(folder)]).toEqual([[], false])
  })
})

/** Whoever leads says so, as soon as the machine lets it. */
function leaderOf({ find }: Members): Promise<Member> {
  return vi.waitFor(async () => {
    const leader = await find('leader')
    if (leader === undefined) throw new Error('nobody leads')
    return leader
  }, PATIENCE)
}

/** @throws where it is not acknowledged */
async function register(port: number): Promise<void> {
  const account = { email: `${randomUUID()}@example.org`, password: randomUUID(), name: 'Chaos' }
  const { status } = await ask(client(port), { path: '/auth/register', body: JSON.stringify(account) })
  expect(status).toBe(201)
}

/** The numbers of processes that have a folder among their parameters. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
      } catch {
        return false
      }
    })
}
