import fc from 'fast-check'
import { SegmentedMessage } from 'sms-segments-calculator'
import { describe, expect, test } from 'vitest'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { hasQuantities } from '#schemas/quantities.ts'
import { composePages, findQuestion } from '#src/extensions/texts/compose.ts'
import { textsIn } from '#src/extensions/texts/languages.ts'

const products = PRODUCTS.list
const RESERVE = 'Code K7. Send MORE.'
const count = (text: string) => new SegmentedMessage(text, 'auto', false).segmentsCount

/** Figures of seven digits tell entries apart: nothing else has so many. */
const FIGURE = /(?<!\d)\d{7}(?!\d)/g
const withoutDigits = (text: string) => text.replaceAll(/\p{N}/gu, '')
const names = fc.oneof(
  fc.constantFrom('Urea', 'DAP', 'Brachiaria brizantha', 'ጤፍ', 'ç'),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map(withoutDigits),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 200 }).map(withoutDigits),
  fc.nat({ max: 200 }).map((length) => 'x'.repeat(length)),
)
const scenarios = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('Above Normal', 'Normal', 'Below Normal', 'Dominant') },
  names,
)
const amounts = fc.record(
  {
    kg: fc.nat({ max: 999 }),
    bags: fc.nat({ max: 99 }),
    cost: fc.nat({ max: 999_999 }),
  },
  { requiredKeys: [] },
)
const entry = fc.record(
  {
    input: names,
    scenario: scenarios,
    condition: names,
    probability: fc.double({ min: 0, max: 1, noNaN: true }),
    range: fc.record({ low: fc.nat({ max: 999 }), high: fc.nat({ max: 999 }) }),
    quantity: amounts,
  },
  { requiredKeys: ['input', 'scenario'] },
)
const section = fc.record(
  {
    entries: fc.array(entry, { maxLength: 9 }),
    crop: fc.oneof(fc.constant(null), fc.constant('wheat'), names),
    forecast_month: fc.constant('2026-07'),
    synthetic: fc.boolean(),
    stale: fc.boolean(),
    question: fc.constant('Where on the slope is the field?'),
    quantities: fc.constant({ area: { value: 12, unit: 'timad', ha: 3 }, currency: 'ETB' }),
  },
  { requiredKeys: ['entries', 'crop'] },
)
type Section = typeof section extends fc.Arbitrary<infer Made> ? Made : never
const sections = fc.array(fc.option(section), { minLength: products.length, maxLength: products.length })

/** A body of the API, and the entries of each product with their figures. */
function createBody(made: (Section | null)[]) {
  let figure = 1_000_000
  const body: Record<string, unknown> = {}
  const shown = products.map((product, at) => {
    const { entries, ...members } = made[at] ?? { entries: null }
    const written = (entries ?? []).map(({ input, scenario, ...others }) => ({
      ...(product.input && { [product.input.key]: input }),
      ...(hasQuantities(product) && { scenario }),
      [product.value.key]: figure++,
      ...others,
    }))
    body[product.code] = { ...members, [product.entries]: entries && written }
    const isLeftOut = 'question' in members
    return { product, written: isLeftOut ? [] : written }
  })
  return { body, shown }
}

/** By their inputs, of each the normal season first; or by score. */
function figuresInOrder(product: ProductDefinition, entries: Record<string, unknown>[]): number[] {
  const figure = (one: Record<string, unknown>) => one[product.value.key] as number
  if (!hasQuantities(product)) return entries.map(figure).sort((a, b) => b - a)
  const input = (one: Record<string, unknown>) => product.input && one[product.input.key]
  return [...new Set(entries.map(input))].flatMap((name) => {
    const own = entries.filter((one) => input(one) === name)
    return [true, false].flatMap((isNormal) =>
      own.filter(({ scenario }) => (scenario === 'Normal') === isNormal).map(figure),
    )
  })
}

