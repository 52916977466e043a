import { markdownTable } from './markdown-table.ts'

/** What a process and its database hold at a moment. */
export interface Sample {
  /** Milliseconds since the soak began. */
  at: number
  values: Record<string, number>
}

/** How much a figure may grow, as a line through the second half of the samples says. */
export interface Bound {
  figure: string
  unit: string
  /** In an hour. */
  perHour: number
  /** In all, however short the time: what comes and goes. */
  noise: number
}

export const BOUNDS: Bound[] = [
  { figure: 'held memory', unit: 'MiB', perHour: 8, noise: 6 },
  { figure: 'resident memory', unit: 'MiB', perHour: 40, noise: 40 },
  { figure: 'tile cache', unit: 'MiB', perHour: 0, noise: 1 },
  { figure: 'open files', unit: '', perHour: 2, noise: 10 },
  { figure: 'connections to the database', unit: '', perHour: 1, noise: 5 },
  { figure: 'event-loop delay p99', unit: 'ms', perHour: 5, noise: 30 },
]

export interface Growth extends Bound {
  first: number
  last: number
  /** By the line, over the second half and in an hour. */
  grown: number
  anHour: number
  /** The most that it may have grown over the second half. */
  most: number
  pass: boolean
}

const HOUR_MS = 3_600_000

/** Holds samples against the bounds. */
export function growthOf(samples: Sample[], bounds = BOUNDS): Growth[] {
  const half = samples.slice(Math.floor(samples.length / 2))
  const hours = ((half.at(-1) as Sample).at - (half[0] as Sample).at) / HOUR_MS
  return bounds.map((bound) => {
    const values = (list: Sample[]) => list.map(({ values }) => values[bound.figure] as number)
    const anHour = slope(
      half.map(({ at }) => at / HOUR_MS),
      values(half),
    )
    const grown = anHour * hours
    const most = Math.max(bound.perHour * hours, bound.noise)
    const [first, last] = [values(samples)[0] as number, values(samples).at(-1) as number]
    return { ...bound, first, last, grown, anHour, most, pass: grown <= most }
  })
}

/** Of the line with the least squares. */
export function slope(xs: number[], ys: number[]): number {
  const mean = (list: number[]) => list.reduce((sum, value) => sum + value, 0) / list.length
  const [x, y] = [mean(xs), mean(ys)]
  const spread = xs.reduce((sum, value) => sum + (value - x) ** 2, 0)
  return spread === 0
    ? 0
    : xs.reduce((sum, value, index) => sum + (value - x) * ((ys[index] as number) - y), 0) / spread
}

/** The report as a table of Markdown. */
export function soakReport(growths: Growth[]): string {
  const rows = growths.map(({ figure, unit, first, last, grown, most, pass }) => [
    figure,
    told(first, unit),
    told(last, unit),
    told(grown, unit),
    told(most, unit),
    pass ? 'passed' : 'FAILED',
  ])
  const head = ['figure', 'at first', 'at last', 'grown in the second half', 'may grow by', '']
  return markdownTable(head, rows)
}

function told(value: number, unit: string): string {
  return `${value.toFixed(1)}${unit && ` ${unit}`}`
}
