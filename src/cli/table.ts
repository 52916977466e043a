import { InvalidArgumentError } from 'commander'
import { shortNumber } from '#src/lib/round.ts'

export function formatTable(head: string[], rows: string[][]): string {
  const lines = [head, ...rows].map((cells) => cells.map(printable))
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)))
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Typed texts may hold line breaks and terminal commands. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD')
}

export function timeText(time: Date): string {
  return time.toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')
}

/** A date means its start in UTC. */
export function readTime(text: string): Date {
  const [, day] = /^(\d{4}-\d\d-\d\d)(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  // Dates such as 2026-02-30 would become days of the next month.
  if (day && Number.isFinite(Date.parse(text)) && new Date(day).toISOString().startsWith(day))
    return new Date(text)
  throw new InvalidArgumentError('It must be a time such as 2026-11-01 or 2026-11-01T08:30:00Z.')
}

export function changeText(relative: number | null): string {
  if (relative === null) return 'new'
  if (relative === Number.NEGATIVE_INFINITY) return 'gone'
  if (!Number.isFinite(relative)) return 'from 0'
  return `${relative > 0 ? '+' : ''}${(100 * relative).toFixed(1)} %`
}

export function formatNumber(value: number | null): string {
  return value === null ? 'none' : shortNumber(value)
}

export function someNames(names: string[], shown = 5): string {
  const more = names.length - shown
  return more > 0 ? `${names.slice(0, shown).join(', ')} and ${more} more` : names.join(', ')
}

export function sizeText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)))
  const value = bytes / 1000 ** step
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step]}`
}

export function spanText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} hours`
  return `${Math.round(seconds / 86_400)} days`
}
