import type { CatalogProduct } from '../api-types.ts'
import { amountFormat } from '../parts/numbers.ts'
import { type Entry, entriesOf } from '../parts/values.ts'
import { BAG_KG } from '../place/quantities.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import type { ProductAdvice } from './advice.ts'

/** The season that the answer is about: neither the best case nor the worst. */
const SEASON = 'Normal'

/**
 * How much to buy, and how much to expect, in a sentence; false where no product is in kilograms per hectare.
 *
 * @param crop its name
 */
export function summaryOf(advice: ProductAdvice[], crop: string) {
  const { field } = TEXTS
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
    .flatMap(({ input, kilograms }) =>
      input === undefined ? [] : [{ input, bags: Math.ceil(Number((kilograms / BAG_KG).toFixed(6))) }],
    )
    .sort((one, other) => other.bags - one.bags)
  const harvest = amounts.find(({ input }) => input === undefined)
  const parts = [
    ...bought.map(({ input, bags }, at) => {
      const count = amountText(bags)
      return at > 0 ? field.more(count, input) : bags === 1 ? field.bag(input) : field.bags(count, input)
    }),
    harvest && field.harvest(amountText(harvest.kilograms / 1000), crop.toLowerCase()),
  ].filter((part) => part !== undefined)
  if (parts.length === 0) return false
  return element(
    'p',
    { class: 'summary' },
    field.summary(amountText(first.area), parts.join(', ')),
    bought.length > 0 && element('span', { class: 'small' }, ` ${field.bagOf(BAG_KG)}`),
  )
}

/** @returns such as Urea; undefined of a harvest */
function inputOf(entry: Entry): string | undefined {
  const [, input] =
    Object.entries(entry).find(([key, value]) => key !== 'scenario' && typeof value === 'string') ?? []
  return input as string | undefined
}

function kilogramsOf(entry: Entry, { value }: CatalogProduct, hectares: number) {
  const [total, rate, covered] = [entry.total_kg, entry[value.key], entry.covered_percent].map(Number)
  return total || (Number(rate) * hectares * Number(covered)) / 100
}

const amountText = (value: number) => amountFormat([value])(value)
