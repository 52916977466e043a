import { expect, test } from 'vitest'
import { isoMonth, isoMonthNamed, monthAndYear } from '#src/lib/dates.ts'

test('a month is read back from the text that is written of it', () => {
  const months = Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}`)
  expect(months.map((month) => isoMonth(`${month}-01`))).toEqual(months)
  expect(months.map((month) => isoMonthNamed(monthAndYear(`${month}-01`)))).toEqual(months)
  expect(monthAndYear('2026-07-01')).toBe('July 2026')
})

test.each(['july 2026', 'JUL 2026', ' Jul  2026 '])('a month is read from %j', (text) =>
  expect(isoMonthNamed(text)).toBe('2026-07'),
)

test.each(['', 'July', 'July 26', 'Ju 2026', 'Juli 2026', '2026-07', 'constructor 2026'])(
  'no month is read from other text: %j',
  (text) => expect(isoMonthNamed(text)).toBeUndefined(),
)
