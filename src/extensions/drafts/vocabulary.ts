import { readFile } from 'node:fs/promises'
import { Ajv } from 'ajv'
import { type Static, Type } from 'typebox'
import { parse } from 'yaml'
import type { CountryEntry, CropEntry } from '#src/catalog/reference-queries.ts'
import { OperatorError } from '#src/errors.ts'
import { decodeFile, refuseUnreadable } from '#src/ingest/other-formats.ts'
import { editDistance, nameKey } from '#src/lib/names.ts'
import { formatError } from '#src/lib/promises.ts'

/** What a word may say, of a layer or of its release. */
const KINDS = [
  'product',
  'input',
  'scenario',
  'condition',
  'country',
  'crop',
  'role',
  'unit',
  'month',
  'season',
  'nothing',
] as const
export type Kind = (typeof KINDS)[number]

const Words = Type.Array(Type.String({ minLength: 1, maxLength: 100 }))

const Entry = Type.Object(
  {
    kind: Type.Enum(KINDS),
    means: Type.String({ maxLength: 100 }),
    words: Type.Optional(Words),
    unsure: Type.Optional(Words),
    of: Type.Optional(Type.String()),
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    question: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  },
  { additionalProperties: false },
)

const WordsFile = Type.Object(
  {
    source: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
    licence: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    words: Type.Array(Entry),
    plain: Type.Optional(Words),
  },
  { additionalProperties: false },
)
type WordsFile = Static<typeof WordsFile>

export interface Meaning extends Omit<Static<typeof Entry>, 'words' | 'unsure'> {
  kind: Kind
  /** False for a word that also means something else. */
  sure: boolean
}

/** A word that differs from a known one by a letter. */
export interface NearWord {
  word: string
  meaning: Meaning
}

/** Shorter words differ by a letter on purpose. */
const LEAST_LETTERS = 4

/** Joined phrases are words, too; of short ones too many words would be one. */
const LEAST_JOINED = 5

/** Letters and digits in parts: cut at signs, and at capitals within a word. */
export function partsOf(text: string): string[] {
  return (
    nameKey(text.normalize('NFC').replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')).match(
      /[\p{L}\p{N}]+/gu,
    ) ?? []
  )
}

/** The meanings of words, by their parts. */
export class Vocabulary {
  readonly #meanings: Map<string, Meaning[]>
  /** Not misspelt. */
  readonly #plain: Set<string>
  /** Parts of the longest phrase. */
  longest = 1
  /** What an operator's file says of all releases. */
  source: string | undefined
  licence: string | undefined

  constructor(other?: Vocabulary) {
    this.#meanings = new Map(other ? other.#meanings : [])
    this.#plain = new Set(other ? other.#plain : [])
    this.longest = other?.longest ?? 1
    this.source = other?.source
    this.licence = other?.licence
  }

