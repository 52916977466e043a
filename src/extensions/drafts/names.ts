import { type Kind, type Meaning, partsOf, type Vocabulary } from './vocabulary.ts'

/** What some parts of a name say. */
export interface Reading {
  kind: Kind
  /** As it is written, in small letters. */
  text: string
  /** The place of its first part, and how many there are. */
  at: number
  length: number
  /** Several, where the word has several meanings. */
  options: readonly Meaning[]
  sure: boolean
}

export interface NameReading {
  parts: readonly string[]
  readings: readonly Reading[]
  /** Words of two letters and more that no table has. */
  unknown: readonly string[]
}

/** Parts that say a number, and nothing of a layer. */
const NUMBER = /^\d+$/
const YEAR = /^(?:19|20)\d\d$/
const MONTH = /^(?:0[1-9]|1[0-2])$/
const DAY = /^(?:0[1-9]|[12]\d|3[01])$/
const MONTH_NUMBER = /^((?:19|20)\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])?$/
const NUMBER_MONTH = /^(0[1-9]|1[0-2])((?:19|20)\d\d)$/
const WORD_YEAR = /^(\D+)((?:(?:19|20)\d\d)|\d\d)$/
const YEAR_WORD = /^((?:19|20)\d\d)(\D+)$/

/** `p10`, `q90`: the odds of lower values, in percent. */
const QUANTILE = /^(?:p|q|perc|pct|percentile|quantile)(\d\d)$/

/** Dates behind these words are of the file, not of its month. */
const OF_FILE = /^(?:v|ver|version|issued?|init|run|created|made|delivered|upload)$/

const LEAST_UNKNOWN = 2

/** Codes of two letters are words of other things, but at the beginning of a name. */
const SHORT_CODE = 2

/** Reads a name of a file, a folder or a band, the longest phrases first. */
export function readName(text: string, vocabulary: Vocabulary): NameReading {
  const parts = partsOf(text).flatMap((part) => cutPart(part, vocabulary))
  const readings: Reading[] = []
  let unknown: string[] = []
  const runs: string[][] = [unknown]
  for (let at = 0; at < parts.length; ) {
    const reading =
      readMonth(parts, at, vocabulary) ?? readQuantile(parts, at) ?? readWords(parts, at, vocabulary)
    const part = parts[at] as string
    if (reading || NUMBER.test(part)) {
      unknown = []
      runs.push(unknown)
    } else if (part.length >= LEAST_UNKNOWN) unknown.push(part)
    if (reading) readings.push(reading)
    at += reading?.length ?? 1
  }
  const words = runs.filter(({ length }) => length > 0).map((run) => run.join(' '))
  return { parts, readings: withWholeMonth(parts, readings), unknown: words }
}

/** Parts that letters and digits are joined in, or words without a sign between. */
function cutPart(part: string, vocabulary: Vocabulary): string[] {
  const isWhole =
    vocabulary.find([part]).length > 0 ||
    [NUMBER, QUANTILE].some((form) => form.test(part)) ||
    monthIn([part], 0, vocabulary) !== undefined
  if (isWhole) return [part]
  const pieces = part.match(/\d+|\D+/g) ?? []
  if (pieces.length > 1) return pieces.flatMap((piece) => cutPart(piece, vocabulary))
  return vocabulary.cut(part) ?? [part]
}

function readWords(parts: readonly string[], at: number, vocabulary: Vocabulary): Reading | undefined {
  for (let length = Math.min(vocabulary.longest, parts.length - at); length > 0; length--) {
    const words = parts.slice(at, at + length)
    const options = vocabulary.find(words)
    const [first] = options
    if (!first) continue
    const text = words.join(' ')
    const isCode = first.kind === 'country' && text.length <= SHORT_CODE && at > 0
    const sure = options.length === 1 && first.sure && !isCode
    return { kind: first.kind, text, at, length, options, sure }
  }
  return undefined
}

function readQuantile(parts: readonly string[], at: number): Reading | undefined {
  const text = parts[at] as string
  const percent = Number(QUANTILE.exec(text)?.[1])
  if (!(percent > 0)) return undefined
  const means = percent === 50 ? 'value' : `${percent < 50 ? 'low' : 'high'} ${percent / 100}`
  const options = [{ kind: 'role' as const, means, sure: false }]
  return { kind: 'role', text, at, length: 1, options, sure: percent === 50 }
}

interface FoundMonth {
  month: string
  length: number
  sure: boolean
}

