import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { BASE, type ErrorCode } from '#src/errors.ts'
import { toApiError } from '#src/http/plugins/error-handler.ts'
import type { EntryCertainty } from '#src/lookup/certainty.ts'
import type { Entry } from '#src/lookup/entries.ts'

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

/** Values by input and scenario, as far as the product has them. */
export function groupValues(
  product: ProductDefinition,
  entries: readonly Entry[],
  read: (entry: Entry) => unknown = (entry) => entry[product.value.key],
): object {
  const { input, seasonal } = product
  const placed = entries.map((entry) => ({
    keys: [
      ...(input ? [formatLabel(entry[input.key])] : []),
      ...(seasonal ? [formatLabel(entry.scenario)] : []),
    ],
    value: read(entry),
  }))
  return nest(placed) as object
}

interface Placed {
  keys: string[]
  value: unknown
}

function nest(placed: Placed[]): unknown {
  if (placed[0]?.keys.length === 0) return placed[0].value
  const groups = new Map<string, Placed[]>()
  for (const { keys, value } of placed) {
    const [first = NONE, ...rest] = keys
    groups.set(first, [...(groups.get(first) ?? []), { keys: rest, value }])
  }
  // Not by assignment: a source may call a layer __proto__.
  return Object.fromEntries([...groups].map(([name, group]) => [name, nest(group)]))
}

/** How sure the values of a section are, each thing once; nothing of a release with values alone. */
export function describeSureness(product: ProductDefinition, body: AdviceBody, entries: readonly Entry[]) {
  const sure = entries as readonly (Entry & EntryCertainty)[]
  const odds = new Map(
    sure.flatMap(({ scenario, probability }) =>
      probability === undefined ? [] : [[formatLabel(scenario), probability]],
    ),
  )
  const ranged = sure.filter(({ range }) => range !== undefined)
  const [restating, ...others] = new Set(sure.flatMap(({ scenario_of }) => scenario_of ?? []))
  const expected = (body.expected ?? []) as Entry[]
  return {
    ...(odds.size > 0 && { odds: Object.fromEntries(odds) }),
    ...(ranged.length > 0 && {
      low_high_level: groupValues(product, ranged, (entry) => {
        const { low, high, level } = (entry as EntryCertainty).range as NonNullable<EntryCertainty['range']>
        return [low, high, level]
      }),
    }),
    ...(restating !== undefined && others.length === 0 && { dominant_is: restating }),
    ...(expected.length > 0 && { mean_by_odds: groupValues({ ...product, seasonal: false }, expected) }),
  }
}

/** The condition that answers, where it is from, and the others: their values go before any entry does. */
export function describeCondition(product: ProductDefinition, body: AdviceBody, most: number) {
  const entries = body[product.entries] as Entry[]
  const condition = entries.find((entry) => entry.condition !== undefined)?.condition
  const alternatives = (body.by_condition ?? []) as AdviceBody[]
  return {
    ...(condition !== undefined && { condition }),
    ...pickMembers(body, ['condition_source', 'question']),
    ...(alternatives.length > 0 && {
      by_condition: Object.fromEntries(
        alternatives.map((one) => [
          one.condition,
          {
            ...pickMembers(one, ['share_percent']),
            ...(most === STEPS[0] && { values: groupValues(product, one.entries as Entry[]) }),
          },
        ]),
      ),
    }),
  }
}

/** The members that an answer has of these. */
export function pickMembers(body: AdviceBody, names: string[]): AdviceBody {
  return Object.fromEntries(names.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])))
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
  UNKNOWN_AREA: 'Ask the user which one is meant, or find the code with where_is and name.',
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
  const { did_you_mean } = failure.body
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
    ...(did_you_mean?.length && { did_you_mean: did_you_mean.slice(0, most) }),
    ...(failure.status === 503 && { retry_after_s: RETRY_AFTER_SECONDS }),
    ...(mend && { mend }),
  })
  return fitAnswer(draft).text
}
