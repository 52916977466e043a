import { amountFormat, type Certainty } from '../parts/values.ts'
import { element, labelled } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfProduct, numberText, titleOfCondition } from '../texts/names.ts'
import type { Section, SectionEntry } from './answered.ts'

/** Where nothing else is typed. */
export const BAG_KG = 50

/** Units of totals by units of rates, with their kilograms. */
const PER_HECTARE: Record<string, { unit: string; kilograms: number }> = {
  'kg/ha': { unit: 'kg', kilograms: 1 },
  't/ha': { unit: 't', kilograms: 1000 },
}

/** Rates times an area. */
export function quantitiesOf(
  { unit, entries }: { unit: string; entries: Omit<SectionEntry, keyof Certainty>[] },
  hectares: number,
  bagKilograms: number,
) {
  const per = PER_HECTARE[unit]
  if (!per) return []
  return entries.map(({ input, condition, scenario, value }) => {
    const total = value * hectares
    // Rates have two decimals, so that what lies behind is of the arithmetic.
    const bags = Math.ceil(Number(((total * per.kilograms) / bagKilograms).toFixed(6)))
    return { input, condition, scenario, total, unit: per.unit, bags: input === null ? null : bags }
  })
}

/** A form for an area and what all rates come to on it. */
export function quantities(
  sections: Section[],
  hectares: number | null,
  change: (hectares: number | null) => void,
) {
  const texts = TEXTS.quantities
  const area = numberField(hectares ?? '', 'hectares')
  const bag = numberField(BAG_KG, 'bag')
  const inputs = [
    ...new Set(sections.filter(isRate).flatMap(({ entries }) => entries.map(({ input }) => input))),
  ]
  const prices = inputs
    .filter((input) => input !== null)
    .map((input) => ({ input, field: numberField('', 'price') }))
  const results = element('div', { role: 'status' })
  const draw = () => {
    const size = positive(area.value)
    const perBag = positive(bag.value) ?? BAG_KG
    const priceOf = (input: string | null) =>
      positive(prices.find((price) => price.input === input)?.field.value ?? '')
    results.replaceChildren(
      ...(size
        ? sections
            .filter(isRate)
            .map((section) => tableOf(section, quantitiesOf(section, size, perBag), priceOf))
        : []),
    )
  }
  area.addEventListener('input', () => change(positive(area.value) ?? null))
  const fields = [area, bag, ...prices.map(({ field }) => field)]
  for (const field of fields) field.addEventListener('input', draw)
  draw()
  return element(
    'details',
    { className: 'quantities', open: hectares !== null },
    element('summary', {}, texts.title),
    element(
      'div',
      { className: 'fields' },
      labelled(texts.hectares, area),
      labelled(texts.bag, bag),
      ...prices.map(({ input, field }) => labelled(texts.price(input ?? ''), field)),
    ),
    results,
    element('p', { className: 'small' }, texts.note),
  )
}

const isRate = ({ unit, entries }: Section) => unit in PER_HECTARE && entries.length > 0

function tableOf(
  { product, conditions }: Section,
  rows: ReturnType<typeof quantitiesOf>,
  priceOf: (input: string | null) => number | undefined,
) {
  const texts = TEXTS.quantities
  const inBags = rows.some(({ bags }) => bags !== null)
  const byCondition = rows.some(({ condition }) => condition !== null)
  const text = amountFormat(rows.map(({ total }) => total))
  const priced = rows.some(({ input }) => priceOf(input) !== undefined)
  const columns = [
    inBags && texts.input,
    texts.season,
    byCondition && texts.condition,
    texts.total,
    inBags && texts.bags,
    priced && texts.cost,
  ]
  const head = columns.map((text) => text && element('th', { scope: 'col' }, text))
  const lines = rows.map(({ input, condition, scenario, total, unit, bags }) => {
    const price = priceOf(input)
    return element(
      'tr',
      {},
      inBags && element('td', {}, input ?? ''),
      element('th', { scope: 'row' }, scenario ?? ''),
      byCondition && element('td', {}, condition === null ? '' : titleOfCondition(conditions, condition)),
      element('td', { className: 'number' }, `${text(total)} ${unit}`),
      inBags && element('td', { className: 'number' }, bags === null ? '' : numberText(bags)),
      priced &&
        element('td', { className: 'number' }, price && bags !== null ? numberText(price * bags) : ''),
    )
  })
  return element(
    'table',
    {},
    element('caption', {}, nameOfProduct(product)),
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...lines),
  )
}

function positive(text: string) {
  const number = Number(text)
  return text.trim() !== '' && Number.isFinite(number) && number > 0 ? number : undefined
}

function numberField(value: number | string, name: string) {
  return element('input', {
    type: 'number',
    min: '0',
    step: 'any',
    inputMode: 'decimal',
    value: String(value),
    name,
  })
}
