import { expect, test } from 'vitest'
import { monthOfCalendar } from '#src/lib/dates.ts'

const DAY_MS = 86_400_000

test('the Ethiopian month of a Gregorian one is that of most of its days', () => {
  for (let year = 1990; year <= 2099; year++) {
    for (let month = 0; month < 12; month++) {
      const days = new Map<string, number>()
      for (let at = Date.UTC(year, month) / DAY_MS; at < Date.UTC(year, month + 1) / DAY_MS; at++) {
        const own = ethiopianMonth(at)
        days.set(own, (days.get(own) ?? 0) + 1)
      }
      const [most] = [...days].sort(([, a], [, b]) => b - a)[0] as [string, number]
      expect(monthOfCalendar('ethiopic', new Date(Date.UTC(year, month)).toISOString())).toBe(most)
    }
  }
})

test.each([
  ['2026-07-01', '201811', 'Hamle 2018'],
  ['2026-09-01', '201901', 'Meskerem 2019: Pagume has five days of September'],
  ['2023-09-01', '201601', 'Meskerem 2016: Pagume has six days of September'],
  ['2027-01-01', '201905', 'Tir 2019'],
  ['2026-08-01', '201812', 'Nehase 2018'],
])('the Ethiopian month of %s is %s: %s', (date, month) => {
  expect(monthOfCalendar('ethiopic', date)).toBe(month)
})

/** The Julian day numbers of 1 January 1970 and of 1 Meskerem 1 (Dershowitz and Reingold, Calendrical Calculations). */
const UNIX_DAY = 2_440_588
const MESKEREM_1 = 1_724_221

/** The month of a day, counted from there: years of 365 days, each third of four with one more; months of 30 days. */
function ethiopianMonth(day: number): string {
  const passed = day + UNIX_DAY - MESKEREM_1
  const inCycle = passed % 1461
  const own = [0, 365, 730, 1096].findLastIndex((start) => inCycle >= start)
  const inYear = inCycle - ([0, 365, 730, 1096][own] as number)
  return `${4 * Math.floor(passed / 1461) + own + 1}${String(Math.floor(inYear / 30) + 1).padStart(2, '0')}`
}
