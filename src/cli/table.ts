/** Lays out rows in columns as wide as their longest cell. */
export function table(head: string[], rows: string[][]): string {
  const lines = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)))
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
