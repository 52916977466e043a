import { countYears, ODDS_YEARS } from '#schemas/glossary.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { isScore, type Quantities, type Quantity } from '#schemas/quantities.ts'
import { amountText, areaText, groupedText, rateText } from '#src/lib/round.ts'
import type { EntryCertainty } from '#src/lookup/certainty.ts'
import type { Entry } from '#src/lookup/entries.ts'
import { fill, type Texts } from './languages.ts'
import { countSegments, isInGsm7 } from './segments.ts'

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
  by_condition?: { condition: string }[]
}

type TextEntry = Omit<Entry, keyof EntryCertainty | 'condition'> &
  EntryCertainty & { condition?: string; quantity?: Quantity }

interface Part {
  subject: string
  crop: string
  month: string | undefined
  /** The size of the field. */
  area: string | undefined
  entries: TextPart[]
  question?: AskedCondition
}

/** The texts of an entry, from short to long: the value, with its odds, and with its range. */
interface TextPart {
  scenario: string | null
  names: string[]
  figures: Record<Detail, string>
}

type Detail = 'text' | 'withOdds' | 'withRange'

/** Asks for the condition of the field, in place of entries. */
export interface AskedCondition {
  question: string
  conditions: string[]
}

/**
 * An answer as a text message, with the numbers of the answer as people write them.
 *
 * A text that is too long loses, until it fits: ranges; the name of the place; odds; scenarios but one, the least
 * important first; products, then entries, the last first. The warnings stay. Where several conditions of the field
 * answer, it asks for one.
 *
 * @param products the products of the request, in their order
 * @param body the body of the answer in JSON: for a point or a polygon, of one product or with sections
 * @param keepsName whether the name of the place goes last, where nothing fits beside it
 */
export function composeText(
  products: readonly ProductDefinition[],
  body: Record<string, unknown>,
  texts: Texts,
  maxSegments: number,
  keepsName = false,
): string {
  const found = findSections(products, body)
  const warnings = listWarnings(found, texts)
  const parts = found.map((one) => createPart(one, texts))
  const { name, type } = body.location as { name: string; type?: string }
  // Where the request gives no name, places have that of their kind.
  const label = name.toLowerCase() === type ? '' : inOneLine(name)
  for (const { named, written, isShortened, detail = 'text' } of listShortenings(parts, keepsName)) {
    const text = [
      ...(named && label !== '' ? [`${label}.`] : []),
      ...warnings,
      ...written.map((part) => `${writeHead(part)} ${writeContent(part, detail)}`),
      ...(isShortened ? ['...'] : []),
    ].join(' ')
    if (countSegments(text) <= maxSegments) return text
  }
  const questions = parts.flatMap(({ question }) =>
    question ? [writeQuestion(question), `${question.conditions.join(', ')}?`] : [],
  )
  return questions.find((text) => countSegments(text) <= maxSegments) ?? texts.too_long
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
  written: Part[]
  isShortened: boolean
  detail?: Detail
}

function* listShortenings(parts: Part[], keepsName: boolean): Generator<Shortening> {
  if (keepsName) yield* shortenings(parts, true)
  yield* shortenings(parts, false)
}

/** The shortenings of a text, the longest first. */
function* shortenings(parts: Part[], keepsName: boolean): Generator<Shortening> {
  yield { named: true, written: parts, isShortened: false, detail: 'withRange' }
  yield { named: true, written: parts, isShortened: false, detail: 'withOdds' }
  yield { named: keepsName, written: parts, isShortened: false, detail: 'withOdds' }
  yield { named: keepsName, written: parts, isShortened: false }
  let written = parts
  const scenarios = scenariosIn(parts)
  for (let left = scenarios.length - 1; left >= 1; left--) {
    const shown = scenarios.slice(0, left)
    const isShown = ({ scenario }: TextPart) => scenario === null || shown.includes(scenario)
    written = parts
      .map((part) => ({ ...part, entries: part.entries.filter(isShown) }))
      .filter(({ entries, question }) => entries.length > 0 || question !== undefined)
    yield { named: keepsName, written, isShortened: true }
  }
  while (written.length > 1) {
    written = written.slice(0, -1)
    yield { named: keepsName, written, isShortened: true }
  }
  const [only] = written
  for (let left = (only?.entries.length ?? 0) - 1; only && left >= 1; left--) {
    yield {
      named: keepsName,
      written: [{ ...only, entries: only.entries.slice(0, left) }],
      isShortened: true,
    }
  }
}

function scenariosIn(parts: Part[]): string[] {
  const all = parts.flatMap(({ entries }) => entries.flatMap(({ scenario }) => scenario ?? []))
  const weightOf = (scenario: string) =>
    (BY_WEIGHT.indexOf(scenario) + BY_WEIGHT.length + 1) % (BY_WEIGHT.length + 1)
  return [...new Set(all)].sort((a, b) => weightOf(a) - weightOf(b))
}

