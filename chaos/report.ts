import { markdownTable } from '#bench/report/markdown-table.ts'
import { judge, longestStop, type Outcome, type Verdict } from './judge.ts'

const MOST_MISTAKES = 6

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const milliseconds = (ms: number) => `${Math.round(ms)} ms`

/** The report of all faults as the table of docs/reliability.md. */
export function reportOf(outcomes: Outcome[]): string {
  const head = ['database', 'requests', 'right', 'refused', 'unanswered', 'slowest', 'well again after']
  return tableOf(outcomes, head, ({ fault }, verdict) => {
    const { requests, right, refused, unanswered, slowest, recoveredMs } = verdict
    const times = [slowest, recoveredMs].map(milliseconds)
    return [fault.on, requests, right, refused, unanswered, ...times]
  })
}

/** The same for a cluster, with how long what was not answered at times was away. */
export function clusterReportOf(outcomes: Outcome[]): string {
  const head = ['requests', 'right', 'refused', 'slowest', 'reads waited', 'writes waited']
  return tableOf(outcomes, head, ({ asked, fault }, { requests, right, refused, slowest }) => {
    const stops = fault.stops?.map(({ what }) => seconds(longestStop(asked, what))) ?? []
    return [requests, right, refused, milliseconds(slowest), ...stops]
  })
}

function tableOf(
  outcomes: Outcome[],
  head: string[],
  cellsOf: (outcome: Outcome, verdict: Verdict) => (string | number)[],
): string {
  const rows = outcomes.map((outcome) => {
    const verdict = judge(outcome)
    const mistakes = verdict.mistakes.slice(0, MOST_MISTAKES).join('; ')
    return [`\`${outcome.fault.name}\``, ...cellsOf(outcome, verdict), outcome.acknowledged, mistakes]
  })
  return markdownTable(['fault', ...head, 'acknowledged', 'what was not right'], rows)
}
