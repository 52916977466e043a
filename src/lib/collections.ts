/** Trimmed items between commas, without empty ones. */
export function splitList(text: string): string[] {
  return text.split(',').flatMap((item) => item.trim() || [])
}

export function isOneOf<Word extends string>(words: readonly Word[], word: string | undefined): word is Word {
  return words.some((one) => one === word)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Groups with their largest one. Each operation takes constant time. */
export function createGroups<Member>() {
  const groups = new Map<string, Set<Member>>()
  /** Groups of n members at index n; the last set has some. Sizes change by one. */
  const bySize: Set<Set<Member>>[] = []

  function move(group: Set<Member>, sizeBefore: number): void {
    bySize[sizeBefore]?.delete(group)
    bySize[group.size] = (bySize[group.size] ?? new Set()).add(group)
    if (bySize.at(-1)?.size === 0) bySize.pop()
  }

  return {
    add(name: string, member: Member): void {
      const group = groups.get(name) ?? new Set()
      if (group.has(member)) return
      groups.set(name, group.add(member))
      move(group, group.size - 1)
    },
    delete(name: string, member: Member): void {
      const group = groups.get(name)
      if (!group?.delete(member)) return
      move(group, group.size + 1)
      if (group.size > 0) return
      groups.delete(name)
      bySize[0]?.delete(group)
    },
    /** Of several, the first that became so large. */
    largest(): Set<Member> | undefined {
      const [first] = bySize.at(-1) ?? []
      return first
    },
  }
}
