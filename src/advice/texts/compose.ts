import type { ProductDefinition } from '#schemas/products/define.ts'
import { hasQuantities, type Quantities, type Quantity } from '#schemas/quantities.ts'
import { roundedAmount } from '#src/lib/round.ts'
import type { EntryCertainty } from '#src/lookup/certainty.ts'
import type { Entry } from '#src/lookup/releases.ts'
import { fill, type Texts } from './languages.ts'
import { countSegments } from './segments.ts'

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
  subject: string
  crop: string
  /** The month and the size of the field. */
  details: string[]
  entries: TextPart[]
  question?: Question
}

/** The texts of an entry, from short to long: the value, with its odds, and with its range. */
interface TextPart {
  scenario: string | null
  names: string[]
  figures: Record<Detail, string>
}

type Detail = 'text' | 'withOdds' | 'withRange'

/** Asks for the condition of the field, in place of entries. */
interface Question {
  question: string
  conditions: string[]
}

/**
 * An answer as a text message. Its numbers are those of the answer; amounts and returns are rounded.
 *
 * A text that is too long loses, until it fits: ranges; the name of the place; odds; scenarios but one, the least
 * important first; products, then entries, the last first. The warnings stay. Where several conditions of the field
 * answer, it asks for one.
 *
 * @param products the products of the request, in their order
 * @param body the body of the answer in JSON: for a point or a polygon, of one product or with sections
 */
export function composeText(
  products: readonly ProductDefinition[],
  body: Record<string, unknown>,
  texts: Texts,
  maxSegments: number,
): string {
  const found = findSections(products, body)
  const warnings = listWarnings(found, texts)
  const parts = found.map((one) => createPart(one, texts))
  const label = findLabel(body.location as { name: string; type?: string })
  for (const { named, kept, isShortened, detail = 'text' } of shortenings(parts)) {
    const text = [
      ...(named && label !== '' ? [`${label}.`] : []),
      ...warnings,
      ...kept.map((part) => `${writeHead(part)} ${writeContent(part, detail)}`),
      ...(isShortened ? ['...'] : []),
    ].join(' ')
    if (countSegments(text) <= maxSegments) return text
  }
  const questions = parts.flatMap(({ question }) =>
    question ? [writeQuestion(question), `${question.conditions.join(', ')}?`] : [],
  )
  return questions.find((text) => countSegments(text) <= maxSegments) ?? texts.too_long
}

/** Where the request gives no name, places have that of their kind. */
function findLabel({ name, type }: { name: string; type?: string }): string {
  return name.toLowerCase() === type ? '' : inOneLine(name)
}

interface FoundSection {
  product: ProductDefinition
  section: Section
}

function findSections(products: readonly ProductDefinition[], body: Record<string, unknown>): FoundSection[] {
  return products.flatMap((product) => {
    const section = (product.entries in body ? body : body[product.code]) as Section | undefined
    const entries = section?.[product.entries]
    return section && Array.isArray(entries) && entries.length > 0 ? [{ product, section }] : []
  })
}

function listWarnings(found: FoundSection[], { warnings }: Texts): string[] {
  return (['synthetic', 'stale'] as const)
    .filter((name) => found.some(({ section }) => section[name]))
    .map((name) => warnings[name])
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

function createPart({ product, section }: FoundSection, texts: Texts): Part {
  const { crop, forecast_month, quantities } = section
  const subject = texts.products[product.code] ?? product.names.subject
  const area = quantities && `${quantities.area.value} ${quantities.area.unit}`
  const details = [
    forecast_month && formatMonth(forecast_month, texts),
    area && fill(texts.area, { area }),
  ].filter((detail) => detail !== undefined)
  const question = readQuestion(product, section)
  const entries = inOrder(product, listEntries(product, section))
  return {
    subject: `${subject.charAt(0).toUpperCase()}${subject.slice(1)}`,
    crop: crop ? inOneLine(crop) : '',
    details,
    ...(question
      ? { entries: [], question }
      : { entries: entries.map((entry) => entryTexts(product, entry, quantities?.currency, texts)) }),
  }
}

function listEntries(product: ProductDefinition, section: Section): TextEntry[] {
  return section[product.entries] as TextEntry[]
}

function readQuestion(product: ProductDefinition, section: Section): Question | undefined {
  if (section.question === undefined) return undefined
  const conditions = inOrder(product, listEntries(product, section)).flatMap(
    ({ condition }) => condition ?? [],
  )
  return { question: inOneLine(section.question), conditions: [...new Set(conditions)].map(inOneLine) }
}

function writeHead({ subject, crop, details }: Part): string {
  return `${[subject, ...(crop === '' ? [] : [`(${crop})`]), ...details].join(' ')}:`
}

function writeContent({ entries, question }: Part, detail: Detail): string {
  return question
    ? writeQuestion(question)
    : `${entries.map((entry) => writeEntry(entry, detail)).join('; ')}.`
}

function writeEntry({ names, figures }: TextPart, detail: Detail): string {
  return [...names, figures[detail]].join(' ')
}

function writeQuestion({ question, conditions }: Question): string {
  return `${question} ${conditions.join(', ')}.`
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

function entryTexts(
  product: ProductDefinition,
  entry: TextEntry,
  currency: string | undefined,
  texts: Texts,
): TextPart {
  const { input, value, unit } = product
  const { scenario = null, condition, probability, range } = entry as TextEntry & { scenario?: string | null }
  const figure = String(entry[value.key])
  const names = [input && String(entry[input.key]), scenario && nameScenario(scenario, texts), condition]
  const measure = hasQuantities(product) ? ` ${unit}` : ''
  const amounts = entry.quantity ? listAmounts(entry.quantity, currency, texts) : []
  const odds = probability === undefined ? [] : [formatOdds(probability, texts)]
  const ends = range ? ` (${fill(texts.range, { low: range.low, high: range.high })})` : ''
  const write = (between: string, ...more: string[]) =>
    [`${figure}${between}${measure}`, ...more, ...amounts].join(', ')
  return {
    scenario,
    names: (names.filter(Boolean) as string[]).map(inOneLine),
    figures: { text: write(''), withOdds: write('', ...odds), withRange: write(ends, ...odds) },
  }
}

function nameScenario(scenario: string, { scenarios }: Texts): string {
  return Object.hasOwn(scenarios, scenario) ? (scenarios[scenario] as string) : scenario
}

/** A probability as people count: of ten years. */
const YEARS = 10

function formatOdds(probability: number, { odds }: Texts): string {
  const years = Math.round(probability * YEARS)
  if (years === 0) return odds.none
  return years === YEARS && probability < 1 ? odds.all : fill(odds.some, { years })
}

function listAmounts(quantity: Quantity, currency: string | undefined, texts: Texts): string[] {
  const { kg, t, bags, cost, return: revenue } = quantity
  const money = cost ?? (revenue === undefined ? undefined : roundedAmount(revenue))
  return [
    kg !== undefined && `${roundedAmount(kg)} kg`,
    t !== undefined && `${roundedAmount(t)} t`,
    bags !== undefined && fill(bags === 1 ? texts.bags.one : texts.bags.many, { count: bags }),
    money !== undefined && `${money} ${currency}`,
  ].filter((text) => text !== false)
}

function inOneLine(text: string): string {
  return text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
}

function formatMonth(month: string, { months }: Texts): string {
  const [year, number] = month.split('-')
  return `${months[Number(number) - 1]} ${year}`
}
