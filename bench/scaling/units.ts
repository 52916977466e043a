import { figure } from '../limits.ts'

/** Bytes with the unit that suits them: of thousands, as disks are sold. */
export function bytesText(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  return `${figure(bytes / 1000 ** power)} ${units[power]}`
}

/** A time with the unit that suits it. */
export function secondsText(seconds: number): string {
  if (seconds < 120) return `${figure(seconds)} s`
  if (seconds < 2 * 3600) return `${figure(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${figure(seconds / 3600)} h`
  return `${figure(seconds / 86_400)} days`
}

/** A count with a word for thousands where it is large. */
export function countText(count: number): string {
  if (count < 1e6) return figure(Math.round(count))
  return count < 1e9 ? `${figure(count / 1e6)} million` : `${figure(count / 1e9)} thousand million`
}

export function percentText(part: number): string {
  return `${figure(100 * part)} %`
}