test('each entry is on one page, in order, behind the warnings, and no page is over one segment', () => {
  const reserves = fc.constantFrom('', RESERVE)
  fc.assert(
    fc.property(sections, names, reserves, (made, label, reserve) => {
      const { body, shown } = createBody(made)
      const pages = composePages(products, body, textsIn(), { label, reserve })
      for (const page of pages) expect(count(reserve === '' ? page : `${page} ${reserve}`)).toBe(1)

      const figures = shown.map(({ product, written }) => figuresInOrder(product, written))
      // Of several products first the normal season of each.
      const normal = new Set(
        shown.flatMap(({ product, written }) =>
          written.flatMap((one: Record<string, unknown>) =>
            [undefined, null, 'Normal'].includes(one.scenario as string) ? [one[product.value.key]] : [],
          ),
        ),
      )
      const all = figures.flat()
      const isSole = figures.filter((some) => some.length > 0).length === 1
      const inOrder = isSole
        ? all
        : [...all.filter((one) => normal.has(one)), ...all.filter((one) => !normal.has(one))]
      const onPages = pages.map((page) => [...page.matchAll(FIGURE)].map(([text]) => Number(text)))
      expect(onPages.flat()).toEqual(inOrder)
      for (const own of onPages) expect(own).not.toEqual([])

      const found = shown.flatMap(({ product, written }) => (written.length > 0 ? [body[product.code]] : []))
      const has = (member: string) => found.some((one) => (one as Record<string, unknown>)[member] === true)
      pages.forEach((page, at) => {
        expect(page.includes('Demo data, not advice.')).toBe(has('synthetic'))
        expect(page.includes('Last season.')).toBe(has('stale'))
        // The head of each product that has an entry on the page.
        shown.forEach(({ product }, index) => {
          const { subject } = product.names
          const head = `${subject.charAt(0).toUpperCase()}${subject.slice(1)}`
          if (onPages[at]?.some((figure) => figures[index]?.includes(figure))) expect(page).toContain(head)
        })
      })
    }),
    { numRuns: 300 },
  )
})

