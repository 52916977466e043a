import type { Asked } from './load/plan.ts'
import { markdownTable } from './markdown-table.ts'

/** A step of something that takes several, under load all the while. */
export interface Phase {
  name: string
  /** Milliseconds since 1970: it ends where the next one begins. */
  from: number
}

/** What came of the requests that were sent in each phase, as a table of Markdown. */
export function phasesReport(phases: Phase[], asked: Asked[]): string {
  const rows = phases.map(({ name, from }, index) => {
    const until = phases[index + 1]?.from ?? Number.POSITIVE_INFINITY
    const sent = asked.filter(({ at }) => at >= from && at < until)
    const failed = sent.filter(({ status, wrong }) => status < 200 || status > 299 || wrong !== undefined)
    const slowest = Math.max(0, ...sent.map(({ ms }) => ms))
    return [name, sent.length, failed.length, `${Math.round(slowest)} ms`]
  })
  return markdownTable(['while', 'requests', 'failed', 'slowest'], rows)
}
