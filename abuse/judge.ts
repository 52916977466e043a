import { figure } from '#bench/limits.ts'
import { markdownTable } from '#bench/report/markdown-table.ts'
import type { Figure } from './scenario.ts'
import type { Noticed, Victim } from './victims/victims.ts'

/** What one attack came to on one database. */
export interface Outcome {
  scenario: string
  database: string
  quiet: Record<Victim, Noticed>
  attacked: Record<Victim, Noticed>
  figures: Figure[]
}

/** A row of the report. */
export interface Verdict {
  what: string
  quiet: string
  attacked: string
  limit: string
  pass: boolean
}

/** The longest p99 in ms that others may have, by the one without an attack. */
const LONGEST: Record<Victim, (quiet: number) => number> = {
  point: (quiet) => quiet + 50,
  'kept point': (quiet) => Math.max(3 * quiet, 250),
  batch: (quiet) => Math.max(3 * quiet, 500),
  history: (quiet) => Math.max(3 * quiet, 500),
  login: (quiet) => Math.max(4 * quiet, 2000),
}

/** Holds what an attack came to against the limits: nobody else is refused or kept waiting. */
export function judge({ quiet, attacked, figures }: Outcome): Verdict[] {
  const ofVictims = (Object.keys(attacked) as Victim[]).map((victim): Verdict => {
    const [before, during] = [quiet[victim], attacked[victim]]
    const longest = LONGEST[victim](before.p99)
    return {
      what: victim,
      quiet: told(before),
      attacked: told(during),
      limit: `none refused, p99 ${figure(longest)} ms`,
      pass: during.answered === during.asked && during.p99 <= longest,
    }
  })
  const ofAttack = figures.map(
    ({ what, value, unit, limit }): Verdict => ({
      what,
      quiet: '',
      attacked: `${figure(value)}${unit}`,
      limit: `${figure(limit)}${unit}`,
      pass: value <= limit,
    }),
  )
  return [...ofVictims, ...ofAttack]
}

/** Latencies, and of those that were not served how many were answered what. */
function told({ asked, answered, p50, p99, statuses }: Noticed): string {
  const others = Object.entries(statuses)
    .filter(([status]) => !/^2/.test(status))
    .map(([status, count]) => (status === '0' ? `${count} not at all` : `${count} with ${status}`))
  const latencies = `p50 ${figure(p50)}, p99 ${figure(p99)} ms`
  return answered === asked ? latencies : `${latencies}; of ${asked}: ${others.join(', ')}`
}

/** The report of all attacks as a table of Markdown. */
export function reportOf(outcomes: Outcome[]): string {
  const rows = outcomes.flatMap((outcome) =>
    judge(outcome).map(({ what, quiet, attacked, limit, pass }) => [
      outcome.scenario,
      outcome.database,
      what,
      quiet,
      attacked,
      limit,
      pass ? 'passed' : 'FAILED',
    ]),
  )
  const head = ['attack', 'database', 'what', 'quiet', 'under attack', 'limit', '']
  return markdownTable(head, rows)
}
