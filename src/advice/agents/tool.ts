import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { BASE, type ErrorCode } from '#src/errors.ts'
import { toApiError } from '#src/http/plugins/error-handler.ts'
import type { Entry } from '#src/lookup/releases.ts'

/** The HTTP request of a tool's call: its queue, limits and deadline count. */
export interface ToolCall {
  request: FastifyRequest
  reply: FastifyReply
}

export type AdviceBody = Record<string, unknown>

/** An answer whose lists have at most so many entries. */
export type Draft = (most: number) => object

/** An agent keeps each answer in its context, so each is shorter than this. */
export const MOST_BYTES = 2000

/** Lengths of lists to try, from the longest. */
const STEPS = [Number.POSITIVE_INFINITY, 40, 30, 20, 14, 10, 7, 5, 3, 2, 1]

/** Characters of texts by others, in answers with many and with few entries. */
const LONG_TEXT = 160
const SHORT_TEXT = 60

/** The same for sentences of the service, which may quote names by others. */
const LONG_SENTENCE = 500

/** The longest answer that is short enough. @throws {RangeError} where even the shortest is not */
export function fitAnswer(draft: Draft): { content: object; text: string } {
  for (const most of STEPS) {
    const content = draft(most)
    const text = JSON.stringify(content)
    if (Buffer.byteLength(text) < MOST_BYTES) return { content, text }
  }
  throw new RangeError('an answer is too long whatever is left out')
}

/** Cuts a text by others, so that it cannot fill an answer. */
export function shortenText(text: string, most: number): string {
  return cut(text, most < 10 ? SHORT_TEXT : LONG_TEXT)
}

/** Cuts a sentence of the service, whose hint stands at its end: lists are shortened before it is. */
export function shortenSentence(text: string, most: number): string {
  return cut(text, most > 2 ? LONG_SENTENCE : most > 1 ? LONG_TEXT : SHORT_TEXT)
}

