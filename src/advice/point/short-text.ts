import type { FastifyReply, FastifyRequest } from 'fastify'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities, type Quantities, type Quantity } from '#schemas/quantities.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { preferredLanguage, prefersText } from '#src/http/formats.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { varyBy } from '#src/http/request.ts'
import { roundedAmount } from '#src/lib/round.ts'
import type { Entry } from '#src/lookup/releases.ts'

/** All texts of short answers in one language: a translation is a file with these. */
interface Messages {
  /** As `Accept-Language` names it. */
  language: string
  /** A number as the answer has it, with the decimal sign of the language. */
  number(value: number): string
  /** The name that a product's answer begins with. */
  product(product: ProductDefinition): string
  /** Names of scenarios; others are as their source has them. */
  scenarios: Readonly<Record<string, string>>
  /** The month of a forecast, from `2026-07`. */
  month(month: string): string
  /** Begins what is told of a product: its name, then its month and the area of quantities, as far as there are any. */
  head(parts: string[]): string
  area(value: string, unit: string): string
  bags(count: string): string
  /** Says before anything else that it is demonstration data, or older than its season. */
  synthetic: string
  stale: string
  /** Stands for what has been left out. */
  more: string
  /** Where not even one entry fits. */
  tooLong: string
  /** Why there is no value, by the code of the error. */
  reasons: Readonly<Partial<Record<ErrorCode, string>>>
}

/** The characters of the GSM 7-bit default alphabet (3GPP TS 23.038, 6.2.1), without the escape. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
    '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)

/** Those of its extension table (6.2.1.1), which take two places. */
const EXTENDED = new Set('\f^{}\\[~]|€')

/** How much a message holds that is one, and each segment of one that is several (3GPP TS 23.040, 9.2.3.24.1). */
const ROOM = {
  gsm7: { alone: 160, ofSeveral: 153 },
  ucs2: { alone: 70, ofSeveral: 67 },
} as const

/** The places that the characters of a text take, one after the other, and how many a segment has. */
function placesOf(text: string): { places: number[]; room: { alone: number; ofSeveral: number } } {
  const characters = [...text]
  if (characters.every((character) => BASIC.has(character) || EXTENDED.has(character))) {
    return { places: characters.map((character) => (EXTENDED.has(character) ? 2 : 1)), room: ROOM.gsm7 }
  }
  // A character beyond the 16 bits of UCS-2 is sent as two.
  return { places: characters.map((character) => character.length), room: ROOM.ucs2 }
}

/**
 * How many segments a text message takes: by the GSM 7-bit alphabet where all of its characters are in it, else by
 * UCS-2. What takes two places is not divided between segments.
 */
export function segmentsOf(text: string): number {
  const { places, room } = placesOf(text)
  const total = places.reduce((sum, one) => sum + one, 0)
  if (total <= room.alone) return 1
  let [segments, used] = [1, 0]
  for (const one of places) {
    if (used + one > room.ofSeveral) {
      segments++
      used = 0
    }
    used += one
  }
  return segments
}

/** The scenarios in the order in which they matter: what is left out first comes last, and others after them. */
const BY_WEIGHT = ['Normal', 'Below Normal', 'Above Normal', 'Dominant']
const [FIRST] = BY_WEIGHT

/** The answer for one product, or its section of the answer for all. */
type Section = Record<string, unknown> & {
  crop?: string | null
  forecast_month?: string
  synthetic?: boolean
  stale?: boolean
  quantities?: Quantities
}

type ToldEntry = Entry & { quantity?: Quantity }

/** What is told of one product. */
interface Part {
  head: string
  entries: { scenario: string | null; text: string }[]
}

/**
 * An answer as a text message. Every number in it is one of the answer; amounts, and the return of a harvest, are rounded.
 *
 * Where it does not fit, this is left out, one after the other, until it does: the name of the place; scenarios, the one
 * that matters least first, up to one; products, the last first; entries, the last first. That data are for demonstration
 * or older than their season is never left out.
 *
 * @param products that were asked about, in their order
 * @param body of the answer in JSON
 */
