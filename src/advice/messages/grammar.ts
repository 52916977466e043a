import type { ProductDefinition } from '#schemas/products/define.ts'
import { AREA_UNIT_NAMES } from '#schemas/quantities.ts'
import { findNearest, nameKey } from '#src/lib/names.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { Texts } from '../texts/languages.ts'

/** The subject of a question: a crop, an input such as Urea, or products. */
export interface Subject {
  /** Codes of products, the most needed first. */
  products: string[]
  crop?: string
  /** The only input that the answer is to have. */
  input?: string
  /** The word, for menus and for the next message. */
  word: string
}

const COMMANDS = ['help', 'stop', 'start', 'more'] as const

export type Parsed =
  | { kind: (typeof COMMANDS)[number] }
  /** The number of a choice, from 1. */
  | { kind: 'choice'; number: number }
  | { kind: 'feedback'; code: string; number: number; unit: HarvestUnit | null }
  | ({ kind: 'question'; area: string | null; guess: Split | null } & Split)

/** A question in two parts. */
interface Split {
  /** Null where no word is known. */
  subject: Subject | null
  /** As it was written; empty for none. */
  place: string
}

export type Vocabulary = ReturnType<typeof createVocabulary>

/** The words of the catalogue: products, crops with their aliases, and inputs, by their keys. */
export function createVocabulary(
  { published, countries, cropAliases }: Pick<Snapshot, 'published' | 'countries' | 'cropAliases'>,
  products: readonly ProductDefinition[],
  words: Texts['words'],
) {
  const subjects = new Map<string, Subject>()
  const all = products.map(({ code }) => code)
  const add = (word: string, subject: Omit<Subject, 'word'>) => {
    const key = nameKey(word)
    if (key !== '' && !subjects.has(key)) subjects.set(key, { ...subject, word: key })
  }
  for (const { code, names } of products) {
    for (const word of [code, names.subject, ...(words.products[code] ?? [])]) add(word, { products: [code] })
  }
  for (const crop of new Set(countries.flatMap(({ crops }) => crops))) {
    const aliases = cropAliases.flatMap(({ alias, code }) => (code === crop ? alias : []))
    for (const word of [crop, ...aliases]) add(word, { products: all, crop })
  }
  for (const { product, layers } of published) {
    for (const { input } of layers) {
      if (input === null) continue
      add(input, { products: [product], input })
      // A species by its genus, where that is not another word: the first species of the genus answers.
      const [genus = ''] = input.split(' ')
      if (genus !== input) add(genus, { products: [product] })
    }
  }
  const commands = new Map(COMMANDS.flatMap((name) => words[name].map((word) => [nameKey(word), name])))
  return { subjects, commands }
}

/** Letters of a word, from which on a typing error is forgiven: shorter words are near to many others. */
const LEAST_LETTERS = 4

/** Letters too many or too few, of a long name. */
const MOST_SLIPS = 4

/** The longest name of an input or a crop, in words. */
const MOST_WORDS = 3

/** Letters and digits that are not taken for each other. */
export const CODE_LETTERS = 'ABCDEFGHJKLMNPQRTUVWXY'
export const CODE_DIGITS = '23456789'

export type HarvestUnit = 'kg' | 'q' | 't'

const FEEDBACK = new RegExp(
  `^([${CODE_LETTERS}][${CODE_DIGITS}])[\\s:=,.-]+(\\d+(?:[.,]\\d+)?)\\s*(kg|kgs|q|qt|quintals?|t|tons?|tonnes?)?(?:\\s*/\\s*ha)?$`,
  'i',
)

const CHOICE = /^\d{1,2}$/

const AREA = new RegExp(`(?:^|[\\s,])(\\d+(?:[.,]\\d+)?)\\s*(${AREA_UNIT_NAMES.join('|')}|hectare)s?$`, 'i')

/** Reads a message. All but commands are questions, at worst about a place alone. */
export function parseMessage(text: string, { subjects, commands }: Vocabulary): Parsed {
  const sent = text
    .normalize('NFC')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^\//, '')
    .replace(/[.!?]+$/, '')
  const feedback = FEEDBACK.exec(sent)
  if (feedback) {
    const [, code = '', number = '', unit] = feedback
    return { kind: 'feedback', code: code.toUpperCase(), number: readDecimal(number), unit: readUnit(unit) }
  }
  if (CHOICE.test(sent)) return { kind: 'choice', number: Number(sent) }
  const key = nameKey(sent)
  // A place may be called nearly as a short command is.
  const near = key.length > LEAST_LETTERS ? nearestTo(key, commands) : undefined
  const command = commands.get(key) ?? (near === undefined ? undefined : commands.get(near))
  if (command !== undefined) return { kind: command }
  const area = AREA.exec(sent)
  const rest = area ? sent.slice(0, area.index).trim() : sent
  const words = rest.split(' ').filter(Boolean)
  const found = splitSubject(words, (key) => subjects.get(key))
  const guess = found ? null : splitSubject(words, (key) => subjects.get(nearestTo(key, subjects) ?? ''))
  return {
    kind: 'question',
    ...(found ?? { subject: null, place: rest }),
    guess: guess ?? null,
    area: area && `${area[1]?.replace(',', '.')} ${area[2]}`,
  }
}

/** The subject at the beginning or the end; the rest is the place. */
function splitSubject(words: string[], find: (key: string) => Subject | undefined): Split | undefined {
  for (let length = Math.min(MOST_WORDS, words.length); length > 0; length--) {
    for (const from of [0, words.length - length]) {
      const subject = find(
        nameKey(
          words
            .slice(from, from + length)
            .join(' ')
            .replace(/[,:;]$/, ''),
        ),
      )
      const others = [...words.slice(0, from), ...words.slice(from + length)]
      if (subject) return { subject, place: others.join(' ').replace(/^[\s,:;-]+|[\s,:;-]+$/g, '') }
    }
  }
  return undefined
}

function nearestTo(key: string, known: ReadonlyMap<string, unknown>): string | undefined {
  if (key.length < LEAST_LETTERS) return undefined
  const isAsLong = ({ length }: string) =>
    length >= LEAST_LETTERS && Math.abs(length - key.length) <= MOST_SLIPS
  return findNearest(key, [...known.keys()].filter(isAsLong))
}

function readDecimal(text: string): number {
  return Number(text.replace(',', '.'))
}

function readUnit(unit: string | undefined): HarvestUnit | null {
  const first = unit?.charAt(0).toLowerCase()
  if (first === undefined) return null
  return first === 'k' ? 'kg' : (first as 'q' | 't')
}
