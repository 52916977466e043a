import { judge, type Outcome } from './judge.ts'
import { markdownTable } from './markdown-table.ts'
import { longestStop } from './stops.ts'

/** The report of all faults as the table of docs/reliability.md. */
export function reportOf(outcomes: Outcome[]): string {
  const rows = outcomes.map((outcome) => {
    const { requests, right, refused, unanswered, slowest, recoveredMs, mistakes } = judge(outcome)
    return [
      `\`${outcome.fault.name}\``,
      outcome.fault.on,
      requests,
      right,
      refused,
      unanswered,
      `${Math.round(slowest)} ms`,
      `${Math.round(recoveredMs)} ms`,
      outcome.acknowledged,
      mistakes.slice(0, MOST_MISTAKES).join('; '),
    ]
  })
  return markdownTable(HEAD, rows)
}

/** The same for a cluster, with how long what was not answered at times was away. */
export function clusterReportOf(outcomes: Outcome[]): string {
  const rows = outcomes.map((outcome) => {
    const { asked, acknowledged, fault } = outcome
    const { requests, right, refused, slowest, mistakes } = judge(outcome)
    const stops = fault.stops?.map(({ what }) => `${(longestStop(asked, what) / 1000).toFixed(1)} s`) ?? []
    return [
      `\`${fault.name}\``,
      requests,
      right,
      refused,
      `${Math.round(slowest)} ms`,
      ...stops,
      acknowledged,
      mistakes.slice(0, MOST_MISTAKES).join('; '),
    ]
  })
  return markdownTable(CLUSTER_HEAD, rows)
}

const CLUSTER_HEAD = [
  'fault',
  'requests',
  'right',
  'refused',
  'slowest',
  'reads waited',
  'writes waited',
  'acknowledged',
  'what was not right',
]

const MOST_MISTAKES = 6

const HEAD = [
  'fault',
  'database',
  'requests',
  'right',
  'refused',
  'unanswered',
  'slowest',
  'well again after',
  'acknowledged',
  'what was not right',
]

/** What came within a tenth of a second. */
interface Tenth {
  /** Milliseconds since the load began. */
  at: number
  /** How often each status came, by what was asked. */
  statuses: Record<string, Record<number, number>>
  slowestMs: number
}

const TENTH_MS = 100

/** What each fault came to, with a record for each tenth of a second in which requests were sent. */
export function recordsOf(outcomes: Outcome[]): object {
  return outcomes.map((outcome) => {
    const { asked, publications: _, fault, from, to, ...rest } = outcome
    const began = Math.min(...asked.map(({ at }) => at))
    return {
      fault: fault.name,
      database: fault.on,
      happens: fault.happens,
      fromMs: from - began,
      toMs: to - began,
      verdict: judge(outcome),
      ...rest,
      tenths: tenthsOf(outcome, began),
    }
  })
}

function tenthsOf({ asked }: Outcome, began: number): Tenth[] {
  const tenths = new Map<number, Tenth>()
  for (const { what, at, ms, status } of asked) {
    const time = Math.floor((at - began) / TENTH_MS) * TENTH_MS
    const tenth = tenths.get(time) ?? { at: time, statuses: {}, slowestMs: 0 }
    tenths.set(time, tenth)
    tenth.statuses[what] ??= {}
    const counts = tenth.statuses[what]
    counts[status] = (counts[status] ?? 0) + 1
    tenth.slowestMs = Math.max(tenth.slowestMs, Math.round(ms))
  }
  return [...tenths.values()].sort((a, b) => a.at - b.at)
}
