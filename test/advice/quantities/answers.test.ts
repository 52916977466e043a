import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import type { ReleaseSource, SourceDescription } from '#src/ingest/source.ts'
import { FIELD, postPoint } from '#test/advice/point/ask.ts'
import type { Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { tellRefusals } from '#test/setup/refusals.ts'
import { onePixelRelease, PIXEL_CENTRE, realYield } from '#test/setup/releases.ts'

// In every run: what is refused of quantities.

// What is computed is tried against exact fractions in quantities.property.test.ts; here, that it is what answers have.

const service = openService({
  // They answer where their month is named.
  async prepare(database) {
    const changes = { forecastPeriod: '2020-01-01', synthetic: true }
    await loadRelease(database, onePixelRelease({ DAP: Number.NaN, Urea: 20 }, changes))
    await loadRelease(database, yieldWithoutOdds(changes))
  },
})

/** The likeliest of three seasons without their odds, which restates one of them. */
function yieldWithoutOdds(changes: Partial<SourceDescription>): ReleaseSource {
  const { description, coverages } = realYield(changes)
  return {
    description,
    coverages: coverages.map((coverage) => ({
      ...coverage,
      read: async () => [3000, 2000, 1000, 3000].map((value) => Float32Array.of(value)),
    })),
  }
}

const WANTED = {
  area: { value: 10, unit: 'timad' },
  bags: { urea: 50 },
  prices: { currency: 'ETB', per_bag: { Urea: 2250 }, per_kg: { DAP: 52.5 } },
  budget: 5000,
  nutrients: true,
}

interface Entry {
  fertilizer_type: 'Urea' | 'DAP'
  scenario: string
  rate_kg_ha: number
  quantity?: Record<string, unknown>
}

describe('a point', () => {
  test('has what each entry comes to, and changes nothing that was there', async () => {
    const { plain, found } = await plainAndWith()
    const { quantities, ...rest } = found
    const without = rest.fertilizer_data.map(({ quantity: _, ...entry }: Entry) => entry)
    expect({ ...rest, fertilizer_data: without }).toEqual(plain)
    for (const entry of found.fertilizer_data) expect(entry.quantity).toEqual(expectedOf(entry))
    expect(quantities).toMatchObject({ area: { value: 10, unit: 'timad', ha: 2.5 }, currency: 'ETB' })
    for (const { scenario, cost, share, share_cost } of quantities.scenarios) {
      const own = found.fertilizer_data.filter((entry: Entry) => entry.scenario === scenario)
      const sum = own.reduce((total: number, { quantity }: Entry) => total + Number(quantity?.cost), 0)
      expect(cost).toBe(cents(sum))
      expect(share_cost).toBeLessThanOrEqual(5000)
      expect(share).toBe(cost <= 5000 ? 1 : share)
    }
  })

  test('says the same in a query, and whatever its names are written like', async () => {
    const { found } = await plainAndWith()
    const query = new URLSearchParams({
      lat: String(FIELD.lat),
      lng: String(FIELD.lng),
      area: '10 timad',
      bags: 'UREA:50',
      prices: 'ETB Urea:2250/bag,dap:52.5',
      budget: '5000',
      nutrients: 'true',
    })
    for (const method of ['GET', 'POST']) {
      const { body } = await service.ask(`${method} /advisory/fertilizer/point?${query}`)
      expect(body).toEqual(found)
    }
  })

  test('has the least, the most and the expected yield, with what they are sold for', async () => {
    const body = { ...FIELD, area: '2 ha', produce_price: { currency: 'ETB', per_kg: 40 } }
    const { body: answer } = await postPoint(service.app, 'yield', { body })
    const seasons = answer.yield_data.filter(({ scenario }: Entry) => scenario !== 'Dominant')
    const all: number[] = answer.yield_data.map(({ yield_kg_ha }: { yield_kg_ha: number }) => yield_kg_ha)
    const mean = seasons.reduce(
      (sum: number, one: { yield_kg_ha: number; probability: number }) =>
        sum + one.yield_kg_ha * one.probability,
      0,
    )
    const { least, most, expected } = answer.quantities
    expect([least.kg, most.kg]).toEqual([grams(2 * Math.min(...all)), grams(2 * Math.max(...all))])
    expect(expected.kg).toBe(grams(2 * mean))
    expect(least.return).toBe(cents(80 * Math.min(...all)))
  })

  test('has each season once in the mean of a release without odds, whichever is the likeliest', async () => {
    const { body } = await post('yield/point', { ...PIXEL_CENTRE, forecast_period: '2020-01', area: '2 ha' })
    const { least, most, expected } = body.quantities
    expect([least.kg, most.kg, expected.kg]).toEqual([2000, 6000, 4000])
  })

  test('has no entry of a layer without a value there, and beside each other one what that comes to', async () => {
    const { body } = await post('fertilizer/point', {
      ...PIXEL_CENTRE,
      forecast_period: '2020-01',
      area: '2 ha',
    })
    const urea = { fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 20 }
    expect(body.fertilizer_data).toEqual([{ ...urea, quantity: { kg: 40 } }])
  })

  test('of all products has those of each, and none of what has none', async () => {
    const all = await post('point', { ...FIELD, ...WANTED })
    expect(all.status).toBe(200)
    for (const entry of all.body.fertilizer.fertilizer_data) expect(entry.quantity).toEqual(expectedOf(entry))
    expect(all.body.isfm.quantities).toEqual({ area: { value: 10, unit: 'timad', ha: 2.5 } })
    expect(all.body.forage).not.toHaveProperty('quantities')
    const { items } = (await service.get('/history/my', { by: service.person })).body
    const { history_id, ...kept } = all.body
    expect(items[0]).toMatchObject({ id: history_id, request: { ...FIELD, ...WANTED }, answer: kept })
  })
})

describe('many points', () => {
  const POINTS = [
    { id: 1, ...FIELD, area_ha: 2.5 },
    { id: 2, ...FIELD, area_ha: 'large' },
    { id: 3, lat: 0, lng: 0, area_ha: 1 },
  ]
  const OF_EACH = { ...WANTED, area: { from: 'area_ha', unit: 'ha' } }

  test('have areas of their own, or an error of their own', async () => {
    const { found } = await plainAndWith()
    const { status, body } = await post('fertilizer/points', { points: POINTS, ...OF_EACH })
    expect(status).toBe(200)
    const [first, second, third] = body.items
    expect(first.fertilizer_data).toEqual(found.fertilizer_data)
    expect(first.quantities).toEqual({ ...found.quantities, area: { value: 2.5, unit: 'ha', ha: 2.5 } })
    expect(second).toMatchObject({ id: 2, code: 'INVALID_PARAMETERS', details: [{ field: 'area_ha' }] })
    expect(third).toMatchObject({ id: 3, code: 'OUTSIDE_COUNTRY', fertilizer_data: null })
  })

  test('say the same in NDJSON, and in columns and properties', async () => {
    const payload = { points: POINTS, ...OF_EACH }
    const { body } = await post('fertilizer/points', payload)
    const answerAs = (accept: string) => post('fertilizer/points', payload, { accept })
    const lines = (await answerAs('application/x-ndjson')).text.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual(body.items)

    const rows = rowsIn((await answerAs('text/csv')).text)
    const { features } = (await answerAs('application/geo+json')).body
    const [item] = body.items
    for (const { fertilizer_type, scenario, rate_kg_ha, quantity } of item.fertilizer_data) {
      const of = `${fertilizer_type} ${scenario}`
      for (const row of [rows[0], features[0].properties]) {
        expect(Number(row[`rate_kg_ha ${of}`])).toBe(rate_kg_ha)
        expect(Number(row[`kg ${of}`])).toBe(quantity.kg)
        expect(Number(row[`cost ${of}`])).toBe(quantity.cost)
        expect(Number(row[`N_kg ${of}`])).toBe(quantity.nutrients_kg.N)
      }
    }
    expect(rows[0]).toMatchObject({ currency: 'ETB', quantity_area_ha: '2.5', error: '' })
    expect(Number(rows[0]?.expected_cost)).toBe(item.quantities.expected.cost)
    expect(rows[1]).toMatchObject({ code: 'INVALID_PARAMETERS', currency: '' })
  })
})

test('a table of yields has what is harvested, and what it is sold for', async () => {
  const body = { ...FIELD, area: '2 ha', produce_price: { currency: 'ETB', per_kg: 40 } }
  const { quantities } = (await postPoint(service.app, 'yield', { body })).body
  const { lat, lng, ...wanted } = body
  const { text } = await post('yield/points', { points: [{ lat, lng }], ...wanted }, { accept: 'text/csv' })
  const [row = {}] = rowsIn(text)
  expect(row).toMatchObject({
    quantity_area_ha: '2',
    currency: 'ETB',
    least_kg: String(quantities.least.kg),
    most_kg: String(quantities.most.kg),
    expected_kg: String(quantities.expected.kg),
    least_return: String(quantities.least.return),
    most_return: String(quantities.most.return),
    expected_return: String(quantities.expected.return),
  })
})

test('a table has the area of each point in a column', async () => {
  const { found } = await plainAndWith()
  const query = new URLSearchParams({
    area: 'from:size timad',
    bags: 'Urea:50',
    prices: 'ETB Urea:2250/bag,DAP:52.5',
    budget: '5000',
  })
  const table = `id,lat,lng,size\n1,${FIELD.lat},${FIELD.lng},10\n2,${FIELD.lat},${FIELD.lng},ten\n`
  const headers = { 'content-type': 'text/csv', accept: 'application/json' }
  const [first, second] = (await post(`fertilizer/points?${query}`, table, headers)).body.items
  expect(first.quantities).toEqual(found.quantities)
  expect(second.details[0].field).toBe('size')
  const unknown = await post('fertilizer/points?area=from:extent+ha', table, headers)
  expect(unknown.body.error).toBe('area.from names extent, which no column is called.')
})

test('a polygon has its own area, and quantities of its totals', async () => {
  const admin = { country_code: 'eth', code: 'ETH-01' }
  const wanted = { ...WANTED, area: 'acre', condition: 'hill' }
  const { status, body } = await post('fertilizer', { admin, ...wanted })
  expect(status).toBe(200)
  const { fertilizer_data, quantities, location } = body
  for (const { total_kg, quantity } of fertilizer_data) expect(quantity.kg).toBe(grams(total_kg))
  const { area } = quantities
  expect(area).toMatchObject({ unit: 'acre', ha: location.area_ha })
  expect(area.value).toBeCloseTo(area.ha / 0.40468564224, 3)

  const level = { admin: { country_code: 'eth', level: 1 }, ...wanted }
  const { items } = (await post('fertilizer/polygons', level)).body
  const item = items.find(({ id }: { id: string }) => id === admin.code)
  expect(item).toMatchObject({ fertilizer_data, quantities })
  const rows = rowsIn((await post('fertilizer/polygons', level, { accept: 'text/csv' })).text)
  const row = rows.find(({ id }) => id === admin.code)
  expect(Number(row?.expected_cost)).toBe(quantities.expected.cost)
  expect(row?.quantity_area_ha).toBe(String(location.area_ha))
})

test.each([
  [{ area: '1 Hectare' }, { area: '1 ha' }],
  [{ area: { value: 3, unit: 'Timads' } }, { area: '3 timad' }],
  [{ area: '500 m²' }, { area: '500 m2' }],
  [
    { bags: 'Urea:0.5 quintal,DAP:50 kg', prices: 'ETB Urea:2250/bag,DAP:5255/quintal' },
    { bags: 'Urea:50,DAP:50', prices: 'ETB Urea:2250/bag,DAP:52.55' },
  ],
  [{ prices: 'ETB Urea:110.1/quintals' }, { prices: 'ETB Urea:1.101/kg' }],
])('%j is the same as %j', async (written, plain) => {
  const [one, other] = await Promise.all(
    [written, plain].map((wanted) => postPoint(service.app, 'fertilizer', { body: { ...FIELD, ...wanted } })),
  )
  expect([one?.status, one?.body.quantities]).toEqual([200, expect.any(Object)])
  expect(one?.body).toEqual(other?.body)
})

const REFUSED = [
  { area: { value: 2, unit: 'feddan' } },
  { area: '-2 ha' },
  { area: { value: 0 } },
  { area: { value: 2e6 } },
  { area: { value: 2, size: 1 } },
  { area: 7 },
  { bags: { Urea: -50 } },
  { bags: { Urea: 0.0009 } },
  { bags: { Uraea: 50 } },
  { bags: 'Urea:5e1' },
  { bags: ','.repeat(4001) },
  { budget: 5 },
  { prices: { currency: 'birr', per_kg: { Urea: 1 } } },
  { prices: { currency: 'ETB', per_bag: { Urea: 1 } } },
  { produce_price: 'ETB 40' },
  { scenario_weights: { Normal: 0 } },
  { scenario_weights: { Wet: 1 } },
  { nutrients: 'yes' },
]

test('what cannot be computed is refused with its field, as refused.txt has it', async () => {
  const told = await tellRefusals(
    REFUSED.map((wanted) => [
      JSON.stringify(wanted).slice(0, 80),
      () => postPoint(service.app, 'fertilizer', { body: { ...FIELD, ...wanted } }),
    ]),
  )
  await expect(told).toMatchFileSnapshot('refused.txt')
})

const cents = (value: number) => Math.round(value * 100) / 100
const grams = (value: number) => Math.round(value * 1000) / 1000

/** What an entry comes to on some hectares, in numbers that are small enough for doubles. */
function expectedOf({ fertilizer_type, rate_kg_ha }: Entry, hectares = 2.5) {
  const kg = grams(rate_kg_ha * hectares)
  const bags = Math.ceil(kg / 50)
  const [n, p2o5] = fertilizer_type === 'Urea' ? [46, 0] : [18, 46]
  const nutrients_kg = { N: grams((kg * n) / 100), P2O5: grams((kg * p2o5) / 100), K2O: 0, S: 0 }
  return fertilizer_type === 'Urea'
    ? { kg, bags, bag_kg: 50, rest_kg: grams(bags * 50 - kg), cost: bags * 2250, nutrients_kg }
    : { kg, cost: cents(kg * 52.5), nutrients_kg }
}

const post = (path: string, payload: Sent['payload'], headers = {}) =>
  service.post(`/advisory/${path}`, { by: service.person, payload, headers })

const rowsIn = (text: string): Record<string, string>[] => parse(text, { columns: true })

/** The entries of a plain answer, and the same with what they come to. */
async function plainAndWith() {
  const plain = await postPoint(service.app, 'fertilizer', { body: FIELD })
  const found = await postPoint(service.app, 'fertilizer', { body: { ...FIELD, ...WANTED } })
  expect([plain.status, found.status]).toEqual([200, 200])
  return { plain: plain.body, found: found.body }
}
