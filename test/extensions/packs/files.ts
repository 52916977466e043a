import { readCsv } from '#src/lib/csv.ts'

export type PackRow = Record<string, string>

/** The rows of a pack by the names of its columns. */
export function readRows(text: string): PackRow[] {
  const [names = [], ...rows] = [...readCsv(text)].map(({ cells }) => cells)
  return rows.map((cells) => Object.fromEntries(names.map((name, at) => [name, cells[at] as string])))
}
