import { afterEach, describe, expect, test, vi } from 'vitest'
import { labelOf, valuesOf } from '../../../web/parts/values.ts'
import { type Section, sectionsOf } from '../../../web/place/answered.ts'
import { chartNote, groupsOf } from '../../../web/place/chart.ts'
import { askAt } from '../../../web/place/sections.ts'
import { percentText, yearsTexts } from '../../../web/texts/names.ts'
import { catalogOf } from './catalog.ts'

const catalog = catalogOf([])
const { products } = catalog
const [YIELD] = products as [(typeof products)[0]]

const CONDITIONS = {
  question: 'Where on the slope is the field?',
  list: [
    { condition: 'foot slope', title: 'Foot slope, with deep soil' },
    { condition: 'hill', title: 'Hill' },
  ],
}

/** Members of an answer come in any order. */
const ANSWER = {
  expected: [{ yield_kg_ha: 2300 }],
  yield_data: [
    { probability: 0.5, scenario: 'Above Normal', yield_kg_ha: 3000 },
    { range: { low: 1500, high: 2600, level: 0.9 }, scenario: 'Normal', probability: 0.3, yield_kg_ha: 2000 },
    { scenario_of: 'Above Normal', scenario: 'Dominant', yield_kg_ha: 3000 },
  ],
}

test('odds, ranges and expected values are read of an answer, and are no inputs', () => {
  const section = sectionOf(ANSWER)
  expect(section.entries).toEqual([
    {
      ...{ input: null, condition: null, scenario: 'Normal', value: 2000 },
      ...{ probability: 0.3, range: { low: 1500, high: 2600, level: 0.9 }, scenarioOf: null },
    },
    {
      ...{ input: null, condition: null, scenario: 'Above Normal', value: 3000 },
      ...{ probability: 0.5, range: null, scenarioOf: null },
    },
    {
      ...{ input: null, condition: null, scenario: 'Dominant', value: 3000 },
      ...{ probability: null, range: null, scenarioOf: 'Above Normal' },
    },
  ])
  expect(section.expected).toEqual([{ input: null, condition: null, value: 2300 }])
})

test('a label names the condition, and not the season that a value is of', () => {
  const entry = { condition: 'hill', scenario_of: 'Normal', scenario: 'Dominant', fertilizer: 'Urea' }
  expect(labelOf({ ...entry, yield_kg_ha: 1 })).toBe('Urea, Dominant, hill')
  expect([...valuesOf(ANSWER, YIELD)]).toEqual([
    ['Normal', 2000],
    ['Above Normal', 3000],
    ['Dominant', 3000],
  ])
})

const rates = (...entries: [input: string, scenario: string | null, condition: string | null][]) =>
  entries.map(([fertilizer, scenario, condition], at) => ({
    ...(condition && { condition }),
    ...(scenario && { scenario }),
    ...{ fertilizer, yield_kg_ha: at },
  }))

/** The headings, names and values of groups. */
const readGroups = (section: Section) =>
  groupsOf(section).map(({ heading, rows, expected }) => [
    heading,
    rows.map(({ name, entry }) => `${name} ${entry.value}`).join('; '),
    expected,
  ])

describe('the rows of a chart', () => {
  test('are seasons with the expected value, and Dominant says which it is', () => {
    expect(readGroups(sectionOf(ANSWER))).toEqual([
      [null, 'Normal 2000; Above Normal 3000; Dominant (Above Normal) 3000', 2300],
    ])
  })

  test('are seasons by input where there are several of each', () => {
    const yield_data = rates(
      ['Urea', 'Below Normal', 'hill'],
      ['Urea', 'Normal', 'hill'],
      ['DAP', 'Normal', null],
    )
    const expected = [{ fertilizer: 'Urea', condition: 'hill', yield_kg_ha: 7 }]
    expect(readGroups(sectionOf({ yield_data, expected }))).toEqual([
      ['Urea', 'Normal 1; Below Normal 0', 7],
      ['DAP', 'Normal 2', undefined],
    ])
  })

  test('do not name the one condition that answers', () => {
    const one = sectionOf({ yield_data: rates(['Urea', 'Normal', 'hill'], ['DAP', 'Normal', 'hill']) })
    expect(readGroups(one)).toEqual([
      ['Urea', 'Normal 0', undefined],
      ['DAP', 'Normal 1', undefined],
    ])
    const unseasonal = sectionOf({ yield_data: rates(['Urea', null, 'hill'], ['DAP', null, 'hill']) })
    expect(readGroups(unseasonal)).toEqual([[null, 'Urea 0; DAP 1', undefined]])
  })
})

