const MONTH_AND_YEAR = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
const MONTH = new Intl.DateTimeFormat('en', { month: 'long', timeZone: 'UTC' })

/** The names of the months in English, from January on. */
const MONTHS = Array.from({ length: 12 }, (_, month) => MONTH.format(Date.UTC(2000, month)))

/** Month and year in English, "July 2026", of an ISO date. */
export function monthAndYear(date: string): string {
  return MONTH_AND_YEAR.format(new Date(`${date}T00:00:00Z`))
}

/** The month of an ISO date: "2026-07". */
export function isoMonth(date: string): string {
  return date.slice(0, 'YYYY-MM'.length)
}

/** The month that {@link monthAndYear} has written, "2026-07"; undefined where it is no such text. */
export function isoMonthNamed(text: string): string | undefined {
  const [, name = '', year] = /^(\w+) (\d{4})$/.exec(text) ?? []
  const month = MONTHS.indexOf(name) + 1
  return month === 0 ? undefined : `${year}-${String(month).padStart(2, '0')}`
}
