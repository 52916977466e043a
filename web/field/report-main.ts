import type { Catalog, CatalogProduct } from '../api-types.ts'
import { short } from '../geo/areas.ts'
import { syntheticNotice, wideTable } from '../parts/blocks.ts'
import { sourceText } from '../parts/series.ts'
import { boundsOf, type Shape } from '../parts/shape.ts'
import {
  amountFormat,
  areaText,
  certaintyOf,
  type Entry,
  entriesOf,
  estimateText,
  inputOf,
  labelOf,
  type NumberText,
  seasonNote,
  seasonText,
  valueFormat,
} from '../parts/values.ts'
import { answerLines, firstEntries, nameOfAnswer, SEASON } from '../place/answer.ts'
import { readEntry, type SectionEntry, sectionsOf } from '../place/answered.ts'
import { chart, chartNote } from '../place/chart.ts'
import { BAG_KG } from '../place/quantities.ts'
import { conditionSelect } from '../place/section.ts'
import { element } from '../shell/element.ts'
import { field, TEXTS } from '../texts/en.ts'
import { nameOfProduct, percentText, yearsTexts } from '../texts/names.ts'
import type { Alternative, FieldAnswer, ProductAdvice } from './advice.ts'

/** How the total of an entry is called, and its unit. */
const TOTALS = { total_kg: 'kg', total_tons: 't' }

/** Asks for a product under another condition of the field. */
export type ChooseCondition = (one: ProductAdvice, condition: string | null) => void

type Answered = Extract<ProductAdvice, { answer: unknown }>

interface Asked {
  shape: Shape
  /** Empty where it has none. */
  name: string
  catalog: Catalog
  /** Its code. */
  crop: string | null
}

/**
 * All that the service says of a field, as one sheet that can be printed.
 *
 * @param links the ways to what can be done with it besides
 * @param choose called where a visitor chooses the condition of the field
 */
export function fieldReport(
  advice: ProductAdvice[],
  { shape, name, catalog, crop }: Asked,
  links: HTMLElement[],
  choose: ChooseCondition,
) {
  const answered = advice.flatMap((one) => ('answer' in one ? [one] : []))
  const answers = answered.map(({ answer }) => answer)
  const cropName = catalog.crops.find(({ code }) => code === crop)?.name ?? ''
  const location = answers[0]?.location
  const releases = catalog.releases.filter(({ release }) =>
    answers.some((answer) => answer.release === release),
  )
  return element(
    'article',
    { class: 'card report', 'aria-label': field.report },
    element('h3', { tabIndex: -1 }, name || field.report),
    syntheticNotice(answers.some(({ synthetic }) => synthetic)),
    ...headOf(answered, cropName),
    summaryOf(advice, cropName),
    answered.length > 0 && tableOfFirst(answered),
    ...answered.map((one) => conditionChooser(one, choose)),
    ...advice.map(
      (one) =>
        'reason' in one &&
        element('p', {}, element('strong', {}, nameOfProduct(one.product.product)), `: ${one.reason}`),
    ),
    answered.length > 0 &&
      element(
        'details',
        { class: 'everything' },
        element('summary', {}, field.everything),
        seasonNote(
          catalog,
          answers.flatMap((answer) => entriesOf(answer).map(({ scenario }) => scenario)),
        ),
        tableOfAll(answered),
      ),
    element(
      'div',
      { class: 'facts' },
      sketch(shape, field.outline),
      location &&
        element(
          'p',
          {},
          field.area(areaText(location.area_ha)),
          element('br'),
          field.inside(String(short(location.lat)), String(short(location.lng))),
          element('br'),
          field.on(new Date().toLocaleDateString(undefined, { dateStyle: 'long' })),
        ),
    ),
    element(
      'footer',
      {},
      ...releases.map((release) => element('p', { class: 'small' }, sourceText(release))),
    ),
    element(
      'div',
      { class: 'actions' },
      element('button', { type: 'button', class: 'primary', onclick: () => print() }, field.print),
      ...links,
    ),
  )
}

/** What the first product says, by its name, as the panel of a place has it: the number, then the chart. */
function headOf([first]: Answered[], cropName: string) {
  if (!first) return []
  const { product, answer } = first
  const [section] = sectionsOf([product], { [product.product]: { ...answer } })
  if (!section) return []
  const name = nameOfProduct(product.product)
  const note = chartNote(section)
  return [
    ...answerLines(section, product.needs_crop && cropName ? field.of(cropName, name.toLowerCase()) : name),
    chart(section),
    note !== undefined && element('p', { class: 'small' }, note),
  ]
}

/** A row of a table; what is left out is empty. */
type Line = [name: string, cells: Partial<Record<keyof typeof field.columns, string>>]

/** What answers first of all products, in one table. The number to buy comes first: a phone shows two. */
function tableOfFirst(answered: Answered[]) {
  const lines = answered.flatMap(({ product, answer }) => {
    const entries = entriesOf(answer)
    const read = entries.map((entry) => readEntry(entry, product.value.key))
    const text = valueFormat(read.flatMap(({ value, range }) => [value, range?.low, range?.high]))
    return firstEntries(read).map((one): Line => {
      const total = totalOf(entries[read.indexOf(one)] ?? {}, amountText)
      const range = one.range ? TEXTS.place.range(text(one.range.low), text(one.range.high)) : ''
      return [nameOfFirst(product, one, read), { total, value: `${text(one.value)} ${product.unit}`, range }]
    })
  })
  return sheetOf(field.first, {}, [['', lines]])
}

