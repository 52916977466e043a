import type { Locator } from 'playwright-core'
import { expect, test } from 'vitest'
import { expectFigures, expectState } from '#test/setup/page-state.ts'

const cells = (...texts: string[]) => ({
  role: 'row',
  children: texts.map((name) => ({ role: 'cell', name })),
})

/** Of a page with nothing on its way: a heading, a list of one, and a table of two inputs. */
const part = {
  page: () => ({ locator: () => ({ first: () => ({ waitFor: async () => {} }) }) }),
  ariaSnapshotJSON: async () => [
    { role: 'heading', name: 'Classes', level: 2 },
    { role: 'list', children: [{ role: 'listitem', text: '1,000 – 2,500.5' }] },
    {
      role: 'table',
      name: 'Rates',
      children: [cells('Urea'), cells('Normal', '5.1', 'hill'), cells('None', '')],
    },
  ],
} as unknown as Locator

const CLASSES = { 1: [1000, 2500.5] }

test.each([5.1, 5.09, 5.1234])(
  'a number is that of the API where it is its first digits, rounded: %d',
  async (rate) => {
    await expectFigures(part, { Classes: CLASSES, Rates: { 'Urea, Normal, hill': [rate] } })
  },
)

test.each([
  ['another', { Rates: { 'Urea, Normal, hill': [5.2] } }],
  ['cut off instead of rounded', { Rates: { 'Urea, Normal, hill': [5.16] } }],
  ['of another row', { Rates: { 'DAP, Normal, hill': [5.1] } }],
  ['not had from the API', {}],
  ['not shown', { Rates: { 'Urea, Normal, hill': [5.1], 'Urea, None': [1] } }],
])('no state is kept with a number that is %s', async (_, figures) => {
  await expect(expectState(part, 'never', { Classes: CLASSES, ...figures })).rejects.toThrow(
    'to deeply equal',
  )
})