  /** Adds meanings of a word; with `instead` it loses those that it had. */
  add(word: string, meaning: Meaning, instead = false): void {
    const parts = partsOf(word)
    if (parts.length === 0) return
    this.longest = Math.max(this.longest, parts.length)
    const joined = parts.join('')
    const keys =
      parts.length > 1 && joined.length >= LEAST_JOINED ? [parts.join(' '), joined] : [parts.join(' ')]
    for (const key of keys) {
      const before = instead ? [] : (this.#meanings.get(key) ?? [])
      const others = before.filter(({ kind, means }) => kind !== meaning.kind || means !== meaning.means)
      const same = before.find((one) => !others.includes(one))
      this.#meanings.set(key, [...others, { ...meaning, sure: meaning.sure || (same?.sure ?? false) }])
    }
  }

  /** @param words parts of a name @returns none for unknown ones; several for a word of several meanings */
  find(words: readonly string[]): readonly Meaning[] {
    return this.#meanings.get(words.join(' ')) ?? []
  }

  /** A word of a kind, as an operator writes it. */
  findOf(kind: Kind, text: string): Meaning | undefined {
    return this.find(partsOf(text)).find((meaning) => meaning.kind === kind)
  }

  /**
   * The known word that a letter more, less or other makes of an unknown one. Mistakes seldom change the first letter, which
   * distinguishes `area` from `urea` and `field` from `yield`.
   */
  near(word: string): NearWord | undefined {
    if (word.length < LEAST_LETTERS || this.#plain.has(word)) return undefined
    const [first, second] = word
    for (const [other, [meaning]] of this.#meanings) {
      const isAlike =
        Math.abs(other.length - word.length) <= 1 &&
        other.length >= LEAST_LETTERS &&
        (other[0] === first || (other[0] === second && other[1] === first))
      if (isAlike && meaning && meaning.kind !== 'nothing' && editDistance(word, other) === 1)
        return { word: other, meaning }
    }
    return undefined
  }

  /** Cuts a word that consists of known ones alone, such as `wheatyield`. */
  cut(word: string): string[] | undefined {
    for (let at = LEAST_LETTERS - 1; at <= word.length - LEAST_LETTERS + 1; at++) {
      const [head, tail] = [word.slice(0, at), word.slice(at)]
      if (!this.#isSure(head)) continue
      if (this.#isSure(tail)) return [head, tail]
      const rest = this.cut(tail)
      if (rest) return [head, ...rest]
    }
    return undefined
  }

  #isSure(word: string): boolean {
    const found = this.find([word])
    return found.length === 1 && found[0]?.sure === true
  }

  /** All meanings of a kind, once each. */
  listOf(kind: Kind): Meaning[] {
    const all = [...this.#meanings.values()].flat().filter((meaning) => meaning.kind === kind)
    return [...new Map(all.map((meaning) => [meaning.means, meaning])).values()]
  }

  addFile({ source, licence, words, plain = [] }: WordsFile, instead = false): void {
    for (const word of plain) this.#plain.add(word)
    this.source = source ?? this.source
    this.licence = licence ?? this.licence
    for (const { words: sure = [], unsure = [], ...meaning } of words) {
      for (const word of sure) this.add(word, { ...meaning, sure: true }, instead)
      for (const word of unsure) this.add(word, { ...meaning, sure: false }, instead)
    }
  }
}

const isWordsFile = new Ajv({ allErrors: false }).compile<WordsFile>(WordsFile)

async function readWordsFile(path: string | URL): Promise<WordsFile> {
  const shown = path instanceof URL ? 'words.yaml' : path
  const bytes = await readFile(path).catch((error) => refuseUnreadable(shown, error))
  try {
    const value = parse(decodeFile(bytes, { source: shown }))
    if (isWordsFile(value)) return value
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(`${shown} is not YAML: ${formatError(error).split('\n')[0]}.`)
  }
  const [problem] = isWordsFile.errors ?? []
  throw new OperatorError(`${shown} is not a table of words: ${problem?.instancePath} ${problem?.message}.`)
}

/** What the database knows by name. */
export interface Catalogue {
  countries: readonly CountryEntry[]
  crops: readonly CropEntry[]
  /** Published inputs and scenarios, by product. */
  names: readonly { product: string; inputs: readonly string[]; scenarios: readonly string[] }[]
}

/** @param path of the operator's own table @throws {OperatorError} for one that cannot be read */
export async function readVocabulary(catalogue: Catalogue, path?: string): Promise<Vocabulary> {
  const made = new Vocabulary()
  made.addFile(await readWordsFile(new URL('words.yaml', import.meta.url)))
  const listed = [
    ['country', catalogue.countries],
    ['crop', catalogue.crops],
  ] as const
  for (const [kind, entries] of listed) {
    for (const { code, name, aliases } of entries) {
      for (const word of [code, name, ...aliases]) made.add(word, { kind, means: code, sure: true }, true)
    }
  }
  for (const { product, inputs, scenarios } of catalogue.names) {
    // As they are published: another spelling would be another input.
    for (const means of inputs)
      if (partsOf(means).join('').length > 1)
        made.add(means, { kind: 'input', of: product, means, sure: true }, true)
    for (const means of scenarios) made.add(means, { kind: 'scenario', means, sure: true }, true)
  }
  if (path !== undefined) made.addFile(await readWordsFile(path), true)
  return made
}
