import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FIELD, postPoint } from '#test/advice/point/ask.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

// What is computed is tried against exact fractions in quantities.property.test.ts; here, that it is what answers have.

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

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

function jsonIn(text: string) {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

async function post(url: string, payload: object, headers = {}) {
  const { statusCode: status, body } = await service.app.inject({
    method: 'POST',
    url: `/advisory/${url}`,
    headers: { ...service.person.headers, ...headers },
    payload,
  })
  return { status, text: body, body: jsonIn(body) }
}

/** The entries of a plain answer, and the same with what they come to. */
async function plainAndWith() {
  const plain = await postPoint(service.app, 'fertilizer', { body: FIELD })
  const found = await postPoint(service.app, 'fertilizer', { body: { ...FIELD, ...WANTED } })
  expect([plain.status, found.status]).toEqual([200, 200])
  return { plain: plain.body, found: found.body }
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
    const url = `/advisory/fertilizer/point?${query}`
    const got = await service.app.inject(url)
    expect(got.json()).toEqual(found)
    const posted = await service.app.inject({ method: 'POST', url })
    expect(posted.json()).toEqual(found)
  })

  test('has the least, the most and the expected yield, with what they are sold for', async () => {
    const body = { ...FIELD, area: '2 ha', produce_price: { currency: 'ETB', per_kg: 40 } }
    const { body: answer } = await postPoint(service.app, 'yield', { body })
    const seasons = answer.yield_data.filter(({ scenario }: Entry) => scenario !== 'Dominant')
    const all: number[] = answer.yield_data.map(({ yield_kg_ha }: { yield_kg_ha: number }) => yield_kg_ha)
    const sum = seasons.reduce((total: number, one: { yield_kg_ha: number }) => total + one.yield_kg_ha, 0)
    const { least, most, expected } = answer.quantities
    expect([least.kg, most.kg]).toEqual([grams(2 * Math.min(...all)), grams(2 * Math.max(...all))])
    expect(expected.kg).toBe(grams((2 * sum) / seasons.length))
    expect(least.return).toBe(cents(80 * Math.min(...all)))
  })

  test('of all products has those of each, and none of what has none', async () => {
    const all = await post('point', { ...FIELD, ...WANTED })
    expect(all.status).toBe(200)
    for (const entry of all.body.fertilizer.fertilizer_data) expect(entry.quantity).toEqual(expectedOf(entry))
    expect(all.body.isfm.quantities).toEqual({ area: { value: 10, unit: 'timad', ha: 2.5 } })
    expect(all.body.forage).not.toHaveProperty('quantities')
    const { items } = (
      await service.app.inject({ url: '/history/my', headers: service.person.headers })
    ).json()
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
    const lines = await post('fertilizer/points', payload, { accept: 'application/x-ndjson' })
    expect(
      lines.text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(body.items)

    const { text } = await post('fertilizer/points', payload, { accept: 'text/csv' })
    const rows: Record<string, string>[] = parse(text, { columns: true })
    const features = (await post('fertilizer/points', payload, { accept: 'application/geo+json' })).body
      .features
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
    expect(rows.map((row) => Object.keys(row).length)).toEqual(
      [1, 1, 1].map(() => Object.keys(rows[0] ?? {}).length),
    )
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
  const response = await service.app.inject({
    method: 'POST',
    url: `/advisory/fertilizer/points?${query}`,
    headers: { 'content-type': 'text/csv', accept: 'application/json' },
    payload: `id,lat,lng,size\n1,${FIELD.lat},${FIELD.lng},10\n2,${FIELD.lat},${FIELD.lng},ten\n`,
  })
  const [first, second] = response.json().items
  expect(first.quantities).toEqual(found.quantities)
  expect(second.details[0].field).toBe('size')
  const unknown = await service.app.inject({
    method: 'POST',
    url: '/advisory/fertilizer/points?area=from:extent+ha',
    headers: { 'content-type': 'text/csv' },
    payload: `lat,lng\n${FIELD.lat},${FIELD.lng}\n`,
  })
  expect(unknown.json().error).toBe('area.from names extent, which no column is called.')
})

describe('a polygon has its own area', () => {
  const admin = { country_code: 'eth', code: 'ETH-01' }
  const { area: _, ...wanted } = WANTED

  test('and quantities of its totals', async () => {
    const { status, body } = await post('fertilizer', { admin, ...wanted, area: 'acre' })
    expect(status).toBe(200)
    for (const { total_kg, quantity } of body.fertilizer_data) expect(quantity.kg).toBe(grams(total_kg))
    const { area } = body.quantities
    expect(area).toMatchObject({ unit: 'acre', ha: body.location.area_ha })
    expect(area.value).toBeCloseTo(area.ha / 0.40468564224, 3)

    const level = { country_code: 'eth', level: 1 }
    const many = await post('fertilizer/polygons', { admin: level, ...wanted, area: 'acre' })
    const { history_id: __, location, ...answer } = body
    const item = many.body.items.find(({ id }: { id: string }) => id === admin.code)
    expect(item).toMatchObject({ fertilizer_data: answer.fertilizer_data, quantities: answer.quantities })
    const table = await post('fertilizer/polygons', { admin: level, ...wanted }, { accept: 'text/csv' })
    const rows: Record<string, string>[] = parse(table.text, { columns: true })
    const row = rows.find(({ id }) => id === admin.code)
    expect(Number(row?.expected_cost)).toBe(answer.quantities.expected.cost)
    expect(row?.quantity_area_ha).toBe(String(location.area_ha))
  })
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

test.each([
  [{ area: { value: 2, unit: 'feddan' } }, 'area.unit', 'must be one of ha, m2, are, acre, timad'],
  [{ area: '-2 ha' }, 'area', 'must be a number and a unit, such as 2.5 ha'],
  [{ area: { value: 0 } }, 'area.value', 'must be a number above 0 and at most 1000000000000'],
  [{ area: { value: 2e6 } }, 'area.value', 'must be at most 1000000 ha'],
  [{ area: { value: 2, size: 1 } }, 'area.size', 'must be left out: area has value, unit, from'],
  [{ bags: { Urea: -50 } }, 'bags.Urea', 'must be a number above 0 and at most 10000'],
  [{ bags: { Urea: 0.0009 } }, 'bags.Urea', 'must be at least 0.001, a gram'],
  [{ bags: { Uraea: 50 } }, 'bags.Uraea', 'is not known: the names are Compost, DAP, Urea, Vermicompost'],
  [{ bags: ','.repeat(4001) }, 'bags', 'must be at most 4000 characters long'],
  [{ budget: 5 }, 'budget', 'needs prices'],
  [
    { prices: { currency: 'birr', per_kg: { Urea: 1 } } },
    'prices.currency',
    'must be the code of a currency (ISO 4217), such as ETB',
  ],
  [{ prices: { currency: 'ETB', per_bag: { Urea: 1 } } }, 'bags', 'must have Urea, whose price is per bag'],
  [{ produce_price: 'ETB 40' }, 'produce_price', 'must be left out: fertilizer has no harvest that is sold'],
  [{ scenario_weights: { Normal: 0 } }, 'scenario_weights', 'must have a weight above 0'],
  [
    { scenario_weights: { Wet: 1 } },
    'scenario_weights.Wet',
    'is not known: the names are Above Normal, Below Normal, Dominant, Normal',
  ],
  [{ nutrients: 'yes' }, 'nutrients', 'must be true or false'],
  [{ area: 7 }, 'area', 'must be an object or a string'],
  [{ bags: 'Urea:5e1' }, 'bags.Urea', 'must be a number above 0 and at most 10000'],
])('%j is refused', async (wanted, field, rule) => {
  const { status, body } = await postPoint(service.app, 'fertilizer', { body: { ...FIELD, ...wanted } })
  expect([status, body.code]).toEqual([400, 'INVALID_PARAMETERS'])
  expect(body.details[0]).toMatchObject({ field, message: `${field} ${rule}` })
})
