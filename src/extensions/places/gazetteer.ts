import type { Country } from '#src/catalog/reference-queries.ts'
import type { Db } from '#src/data/tables.ts'
import { Cache } from '#src/lib/cache.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { nameKey, slipBetween } from '#src/lib/names.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { type AreaName, listAreaNames } from './name-queries.ts'
import { MOST_FOUND } from './schemas.ts'

export interface NamedArea extends Omit<AreaName, 'id' | 'parentId'> {
  /** The area above; null for a country. */
  parent: string | null
  /** The names of the areas above, from the nearest up; null for a country. */
  within: string | null
  /** Whether the text is the code or the name; a known spelling of it, or the name without "City of" or "Province"; or neither. */
  match: 'exact' | 'spelling' | 'near'
}

/** Null for all. */
interface AreaFilter {
  countryCode: string | null
  level: number | null
}

export interface FoundAreas {
  /** The area that has the text as its name or code, with all others that have it inside; undefined where none or several may be meant. */
  meant: NamedArea | undefined
  /** Those that the text names in whole or in part, the best first. */
  areas: NamedArea[]
  /** Where there are none: those that it names with typing errors, the nearest first. */
  similar: NamedArea[]
}

const APOSTROPHES = /['’‘ʼ`´]/gu
const PUNCTUATION = /[\p{P}\p{S}]+/gu

/** A name without case, accents and apostrophes; hyphens and other punctuation are spaces. */
function areaNameKey(text: string): string {
  return nameKey(text.replace(APOSTROPHES, '').replace(PUNCTUATION, ' '))
}

/** Words of names that have several usual spellings. */
const SPELLINGS = new Map(
  [
    ['ababa', 'abeba'],
    ['addis', 'adis'],
    ['amhara', 'amara'],
    ['bahir', 'bahar'],
    ['dessie', 'dese', 'desse'],
    ['gojjam', 'gojam'],
    ['gondar', 'gonder'],
    ['harar', 'harer', 'harrar'],
    ['hararghe', 'hararge', 'harerge', 'harerghe'],
    ['hawassa', 'hawasa', 'awassa', 'awasa'],
    ['jimma', 'jima', 'djimma'],
    ['mekelle', 'mekele', 'makale', 'makalle'],
    ['oromia', 'oromiya', 'oromiyaa'],
    ['shewa', 'shoa', 'showa'],
    ['tigray', 'tigrai'],
    ['wellega', 'welega', 'wollega', 'wolega'],
    ['wello', 'welo', 'wollo'],
  ].flatMap(([usual, ...others]) => others.map((other) => [other, usual as string])),
)

/** Words that say what an area is, which people leave out or replace. */
const KINDS = new Set(
  'administration city constituency council county district metropolis metropolitan municipal municipality of province region sector state the town ward woreda zone'.split(
    ' ',
  ),
)

/** A name without spaces, in usual spellings, without words that say what it is: Zone 3 and Ward 3 are two. */
function spellingKey(key: string): string {
  const words = key.split(' ').map((word) => SPELLINGS.get(word) ?? word)
  const own = words.filter((word) => !KINDS.has(word))
  return (/\p{L}/u.test(own.join('')) ? own : words).join('')
}

/** A name that areas have, or a qualifier. */
interface Name {
  key: string
  /** A bit for each letter. */
  letters: number
}

interface SharedName extends Name {
  spelling: string
  entries: Entry[]
}

/** An area, and what searches compare. */
interface Entry {
  area: AreaName
  /** Larger areas first. */
  ordinal: number
  code: string
  name: SharedName
  above: Entry | undefined
}

function makeName(key: string): Name {
  let letters = 0
  for (const letter of key) letters |= 1 << ((letter.codePointAt(0) as number) & 31)
  return { key, letters }
}

function countBits(bits: number): number {
  let count = 0
  for (let left = bits; left !== 0; left &= left - 1) count++
  return count
}

/** The most that `slipBetween` takes. Each is a letter more, a letter less, or both. */
const MOST_SLIPS = 2

/** As `slipBetween`; lengths and letters tell most names apart before their edit distance. */
function measureSlip(one: Name, other: Name): number {
  if (Math.abs(one.key.length - other.key.length) > MOST_SLIPS) return Number.POSITIVE_INFINITY
  const different = one.letters ^ other.letters
  if (countBits(different & one.letters) > MOST_SLIPS || countBits(different & other.letters) > MOST_SLIPS) {
    return Number.POSITIVE_INFINITY
  }
  return slipBetween(one.key, other.key)
}

/** The names that a text may mean, with its slips. */
function* findSlips<Of extends Name>(key: string, names: Iterable<Of>): Generator<[name: Of, slip: number]> {
  const sent = makeName(key)
  for (const name of names) {
    const slip = name.key === key ? 0 : measureSlip(sent, name)
    if (slip !== Number.POSITIVE_INFINITY) yield [name, slip]
  }
}

/** In a longer text no words say what an area lies in. */
const MOST_WORDS = 10

/** So many ways to read a text are tried, each in a millisecond. */
const MOST_SPLITS = 6

/** Ranks of what a text names, the best first. */
const CODE = 0
const WHOLE = 1
const SPELLING = 2
const BEGINNING = 3
const PART = 4
const RANKS = [CODE, WHOLE, SPELLING, BEGINNING, PART]

type IsWanted = (entry: Entry) => boolean

/** The names of areas. Searching 20,000 takes one to three milliseconds: callers wait for a turn. */
export class Gazetteer {
  readonly #entries: Entry[] = []
  readonly #byId = new Map<number, Entry>()
  readonly #names = new Map<string, SharedName>()
  /** Names and codes of areas that have others in them, and of countries. */
  readonly #qualifiers = new Map<string, Name>()
  /** The keys of countries by their codes. */
  readonly #countries: Map<string, readonly string[]>

  constructor(countries: readonly Pick<Country, 'code' | 'name'>[]) {
    this.#countries = new Map(countries.map(({ code, name }) => [code, [code, name].map(areaNameKey)]))
    for (const key of [...this.#countries.values()].flat()) this.#addQualifier(key)
  }

  /** Adds an area; larger ones are first. */
  add(area: AreaName): void {
    const key = areaNameKey(area.name)
    const name = this.#names.get(key) ?? { ...makeName(key), spelling: spellingKey(key), entries: [] }
    const above = area.parentId === null ? undefined : this.#byId.get(area.parentId)
    const entry = { area, ordinal: this.#entries.length, code: areaNameKey(area.code), name, above }
    this.#names.set(key, name)
    name.entries.push(entry)
    this.#byId.set(area.id, entry)
    this.#entries.push(entry)
    if (!above) return
    this.#addQualifier(above.name.key)
    this.#addQualifier(above.code)
  }

  #addQualifier(key: string): void {
    if (!this.#qualifiers.has(key)) this.#qualifiers.set(key, makeName(key))
  }

  /** The name of a large area of a country, for examples; undefined without any. */
  exampleIn(countryCode: string): string | undefined {
    return this.#entries.find(({ area }) => area.countryCode === countryCode && area.level > 0)?.area.name
  }

  /**
   * Finds the areas that a text means: by code or name, or by both with areas above or the country behind, as in
   * "Fiche, Oromia". Whole names come before their beginnings and those of their words, then larger areas before smaller ones.
   */
  search(text: string, { countryCode, level }: AreaFilter): FoundAreas {
    const key = areaNameKey(text)
    if (key === '') return { meant: undefined, areas: [], similar: [] }
    const isWanted: IsWanted = ({ area }) =>
      (countryCode === null || area.countryCode === countryCode) && (level === null || area.level === level)
    const splits = splitName(key)
    const found = this.#find(key, isWanted)
    if (found.areas.some(({ match }) => match !== 'near')) return { ...found, similar: [] }
    for (const { head, tail } of splits.filter(({ tail }) => this.#isQualifier(tail)).slice(0, MOST_SPLITS)) {
      const liesIn = this.#rememberAbove((above) => isQualifiedBy(above, tail))
      const qualified = this.#find(head, (entry) => isWanted(entry) && liesIn(entry))
      // "Shewa, Oromia" is a part of "North Shewa (Oromia)", and means others in Oromia as well.
      if (qualified.meant || qualified.areas.length > found.areas.length) return { ...qualified, similar: [] }
    }
    if (found.areas.length > 0) return { ...found, similar: [] }
    return { ...found, similar: this.#findSimilar(key, splits, isWanted) }
  }

  #find(key: string, isWanted: IsWanted): Pick<FoundAreas, 'meant' | 'areas'> {
    const spelling = spellingKey(key)
    const ranked: Entry[][] = RANKS.map(() => [])
    for (const entry of this.#entries) {
      const rank = rankEntry(entry, key, spelling)
      if (rank === undefined) continue
      const found = ranked[rank] as Entry[]
      if (found.length < MOST_FOUND && isWanted(entry)) found.push(entry)
    }
    const meant = chooseEntry(ranked, !key.split(' ').some((word) => KINDS.has(word)))
    return {
      meant: meant && describe(meant, ranked[SPELLING]?.includes(meant) ? SPELLING : WHOLE),
      areas: ranked
        .flatMap((found, rank) => found.map((entry) => describe(entry, rank)))
        .slice(0, MOST_FOUND),
    }
  }

  #findSimilar(key: string, splits: readonly Split[], isWanted: IsWanted): NamedArea[] {
    const slips = new Map<Entry, number>()
    const record = (entry: Entry, slip: number) => {
      if (isWanted(entry) && slip < (slips.get(entry) ?? Number.POSITIVE_INFINITY)) slips.set(entry, slip)
    }
    this.#eachSimilar(key, record)
    const qualified = splits.map(({ head, tail }) => {
      const near = [...findSlips(tail, this.#qualifiers.values())]
      return { head, near: new Map(near.map(([{ key }, slip]) => [key, slip])) }
    })
    for (const { head, near } of qualified.filter(({ near }) => near.size > 0).slice(0, MOST_SPLITS)) {
      const slipAbove = this.#rememberAbove((above) =>
        Math.min(...above.map((one) => near.get(one) ?? Number.POSITIVE_INFINITY)),
      )
      this.#eachSimilar(head, (entry, slip) => record(entry, slip + slipAbove(entry)))
    }
    return [...slips]
      .sort(([a, slip], [b, other]) => slip - other || a.ordinal - b.ordinal)
      .slice(0, MOST_FOUND)
      .map(([entry]) => describe(entry, PART))
  }

  #eachSimilar(key: string, record: (entry: Entry, slip: number) => void): void {
    for (const [{ entries }, slip] of findSlips(key, this.#names.values())) {
      for (const entry of entries) record(entry, slip)
    }
  }

  /** Whether a text is one qualifier, or several behind each other. */
  #isQualifier(text: string): boolean {
    return (
      this.#qualifiers.has(text) ||
      splitName(text).some(({ head, tail }) => this.#qualifiers.has(head) && this.#isQualifier(tail))
    )
  }

  /** Makes a function of the names and codes of the areas above an area and of its country, the nearest first. */
  #rememberAbove<Result>(read: (above: readonly string[]) => Result): (entry: Entry) => Result {
    const known = new Map<Entry | string, Result>()
    return ({ above, area: { countryCode } }) => {
      const stored = known.get(above ?? countryCode)
      if (stored !== undefined) return stored
      const keys: string[] = []
      for (let up = above; up; up = up.above) keys.push(up.name.key, up.code)
      const result = read([...keys, ...(this.#countries.get(countryCode) ?? [])])
      known.set(above ?? countryCode, result)
      return result
    }
  }
}

/** Whether a text is one of some keys, or several of them in their order. */
function isQualifiedBy(keys: readonly string[], text: string): boolean {
  return keys.some(
    (key, at) =>
      key === text ||
      (text.startsWith(`${key} `) && isQualifiedBy(keys.slice(at + 1), text.slice(key.length + 1))),
  )
}

/** Two letters are a part of too many names. */
const LEAST_OF_PART = 3

interface Split {
  head: string
  tail: string
}

/** The ways to read a text as a name and what it lies in, the longest names first. */
function splitName(key: string): Split[] {
  const words = key.split(' ')
  if (words.length > MOST_WORDS) return []
  return words.slice(1).map((_, index) => {
    const at = words.length - 1 - index
    return { head: words.slice(0, at).join(' '), tail: words.slice(at).join(' ') }
  })
}

function rankEntry({ code, name }: Entry, key: string, spelling: string): number | undefined {
  if (code === key) return CODE
  if (name.key === key) return WHOLE
  if (name.spelling === spelling) return SPELLING
  if (key.length < LEAST_OF_PART) return undefined
  if (name.key.startsWith(key)) return BEGINNING
  return name.key.includes(` ${key}`) ? PART : undefined
}

/** The entry that all others of its name lie in. @param isShort whether the text may lack words of names */
function chooseEntry(
  [codes = [], names = [], spellings = []]: Entry[][],
  isShort: boolean,
): Entry | undefined {
  const rivals = [codes, isShort ? [...names, ...spellings] : names, spellings].find(
    ({ length }) => length > 0,
  )
  return rivals?.find((entry) => rivals.every((other) => other === entry || listAbove(other).includes(entry)))
}

/** The areas above, the nearest first. */
function listAbove({ above }: Entry): Entry[] {
  return above ? [above, ...listAbove(above)] : []
}

function describe(entry: Entry, rank: number): NamedArea {
  const { countryCode, level, code, name, lat, lng } = entry.area
  const above = listAbove(entry).map(({ area }) => area.name)
  return {
    ...{ countryCode, level, code, name, lat, lng },
    parent: above[0] ?? null,
    within: above.join(', ') || null,
    match: rank <= WHOLE ? 'exact' : rank === SPELLING ? 'spelling' : 'near',
  }
}

/** Adding so many names takes about two milliseconds. */
const NAMES_A_SLICE = 500

export type AreaNames = ReturnType<typeof createAreaNames>

/** Keeps the names of the boundaries of a snapshot, 17 MB for 20,000 areas. A failed load leaves them. */
export function createAreaNames(db: Db) {
  const cache = new Cache<string, Gazetteer>('area names', { max: 1 })
  const keyOf = ({ boundaries, countries }: Snapshot) =>
    JSON.stringify([boundaries, countries.map(({ code, name }) => [code, name])])

  return {
    /** Undefined for a miss. */
    fromMemory: (snapshot: Snapshot): Gazetteer | undefined => cache.get(keyOf(snapshot)),
    /** Concurrent requests share one query, which is no request's own. @param pause between slices of shared work */
    load(snapshot: Snapshot, pause: Pause): Promise<Gazetteer> {
      const key = keyOf(snapshot)
      return cache.load(key, async () => {
        const { boundaries, areas } = await listAreaNames(db)
        // Others were loaded meanwhile, or are not at a replica yet.
        if (boundaries !== snapshot.boundaries) cache.delete(key)
        const gazetteer = new Gazetteer(snapshot.countries)
        for (const [index, area] of areas.entries()) {
          if (index % NAMES_A_SLICE === 0) await pause()
          gazetteer.add(area)
        }
        return gazetteer
      })
    },
  }
}
