import { figure } from '../limits.ts'
import type { Results } from '../results.ts'
import type { Table } from './table.ts'

export function historyTables({ history }: Results): Table[] {
  if (!history) return []
  const { small, large, rows, reads } = history
  return [
    {
      title: 'Histories',
      head: ['call', `ms with ${figure(small.items)} items`, `ms with ${figure(large.items)}`, 'times'],
      rows: rows.map(({ what, small, large, times }, index) => [
        `${index + 1} ${what}`,
        ...[small, large, times].map(figure),
      ]),
    },
    {
      title: 'Items that statements read, if more in the larger history',
      head: ['statement', `with ${figure(small.items)} items`, `with ${figure(large.items)}`],
      rows: reads
        .filter(({ small, large }) => large > small)
        .map(({ what, small, large }) => [what, figure(small), figure(large)]),
    },
  ]
}
