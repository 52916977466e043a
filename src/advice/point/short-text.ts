import type { FastifyReply, FastifyRequest } from 'fastify'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities, type Quantities, type Quantity } from '#schemas/quantities.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { varyBy } from '#src/http/request.ts'
import { roundedAmount } from '#src/lib/round.ts'
import type { EntryCertainty } from '#src/lookup/certainty.ts'
import type { Entry } from '#src/lookup/releases.ts'

/** The characters of the GSM 7-bit default alphabet (3GPP TS 23.038, 6.2.1), without the escape. */
const BASIC = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
    '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)

/** Those of its extension table (6.2.1.1), which take two places. */
const EXTENDED = new Set('\f^{}\\[~]|€')

/** Septets or characters of a single message, and of each segment of several (3GPP TS 23.040, 9.2.3.24.1). */
const ROOM = {
  gsm7: { alone: 160, ofSeveral: 153 },
  ucs2: { alone: 70, ofSeveral: 67 },
} as const

/** The segments of a message, in the GSM 7-bit alphabet or else in UCS-2. Segments do not divide a character. */
export function countSegments(text: string): number {
  const characters = [...text]
  const isBasic = characters.every((character) => BASIC.has(character) || EXTENDED.has(character))
  const { alone, ofSeveral } = isBasic ? ROOM.gsm7 : ROOM.ucs2
  // A character beyond the 16 bits of UCS-2 is sent as two.
  const measure = (character: string) => (isBasic ? (EXTENDED.has(character) ? 2 : 1) : character.length)
  const places = characters.map(measure)
  if (places.reduce((sum, one) => sum + one, 0) <= alone) return 1
  let [segments, used] = [1, 0]
  for (const one of places) {
    if (used + one > ofSeveral) {
      segments++
      used = 0
    }
    used += one
  }
  return segments
}

/** Warnings before anything else: demonstration data, and data older than their season. */
const SYNTHETIC = 'Demo data, not advice.'
const STALE = 'Last season.'

/** The text where not even one entry fits. */
const TOO_LONG = 'The answer does not fit into a message.'

const REASONS: Readonly<Partial<Record<ErrorCode, string>>> = {
  NO_DATA: 'There is no value for this place.',
  OUTSIDE_COUNTRY: 'There is no value: the place lies outside the country.',
  NO_RELEASE: 'Nothing is published for this yet.',
}

/** Scenarios by importance. Others come last, and the last is left out first. */
const BY_WEIGHT = ['Normal', 'Below Normal', 'Above Normal', 'Dominant']
const [FIRST] = BY_WEIGHT

/** The answer for one product, or its section of the answer for all. */
type Section = Record<string, unknown> & {
  crop?: string | null
  forecast_month?: string
  synthetic?: boolean
  stale?: boolean
  quantities?: Quantities
  question?: string
}

type TextEntry = Omit<Entry, keyof EntryCertainty | 'condition'> &
  EntryCertainty & { condition?: string; quantity?: Quantity }

interface Part {
  head: string
  entries: TextPart[]
  /** The question for the condition of the field with the names to choose from, in place of the entries. */
  question?: string
  names?: string
}

/** The texts of an entry, from short to long: the value, with its odds, and with its range. */
interface TextPart {
  scenario: string | null
  text: string
  withOdds: string
  withRange: string
}

type Detail = 'text' | 'withOdds' | 'withRange'

/**
 * An answer as a text message. Its numbers are those of the answer; amounts and returns are rounded.
 *
 * A text that is too long loses, until it fits: ranges; the name of the place; odds; scenarios but one, the least
 * important first; products, then entries, the last first. The warnings stay. Where several conditions of the field
 * answer, it asks for one.
 *
 * @param products the products of the request, in their order
 * @param body the body of the answer in JSON
 */
export function composeText(
  products: readonly ProductDefinition[],
  body: Record<string, unknown>,
  maxSegments: number,
): string {
  const found = products.flatMap((product) => {
    const section = (products.length === 1 ? body : body[product.code]) as Section
    return Array.isArray(section[product.entries]) ? [{ product, section }] : []
  })
  const warning = [
    found.some(({ section }) => section.synthetic) && SYNTHETIC,
    found.some(({ section }) => section.stale) && STALE,
  ].filter((text) => text !== false)
  const parts = found.map(({ product, section }) => createPart(product, section))
  const { name } = body.location as { name: string }
  const label = name === POINT_DEFAULTS.name ? '' : inOneLine(name)

  for (const { named, kept, isShortened, detail = 'text' } of shortenings(parts)) {
    const text = [
      ...(named && label !== '' ? [`${label}.`] : []),
      ...warning,
      ...kept.map(
        ({ head, entries, question }) =>
          `${head} ${question ?? `${entries.map((entry) => entry[detail]).join('; ')}.`}`,
      ),
      ...(isShortened ? ['...'] : []),
    ].join(' ')
    if (countSegments(text) <= maxSegments) return text
  }
  const questions = parts.flatMap(({ question, names = '' }) => (question ? [question, names] : []))
  return questions.find((text) => countSegments(text) <= maxSegments) ?? TOO_LONG
}

interface Shortening {
  named: boolean
  kept: Part[]
  isShortened: boolean
  detail?: Detail
}

