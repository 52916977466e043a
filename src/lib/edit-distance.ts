/**
 * How many letters have to be put in, left out or replaced to make one text of another (Levenshtein, 1965), or two
 * neighbours exchanged, which is the most usual slip of fingers (Damerau, 1964).
 */
export function editDistance(from: string, to: string): number {
  const [a, b] = [[...from], [...to]]
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  a.forEach((letter, row) => {
    const current = [row + 1]
    b.forEach((other, column) => {
      const replaced = (last[column] as number) + (letter === other ? 0 : 1)
      const added = Math.min(last[column + 1] as number, current[column] as number) + 1
      const isExchange = row > 0 && column > 0 && letter === b[column - 1] && a[row - 1] === other
      const exchanged = isExchange ? (beforeLast[column - 1] as number) + 1 : Number.POSITIVE_INFINITY
      current.push(Math.min(replaced, added, exchanged))
    })
    beforeLast = last
    last = current
  })
  return last[b.length] as number
}

/** The word that another one is probably meant to be: at most a fifth of its letters are wrong, and at least one may be. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const [first] = known
    .map((other) => ({ other, distance: editDistance(word, other) }))
    .filter(({ other, distance }) => distance <= Math.max(1, Math.floor(other.length / 5)))
    .sort((one, another) => one.distance - another.distance)
  return first?.other
}
