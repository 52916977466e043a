import { element } from '../shell/element.ts'

/** The season that people are shown first, and the one whose name does not say itself. */
const FIRST = 'Normal'
const EXPLAINED = 'Dominant'

/**
 * Entries with the normal season first among those of the same input; else they stay as they are. Programs get the order
 * of the interface.
 *
 * @template Entry
 * @param {readonly Entry[]} entries
 * @param {(entry: Entry) => { input?: unknown, scenario: unknown }} read
 * @returns {Entry[]}
 */
export function normalFirst(entries, read) {
  /** @type {Map<unknown, Entry[]>} */
  const groups = new Map()
  for (const entry of entries) {
    const { input, scenario } = read(entry)
    const group = groups.get(input) ?? []
    groups.set(input, scenario === FIRST ? [entry, ...group] : [...group, entry])
  }
  return [...groups.values()].flat()
}

/**
 * The meaning of the season whose name does not say itself, where it is among those that are shown.
 *
 * @param {Pick<import('../api-types.ts').Catalog, 'scenarios'>} catalog
 * @param {Iterable<unknown>} shown
 */
export function seasonNote({ scenarios }, shown) {
  const one = scenarios.find(({ scenario }) => scenario === EXPLAINED)
  return (
    one !== undefined &&
    [...shown].includes(EXPLAINED) &&
    element('p', { class: 'small season-note' }, element('strong', {}, one.scenario), `: ${one.description}`)
  )
}
