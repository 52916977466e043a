/** A table of Markdown; a cell that is empty has nothing between its bars but a space. */
export function markdownTable(head: string[], rows: (string | number)[][]): string {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines
    .map((cells) => `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`)
    .join('\n')
}