function createPart({ product, section }: FoundSection, texts: Texts): Part {
  const { crop, forecast_month, quantities } = section
  const subject = texts.products[product.code] ?? product.names.subject
  const size = quantities && `${areaText(quantities.area.value)} ${quantities.area.unit}`
  const question = readQuestion(section)
  const entries = inOrder(product, section[product.entries] as TextEntry[])
  const years = countYears(
    entries.flatMap(({ scenario, probability }) =>
      probability === undefined ? [] : [[String(scenario), probability] as const],
    ),
  )
  const write = (entry: TextEntry) =>
    entryTexts(product, entry, {
      odds: formatOdds(entry, years, texts),
      amounts: entry.quantity ? listAmounts(entry.quantity, quantities?.currency, texts) : [],
      texts,
    })
  return {
    subject: `${subject.charAt(0).toUpperCase()}${subject.slice(1)}`,
    crop: crop ? inOneLine(crop) : '',
    month: forecast_month && formatMonth(forecast_month, texts),
    area: size && fill(texts.area, { area: size }),
    ...(question ? { entries: [], question } : { entries: entries.map(write) }),
  }
}

function readQuestion({ question, by_condition = [] }: Section): AskedCondition | undefined {
  if (question === undefined) return undefined
  return {
    question: inOneLine(question),
    conditions: by_condition.map(({ condition }) => inOneLine(condition)),
  }
}

/** The question for the condition of the field that an answer has, with the names to choose from. */
export function findQuestion(
  products: readonly ProductDefinition[],
  body: Record<string, unknown>,
): AskedCondition | undefined {
  const [asking] = findSections(products, body).filter(({ section }) => section.question !== undefined)
  return asking && readQuestion(asking.section)
}

function writeHead({ subject, crop, month, area }: Part): string {
  return `${[subject, crop && `(${crop})`, month, area].filter(Boolean).join(' ')}:`
}

function writeContent({ entries, question }: Part, detail: Detail): string {
  return question
    ? writeQuestion(question)
    : `${entries.map(({ names, figures }) => [...names, figures[detail]].join(' ')).join('; ')}.`
}

function writeQuestion({ question, conditions }: AskedCondition): string {
  return `${question} ${conditions.join(', ')}.`
}

/** The normal season comes first among those of an input, and the highest score among scores. */
function inOrder(product: ProductDefinition, entries: TextEntry[]): TextEntry[] {
  const { input, value } = product
  const inputs = [...new Set(entries.map((entry) => input && entry[input.key]))]
  const placeOf = (entry: TextEntry) =>
    isScore(product)
      ? -Number(entry[value.key])
      : 2 * inputs.indexOf(input && entry[input.key]) + Number(entry.scenario !== FIRST)
  return entries.toSorted((a, b) => placeOf(a) - placeOf(b))
}

interface Said {
  odds: string[]
  amounts: string[]
  texts: Texts
}

function entryTexts(product: ProductDefinition, entry: TextEntry, { odds, amounts, texts }: Said): TextPart {
  const { input, value, unit } = product
  const { scenario = null, condition, range } = entry as TextEntry & { scenario?: string | null }
  const figure = rateText(entry[value.key] as number)
  const names = [input && String(entry[input.key]), scenario && nameScenario(scenario, texts), condition]
  const measure = isScore(product) ? '' : ` ${unit}`
  const ends = range && fill(texts.range, { low: rateText(range.low), high: rateText(range.high) })
  const list = (between: string, ...more: string[]) =>
    [`${figure}${between}${measure}`, ...more, ...amounts].join(', ')
  return {
    scenario,
    names: (names.filter(Boolean) as string[]).map(inOneLine),
    figures: {
      text: list(''),
      withOdds: list('', ...odds),
      withRange: list(ends ? ` (${ends})` : '', ...odds),
    },
  }
}

function nameScenario(scenario: string, { scenarios }: Texts): string {
  return Object.hasOwn(scenarios, scenario) ? (scenarios[scenario] as string) : scenario
}

/** A probability as people count: of ten years. */
function formatOdds(
  { scenario, probability }: TextEntry,
  counted: ReadonlyMap<string, number>,
  { odds }: Texts,
): string[] {
  if (probability === undefined) return []
  const years = counted.get(String(scenario)) ?? 0
  if (years === 0) return [odds.none]
  return [years === ODDS_YEARS && probability < 1 ? odds.all : fill(odds.some, { years })]
}

function listAmounts(quantity: Quantity, currency: string | undefined, texts: Texts): string[] {
  const { kg, t, bags, cost, return: revenue } = quantity
  const money = cost ?? revenue
  return [
    kg !== undefined && `${amountText(kg)} kg`,
    t !== undefined && `${amountText(t)} t`,
    bags !== undefined && fill(bags === 1 ? texts.bags.one : texts.bags.many, { count: groupedText(bags) }),
    money !== undefined && `${cost === undefined ? amountText(money) : groupedText(money)} ${currency}`,
  ].filter((text) => text !== false)
}

/** A name in one line, without those accents that would take 90 characters of each message. */
export function inOneLine(text: string): string {
  const line = text.replace(/[\p{C}\p{Z}]+/gu, ' ').trim()
  if (isInGsm7(line)) return line
  const plain = line.normalize('NFD').replace(/\p{M}/gu, '')
  return isInGsm7(plain) ? plain : line
}

