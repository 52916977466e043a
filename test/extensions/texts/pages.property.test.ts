import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { composePages, findQuestion } from '#src/extensions/texts/compose.ts'
import { textsIn } from '#src/extensions/texts/languages.ts'
import {
  count,
  createBody,
  FIGURE,
  figuresInOrder,
  names,
  products,
  RESERVE,
  sections,
} from './drawn-bodies.ts'

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
