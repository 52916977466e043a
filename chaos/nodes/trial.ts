import { setTimeout } from 'node:timers/promises'
import type { Cleanup } from '#bench/cleanup.ts'
import type { DatabaseServer } from '#bench/postgres.ts'
import { tryCrossings } from '../crossings.ts'
import type { Publication, ReleaseStage } from '../fault.ts'
import { type Load, learnAnswers, planFor } from '../load/load.ts'
import type { Known, Plan } from '../load/plan.ts'
import { judgePhases, type Phase } from '../phases.ts'
import { loadDemo, SETTINGS } from '../stage.ts'
import { say } from '../trial.ts'
import { tryEndings } from './endings.ts'
import { askBeyondRate, guess, logInBesideMany, RATE } from './limits.ts'
import { type Nodes, startNodes } from './nodes.ts'

/** Longer than a release answers that is not published any more. */
const SETTLE_MS = 3000
const ALONE_MS = 1500

/** How many processes there are, and how many workers each of them has. */
export interface Setting {
  count: number
  workers: number
}

/**
 * Replaces each of several processes under load, and tries what has to hold for all of them together.
 *
 * @returns what does not hold, a sentence each; what was found is printed
 */
export async function tryNodes(
  cleanup: Cleanup,
  server: DatabaseServer,
  load: Load,
  { count, workers }: Setting,
): Promise<string[]> {
  say(`${count} processes with ${workers} workers each`)
  const url = await server.createDatabase(`nodes_${count}_${workers}`)
  const where = { DATABASE_URL: url }
  const publications: Publication[] = []
  const releases = await loadDemo(where, publications)
  const settings = { ...where, ...SETTINGS, MIGRATE_ON_START: 'false', WORKERS: String(workers) }
  const nodes = await startNodes(cleanup, count, settings)
  const known = await learnAnswers({ service: nodes, releases })
  const mistakes = [
    ...(await tryUnderLoad(nodes, load, await planFor(nodes.port, known), releases, publications)),
    ...(await tryAmong(nodes, known)),
    ...(await tryLimits(nodes, known.point[0] as Known, workers)),
  ]
  for (const mistake of mistakes) console.log(`FAILED: ${mistake}`)
  return mistakes
}

/** Publishes, and replaces each process by turns, while everything is asked for. */
async function tryUnderLoad(
  nodes: Nodes,
  load: Load,
  plan: Plan,
  releases: ReleaseStage,
  publications: Publication[],
): Promise<string[]> {
  const phases: Phase[] = []
  const begin = (name: string) => phases.push({ name, from: Date.now() })
  begin('all of them answer')
  load.begin(plan)
  await setTimeout(SETTLE_MS)
  begin('two releases take turns')
  for (const code of [releases.second, releases.first]) {
    await releases.publish(code)
    await setTimeout(SETTLE_MS)
  }
  for (const [index] of nodes.ports.entries()) {
    begin(`node ${index + 1} is drained and stopped`)
    await nodes.down(index + 1)
    begin(`node ${index + 1} is away`)
    await setTimeout(ALONE_MS)
    begin(`node ${index + 1} comes back`)
    await nodes.up()
  }
  begin('all of them answer again')
  await setTimeout(SETTLE_MS)
  return judgePhases(phases, plan, await load.stop(), publications)
}

/** What one process did has to hold at the others. */
async function tryAmong(nodes: Nodes, known: Plan['known']): Promise<string[]> {
  const { longestMs, mistakes } = await tryEndings(nodes, known)
  console.log(`an ended session or key was of use for ${Math.round(longestMs)} ms at most`)
  for (const [index, one] of nodes.ports.entries()) {
    mistakes.push(...(await tryCrossings(one, nodes.ports.at(index - 1) as number, known)))
  }
  return mistakes
}

/** What bounds callers, where it is counted for all processes and where each counts for itself. */
async function tryLimits(nodes: Nodes, point: Known, workers: number): Promise<string[]> {
  const mistakes: string[] = []
  const atOne = await guess(nodes.ports[0] as number, '127.5.5.1')
  const atAll = await guess(nodes.port, '127.5.6.1')
  console.log(
    `guesses at a password: ${JSON.stringify(atOne)} at one process, ${JSON.stringify(atAll)} at all`,
  )
  if (!atOne[401] || atOne[401] !== atAll[401]) {
    mistakes.push('processes do not let as many guesses through as one does')
  }
  const { many, others } = await logInBesideMany(nodes.port)
  console.log(
    `100 logins of one account: ${JSON.stringify(many)}; of three others: ${JSON.stringify(others)}`,
  )
  if (others[200] !== 3) mistakes.push('one account kept others from logging in')
  await nodes.restart({ RATE_LIMIT: `${RATE}/h` })
  const limited = await askBeyondRate(nodes, point)
  console.log(`points with RATE_LIMIT=${RATE}/h: ${JSON.stringify(limited)}`)
  // Each worker counts for itself as well, and which of them answer is not known.
  if (workers === 1 && limited[200] !== RATE * nodes.ports.length) {
    mistakes.push('each process does not count what it answers')
  }
  return mistakes
}