/** How much of an entry it is in all, with its unit; empty where no product says. */
const totalOf = (entry: Entry, text: NumberText) =>
  Object.entries(TOTALS)
    .map(([name, unit]) => numberIn(entry[name], (all) => `${text(all)} ${unit}`))
    .join('')

function nameOfFirst({ product }: CatalogProduct, one: SectionEntry, all: SectionEntry[]) {
  if (one.scenario === null)
    return [nameOfProduct(product), nameOfAnswer(one, all)].filter(Boolean).join(': ')
  return one.input ?? nameOfProduct(product)
}

const numberIn = (value: unknown, text: NumberText) => (typeof value === 'number' ? text(value) : '')

/**
 * A table in a place that scrolls where it is wide. Columns that are empty are left out.
 *
 * @param caption attributes of its caption
 * @param groups of rows, each below its heading, unless that is empty
 */
function sheetOf(
  title: string,
  caption: Record<string, unknown>,
  groups: [heading: string, lines: Line[]][],
) {
  const names = (Object.keys(field.columns) as (keyof typeof field.columns)[]).filter((name) =>
    groups.some(([, lines]) => lines.some(([, cells]) => cells[name])),
  )
  const heads = names.map((name) => element('th', { scope: 'col', class: 'number' }, field.columns[name]))
  const bodies = groups.map(([heading, lines]) =>
    element(
      'tbody',
      {},
      heading !== '' &&
        element('tr', {}, element('th', { colSpan: names.length + 1, scope: 'rowgroup' }, heading)),
      ...lines.map(([line, cells]) =>
        element(
          'tr',
          {},
          element('th', { scope: 'row' }, line),
          ...names.map((name) => element('td', { class: 'number' }, cells[name] ?? '')),
        ),
      ),
    ),
  )
  return wideTable(
    title,
    element('caption', caption, title),
    element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, field.what), ...heads)),
    ...bodies,
  )
}

/** All numbers of all products, in one table. Where values are missing it says how much of the field has some. */
function tableOfAll(answered: Answered[]) {
  const isPart = answered.some(({ answer }) =>
    entriesOf(answer).some(({ covered_percent: covered }) => Number(covered) < 100),
  )
  return sheetOf(
    field.everything,
    { class: 'unseen' },
    answered.map((one) => [headingOf(one), linesOf(one, isPart)]),
  )
}

const headingOf = ({ product: { product, unit }, answer }: Answered) =>
  field.group([nameOfProduct(product), answer.forecast_period].filter(Boolean).join(', '), unit)

/** @param withCover whether how much of the field has values is among them */
function linesOf({ product, answer }: Answered, withCover: boolean): Line[] {
  const entries = entriesOf(answer)
  const key = product.value.key
  // A field in one pixel has one value.
  const differs = entries.some((entry) => quantilesOf(entry).some((value) => value !== entry[key]))
  const sure = entries.map(certaintyOf)
  const years = yearsTexts(entries.map((entry) => ({ ...entry, ...certaintyOf(entry) })))
  // Means, ranges and quantiles are of one layer, and stand beside each other.
  const value = valueFormat([
    ...entries.flatMap((entry) => [entry[key], ...(differs ? quantilesOf(entry) : [])]),
    ...sure.flatMap(({ range }) => (range ? [range.low, range.high] : [])),
  ])
  const covered = valueFormat(entries.map((entry) => entry.covered_percent))
  const amount = amountFormat(entries.flatMap(({ total_kg, total_tons }) => [total_kg, total_tons]))
  const cellsOf = (entry: Entry): Line[1] => {
    const [low, middle, high] = (differs ? quantilesOf(entry) : []).map(value)
    return {
      total: totalOf(entry, amount),
      value: numberIn(entry[key], value),
      range: rangeOf(entry, value),
      odds: years(entry.scenario),
      ...{ low, middle, high },
      ...(withCover && { covered: numberIn(entry.covered_percent, covered) }),
    }
  }
  return [
    ...entries.map((entry): Line => [nameOf(entry), cellsOf(entry)]),
    ...(answer.expected ?? []).map((entry): Line => [labelOf(entry), cellsOf(entry)]),
  ]
}

/** The labels of an entry, and the season that it has the values of. */
function nameOf(entry: Entry) {
  const { scenario } = entry
  return labelOf({
    ...entry,
    ...(typeof scenario === 'string' && { scenario: seasonText(scenario, certaintyOf(entry)) }),
  })
}

