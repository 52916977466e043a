/** The items of a text with commas between them, without the spaces around them. */
export function listOf(text: string): string[] {
  return text.split(',').flatMap((item) => item.trim() || [])
}

export function isOneOf<Word extends string>(words: readonly Word[], word: string | undefined): word is Word {
  return words.some((one) => one === word)
}

/** Whether a value is an object that is no list. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Members in groups, of which the largest is known at any time. */
interface Groups<Member> {
  add(name: string, member: Member): void
  delete(name: string, member: Member): void
  /** One that no other is larger than; of several, the first that became so large. */
  largest(): Set<Member> | undefined
}

/** Makes groups that are empty. Whatever is done with them takes as long with ten thousand as with ten. */
export function createGroups<Member>(): Groups<Member> {
  const groups = new Map<string, Set<Member>>()
  /** At place n the groups of n members; the last has some. They grow and shrink by one, so that none is jumped over. */
  const bySize: Set<Set<Member>>[] = []

  function move(group: Set<Member>, sizeBefore: number): void {
    bySize[sizeBefore]?.delete(group)
    bySize[group.size] = (bySize[group.size] ?? new Set()).add(group)
    if (bySize.at(-1)?.size === 0) bySize.pop()
  }

  return {
    add(name, member) {
      const group = groups.get(name) ?? new Set()
      if (group.has(member)) return
      groups.set(name, group.add(member))
      move(group, group.size - 1)
    },
    delete(name, member) {
      const group = groups.get(name)
      if (!group?.delete(member)) return
      move(group, group.size + 1)
      if (group.size > 0) return
      groups.delete(name)
      bySize[0]?.delete(group)
    },
    largest() {
      const [first] = bySize.at(-1) ?? []
      return first
    },
  }
}
