import { formatTable } from '#src/cli/table.ts'
import type { FuzzReport } from './fuzz.ts'

/** A failure for people, with the line of a shell that shows it again. */
export function failureText({ seed, failure }: FuzzReport): string {
  if (!failure) return ''
  const { problems, command, answers, path } = failure
  return [...problems, '', command, '', ...answers, '', `seed ${seed}, path ${path}`].join('\n')
}

/** How often each operation gave which status. */
export function statusesTable({ statuses }: FuzzReport): string {
  const rows = Object.entries(statuses).map(([operation, counts]) => [
    operation,
    Object.entries(counts)
      .map(([status, count]) => `${status}: ${count}`)
      .join(', '),
  ])
  return formatTable(['operation', 'answers'], rows)
}