/** The shortenings of a text, the longest first. */
function* shortenings(parts: Part[]): Generator<Shortening> {
  yield { named: true, kept: parts, isShortened: false, detail: 'withRange' }
  yield { named: true, kept: parts, isShortened: false, detail: 'withOdds' }
  yield { named: false, kept: parts, isShortened: false, detail: 'withOdds' }
  yield { named: false, kept: parts, isShortened: false }
  let kept = parts
  const scenarios = scenariosIn(parts)
  for (let left = scenarios.length - 1; left >= 1; left--) {
    const shown = scenarios.slice(0, left)
    kept = parts.map((part) => withScenarios(part, shown)).filter(hasText)
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

function hasText({ entries, question }: Part): boolean {
  return entries.length > 0 || question !== undefined
}

function withScenarios({ entries, ...part }: Part, shown: string[]): Part {
  return { ...part, entries: entries.filter(({ scenario }) => scenario === null || shown.includes(scenario)) }
}

function createPart(product: ProductDefinition, section: Section): Part {
  const { crop, forecast_month, quantities } = section
  const { subject } = product.names
  const head = [
    `${subject.charAt(0).toUpperCase()}${subject.slice(1)}`,
    crop && `(${inOneLine(crop)})`,
    forecast_month && formatMonth(forecast_month),
    quantities && `for ${quantities.area.value} ${quantities.area.unit}`,
  ]
  const entries = inOrder(product, section[product.entries] as TextEntry[])
  const start = `${head.filter(Boolean).join(' ')}:`
  if (section.question !== undefined) {
    const conditions = [...new Set(entries.flatMap(({ condition }) => condition ?? []))].map(inOneLine)
    const names = `${conditions.join(', ')}?`
    const question = `${inOneLine(section.question)} ${conditions.join(', ')}.`
    return { head: start, entries: [], question, names }
  }
  return { head: start, entries: entries.map((entry) => entryTexts(product, entry, quantities?.currency)) }
}

/** The normal season comes first among those of an input, and the highest score among scores. */
function inOrder(product: ProductDefinition, entries: TextEntry[]): TextEntry[] {
  if (hasQuantities(product)) {
    const inputOf = (entry: TextEntry) => product.input && entry[product.input.key]
    const inputs = [...new Set(entries.map(inputOf))]
    const placeOf = (entry: TextEntry) =>
      2 * inputs.indexOf(inputOf(entry)) + Number(entry.scenario !== FIRST)
    return entries.toSorted((a, b) => placeOf(a) - placeOf(b))
  }
  const scoreOf = (entry: TextEntry) => entry[product.value.key] as number
  return entries.toSorted((a, b) => scoreOf(b) - scoreOf(a))
}

function entryTexts(product: ProductDefinition, entry: TextEntry, currency: string | undefined): TextPart {
  const { input, value, unit } = product
  const { scenario = null, condition, probability, range } = entry as TextEntry & { scenario?: string | null }
  const figure = String(entry[value.key])
  const labels = [input && String(entry[input.key]), scenario, condition].filter(Boolean) as string[]
  const measure = hasQuantities(product) ? ` ${unit}` : ''
  const amounts = entry.quantity ? listAmounts(entry.quantity, currency) : []
  const odds = probability === undefined ? [] : [formatOdds(probability)]
  const write = (ends: string, ...more: string[]) =>
    [[...labels.map(inOneLine), `${figure}${ends}${measure}`].join(' '), ...more, ...amounts].join(', ')
  return {
    scenario,
    text: write(''),
    withOdds: write('', ...odds),
    withRange: write(range ? ` (${range.low} to ${range.high})` : '', ...odds),
  }
}

const YEARS = 10

/** A probability as people count: of ten years. */
function formatOdds(probability: number): string {
  const years = Math.round(probability * YEARS)
  if (years === 0) return `less than 1 of ${YEARS} years`
  return years === YEARS && probability < 1 ? `more than 9 of ${YEARS} years` : `${years} of ${YEARS} years`
}

function listAmounts(quantity: Quantity, currency: string | undefined): string[] {
  const { kg, t, bags, cost, return: revenue } = quantity
  const money = cost ?? (revenue === undefined ? undefined : roundedAmount(revenue))
  return [
    kg !== undefined && `${roundedAmount(kg)} kg`,
    t !== undefined && `${roundedAmount(t)} t`,
    bags !== undefined && `${bags} ${bags === 1 ? 'bag' : 'bags'}`,
    money !== undefined && `${money} ${currency}`,
  ].filter((text) => text !== false)
}

function inOneLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function formatMonth(month: string): string {
  const [year, number] = month.split('-')
  return `${MONTHS[Number(number) - 1]} ${year}`
}

interface TextQuestion {
  point: PointRequest
  products: readonly ProductDefinition[]
  /** Whether caches may store the answer, once it is made. */
  isShared: () => boolean
}

/** The reason for no value is a text too, with its status in JSON; other errors stay JSON, for the program. */
export async function replyInText(
  request: FastifyRequest,
  reply: FastifyReply,
  { point, products, isShared }: TextQuestion,
  createBody: () => Promise<Record<string, unknown>>,
): Promise<FastifyReply> {
  const send = (text: string) =>
    reply.type('text/plain; charset=utf-8').header('content-language', 'en').send(text)
  try {
    const text = composeText(products, await createBody(), point.max_segments ?? 1)
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language')
    const isCurrent = isShared() && allowCaching(request, reply, entityTag('en', text))
    return isCurrent ? reply.code(304).send() : send(text)
  } catch (error) {
    const reason = error instanceof ApiError ? REASONS[error.code] : undefined
    if (reason === undefined) throw error
    const { code, status } = error as ApiError
    request.errorCode = code
    varyBy(varyBy(reply, 'Accept'), 'Accept-Language').code(status)
    return send(reason)
  }
}
