import type { Entry } from './entries.ts'

/** Names of columns in Shapefiles have ten characters: longer ones are cut, and those cut to the same renamed. */
const LONGEST_NAME = 10

/** What an entry says of its layer, and what the names of these columns begin with. */
const STATISTICS = [
  ['value', ''],
  ['min', 'min_'],
  ['max', 'max_'],
  ['stddev', 'sd_'],
  ['coveredPercent', 'cov_'],
  ['total', 'tot_'],
] as const

/** Writes the values of layers as columns of their own. */
export interface LayerColumns {
  /** The columns of an entry, with what it says. */
  of(entry: Entry): [name: string, value: Entry['value']][]
}

/**
 * Names the columns of a file: `AN_Urea` is Urea for Above Normal, `tot_AN_Urea` its total. Within the file
 * no two layers have one name, in any case.
 *
 * @param others names that the file has already
 */
export function createLayerColumns(others: readonly string[]): LayerColumns {
  const taken = new Set(others)
  const names = new Map<string, string>()

  function nameOf(entry: Entry, prefix: string): string {
    const key = JSON.stringify([prefix, entry.product, entry.scenario, entry.input])
    const name = names.get(key) ?? unusedName(`${prefix}${shortName(entry)}`)
    names.set(key, name)
    return name
  }

  function unusedName(wanted: string): string {
    let name = wanted.slice(0, LONGEST_NAME)
    for (let count = 2; taken.has(name.toLowerCase()); count++) {
      name = `${wanted.slice(0, LONGEST_NAME - `_${count}`.length)}_${count}`
    }
    taken.add(name.toLowerCase())
    return name
  }

  return {
    of: (entry) =>
      STATISTICS.flatMap(([statistic, prefix]) => {
        const value = entry[statistic]
        return value === null ? [] : [[nameOf(entry, prefix), value]]
      }),
  }
}

/** The initials of the scenario and a short form of the input, as far as the layer has them: `AN_Urea`. */
function shortName({ product, scenario, input }: Entry): string {
  const initials = wordsOf(scenario).map(([initial]) => initial?.toUpperCase())
  const subject = wordsOf(input ?? product)
  // Species of one genus differ in their last word, which would be cut: Brachiaria brizantha is B_brizantha.
  const short = subject.map((word, index) => (index < subject.length - 1 ? word.charAt(0) : word))
  return [initials.join(''), ...short].filter((part) => part !== '').join('_') || product
}

/** The words of a label in letters and digits that every format has. */
function wordsOf(label: Entry['input']): string[] {
  const plain = String(label ?? '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
  return plain.match(/[A-Za-z0-9]+/g) ?? []
}
