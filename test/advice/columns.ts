/** An answer about one place, as its product's operation gives it. */
export type Answered = Record<string, unknown>

/** An entry of an answer: what it is of, and its numbers. */
interface Entry {
  condition?: string
  probability?: number
  range?: { low: number; high: number }
  scenario_of?: string
}

type Column = [name: string, value: number | string]

/** What an entry is of, as its columns are named for it. */
function labelsOf({ condition: _, scenario_of: __, ...members }: Entry): string {
  const labels = Object.values(members).filter((member) => typeof member === 'string')
  return labels.map((label) => ` ${label}`).join('')
}

/** The numbers of an entry that are of its input and its scenario both: its value, and the statistics of one. */
function numbersOf({ probability: _, ...members }: Entry): Column[] {
  return Object.entries(members as Answered).filter(
    (member): member is [string, number] => typeof member[1] === 'number',
  )
}

/**
 * What an answer says of its values, by the columns that tables and features have for it, in their order: of
 * all forms alike, so that a test can hold each to the answer in JSON.
 */
export function columnsOf(answer: Answered): Column[] {
  const found = Object.entries(answer).find(([name]) => name.endsWith('_data'))?.[1]
  const entries = (found ?? []) as (Entry & { scenario?: string })[]
  const expected = (answer.expected ?? []) as Entry[]
  const odds = entries.flatMap(({ scenario, probability }): Column[] =>
    probability === undefined ? [] : [[`probability ${scenario}`, probability]],
  )
  const all = [
    ...entries.flatMap((entry) => numbersOf(entry).map(([key, value]) => [key + labelsOf(entry), value])),
    // The odds of a season are those of each input.
    ...new Map(odds as [string, number][]),
    ...entries.flatMap((entry) =>
      Object.entries(entry.range ?? {})
        .filter(([end]) => end !== 'level')
        .map(([end, value]) => [end + labelsOf(entry), value]),
    ),
    ...expected.flatMap((entry) =>
      numbersOf(entry).map(([key, value]) => [`expected_${key}${labelsOf(entry)}`, value]),
    ),
    ...entries.map((entry) => [`scenario_of${labelsOf(entry)}`, entry.scenario_of]),
    ['condition', entries[0]?.condition],
    ['condition_source', answer.condition_source],
  ]
  return all.filter((column): column is Column => column[1] !== undefined)
}
