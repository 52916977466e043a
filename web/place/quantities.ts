import { wideTable } from '../parts/blocks.ts'
import { readTypedNumber } from '../parts/typed.ts'
import { amountFormat, type Certainty } from '../parts/values.ts'
import { element, labelled } from '../shell/element.ts'
import { mapTexts, TEXTS } from '../texts/en.ts'
import { nameOfProduct, numberText, titleOfCondition } from '../texts/names.ts'
import type { Section, SectionEntry } from './answered.ts'

/** Where nothing else is typed. */
export const BAG_KG = 50

/** Units of totals by units of rates. What is told in tonnes, such as compost, does not come in bags. */
const PER_HECTARE: Record<string, { unit: string; inBags: boolean }> = {
  'kg/ha': { unit: 'kg', inBags: true },
  't/ha': { unit: 't', inBags: false },
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
    const bags = Math.ceil(Number((total / bagKilograms).toFixed(6)))
    return {
      input,
      condition,
      scenario,
      total,
      unit: per.unit,
      bags: input === null || !per.inBags ? null : bags,
    }
  })
}

/** What a visitor has typed into the form: it stays when another place or condition is shown. */
export interface Typed {
  hectares: string
  bag: string
  /** By inputs. */
  prices: Map<string, string>
  /** Whether the form was opened or closed by hand; undefined for neither. */
  isOpen: boolean | undefined
}

export function createTyped(): Typed {
  return { hectares: '', bag: String(BAG_KG), prices: new Map(), isOpen: undefined }
}

/**
 * A form for an area and what all rates come to on it.
 *
 * @param hectares as a link or the form before has it
 * @param typed is kept up to date
 */
export function quantities(
  sections: Section[],
  hectares: number | null,
  typed: Typed,
  change: (hectares: number | null) => void,
) {
  const texts = mapTexts.quantities
  if (readAmount(typed.hectares) !== (hectares ?? undefined)) typed.hectares = String(hectares ?? '')
  const rates = sections.filter(isRate)
  const inBags = rates.filter(({ unit }) => PER_HECTARE[unit]?.inBags)
  const inputs = [...new Set(inBags.flatMap(({ entries }) => entries.map(({ input }) => input)))]
  const area = numberField(typed.hectares, 'hectares', (text) => {
    typed.hectares = text
    change(readAmount(text) ?? null)
  })
  const bag = numberField(typed.bag, 'bag', (text) => {
    typed.bag = text
  })
  const prices = inputs
    .filter((input) => input !== null)
    .map((input) => ({
      input,
      field: numberField(typed.prices.get(input) ?? '', 'price', (text) => typed.prices.set(input, text)),
    }))
  const results = element('div', { role: 'status' })
  const draw = () => {
    const size = readAmount(typed.hectares)
    const perBag = readAmount(typed.bag) ?? BAG_KG
    const priceOf = (input: string | null) => readPrice(typed.prices.get(input ?? '') ?? '')
    const wrong = [
      ...[area, bag].filter(({ value }) => isWrong(value, readAmount)),
      ...prices.map(({ field }) => field).filter(({ value }) => isWrong(value, readPrice)),
    ]
    for (const field of fields) field.setAttribute('aria-invalid', String(wrong.includes(field)))
    results.replaceChildren(
      ...wrong.map(({ value }) => element('p', { className: 'notice' }, texts.noNumber(value))),
      ...(size ? rates.map((rate) => tableOf(rate, quantitiesOf(rate, size, perBag), size, priceOf)) : []),
    )
  }
  const fields = [area, bag, ...prices.map(({ field }) => field)]
  for (const field of fields) field.addEventListener('input', draw)
  draw()
  const form = element(
    'details',
    { className: 'quantities', open: typed.isOpen ?? hectares !== null },
    element(
      'summary',
      {
        onclick: () => {
          typed.isOpen = !form.open
        },
      },
      texts.title,
    ),
    element(
      'div',
      { className: 'fields' },
      labelled(texts.hectares, area),
      labelled(texts.bag, bag),
      ...prices.map(({ input, field }) => labelled(texts.price(input), field)),
    ),
    results,
    element('p', { className: 'small' }, texts.note),
  )
  return form
}

const isRate = ({ unit, entries }: Section) => unit in PER_HECTARE && entries.length > 0

function tableOf(
  { product, conditions }: Section,
  rows: ReturnType<typeof quantitiesOf>,
  hectares: number,
  priceOf: (input: string | null) => number | undefined,
) {
  const texts = mapTexts.quantities
  const hasInputs = rows.some(({ input }) => input !== null)
  const inBags = rows.some(({ bags }) => bags !== null)
  const byCondition = rows.some(({ condition }) => condition !== null)
  const text = amountFormat(rows.map(({ total }) => total))
  const priced = rows.some(({ input }) => priceOf(input) !== undefined)
  const columns = [
    hasInputs && TEXTS.choosers.input,
    TEXTS.choosers.scenario,
    byCondition && TEXTS.choosers.condition,
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
      hasInputs && element('td', {}, input ?? ''),
      element('th', { scope: 'row' }, scenario ?? ''),
      byCondition && element('td', {}, condition === null ? '' : titleOfCondition(conditions, condition)),
      element('td', { className: 'number' }, `${text(total)} ${unit}`),
      inBags && element('td', { className: 'number' }, bags === null ? '' : numberText(bags)),
      priced &&
        element('td', { className: 'number' }, price && bags !== null ? numberText(price * bags) : ''),
    )
  })
  const caption = texts.caption(nameOfProduct(product), numberText(hectares))
  return wideTable(
    caption,
    element('caption', {}, caption),
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...lines),
  )
}

/** Hectares and kilograms of bags; undefined for what is no number above 0. */
export const readAmount = (text: string) => aboveZero(readTypedNumber(text, false))

/** Of prices a mark before three digits is one of thousands, as of harvests in messages. */
const readPrice = (text: string) => aboveZero(readTypedNumber(text, true))

function aboveZero(number: number | undefined) {
  return number !== undefined && Number.isFinite(number) && number > 0 ? number : undefined
}

const isWrong = (text: string, read: (text: string) => number | undefined) =>
  text.trim() !== '' && read(text) === undefined

/** A field of numbers has either the comma or the point, and drops the other without a word: this one is a text. */
function numberField(value: string, name: string, typed: (text: string) => void) {
  const field = element('input', { type: 'text', inputMode: 'decimal', autocomplete: 'off', value, name })
  field.addEventListener('input', () => typed(field.value))
  return field
}
