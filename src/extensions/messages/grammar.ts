import type { ProductDefinition } from '#schemas/products/define.ts'
import { AREA_UNIT_NAMES } from '#schemas/quantities.ts'
import { type Texts, textsIn } from '#src/extensions/texts/languages.ts'
import { findNearest, nameKey } from '#src/lib/names.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'

/** The subject of a question: a crop, an input such as Urea, or products. */
export interface Subject {
  /** Codes of products, the most needed first. */
  products: string[]
  crop?: string
  /** The only input that the answer is to have. */
  input?: string
}

const COMMANDS = ['help', 'stop', 'start', 'more', 'yes'] as const

/** A place that a message has named: an administrative area, or a position. */
export interface AskedPlace {
  name: string | null
  lat: number
  lng: number
  /** Null for a position. */
  area: { countryCode: string; level: number; code: string } | null
}

export interface Question {
  subject: Subject
  place: AskedPlace
  /** Of the field, such as `10 timad`; null for a hectare. */
  area: string | null
  /** The condition of the field, as the last reply has offered it. */
  condition?: string
}

export type Parsed =
  | { kind: Exclude<(typeof COMMANDS)[number], 'yes'> }
  /** The number of a choice, from 1; a word for yes is the first where it is the only one. */
  | { kind: 'choice'; number: number | 'YES' }
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
  const ofCrops = products.filter(({ seasonal }) => seasonal).map(({ code }) => code)
  const add = (word: string, subject: Subject) => {
    const key = nameKey(word)
    if (key !== '' && !subjects.has(key)) subjects.set(key, subject)
  }
  for (const { code, names } of products) {
    for (const word of [code, names.subject, ...(words.products[code] ?? [])]) add(word, { products: [code] })
  }
  for (const crop of new Set(countries.flatMap(({ crops }) => crops))) {
    const aliases = cropAliases.flatMap(({ alias, code }) => (code === crop ? alias : []))
    for (const word of [crop, crop.replaceAll('-', ' '), ...aliases]) add(word, { products: ofCrops, crop })
  }
  for (const { product, layers } of published) {
    for (const { input } of layers) {
      if (input === null) continue
      add(input, { products: [product], input })
      // People know a species by its genus, which may have several.
      const [genus = ''] = input.split(' ')
      if (genus !== input) add(genus, { products: [product] })
    }
  }
  // Those of English work in each language, STOP above all: the last of a word counts.
  const all = [words, textsIn().words].flatMap((some) =>
    COMMANDS.flatMap((name) => some[name].map((word) => [commandKey(word), name] as const)),
  )
  const commands = new Map(all)
  return { subjects, commands }
}

/** Letters of a word, from which on a typing error is forgiven: shorter words are near to many others. */
const LEAST_LETTERS = 4

/** Letters too many or too few, of a long name. */
const MOST_SLIPS = 4

/** The longest name of an input or a crop, in words. */
const MOST_WORDS = 3

/** Letters and digits that are not taken for each other, nor for directions as in "N9.5". */
export const CODE_LETTERS = 'ABCDFGHJKLMPQRTUVXY'
export const CODE_DIGITS = '23456789'

export type HarvestUnit = 'kg' | 'q' | 't'

const NUMBER = String.raw`\d{1,3}(?:[., ]\d{3})+|\d+(?:[.,]\d+)?`

/** A mark behind another one belongs to the number: -4 and .5 are no ratings. */
const FEEDBACK = new RegExp(
  `^([${CODE_LETTERS}][${CODE_DIGITS}])[\\s:=,.-]+(?:(?<![\\s:=,.-][,.-])(${NUMBER})\\s*(kgs?|q|qt|quintals?|t|tons?|tonnes?)?(?:\\s*/\\s*(?:ha|5))?)?(.*)$`,
  'i',
)

/** As in "1 yes". */
const CHOICE = /^(\d{1,2})(?: (\S+))?$/

const UNITS = [...AREA_UNIT_NAMES, 'hectare'].join('|')

const AREA = new RegExp(`(?:^|[\\s,])(\\d+(?:[.,]\\d+)?|[1-3]/[2-4])\\s*(${UNITS})s?(?=$|[\\s,])`, 'i')

/** Marks around a place, but not the minus of a latitude. */
const EDGES = /^(?:[\s,:;]|-(?!\.?\d))+|[\s,:;-]+$/g

/** A mark between a word and a place, without a space; links have their own. */
const MARKS = /(?<!:\/\/\S*)(?<=\p{L})[,/:;-](?=\p{L})/gu

/** A word without the signs around it, in letters of any width. */
function commandKey(text: string): string {
  const key = nameKey(text.normalize('NFKC').replace(/[^\p{L}\p{M}\p{N}]+/gu, ' '))
  // As in S.T.O.P.
  return /^(\S )+\S$/.test(key) ? key.replaceAll(' ', '') : key
}

/** Signs that say nothing of a question, such as emoji and marks of direction. */
const NO_LETTERS = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\p{Cf}]|\ufe0f|\u20e3/gu

