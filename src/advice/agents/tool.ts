import type { Static, TObject } from 'typebox'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Entry } from '#src/lookup/releases.ts'
import type { AdviceBody, Asker } from './advice-service.ts'

/**
 * An answer that may have to be shorter.
 *
 * @param most so many entries of each list it may have
 */
export type Draft = (most: number) => object

/** An answer as it is sent: as an object, and the same as text. */
export interface Answer {
  content: object
  text: string
}

/** An agent reads all of an answer, and what it has read it keeps in mind: each answer is shorter than this. */
export const MOST_BYTES = 2000

/** How many entries lists may have: as many as there are, or else so many. */
const STEPS = [Number.POSITIVE_INFINITY, 40, 30, 20, 14, 10, 7, 5, 3, 2, 1]

/** How long texts may be that others have written, in characters: those of answers with few entries were too long. */
const LONG_TEXT = 160
const SHORT_TEXT = 60

/** The same for sentences of the service, in which there may be names that others have sent. */
const LONG_SENTENCE = 500

/**
 * The longest answer of a draft that is short enough.
 *
 * @throws {RangeError} where even the shortest is not
 */
export function answerOf(draft: Draft): Answer {
  for (const most of STEPS) {
    const content = draft(most)
    const text = JSON.stringify(content)
    if (Buffer.byteLength(text) < MOST_BYTES) return { content, text }
  }
  throw new RangeError('an answer is too long whatever is left out')
}

/** A text that others have written, so that it cannot fill an answer. */
export function shortened(text: string, most: number): string {
  return cut(text, most < 10 ? SHORT_TEXT : LONG_TEXT)
}

/** A sentence of the service, whose hint stands at its end: lists are shortened before it is. */
export function shortenedSentence(text: string, most: number): string {
  return cut(text, most > 2 ? LONG_SENTENCE : most > 1 ? LONG_TEXT : SHORT_TEXT)
}

function cut(text: string, length: number): string {
  // By characters: half a surrogate pair is no text.
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}

/** What was left out of some lists, as a member of an answer; none where that is nothing. */
export function leftOut(most: number, ...lengths: number[]): { left_out?: number } {
  const count = lengths.reduce((sum, length) => sum + Math.max(0, length - most), 0)
  return count > 0 ? { left_out: count } : {}
}

/** What an agent may call. */
export interface Tool {
  name: string
  title: string
  /** Agents choose by it: the answer, its units, and an example. */
  description: string
  input: TObject
  /**
   * @param input that the schema has found to be right
   * @throws {ApiError} which says why there is no answer
   */
  run(input: never, by: Asker): Promise<Draft>
}

/** A tool whose input is of the type that its schema says. */
export function defineTool<Input extends TObject>(
  tool: Omit<Tool, 'input' | 'run'> & {
    input: Input
    run(input: Static<Input>, by: Asker): Promise<Draft>
  },
): Tool {
  return tool
}

/** What stands for an input or a scenario that a layer has not. */
const NONE = 'any'

/** What one product says, as the endpoints have it. */
export interface Section {
  release: string
  forecast_month?: string
  synthetic: boolean
  stale?: boolean
  entries: Entry[]
}

/** Reads what an answer has of a product; undefined where it has a reason for having none. */
export function sectionOf(product: ProductDefinition, body: AdviceBody): Section | undefined {
  const { [product.entries]: entries, release, forecast_month, synthetic, stale } = body
  if (!Array.isArray(entries)) return undefined
  return { release, forecast_month, synthetic, stale, entries } as Section
}

/** What answers say of the release that a section is from. */
export function releaseOf({ release, forecast_month, synthetic, stale }: Section) {
  return { release, ...(forecast_month && { forecast_month }), synthetic, ...(stale && { stale }) }
}

/** Values by their input, where the product has any, and by their scenario, where it has those. */
export function valuesOf(product: ProductDefinition, entries: readonly Entry[]): object {
  const { input, seasonal, value } = product
  const byInput = new Map<string, Map<string, unknown>>()
  for (const entry of entries) {
    const name = labelOf(input ? entry[input.key] : null)
    const scenarios = byInput.get(name) ?? new Map()
    byInput.set(name, scenarios.set(labelOf(seasonal ? entry.scenario : null), entry[value.key]))
  }
  // Not by assignment: a source may call a layer __proto__.
  const named = [...byInput].map(([name, scenarios]) => {
    return [name, seasonal ? Object.fromEntries(scenarios) : scenarios.get(NONE)]
  })
  return input ? Object.fromEntries(named) : Object.fromEntries(byInput.get(NONE) ?? [])
}

/** The best come first where there is nothing but a score to choose by. */
export function inOrder(product: ProductDefinition, entries: readonly Entry[]): Entry[] {
  const { key } = product.value
  return product.seasonal ? [...entries] : [...entries].sort((a, b) => Number(b[key]) - Number(a[key]))
}

export function labelOf(label: unknown): string {
  return label === null || label === undefined ? NONE : String(label)
}

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