function readMonth(parts: readonly string[], at: number, vocabulary: Vocabulary): Reading | undefined {
  const found = monthIn(parts, at, vocabulary)
  if (!found) return undefined
  const { month, length, sure } = found
  const own = parts.slice(at, at + length)
  // What a person has said of it.
  const said = vocabulary.find(own).find(({ means }) => !MONTH.test(means))
  const isOfFile = OF_FILE.test(parts[at - 1] ?? '') || said?.kind === 'nothing'
  const kind = isOfFile ? 'nothing' : 'month'
  const isSure = sure || isOfFile || said !== undefined
  const options = [{ kind, means: said?.means ?? month, sure: isSure } as const]
  return { kind, text: own.join('-'), at, length, options, sure: isSure }
}

/** A month such as `2026-07`. A day may be that of the file, and two numbers apart may be others. */
function monthIn(parts: readonly string[], at: number, vocabulary: Vocabulary): FoundMonth | undefined {
  const [part = '', next = '', third = ''] = parts.slice(at, at + 3)
  const found = (year: string, month: string, length: number, sure = true) => ({
    month: `${year.length === 2 ? `20${year}` : year}-${month}`,
    ...{ length, sure },
  })
  const named = (word: string) => vocabulary.findOf('month', word)?.means
  const [, year, month, day] = MONTH_NUMBER.exec(part) ?? []
  if (year && month) return found(year, month, 1, day === undefined)
  const [, earlier, later] = NUMBER_MONTH.exec(part) ?? []
  if (earlier && later) return found(later, earlier, 1)
  if (YEAR.test(part) && MONTH.test(next)) {
    return DAY.test(third) ? found(part, next, 3, false) : found(part, next, 2)
  }
  if (MONTH.test(part) && YEAR.test(next)) return found(next, part, 2, false)
  const [, word = '', ofWord = ''] = WORD_YEAR.exec(part) ?? []
  const [, ofYear = '', behind = ''] = YEAR_WORD.exec(part) ?? []
  const [joined, after] = [named(word), named(behind)]
  if (joined) return found(ofWord, joined, 1)
  if (after) return found(ofYear, after, 1)
  const [own, second] = [named(part), named(next)]
  if (own && YEAR.test(next)) return found(next, own, 2)
  if (own && DAY.test(next)) return found(next, own, 2, false)
  if (YEAR.test(part) && second) return found(part, second, 2)
  return undefined
}

/** A month and a year apart are one month where there is one of each; alone, either is none. */
function withWholeMonth(parts: readonly string[], readings: readonly Reading[]): Reading[] {
  const isWord = ({ kind, options }: Reading) => kind === 'month' && MONTH.test(options[0]?.means ?? '')
  const words = readings.filter(isWord)
  const whole = readings.filter((one) => !isWord(one))
  const years = parts.filter((part) => YEAR.test(part))
  const [word] = words
  const isOne =
    word && words.length === 1 && years.length === 1 && !whole.some(({ kind }) => kind === 'month')
  if (!isOne) return whole
  const month = `${years[0]}-${word.options[0]?.means}`
  const options = [{ kind: 'month' as const, means: month, sure: true }]
  return [...whole, { ...word, text: `${word.text} ${years[0]}`, options, sure: true }]
}

/** The names of all files, in which a word has a meaning by what others have at its place. */
export class Sisters {
  /** What stands at a place, by the parts around it and the kind. */
  readonly #places = new Map<string, Set<string>>()
  readonly #names: Set<string>

  constructor(names: readonly NameReading[]) {
    this.#names = new Set(names.map(({ parts }) => parts.join(' ')))
    for (const name of names) {
      for (const reading of name.readings) {
        for (const { kind, means } of reading.options) {
          const key = around(name, reading, kind)
          this.#places.set(key, (this.#places.get(key) ?? new Set()).add(means))
        }
      }
    }
  }

  /** The meaning of an unsure word that other names make certain. */
  settle(name: NameReading, reading: Reading): Meaning | undefined {
    const certain = reading.options.filter(({ kind, means }) => {
      const others = [...(this.#places.get(around(name, reading, kind)) ?? [])].filter((one) => one !== means)
      return others.length > 0 || (kind === 'role' && this.#names.has(around(name, reading, undefined)))
    })
    return certain.length === 1 ? certain[0] : undefined
  }
}

/** The name with a sign in the place of a reading, or without it. */
function around({ parts }: NameReading, { at, length }: Reading, kind: Kind | undefined): string {
  return [...parts.slice(0, at), ...(kind ? [`<${kind}>`] : []), ...parts.slice(at + length)].join(' ')
}