/** Around words; behind a digit they are seconds of an arc. */
const QUOTES = /(?<!\d)["“”„«»]/g

/** A text in its usual signs, without those that say nothing. */
function normalize(text: string): string {
  return text
    .normalize('NFC')
    .replace(/[\uff01-\uff5e]/g, (sign) => sign.normalize('NFKC'))
    .replace(NO_LETTERS, ' ')
    .replace(QUOTES, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/^["'“”‘’/]+/, '')
    .replace(/[.!?"'“”‘’]+$/, '')
}

/** Whether a message is a STOP: that takes less time than to read all of it. */
export function isStop(text: string, { commands }: Vocabulary): boolean {
  return findCommand(commandKey(normalize(text)), commands) === 'stop'
}

function findCommand(key: string, commands: Vocabulary['commands']) {
  // A place may be called nearly as a short command is.
  const near = key.length > LEAST_LETTERS ? nearestTo(key, commands) : undefined
  return commands.get(key) ?? (near === undefined ? undefined : commands.get(near)) ?? readStop(key, commands)
}

/** Reads a message. All but commands are questions, at worst about a place alone. */
export function parseMessage(text: string, { subjects, commands }: Vocabulary): Parsed {
  const sent = normalize(text)
  const feedback = FEEDBACK.exec(sent)
  if (feedback) return readFeedback(feedback)
  const [, number, answer] = CHOICE.exec(sent) ?? []
  if (number && (answer === undefined || commands.get(commandKey(answer)) === 'yes')) {
    return { kind: 'choice', number: Number(number) }
  }
  const command = findCommand(commandKey(sent), commands)
  if (command === 'yes') return { kind: 'choice', number: 'YES' }
  if (command !== undefined) return { kind: command }
  const area = AREA.exec(sent)
  const rest = sent.replace(AREA, ' ').replace(MARKS, ' ').replace(/\s+/g, ' ').trim()
  const words = rest.split(' ').filter(Boolean)
  const found = splitSubject(words, (key) => subjects.get(key))
  const findNearly = (key: string) => subjects.get(key) ?? subjects.get(nearestTo(key, subjects) ?? '')
  const guess = found ? null : splitSubject(words, findNearly)
  return {
    kind: 'question',
    ...(found ?? { subject: null, place: rest }),
    guess: guess ?? null,
    area: area && `${readSize(area[1] as string)} ${area[2]}`,
  }
}

const THOUSANDS = /^\d{1,3}(?:[., ]\d{3})+$/

/** NaN stands for another number than feedback has. */
function readFeedback([, code = '', sent, unit, rest]: RegExpExecArray): Parsed {
  const isLess = unit !== undefined && !unit.toLowerCase().startsWith('k')
  // Of kilograms a mark before three digits is one of thousands.
  const number =
    sent && THOUSANDS.test(sent) && !isLess ? Number(sent.replace(/\D/g, '')) : readDecimal(sent ?? 'none')
  const isAll = rest === '' || unit !== undefined
  return {
    kind: 'feedback',
    code: code.toUpperCase(),
    number: isAll ? number : Number.NaN,
    unit: readUnit(unit),
  }
}

/** "Stop it" is a command too, which no one has to send twice. */
function readStop(key: string, commands: Vocabulary['commands']): 'stop' | undefined {
  const words = key.split(' ')
  const isStop = [words[0], words.at(-1)].some((word = '') => commands.get(word) === 'stop')
  return isStop && words.length <= MOST_WORDS ? 'stop' : undefined
}

/** The subjects at the beginning and the end, together; the rest is the place. */
function splitSubject(words: string[], find: (key: string) => Subject | undefined): Split | undefined {
  let subject: Subject | undefined
  let rest = words
  for (;;) {
    const next = takeSubject(rest, find)
    const both: Subject | undefined = next && (subject ? combine(subject, next.subject) : next.subject)
    if (!next || !both) break
    subject = both
    rest = next.others
  }
  return subject && { subject, place: rest.join(' ').replace(EDGES, '') }
}

function takeSubject(words: string[], find: (key: string) => Subject | undefined) {
  for (let length = Math.min(MOST_WORDS, words.length); length > 0; length--) {
    for (const from of [0, words.length - length]) {
      const part = words.slice(from, from + length).join(' ')
      const subject = find(nameKey(part.replace(/[,:;]$/, '')))
      if (subject) return { subject, others: [...words.slice(0, from), ...words.slice(from + length)] }
    }
  }
  return undefined
}

/** A product or an input of a crop, such as "urea" and "wheat"; undefined for two of a kind: one is a part of a place. */
function combine(one: Subject, other: Subject): Subject | undefined {
  const crop = one.crop === undefined ? other : one
  const product = crop === one ? other : one
  if (crop.crop === undefined || product.crop !== undefined) return undefined
  return { ...product, crop: crop.crop }
}

function nearestTo(key: string, known: ReadonlyMap<string, unknown>): string | undefined {
  if (key.length < LEAST_LETTERS) return undefined
  const isAsLong = ({ length }: string) =>
    length >= LEAST_LETTERS && Math.abs(length - key.length) <= MOST_SLIPS
  return findNearest(key, [...known.keys()].filter(isAsLong))
}

function readSize(text: string): number {
  const [over = '', under = '1'] = text.split('/')
  return readDecimal(over) / Number(under)
}

function readDecimal(text: string): number {
  return Number(text.replace(',', '.'))
}

function readUnit(unit: string | undefined): HarvestUnit | null {
  const first = unit?.charAt(0).toLowerCase()
  if (first === undefined) return null
  return first === 'k' ? 'kg' : (first as 'q' | 't')
}
