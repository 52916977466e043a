import { isSuccess } from '#bench/load/client.ts'
import { markdownTable } from '#bench/report/markdown-table.ts'
import type { Publication } from './fault.ts'
import { judge } from './judge.ts'
import { acknowledgedIn } from './load/load.ts'
import { type Asked, EVERYTHING, type Heard, type Plan } from './load/plan.ts'
import { verify } from './verify.ts'

/** A step of something that takes several, under load all the while. */
export interface Phase {
  name: string
  /** Milliseconds since 1970: it ends where the next one begins. */
  from: number
}

/** What came of the requests that were sent in each phase, as a table of Markdown. */
function phasesReport(phases: Phase[], asked: Asked[]): string {
  const rows = phases.map(({ name, from }, index) => {
    const until = phases[index + 1]?.from ?? Number.POSITIVE_INFINITY
    const sent = asked.filter(({ at }) => at >= from && at < until)
    const failed = sent.filter((one) => !isSuccess(one) || one.wrong !== undefined)
    const slowest = Math.max(0, ...sent.map(({ ms }) => ms))
    return [name, sent.length, failed.length, `${Math.round(slowest)} ms`]
  })
  return markdownTable(['while', 'requests', 'failed', 'slowest'], rows)
}

/**
 * Prints what came of a load under which nobody was to notice anything, and what was lost of it.
 *
 * @returns what was not right, a sentence each
 */
export async function judgePhases(
  phases: Phase[],
  plan: Plan,
  { asked, ledger }: Heard,
  publications: Publication[] = [],
): Promise<string[]> {
  const to = Date.now()
  const lost = await verify(plan, ledger)
  const acknowledged = acknowledgedIn(ledger)
  console.log(`\n${phasesReport(phases, asked)}\n`)
  const failed = asked.filter((one) => !isSuccess(one))
  const { length: onTheWay } = failed.filter(({ byService }) => !byService)
  console.log(`failed: ${failed.length}, of which ${onTheWay} got to no process that answered`)
  console.log(`lost: ${lost.length} of ${acknowledged} that were acknowledged`)
  return judge({
    fault: { name: 'phases', on: 'server', happens: '', unnoticed: [...EVERYTHING], recoveryMs: 0 },
    from: phases[0]?.from ?? to,
    to,
    asked,
    publications,
    lost,
    acknowledged,
    complaints: 0,
    isUp: true,
  }).mistakes
}
