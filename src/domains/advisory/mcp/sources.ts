import { type Draft, shortened } from './drafts.ts'

/** Whose some data are: a release, or boundaries. */
export interface Origin {
  /** What is theirs. */
  of: string
  source: string
  licence: string
}

/** What answers say of origins: those with the same source and licence in one. */
export function sourcesOf(origins: readonly Origin[], most: number): object[] {
  const groups = new Map<string, { source: string; licence: string; of: string[] }>()
  for (const { of, source, licence } of origins) {
    const key = JSON.stringify([source, licence])
    const group = groups.get(key)
    if (!group)
      groups.set(key, { source: shortened(source, most), licence: shortened(licence, most), of: [of] })
    else if (!group.of.includes(of)) group.of.push(of)
  }
  return [...groups.values()].slice(0, most).map(({ of, ...group }) => ({ ...group, of: of.slice(0, most) }))
}

/** A draft that ends with whose its data are. */
export function withSources(draft: Draft, origins: readonly Origin[]): Draft {
  return (most) => ({ ...draft(most), sources: sourcesOf(origins, most) })
}