describe('pages of an answer', () => {
  const scenario = (name: string, yield_kg_ha: number, more = {}) => ({
    scenario: name,
    yield_kg_ha,
    ...more,
  })
  const range = { low: 3445, high: 4856 }
  const wheat = { crop: 'wheat', forecast_month: '2026-07' }
  const rate = (fertilizer_type: string, name: string, rate_kg_ha: number) => ({
    fertilizer_type,
    scenario: name,
    rate_kg_ha,
    probability: 0.4,
  })
  const pagesOf = (body: Record<string, unknown>, label = '', reserve = RESERVE) =>
    composePages(products, body, textsIn(), { label, reserve })

  test('have the name of the place, ranges and odds where there is room', () => {
    const one = { yield: { ...wheat, yield_data: [scenario('Normal', 4229, { range, probability: 0.39 })] } }
    expect(pagesOf(one, 'Fiche')).toEqual([
      'Fiche. Yield (wheat) Jul 2026: Normal 4229 (3445 to 4856) kg/ha, 4 of 10 years.',
    ])
    expect(pagesOf(one, 'x'.repeat(58))[0]).toMatch(/^x+\. Yield .* \(3445 to 4856\)/)
    // A range goes before the odds, and both before the name, which says how the place was understood.
    expect(pagesOf(one, 'x'.repeat(75))[0]).toMatch(/^x+\. Yield .* Normal 4229 kg\/ha, 4 of 10 years\.$/)
    expect(pagesOf(one, 'x'.repeat(95))[0]).toMatch(/^x+\. Yield .* Normal 4229 kg\/ha\.$/)
    expect(pagesOf(one, 'x'.repeat(140))).toEqual([
      'Yield (wheat) Jul 2026: Normal 4229 (3445 to 4856) kg/ha, 4 of 10 years.',
    ])
  })

  test('are as few as the values alone need, and repeat the head of a product that goes on', () => {
    const body = {
      yield: {
        ...wheat,
        synthetic: true,
        yield_data: [scenario('Above Normal', 4783), scenario('Normal', 4229), scenario('Dominant', 4229)],
      },
      fertilizer: {
        ...wheat,
        fertilizer_data: ['Urea', 'DAP', 'NPS'].flatMap((type, at) => [
          rate(type, 'Above Normal', 100 + at),
          rate(type, 'Normal', 200 + at),
          rate(type, 'Below Normal', 300 + at),
        ]),
      },
      isfm: { isfm_data: null, code: 'NO_RELEASE', error: 'x' },
    }
    expect(pagesOf(body)).toEqual([
      'Demo data, not advice. Yield (wheat) Jul 2026: Normal 4229 kg/ha. Fertilizer (wheat) Jul 2026: Urea Normal 200 kg/ha; DAP Normal 201 kg/ha.',
      'Demo data, not advice. Fertilizer (wheat): NPS Normal 202 kg/ha. Yield (wheat) Jul 2026: Above Normal 4783 kg/ha; Dominant 4229 kg/ha.',
      'Demo data, not advice. Fertilizer (wheat) Jul 2026: Urea Above Normal 100 kg/ha; Urea Below Normal 300 kg/ha; DAP Above Normal 101 kg/ha.',
      'Demo data, not advice. Fertilizer (wheat) Jul 2026: DAP Below Normal 301 kg/ha; NPS Above Normal 102 kg/ha; NPS Below Normal 302 kg/ha.',
    ])
    const alone = { fertilizer: { ...body.fertilizer, synthetic: true } }
    expect(pagesOf(alone)).toEqual([
      'Demo data, not advice. Fertilizer (wheat) Jul 2026: Urea Normal 200 kg/ha; Urea Above Normal 100 kg/ha; Urea Below Normal 300 kg/ha.',
      'Demo data, not advice. Fertilizer (wheat) Jul 2026: DAP Normal 201 kg/ha; DAP Above Normal 101 kg/ha; DAP Below Normal 301 kg/ha.',
      'Demo data, not advice. Fertilizer (wheat) Jul 2026: NPS Normal 202 kg/ha; NPS Above Normal 102 kg/ha; NPS Below Normal 302 kg/ha.',
    ])
    body.fertilizer.fertilizer_data.pop()
    expect(pagesOf(alone).at(-1)).toBe(
      'Demo data, not advice. Fertilizer (wheat) Jul 2026: NPS Normal 202 kg/ha, 4 of 10 years; NPS Above Normal 102 kg/ha, 4 of 10 years.',
    )
    // The month of a head that stood before goes for the odds.
    for (const last of body.fertilizer.fertilizer_data.slice(-2)) last.fertilizer_type = 'NPSB Zinc'
    expect(pagesOf(alone).at(-1)).toBe(
      'Demo data, not advice. Fertilizer (wheat): NPSB Zinc Normal 202 kg/ha, 4 of 10 years; NPSB Zinc Above Normal 102 kg/ha, 4 of 10 years.',
    )
  })

  test('cut a name that no page has room for, and no number', () => {
    const long = { ...wheat, synthetic: true, stale: true, crop: 'y'.repeat(150) }
    const [page = '', ...others] = pagesOf({ yield: { ...long, yield_data: [scenario('Normal', 4229.57)] } })
    expect(others).toEqual([])
    expect(page).toMatch(/^Demo data, not advice\. Last season\. Yield \(y+\.\.\.\): Normal 4230 kg\/ha\.$/)
    expect(count(`${page} ${RESERVE}`)).toBe(1)
    expect(count(`${page}y ${RESERVE}`)).toBe(2)
    // 70 characters of another alphabet are too few here, so the name goes for the others to stay.
    const amharic = { ...long, crop: 'ጤፍ' }
    expect(pagesOf({ yield: { ...amharic, yield_data: [scenario('Normal', 4229.57)] } })).toEqual([
      'Demo data, not advice. Last season. Yield (...): Normal 4230 kg/ha.',
    ])
    // The sender leaves no room for the numbers.
    expect(
      pagesOf({ yield: { ...wheat, yield_data: [scenario('Normal', 4229)] } }, '', 'x'.repeat(140)),
    ).toEqual(['The answer does not fit into a message.'])
  })

  test('are not there for a product that asks, nor for an answer without values', () => {
    const asking = {
      fertilizer: {
        ...wheat,
        question: 'Where on the\nslope is the field?',
        fertilizer_data: [{ ...rate('Urea', 'Normal', 32), condition: 'hill' }],
        by_condition: [{ condition: 'hill' }, { condition: 'foot\nslope' }],
      },
    }
    expect(pagesOf(asking)).toEqual([])
    expect(findQuestion(products, asking)).toEqual({
      question: 'Where on the slope is the field?',
      conditions: ['hill', 'foot slope'],
    })
    const without = { yield: { yield_data: null } }
    expect([pagesOf(without), findQuestion(products, without)]).toEqual([[], undefined])
  })
})
