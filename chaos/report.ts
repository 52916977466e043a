import { judge, longestStop, type Outcome } from './judge.ts'
import { markdownTable } from './markdown-table.ts'

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
