import { type Band, listTiles } from './bands.ts'
import type { Guess } from './labels.ts'
import type { Kind } from './vocabulary.ts'

/** What a person decides. */
export interface Question {
  /** The same as long as it is asked. */
  id: string
  /** Of the manifest. */
  member: string
  text: string
  /** What an answer by number is. */
  candidates: readonly string[]
  /** What it is about: none for the whole release. */
  bands: readonly Band[]
  /** Whether other answers than the candidates count. */
  isOpen: boolean
  /** Whether yes is the first candidate, and no the second one, if there is one. */
  isYesNo?: boolean
}

/** For programs. */
export function describeQuestion({ member, text, candidates, bands }: Question) {
  return { member, text, candidates, files: [...new Set(bands.flatMap(listTiles).map(({ file }) => file))] }
}

/** Answers by the ids of questions. */
export type Answers = ReadonlyMap<string, string>

/** Answers that are no value. */
export const KEEP = 'keep it'
export const LEAVE_OUT = 'leave it out'
export const IGNORE = 'nothing'
export const YES = 'yes'
export const TILES = 'all, as tiles of one layer'

/** Whether a band is published as it is; yes keeps it. */
export function keepOrLeave(id: string, member: string, text: string, band: Band): Question {
  return { id, member, text, candidates: [KEEP, LEAVE_OUT], bands: [band], isOpen: false, isYesNo: true }
}

/** Names a band in a sentence. */
export function nameBand({ file, number, count }: Band): string {
  return count === 1 ? file : `${file} band ${number}`
}

const LISTED = 3

export function nameBands(bands: readonly Band[]): string {
  const named = bands.slice(0, LISTED).map(nameBand).join(', ')
  return bands.length > LISTED ? `${named} and ${bands.length - LISTED} more` : named
}

/** Where a member is missing. */
export function unsaidText(bands: readonly Band[]): string {
  return `no name and no metadata say it of ${nameBands(bands)}: which is right?`
}

/** By their ids. */
export type Questions = Map<string, Question>

/** Several bands may ask the same. */
export function ask(questions: Questions, question: Question): void {
  const before = questions.get(question.id)
  if (!before) questions.set(question.id, question)
  else questions.set(question.id, { ...before, bands: [...new Set([...before.bands, ...question.bands])] })
}

/** Of the manifest. */
export function memberOf(kind: Kind): string {
  if (kind === 'country') return 'country_code'
  return kind === 'month' ? 'forecast_period' : kind
}

export const answered = (value: string): Guess => ({ value, from: 'answered' })

export function groupBy<Item>(items: readonly Item[], key: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>()
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item])
  return [...groups.values()]
}
