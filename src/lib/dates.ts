export const MINUTE_MS = 60_000
export const DAY_MS = 86_400_000

/** ISO date of a time in milliseconds since 1970, in UTC. */
export function formatDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Whether a text is a date of the calendar, in the years 1 to 9999. */
export function isDay(text: string): boolean {
  if (!/^(?!0000)\d{4}-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && formatDay(time) === text
}

const MONTH_AND_YEAR = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const MONTH = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' })

const MONTHS = Array.from({ length: 12 }, (_, month) => MONTH.format(Date.UTC(2000, month)).toLowerCase())

/** Month and year in English, "July 2026", of an ISO date. */
export function monthAndYear(date: string): string {
  return MONTH_AND_YEAR.format(new Date(`${date}T00:00:00Z`))
}

/** The month of an ISO date: "2026-07". */
export function isoMonth(date: string): string {
  return date.slice(0, 'YYYY-MM'.length)
}

/** The month of a calendar of `Intl`, as `201811`, that has the 16th of the month of a date, and so most of its days. */
export function monthOfCalendar(calendar: string, date: string): string {
  const format = new Intl.DateTimeFormat(`en-u-ca-${calendar}-nu-latn`, {
    ...{ year: 'numeric', month: 'numeric', timeZone: 'UTC' },
  })
  const parts = format.formatToParts(new Date(`${isoMonth(date)}-16T00:00:00Z`))
  const read = (type: string, length: number) =>
    parts.find((part) => part.type === type)?.value.padStart(length, '0')
  return `${read('year', 4)}${read('month', 2)}`
}

const SHORT_NAME = 3

/** "2026-07" for a text such as "July 2026" or "Jul 2026" in any case of letters. */
export function isoMonthNamed(text: string): string | undefined {
  const [, name = '', year] = /^\s*([a-z]+)\s+(\d{4})\s*$/i.exec(text) ?? []
  const written = name.toLowerCase()
  const month = MONTHS.findIndex((other) => [other, other.slice(0, SHORT_NAME)].includes(written)) + 1
  return month === 0 ? undefined : `${year}-${String(month).padStart(2, '0')}`
}

/** Calendar months between ISO dates, without regard to the day. */
export function monthsBetween(earlier: string, later: string): number {
  return monthNumber(later) - monthNumber(earlier)
}

function monthNumber(date: string): number {
  return Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7))
}