/** Chooses the condition of the field, and says which one the values are for, or how they were mixed. */
function conditionChooser(one: Answered, choose: ChooseCondition) {
  const { product, alternatives, chosen, answer } = one
  const entries = entriesOf(answer)
  if (alternatives.length === 0) return false
  const label = field.condition(nameOfProduct(product.product))
  const offered = { unchosen: TEXTS.choosers.byPlace, list: alternatives, chosen: chosen ?? '' }
  const control = conditionSelect(label, product.product, offered, (condition) => choose(one, condition))
  const note = conditionNote(answer, alternatives, entries, chosen)
  return element('div', { class: 'condition' }, control, element('p', { class: 'small' }, note))
}

function conditionNote(
  { question }: FieldAnswer,
  alternatives: Alternative[],
  entries: Entry[],
  chosen: string | null,
) {
  const found = entries.find(({ condition }) => condition !== undefined)?.condition
  const title = alternatives.find(({ condition }) => condition === found)?.title
  if (chosen !== null) return field.under(title ?? chosen)
  if (question !== undefined) return `${question} ${TEXTS.place.byDefault(title ?? '')}`
  if (title !== undefined) return TEXTS.place.ofLandscape(title)
  const shares = alternatives.flatMap(({ title, share_percent: share }) => (share ? [{ title, share }] : []))
  const text = valueFormat(shares.map(({ share }) => share))
  return field.mixed(shares.map(({ title, share }) => `${title} ${text(share)} %`).join(', '))
}

function rangeOf(entry: Entry, text: NumberText) {
  const { range } = certaintyOf(entry)
  if (range === null) return ''
  return field.rangeAt(TEXTS.place.range(text(range.low), text(range.high)), percentText(range.level))
}

function quantilesOf({ quantiles }: Entry) {
  return ((quantiles ?? []) as { value: number }[]).map(({ value }) => value)
}

const SVG = 'http://www.w3.org/2000/svg'
const SIZE = 220
const EDGE = 8

/** The outline of a field as a drawing, which prints as well. */
function sketch(shape: Shape, label: string) {
  const [west, south, east, north] = boundsOf(shape)
  // A degree of longitude is shorter than one of latitude, but on the equator.
  const narrow = Math.cos((((south + north) / 2) * Math.PI) / 180)
  const scale = (SIZE - 2 * EDGE) / Math.max((east - west) * narrow, north - south, 1e-9)
  const rings = shape.type === 'Polygon' ? shape.coordinates : shape.coordinates.flat()
  const path = rings
    .map((ring) => {
      const corners = ring.map(([lng = 0, lat = 0]) => {
        const x = EDGE + (lng - west) * narrow * scale
        const y = EDGE + (north - lat) * scale
        return `${x.toFixed(1)},${y.toFixed(1)}`
      })
      return `M${corners.join('L')}Z`
    })
    .join('')
  const drawing = document.createElementNS(SVG, 'svg')
  const height = Math.ceil((north - south) * scale) + 2 * EDGE
  const width = Math.ceil((east - west) * narrow * scale) + 2 * EDGE
  const attributes = { viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-label': label }
  for (const [name, value] of Object.entries(attributes)) drawing.setAttribute(name, String(value))
  const outline = document.createElementNS(SVG, 'path')
  outline.setAttribute('d', path)
  outline.setAttribute('fill-rule', 'evenodd')
  drawing.append(outline)
  return element('figure', { class: 'sketch' }, drawing)
}

/**
 * How much to buy, and how much to expect, in a sentence; false where no product is in kilograms per hectare.
 *
 * @param crop its name
 */
function summaryOf(advice: ProductAdvice[], crop: string) {
  const answers = advice.flatMap((one) =>
    'answer' in one && one.product.unit === 'kg/ha' ? [{ ...one, area: one.answer.location.area_ha }] : [],
  )
  const [first] = answers
  if (!first) return false
  const amounts = answers.flatMap(({ product, answer, area }) =>
    entriesOf(answer)
      .filter(({ scenario }) => scenario === SEASON)
      .map((entry) => ({ input: inputOf(entry), kilograms: kilogramsOf(entry, product, area) })),
  )
  const bought = amounts
    .flatMap(({ input, kilograms }) => {
      if (input === null) return []
      return [{ input, bags: Math.ceil(Number((kilograms / BAG_KG).toFixed(6))) }]
    })
    .sort((one, other) => other.bags - one.bags)
  const harvests = amounts.filter(({ input }) => input === null)
  const parts = [
    ...bought.map(({ input, bags }, at) => {
      const count = amountText(bags)
      return at > 0 ? field.more(count, input) : bags === 1 ? field.bag(input) : field.bags(count, input)
    }),
    ...harvests.map(({ kilograms }) => field.harvest(estimateText(kilograms / 1000), crop.toLowerCase())),
  ]
  if (parts.length === 0) return false
  return element(
    'p',
    { class: 'summary' },
    field.summary(areaText(first.area), parts.join(', ')),
    bought.length > 0 && element('span', { class: 'small' }, ` ${field.bagOf(BAG_KG)}`),
  )
}

function kilogramsOf(entry: Entry, { value }: CatalogProduct, hectares: number) {
  const [total, rate, covered] = [entry.total_kg, entry[value.key], entry.covered_percent].map(Number)
  return total || (Number(rate) * hectares * Number(covered)) / 100
}

const amountText = (value: number) => amountFormat([value])(value)