function cut(text: string, length: number): string {
  // By characters: half a surrogate pair is no text.
  const characters = [...text]
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`
}

export function countLeftOut(most: number, ...lengths: number[]): { left_out?: number } {
  const count = lengths.reduce((sum, length) => sum + Math.max(0, length - most), 0)
  return count > 0 ? { left_out: count } : {}
}

/** The label of a layer without an input or a scenario. */
const NONE = 'any'

export interface Section {
  release: string
  forecast_month?: string
  synthetic: boolean
  stale?: boolean
  entries: Entry[]
}

/** Reads the section of a product; undefined where the answer has a reason in its place. */
export function readSection(product: ProductDefinition, body: AdviceBody): Section | undefined {
  const { [product.entries]: entries, release, forecast_month, synthetic, stale } = body
  if (!Array.isArray(entries)) return undefined
  return { release, forecast_month, synthetic, stale, entries } as Section
}

export function describeSectionRelease({ release, forecast_month, synthetic, stale }: Section) {
  return { release, ...(forecast_month && { forecast_month }), synthetic, ...(stale && { stale }) }
}

export function groupValues(product: ProductDefinition, entries: readonly Entry[]): object {
  const { input, seasonal, value } = product
  const byInput = new Map<string, Map<string, unknown>>()
  for (const entry of entries) {
    const name = formatLabel(input ? entry[input.key] : null)
    const scenarios = byInput.get(name) ?? new Map()
    byInput.set(name, scenarios.set(formatLabel(seasonal ? entry.scenario : null), entry[value.key]))
  }
  // Not by assignment: a source may call a layer __proto__.
  const named = [...byInput].map(([name, scenarios]) => {
    return [name, seasonal ? Object.fromEntries(scenarios) : scenarios.get(NONE)]
  })
  return input ? Object.fromEntries(named) : Object.fromEntries(byInput.get(NONE) ?? [])
}

/** Sorts the best first where an agent has a score alone to choose by. */
export function sortEntries(product: ProductDefinition, entries: readonly Entry[]): Entry[] {
  const { key } = product.value
  return product.seasonal ? [...entries] : [...entries].sort((a, b) => Number(b[key]) - Number(a[key]))
}

export function formatLabel(label: unknown): string {
  return label === null || label === undefined ? NONE : String(label)
}

export interface Source {
  /** The release or the boundaries. */
  of: string
  source: string
  licence: string
}

/** Merges those with the same source and licence. */
export function mergeSources(sources: readonly Source[], most: number): object[] {
  const groups = new Map<string, Omit<Source, 'of'> & { of: string[] }>()
  for (const { of, source, licence } of sources) {
    const key = JSON.stringify([source, licence])
    const group = groups.get(key)
    if (!group)
      groups.set(key, { source: shortenText(source, most), licence: shortenText(licence, most), of: [of] })
    else if (!group.of.includes(of)) group.of.push(of)
  }
  return [...groups.values()].slice(0, most).map(({ of, ...group }) => ({ ...group, of: of.slice(0, most) }))
}

/** A draft that ends with the sources of its data. */
export function withSources(draft: Draft, sources: readonly Source[]): Draft {
  return (most) => ({ ...draft(most), sources: mergeSources(sources, most) })
}

/** Remedies for errors whose usual cause an agent has not sent. */
const REMEDIES: Partial<Record<ErrorCode, string>> = {
  INVALID_PARAMETERS: 'Mend what details name, and call again.',
  INVALID_GEOMETRY: 'Send [longitude, latitude], rings closed and without crossings.',
  CROP_NOT_AVAILABLE: 'Call catalogue to see the crops of each country.',
  UNKNOWN_AREA: 'Find the code with where_is and name.',
  NO_AREAS: 'Send a polygon.',
  NO_RELEASE: 'Call releases to see what is published.',
  OUTSIDE_COUNTRY: 'See that lat and lng are not swapped.',
  NO_DATA: 'Say that nothing is known for this place. Another point of the same field may have a value.',
  QUERY_TIMEOUT: 'Ask for a smaller area, or call again later.',
  OVERLOADED: 'Call again after retry_after_s.',
  DATABASE_UNAVAILABLE: 'Call again after retry_after_s.',
  INTERNAL: 'Call again once; then tell the user.',
}

/** Remedies where an agent has sent the argument. */
const REMEDIES_BY_ARGUMENT: Partial<Record<ErrorCode, [argument: string, mend: string][]>> = {
  CROP_NOT_AVAILABLE: [['crop', 'Leave crop out, or take one that catalogue has for the country.']],
  NO_AREAS: [['level', 'Take another level, or send a polygon.']],
  NO_RELEASE: [['forecast_period', 'Leave forecast_period out, or call releases to see what is published.']],
  OUTSIDE_COUNTRY: [
    ['polygon', 'Take the country that the polygon lies in; positions are [longitude, latitude].'],
    ['country_code', 'Leave country_code out, and see that lat and lng are not swapped.'],
  ],
}

/** @param args of the call, where null counts as left out */
export function findRemedy(code: ErrorCode, args: object): string | undefined {
  const isSent = (name: string) => ((args as Record<string, unknown>)[name] ?? null) !== null
  const [, mend] = REMEDIES_BY_ARGUMENT[code]?.find(([argument]) => isSent(argument)) ?? []
  return mend ?? REMEDIES[code]
}

/** A refused client may call again after so long. */
const RETRY_AFTER_SECONDS = 1

/** Logs an error as its endpoint does, and makes the text for an agent: the endpoint's answer, and the remedy. */
export function formatFailure(error: unknown, args: object, { request, reply }: ToolCall): string {
  const failure = toApiError(error as FastifyError, request)
  if (failure.status >= 500 && !reply.raw.destroyed)
    request.server.logErrorAnswer(request, error as Error, failure)
  request.errorCode = failure.code
  const { code, message } = failure
  // Each product has its own reason, which often repeats the message.
  const details = (failure.details ?? []).filter((detail) => detail.message !== message)
  const mend = findRemedy(code, args)
  const draft: Draft = (most) => ({
    error: shortenSentence(message.replaceAll(BASE, request.basePath ?? ''), most),
    code,
    ...(details.length > 0 && {
      details: details.slice(0, most).map(({ field, message, allowed, code }) => ({
        field: shortenText(field, most),
        message: shortenSentence(message, most),
        ...(allowed && { allowed: allowed.slice(0, most).map((value) => shortenText(value, most)) }),
        ...(code && { code }),
      })),
    }),
    ...(failure.status === 503 && { retry_after_s: RETRY_AFTER_SECONDS }),
    ...(mend && { mend }),
  })
  return fitAnswer(draft).text
}
