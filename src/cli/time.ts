import { InvalidArgumentError } from 'commander'

/** A time as people read it, in UTC. */
export function timeText(time: Date): string {
  return time.toISOString().slice(0, 'YYYY-MM-DDTHH:MM'.length).replace('T', ' ')
}

/** Reads a time of ISO 8601; a date is its beginning in UTC. */
export function readTime(text: string): Date {
  const [, day] = /^(\d{4}-\d\d-\d\d)(T[\d:.]+(Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  // What is read as a time of the next month is a mistake, such as 2026-02-30.
  if (day && isTime(text) && new Date(day).toISOString().startsWith(day)) return new Date(text)
  throw new InvalidArgumentError('It must be a time such as 2026-11-01 or 2026-11-01T08:30:00Z.')
}

function isTime(text: string): boolean {
  return Number.isFinite(Date.parse(text))
}
