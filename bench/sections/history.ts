import { setTimeout } from 'node:timers/promises'
import { type Bench, byTurns, load, median, say } from '../bench.ts'
import type { HistoryCall } from '../history/calls.ts'
import { makeModels } from '../history/models.ts'
import { openStage, type Stage } from '../history/stage.ts'
import { ask, type Credentials, logIn } from '../load/client.ts'
import type { DatabaseServer } from '../postgres.ts'
import type { HistoryResult } from '../results.ts'

/** What the large history is held against. */
const SMALL_ITEMS = 20_000

const CALLS_A_ROUND = 20
const CONNECTIONS = 64
/** So many of its items are waited for when an account is deleted. */
const REMOVED = 100_000
const REMOVAL_POLL_MS = 20

type Row = HistoryResult['rows'][number]

/** What is asked of a history, by turns of one with so many items and of one with few. */
export async function measureHistory(
  bench: Bench,
  server: DatabaseServer,
  items: number,
): Promise<HistoryResult> {
  say('history: what the service keeps')
  const models = await makeModels(bench.cleanup, server)
  const small = await openStage(bench, server, models, 'history_small', SMALL_ITEMS)
  const large = await openStage(bench, server, models, 'history_large', items)
  const stages = [small, large]
  const rows = [...(await measureCalls(bench, stages)), await measureKeeping(bench, stages)]
  rows.push(...(await measureDeletions(bench, server, stages, models.account)))
  for (const { service } of stages) await service.stop()
  const reads = [...small.reads].map(([what, few]) => {
    const many = large.reads.get(what) as number
    return { what, small: few, large: many, times: many / few }
  })
  return { small: small.size, large: large.size, rows, reads }
}

/** @param rounds milliseconds of the small history, and of the large one */
function rowOf(what: string, rounds: number[][]): Row {
  const [small, large] = [0, 1].map((stage) => median(rounds.map((round) => round[stage] as number)))
  const times = median(rounds.map(([few, many]) => (many as number) / (few as number)))
  return { what, small: small as number, large: large as number, times }
}

async function measureCalls(bench: Bench, stages: Stage[]): Promise<Row[]> {
  const [{ calls }] = stages as [Stage]
  const rounds = calls.map((): number[][] => [])
  // The first round is for V8, and for what PostgreSQL has not read yet.
  for (let round = 0; round <= bench.effort.roundsOfLimits; round++) {
    say(`history, round ${round} of ${bench.effort.roundsOfLimits}`)
    for (const index of calls.keys()) {
      const measured: number[] = []
      for (const [place, stage] of byTurns([...stages.entries()], round)) {
        measured[place] = await millisecondsOf(bench, stage, index, round)
      }
      if (round > 0) rounds[index]?.push(measured)
    }
  }
  return calls.map(({ what }, index) => rowOf(what, rounds[index] as number[][]))
}

/** The median of some calls. */
async function millisecondsOf(bench: Bench, stage: Stage, index: number, round: number): Promise<number> {
  const call = stage.calls[index] as HistoryCall
  const times: number[] = []
  for (let turn = round * CALLS_A_ROUND; turn < (round + 1) * CALLS_A_ROUND; turn++) {
    const { path, caller = 'account', accept = 'application/json', ...sent } = call
    const client = { port: stage.service.port, token: stage.tokens[caller] }
    const { status, body, ms } = await ask(client, { ...sent, path: path(turn), headers: { accept } })
    times.push(ms)
    if (status !== 200 && status !== 204) {
      bench.problems.push(
        `${call.what} of ${stage.size.items} items was answered ${status} ${body.slice(0, 300)}`,
      )
    }
  }
  return median(times)
}

/** The latency of points that are kept. */
async function measureKeeping(bench: Bench, stages: Stage[]): Promise<Row> {
  const rounds: number[][] = []
  for (let round = 0; round <= bench.effort.roundsOfLimits; round++) {
    say(`history, points that are kept, round ${round} of ${bench.effort.roundsOfLimits}`)
    const measured: number[] = []
    for (const [index, { name, service }] of byTurns([...stages.entries()], round)) {
      const task = { list: name, order: 'uniform', connections: CONNECTIONS, round, seconds: 1 } as const
      measured[index] = (await load(bench, service.port, task)).p50
    }
    if (round > 0) rounds.push(measured)
  }
  return rowOf(`a point that is kept, ${CONNECTIONS} connections`, rounds)
}

/** Deletions of accounts by turns, the first of which is for V8, and the removal of items of the large one, which is the last. */
async function measureDeletions(
  bench: Bench,
  server: DatabaseServer,
  stages: Stage[],
  account: Credentials,
): Promise<Row[]> {
  const answered: number[][] = []
  const removed: number[] = []
  const [{ deleted }] = stages as [Stage]
  for (let index = 0; index <= deleted.length; index++) {
    const round: number[] = []
    for (const [at, stage] of byTurns([...stages.entries()], index)) {
      const email = stage.deleted[index] ?? account.email
      const deletion = await deleteAccount(bench, server, stage, { ...account, email })
      round[at] = deletion.answered
      removed[at] = deletion.removed
    }
    if (index > 0) answered.push(round)
  }
  return [rowOf('deletion of an account', answered), rowOf('removal of 1,000 items of it', [removed])]
}

interface Deletion {
  /** Milliseconds until it was answered. */
  answered: number
  /** Milliseconds for 1,000 items to be removed afterwards. */
  removed: number
}

async function deleteAccount(
  bench: Bench,
  server: DatabaseServer,
  { url, service }: Stage,
  account: Credentials,
): Promise<Deletion> {
  const own = `user_id = (select id from app_user where email = '${account.email}')`
  const [{ items }] = (await server.execute(url, `select items::integer from history_size where ${own}`)) as [
    { items: number },
  ]
  say(`history: deletion of an account with ${items} items`)
  const removed = Math.min(REMOVED, items)
  const [last] = (await server.execute(
    url,
    `select id from history_item where ${own} order by id offset ${removed} limit 1`,
  )) as { id: string }[]
  const isLeft = `select from account_removal ${last ? `where through < '${last.id}'` : ''}`
  const member = await logIn({ port: service.port }, account)
  const started = performance.now()
  const { status, ms: answered } = await ask(member, { method: 'DELETE', path: '/user/profile' })
  if (status !== 200) bench.problems.push(`the deletion of an account was answered ${status}`)
  while ((await server.execute(url, isLeft)).length > 0) await setTimeout(REMOVAL_POLL_MS)
  return { answered, removed: (1000 * (performance.now() - started)) / removed }
}
