/** Lays out rows in columns as wide as their longest cell. */
export function table(head: string[], rows: string[][]): string {
  const lines = [head, ...rows].map((cells) => cells.map(printable))
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

/** What people have typed may hold line breaks and commands to the terminal: neither goes through. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD')
}
