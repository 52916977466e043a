/** A row for each combination of labels, a column for each heading; cells without a figure are empty. */
export function pivot<Item>(
  items: Item[],
  of: { labels: (item: Item) => string[]; heading: (item: Item) => string; cell: (item: Item) => string },
): { headings: string[]; rows: { labels: string[]; items: Item[]; cells: string[] }[] } {
  const headings = [...new Set(items.map(of.heading))]
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = of.labels(item).join('\n')
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  const rows = [...groups].map(([key, members]) => ({
    labels: key.split('\n'),
    items: members,
    cells: headings.map((heading) => {
      const found = members.find((item) => of.heading(item) === heading)
      return found ? of.cell(found) : ''
    }),
  }))
  return { headings, rows }
}