export function composeText(
  messages: Messages,
  products: readonly ProductDefinition[],
  body: Record<string, unknown>,
  maxSegments: number,
): string {
  const found = products.flatMap((product) => {
    const section = (products.length === 1 ? body : body[product.code]) as Section
    return Array.isArray(section[product.entries]) ? [{ product, section }] : []
  })
  const warning = [
    found.some(({ section }) => section.synthetic) && messages.synthetic,
    found.some(({ section }) => section.stale) && messages.stale,
  ].filter((text) => text !== false)
  const parts = found.map(({ product, section }) => partOf(messages, product, section))
  const { name } = body.location as { name: string }
  const label = name === POINT_DEFAULTS.name ? '' : inOneLine(name)

  for (const { named, kept, isShortened } of shortenings(parts)) {
    const text = [
      ...(named && label !== '' ? [`${label}.`] : []),
      ...warning,
      ...kept.map(({ head, entries }) => `${head} ${entries.map((entry) => entry.text).join('; ')}.`),
      ...(isShortened ? [messages.more] : []),
    ].join(' ')
    if (segmentsOf(text) <= maxSegments) return text
  }
  return messages.tooLong
}

interface Shortening {
  named: boolean
  kept: Part[]
  isShortened: boolean
}

/** What may be told, the most first. */
function* shortenings(parts: Part[]): Generator<Shortening> {
  yield { named: true, kept: parts, isShortened: false }
  yield { named: false, kept: parts, isShortened: false }
  let kept = parts
  const scenarios = scenariosIn(parts)
  for (let left = scenarios.length - 1; left >= 1; left--) {
    const told = scenarios.slice(0, left)
    kept = parts.map((part) => withScenarios(part, told)).filter(({ entries }) => entries.length > 0)
    yield { named: false, kept, isShortened: true }
  }
  while (kept.length > 1) {
    kept = kept.slice(0, -1)
    yield { named: false, kept, isShortened: true }
  }
  const [only] = kept
  for (let left = (only?.entries.length ?? 0) - 1; only && left >= 1; left--) {
    yield { named: false, kept: [{ ...only, entries: only.entries.slice(0, left) }], isShortened: true }
  }
}

function scenariosIn(parts: Part[]): string[] {
  const all = parts.flatMap(({ entries }) => entries.flatMap(({ scenario }) => scenario ?? []))
  const weightOf = (scenario: string) =>
    (BY_WEIGHT.indexOf(scenario) + BY_WEIGHT.length + 1) % (BY_WEIGHT.length + 1)
  return [...new Set(all)].sort((a, b) => weightOf(a) - weightOf(b))
}

function withScenarios({ head, entries }: Part, told: string[]): Part {
  return { head, entries: entries.filter(({ scenario }) => scenario === null || told.includes(scenario)) }
}

function partOf(messages: Messages, product: ProductDefinition, section: Section): Part {
  const { crop, forecast_month, quantities } = section
  const name = messages.product(product)
  const month = forecast_month === undefined ? null : messages.month(forecast_month)
  const area = quantities ? messages.area(messages.number(quantities.area.value), quantities.area.unit) : null
  const entries = inOrder(product, section[product.entries] as ToldEntry[])
  return {
    head: messages.head(
      [name, crop ? `(${inOneLine(crop)})` : null, month, area].filter((text) => text !== null),
    ),
    entries: entries.map((entry) => ({
      scenario: (entry.scenario as string | null | undefined) ?? null,
      text: entryText(messages, product, entry, quantities?.currency),
    })),
  }
}

/**
 * The normal season comes first among those of an input. What is scored comes with the highest score first: the last are
 * left out first.
 */