function formatMonth(month: string, { months }: Texts): string {
  const [year, number] = month.split('-')
  return `${months[Number(number) - 1]} ${year}`
}

interface Line {
  part: Part
  entry: TextPart
}

interface PageRules {
  /** The name of the place; empty for none. It stands on the first page where one entry has room beside it. */
  label: string
  /** What the sender adds behind each page, and a space; empty for nothing. */
  reserve: string
}

/**
 * An answer with sections as messages of one segment each. Each page has the warnings and as many entries as fit without
 * odds and ranges; those stand on pages that have room for them, for all of their entries. Each entry is on one page, in
 * order: products as in the request, entries as in {@link composeText}; of several products first the normal season of each. A page that goes on with a product repeats its
 * head, where needed without the month.
 *
 * Names of an entry that no page has room for are cut. Where its numbers alone leave no room beside the warnings and
 * `reserve`, its page says that it does not fit.
 *
 * @param body the body of the answer in JSON. Sections without entries, and those that ask, have no page: {@link findQuestion}
 */
export function composePages(
  products: readonly ProductDefinition[],
  body: Record<string, unknown>,
  texts: Texts,
  { label, reserve }: PageRules,
): string[] {
  const found = findSections(products, body).filter(({ section }) => section.question === undefined)
  const warnings = listWarnings(found, texts)
  const all = found
    .map((one) => createPart(one, texts))
    .flatMap((part) => part.entries.map((entry): Line => ({ part, entry })))
  const isFirst = ({ entry: { scenario } }: Line) => scenario === null || scenario === FIRST
  const lines = found.length === 1 ? all : [...all.filter(isFirst), ...all.filter((line) => !isFirst(line))]
  const fits = (page: string) => countSegments(reserve === '' ? page : `${page} ${reserve}`) === 1
  const write = (from: number, to: number, { detail, isNamed, isBrief }: Page) =>
    [
      ...(isNamed ? [`${inOneLine(label)}.`] : []),
      ...warnings,
      writeLines(lines.slice(from, to), detail, isBrief),
    ].join(' ')

  const pages: string[] = []
  let from = 0
  while (from < lines.length) {
    let to = from + 1
    const isNamed =
      from === 0 &&
      inOneLine(label) !== '' &&
      fits(write(from, to, { detail: 'text', isNamed: true, isBrief: false }))
    const kinds = listKinds(isNamed, lines[from - 1]?.part === lines[from]?.part)
    const shortest = kinds.at(-1) as Page
    while (to < lines.length && fits(write(from, to + 1, shortest))) to++
    const written = kinds.map((kind) => write(from, to, kind))
    pages.push(written.find(fits) ?? cutNames(lines[from] as Line, warnings, fits) ?? texts.too_long)
    from = to
  }
  return pages
}

interface Page {
  detail: Detail
  isNamed: boolean
  /** Whether the first head lacks its month. */
  isBrief: boolean
}

/** The kinds of a page, the longest first. */
function listKinds(isNamed: boolean, goesOn: boolean): Page[] {
  return [
    { detail: 'withRange', isNamed, isBrief: false },
    { detail: 'withOdds', isNamed, isBrief: false },
    { detail: 'withOdds', isNamed, isBrief: goesOn },
    { detail: 'text', isNamed, isBrief: false },
    { detail: 'text', isNamed, isBrief: goesOn },
  ]
}

function writeLines(lines: Line[], detail: Detail, isBrief: boolean): string {
  const parts = [...new Set(lines.map(({ part }) => part))]
  return parts
    .map((part, at) => {
      const entries = lines.filter((line) => line.part === part).map(({ entry }) => entry)
      const head = writeHead(isBrief && at === 0 ? { ...part, month: undefined } : part)
      return `${head} ${writeContent({ ...part, entries }, detail)}`
    })
    .join(' ')
}

/** The shortest name that is cut as long as a shorter one of all others leaves no room. */
const SHORT_NAME = 3

/** A page of one entry whose names are cut, the longest first, and then those that the GSM 7-bit alphabet lacks. */
function cutNames({ part, entry }: Line, warnings: string[], fits: (page: string) => boolean) {
  const names = [part.crop, ...entry.names]
  const longest = Math.max(...names.map((name) => [...name].length))
  const cuts = [
    { least: SHORT_NAME, isPlain: false },
    { least: 0, isPlain: true },
  ]
  for (const { least, isPlain } of cuts) {
    for (let length = longest; length >= least; length--) {
      const cut = (name: string) => (isPlain && !isInGsm7(name) ? '...' : cutName(name, length))
      const crop = part.crop && cut(part.crop)
      const line = { part: { ...part, crop }, entry: { ...entry, names: entry.names.map(cut) } }
      const page = [...warnings, writeLines([line], 'text', true)].join(' ')
      if (fits(page)) return page
    }
  }
  return undefined
}

function cutName(name: string, length: number): string {
  const characters = [...name]
  return characters.length <= length ? name : `${characters.slice(0, length).join('').trimEnd()}...`
}
