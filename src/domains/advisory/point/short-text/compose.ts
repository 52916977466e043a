import { POINT_DEFAULTS } from '#schemas/point-request.ts'
import { hasQuantities } from '#schemas/quantity-answers.ts'
import { roundedAmount } from '#src/lib/round.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { Entry } from '../../lookup/products.ts'
import type { Quantity } from '../../quantities/compute.ts'
import type { Quantities } from '../../quantities/summary.ts'
import type { Messages } from './languages/messages.ts'
import { segmentsOf } from './segments.ts'

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
  const name = nameIn(messages.products, product.code)
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
