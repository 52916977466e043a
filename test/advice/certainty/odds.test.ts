import { beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import type { Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { realYield } from '#test/setup/releases.ts'
import { rectangle } from '#test/setup/square.ts'
import { EAST, OUTLOOK, WEST } from './releases.ts'

const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
beforeAll(async () => {
  await loadRelease(service.database, OUTLOOK)
})

const ask = async (request: string, sent?: Sent) => {
  const answer = await service.ask(request, sent)
  expect(answer.status, answer.text).toBe(200)
  return answer
}
const at = ({ lat, lng }: typeof WEST, more = '') => `lat=${lat}&lng=${lng}${more}`

/** By hand: 3000 -+ 1.2815515655446 * 100, and 0.5 * 3000 + 0.3 * 2000 + 0.2 * 1000. */
const IN_THE_WEST = {
  yield_data: [
    {
      scenario: 'Above Normal',
      yield_kg_ha: 3000,
      probability: 0.5,
      range: { low: 2871.84, high: 3128.16, level: 0.8 },
    },
    {
      scenario: 'Normal',
      yield_kg_ha: 2000,
      probability: 0.3,
      range: { low: 1500, high: 2600, level: 0.9 },
    },
    { scenario: 'Below Normal', yield_kg_ha: 1000, probability: 0.2 },
    { scenario: 'Dominant', yield_kg_ha: 3000, scenario_of: 'Above Normal' },
  ],
  expected: [{ scenario: 'Mean by odds', yield_kg_ha: 2300 }],
}

/** By hand: 0.2 * 2600 + 0.3 * 2400 + 0.5 * 2200. */
const EXPECTED_IN_THE_EAST = [{ scenario: 'Mean by odds', yield_kg_ha: 2340 }]

describe('at a point', () => {
  test('entries have the odds of their scenario and their range, and the answer the expected value', async () => {
    const { body } = await ask(`GET /advisory/yield/point?${at(WEST)}`)
    expect(body).toMatchObject(IN_THE_WEST)
    const east = await ask('POST /advisory/yield/point', { payload: EAST })
    expect(east.body.expected).toEqual(EXPECTED_IN_THE_EAST)
    expect(east.body.yield_data[3]).toEqual({
      scenario: 'Dominant',
      yield_kg_ha: 2200,
      scenario_of: 'Below Normal',
    })
  })

  test('the answer from memory, from the database, with a token and for all products is the same', async () => {
    const first = await ask(`GET /advisory/yield/point?${at(EAST)}`)
    expect((await ask(`GET /advisory/yield/point?${at(EAST)}`)).text).toBe(first.text)
    const kept = await ask('POST /advisory/yield/point', { payload: EAST, by: service.person })
    const { history_id, ...answer } = kept.body
    expect(answer).toEqual(first.body)
    const { body } = await ask(`GET /history/my?limit=1`, { by: service.person })
    expect(body.items[0]).toMatchObject({ id: history_id, answer: first.body })
    const { body: all } = await ask(`GET /advisory/point?${at(EAST)}`)
    expect(all.yield).toMatchObject({ yield_data: first.body.yield_data, expected: first.body.expected })
  })

  test('CSV has a column for each number', async () => {
    const { text } = await ask(`GET /advisory/yield/point?${at(WEST)}&format=csv`)
    const [head, row] = text
      .trim()
      .split('\r\n')
      .map((line) => line.split(',')) as [string[], string[]]
    const cells = Object.fromEntries(head.map((name, index) => [name, row[index]]))
    expect(cells).toMatchObject({
      'yield_kg_ha Normal': '2000',
      'probability Above Normal': '0.5',
      'probability Below Normal': '0.2',
      'low Normal': '1500',
      'high Above Normal': '3128.16',
      'expected_yield_kg_ha Mean by odds': '2300',
      'scenario_of Dominant': 'Above Normal',
    })
  })

  test('the pixels of odds and ranges are among those of the provenance', async () => {
    const { body } = await ask(`GET /advisory/yield/point?${at(WEST)}&provenance=true`)
    const layers = body.provenance[0].pixels.flatMap(({ layers }: { layers: object[] }) => layers)
    expect(layers).toContainEqual({
      layer: 7,
      input: null,
      scenario: 'Above Normal',
      role: 'probability',
      raw: 50,
      scale: 0.01,
      offset: 0,
    })
    expect(layers).toHaveLength(10)
  })

  test('a text message says the odds in years', async () => {
    const send = (segments: number) =>
      ask(`GET /advisory/yield/point?${at(WEST, `&name=Farm&max_segments=${segments}`)}`, {
        headers: { accept: 'text/plain' },
      })
    expect((await send(2)).text).toBe(
      'Farm. Yield (wheat) Jul 2026: Normal 2000 (1500 to 2600) kg/ha, 3 of 10 years; Above Normal 3000 (2872 to 3128) kg/ha, 5 of 10 years; Below Normal 1000 kg/ha, 2 of 10 years; Dominant 3000 kg/ha.',
    )
    expect((await send(1)).text).toBe(
      'Yield (wheat) Jul 2026: Normal 2000 kg/ha, 3 of 10 years; Above Normal 3000 kg/ha, 5 of 10 years; Below Normal 1000 kg/ha, 2 of 10 years; Dominant 3000 kg/ha.',
    )
  })

  test('the harvest of a field is expected by the odds, where the request has no weights', async () => {
    const { body } = await ask(`GET /advisory/yield/point?${at(WEST)}&area=2%20ha`)
    expect(body.quantities.expected).toEqual({ scenario: 'Mean by odds', kg: 4600 })
    const weighed = await ask(`GET /advisory/yield/point?${at(WEST)}&area=2%20ha&scenario_weights=Normal:1`)
    expect(weighed.body.quantities.expected).toEqual({ scenario: 'Mean by scenario_weights', kg: 4000 })
    expect(body).toMatchObject({ expected: IN_THE_WEST.expected })
  })

  test('many points have them in each format', async () => {
    const payload = {
      points: [
        { id: 'w', ...WEST },
        { id: 'e', ...EAST },
      ],
    }
    const json = await ask('POST /advisory/yield/points', { payload })
    expect(json.body.items[0]).toMatchObject({ id: 'w', ...IN_THE_WEST })
    expect(json.body.items[1].expected).toEqual(EXPECTED_IN_THE_EAST)
    const accept = 'application/geo+json'
    const { body } = await ask('POST /advisory/yield/points', { payload, headers: { accept } })
    expect(body.features[1].properties).toMatchObject({
      'expected_yield_kg_ha Mean by odds': 2340,
      'probability Below Normal': 0.5,
      'scenario_of Dominant': 'Below Normal',
    })
  })
})

describe('in a polygon', () => {
  const BOTH = rectangle(38.25, 9.2, 38.75, 9.8)
  const ONE = rectangle(38.1, 9.2, 38.2, 9.8)
  const advise = (geometry: object) =>
    ask('POST /advisory/yield', { payload: { geometry }, by: service.person })

  test('odds and ranges are means by area, and a mixed Dominant is of no scenario', async () => {
    const { body } = await advise(BOTH)
    expect(body.yield_data).toMatchObject([
      { yield_kg_ha: 2800, probability: 0.35, range: { low: 2607.77, high: 2992.23, level: 0.8 } },
      { yield_kg_ha: 2200, probability: 0.3, range: { low: 1700, high: 2750, level: 0.9 } },
      { yield_kg_ha: 1600, probability: 0.35 },
      { yield_kg_ha: 2600 },
    ])
    expect(body.yield_data[3]).not.toHaveProperty('scenario_of')
    // By hand: 0.35 * 2800 + 0.3 * 2200 + 0.35 * 1600.
    expect(body.expected).toEqual([{ scenario: 'Mean by odds', yield_kg_ha: 2200 }])
  })

  test('in pixels of one likeliest season Dominant is of it', async () => {
    const { body } = await advise(ONE)
    expect(body.yield_data[3]).toMatchObject({ scenario: 'Dominant', scenario_of: 'Above Normal' })
    expect(body.expected).toEqual(IN_THE_WEST.expected)
  })

  test('many polygons have the same, in each format', async () => {
    const features = [BOTH, ONE].map((geometry, id) => ({ type: 'Feature', id, geometry, properties: {} }))
    const payload = { polygons: { type: 'FeatureCollection', features } }
    const by = service.person
    const { body } = await ask('POST /advisory/yield/polygons', { payload, by })
    const [both, one] = body.items
    expect(both.yield_data).toEqual((await advise(BOTH)).body.yield_data)
    expect(both.expected).toEqual([{ scenario: 'Mean by odds', yield_kg_ha: 2200 }])
    expect(one.yield_data).toEqual((await advise(ONE)).body.yield_data)
    const csv = await ask('POST /advisory/yield/polygons', { payload, by, headers: { accept: 'text/csv' } })
    const [head, first] = csv.text.split('\r\n').map((line) => line.split(',')) as [string[], string[]]
    expect(first[head.indexOf('expected_yield_kg_ha Mean by odds')]).toBe('2200')
    expect(first[head.indexOf('scenario_of Dominant')]).toBe('')
  })
})

test('a release of values alone says nothing of odds, although its Dominant equals another scenario', async () => {
  await loadRelease(service.database, realYield({ forecastPeriod: '2026-08-01' }))
  const { body } = await ask(`GET /advisory/yield/point?lat=9.5&lng=38.5`)
  expect(body).not.toHaveProperty('expected')
  expect(Object.keys(body.yield_data[3])).toEqual(['scenario', 'yield_kg_ha'])
})