test('a note says what a line over a bar means, for each level', () => {
  expect(chartNote(sectionOf(ANSWER))).toBe(
    'The line over a bar is the range: the value lies in it in 90 % of cases. Mean by odds: the mean of the three seasons, each weighted by its odds.',
  )
  const range = { low: 2500, high: 3500, level: 0.8 }
  const [above, ...others] = ANSWER.yield_data
  expect(chartNote(sectionOf({ yield_data: [{ ...above, range }, ...others] }))).toBe(
    'The line over a bar is the range: the value lies in it in 90 % of cases (Normal) and in 80 % of cases (Above Normal).',
  )
  expect(chartNote(sectionOf({ yield_data: [above] }))).toBeUndefined()
})

test.each([
  [0.42, '4 of 10 years', '42 %'],
  [0.333, '3 of 10 years', '33.3 %'],
  [0.04, 'less than 1 of 10 years', '4 %'],
  [0.97, 'more than 9 of 10 years', '97 %'],
  [1, '10 of 10 years', '100 %'],
])('odds are said in years and in percent: %d', (probability, years, percent) => {
  const yearsOf = yearsTexts([
    { scenario: 'Normal', probability },
    { scenario: 'Above Normal', probability: 1 - probability },
  ])
  expect([yearsOf('Normal'), percentText(probability)]).toEqual([years, percent])
})

test('the years of all seasons are ten for odds of any hundredths', () => {
  for (let above = 0; above <= 100; above++) {
    for (let normal = 0; normal <= 100 - above; normal++) {
      const odds = { 'Above Normal': above, Normal: normal, 'Below Normal': 100 - above - normal }
      const entries = Object.entries(odds).map(([scenario, percent]) => ({
        scenario,
        probability: percent / 100,
      }))
      const yearsOf = yearsTexts(entries)
      const counts = entries.map(({ scenario }) => {
        const text = yearsOf(scenario)
        if (text.startsWith('less than 1')) return 0
        return text.startsWith('more than 9') ? 10 : Number.parseInt(text, 10)
      })
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10)
    }
  }
})

describe('a condition that is asked for', () => {
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  /** A service of two products, of which the second has conditions. */
  /** @param refuses whether the yield has other conditions; forage has the hill */
  const serve = (refuses: boolean) => {
    const asked: string[] = []
    const forage = (condition: string) => ({
      release: 'forage-v1',
      forage_data: [{ forage_variety: 'Chloris gayana', condition, suitability_score: 1 }],
    })
    vi.stubGlobal('document', { baseURI: 'http://service.test/' })
    vi.stubGlobal('fetch', async ({ pathname, searchParams }: URL) => {
      asked.push(`${pathname}?${searchParams}`)
      const condition = searchParams.get('condition')
      const refused = { error: 'No.', code: 'INVALID_PARAMETERS', details: [{ field: 'condition' }] }
      const isRefused = refuses && condition !== null && condition !== 'hill'
      return Response.json({
        yield: refuses && condition !== null ? refused : ANSWER,
        forage: isRefused ? refused : forage(condition ?? 'foot slope'),
      })
    })
    return asked
  }
  const ask = (condition: string | null) => {
    const conditionsOf = async (release: string) => (release === 'forage-v1' ? CONDITIONS : undefined)
    return askAt(catalog, { lat: 1, condition }, conditionsOf, new AbortController().signal)
  }

  test('is asked of all products, and those that have conditions say them', async () => {
    const asked = serve(false)
    const [grain, forage] = await ask('hill')
    expect(asked).toEqual(['/advisory/point?lat=1&condition=hill'])
    expect([grain?.conditions, forage?.conditions]).toEqual([undefined, CONDITIONS])
    expect(forage?.entries[0]).toMatchObject({ input: 'Chloris gayana', condition: 'hill' })
  })

  test('is not asked of a release that refuses it', async () => {
    const asked = serve(true)
    const [grain, forage] = await ask('hill')
    expect(asked).toEqual(['/advisory/point?lat=1&condition=hill', '/advisory/point?lat=1'])
    expect(grain?.entries.map(({ value }) => value)).toEqual([2000, 3000, 3000])
    expect(forage).toMatchObject({ entries: [{ condition: 'hill' }], conditions: CONDITIONS })
    const [, other] = await ask('valley')
    expect(other?.entries[0]?.condition).toBe('foot slope')
  })
})

const sectionOf = (answer: object): Section => {
  const [section] = sectionsOf([YIELD], { yield: answer as Record<string, unknown> })
  return { ...(section as Section), conditions: CONDITIONS }
}
