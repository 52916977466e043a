import type { Catalog } from '../api-types.ts'
import { element } from '../shell/element.ts'

/** The season that people are shown first, and the one whose name does not say itself. */
const FIRST = 'Normal'
const EXPLAINED = 'Dominant'

/**
 * Entries with the normal season first among those of the same input; else they stay as they are. Programs get the order
 * of the interface.
 */
export function normalFirst<Entry>(
  entries: readonly Entry[],
  read: (entry: Entry) => { input?: unknown; scenario: unknown },
): Entry[] {
  const groups = new Map<unknown, Entry[]>()
  for (const entry of entries) {
    const { input, scenario } = read(entry)
    const group = groups.get(input) ?? []
    groups.set(input, scenario === FIRST ? [entry, ...group] : [...group, entry])
  }
  return [...groups.values()].flat()
}

/** The meaning of the season whose name does not say itself, where it is among those that are shown. */
export function seasonNote({ scenarios }: Pick<Catalog, 'scenarios'>, shown: Iterable<unknown>) {
  const one = scenarios.find(({ scenario }) => scenario === EXPLAINED)
  return (
    one !== undefined &&
    [...shown].includes(EXPLAINED) &&
    element('p', { class: 'small season-note' }, element('strong', {}, one.scenario), `: ${one.description}`)
  )
}