function inOrder(product: ProductDefinition, entries: ToldEntry[]): ToldEntry[] {
  if (hasQuantities(product)) {
    const inputOf = (entry: ToldEntry) => product.input && entry[product.input.key]
    const inputs = [...new Set(entries.map(inputOf))]
    const placeOf = (entry: ToldEntry) =>
      2 * inputs.indexOf(inputOf(entry)) + Number(entry.scenario !== FIRST)
    return entries.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
  const scoreOf = (entry: ToldEntry) => entry[product.value.key] as number
  return entries.toSorted((a, b) => scoreOf(b) - scoreOf(a))
}

function entryText(
  messages: Messages,
  product: ProductDefinition,
  entry: ToldEntry,
  currency: string | undefined,
): string {
  const { input, value, unit } = product
  const scenario = entry.scenario as string | null | undefined
  const figure = messages.number(entry[value.key] as number)
  const what = [
    input && inOneLine(String(entry[input.key])),
    scenario && inOneLine(nameIn(messages.scenarios, scenario)),
    hasQuantities(product) ? `${figure} ${unit}` : figure,
  ].filter(Boolean)
  const amounts = entry.quantity ? amountsOf(messages, entry.quantity, currency) : []
  return [what.join(' '), ...amounts].join(', ')
}

function amountsOf(messages: Messages, quantity: Quantity, currency: string | undefined): string[] {
  const { kg, t, bags, cost, return: revenue } = quantity
  const money = cost ?? (revenue === undefined ? undefined : roundedAmount(revenue))
  return [
    kg !== undefined && `${messages.number(roundedAmount(kg))} kg`,
    t !== undefined && `${messages.number(roundedAmount(t))} t`,
    bags !== undefined && messages.bags(messages.number(bags)),
    money !== undefined && `${messages.number(money)} ${currency}`,
  ].filter((text) => text !== false)
}

/** A text of somebody's as a part of a line. */
function inOneLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
}

/** What a language calls something; what it has no name for keeps its own, be it one that every object has a member of. */
function nameIn(names: Readonly<Record<string, string>>, own: string): string {
  return Object.hasOwn(names, own) ? (names[own] as string) : own
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

export const ENGLISH: Messages = {
  language: 'en',
  number: String,
  product: ({ names: { subject } }) => `${subject.charAt(0).toUpperCase()}${subject.slice(1)}`,
  scenarios: {},
  month(month) {
    const [year, number] = month.split('-')
    return `${MONTHS[Number(number) - 1]} ${year}`
  },
  head: (parts) => `${parts.join(' ')}:`,
  area: (value, unit) => `for ${value} ${unit}`,
  bags: (count) => `${count} ${count === '1' ? 'bag' : 'bags'}`,
  synthetic: 'Demo data, not advice.',
  stale: 'Last season.',
  more: '...',
  tooLong: 'The answer does not fit into a message.',
  reasons: {
    NO_DATA: 'There is no value for this place.',
    OUTSIDE_COUNTRY: 'There is no value: the place lies outside the country.',
    NO_RELEASE: 'Nothing is published for this yet.',
  },
}

/** The languages that there are texts in, the one that is taken where no other is wanted first. */
export const LANGUAGES: readonly [Messages, ...Messages[]] = [ENGLISH]

const TEXT = 'text/plain'

/** Whether a client would rather have text than JSON. What it says of other types does not matter, as it never has. */
export function wantsText(call: FastifyRequest): boolean {
  return prefersText(call, TEXT)
}

function messagesFor({ headers }: FastifyRequest): Messages {
  const [first] = LANGUAGES
  const wanted = headers['accept-language']
  if (wanted === undefined) return first
  const names = LANGUAGES.map(({ language }) => language)
  const chosen = preferredLanguage(wanted, names)
  return LANGUAGES.find(({ language }) => language === chosen) ?? first
}

/**
 * Answers a call as a text message. That there is no value is said so, too, with the status that it has in JSON; other
 * errors are for the program that asks, and stay JSON.
 *
 * @param isShared whether caches may keep the answer
 * @param bodyOf makes the body of the answer in JSON
 */
export async function replyInText(
  call: FastifyRequest,
  reply: FastifyReply,
  asked: { request: PointRequest; products: readonly ProductDefinition[]; isShared: boolean },
  bodyOf: () => Promise<Record<string, unknown>>,
): Promise<FastifyReply> {
  const messages = messagesFor(call)
  const { request, products, isShared } = asked
  try {
    const text = composeText(messages, products, await bodyOf(), request.max_segments ?? 1)
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language')
    if (isShared && allowCaching(call, reply, entityTag(messages.language, text))) {
      return reply.code(304).send()
    }
    return send(reply, messages, text)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const reason = messages.reasons[error.code]
    if (reason === undefined) throw error
    call.errorCode = error.code
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language')
    return send(reply.code(error.status), messages, reason)
  }
}

function send(reply: FastifyReply, { language }: Messages, text: string): FastifyReply {
  return reply.type(`${TEXT}; charset=utf-8`).header('content-language', language).send(text)
}
