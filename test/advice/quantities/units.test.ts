import { afterAll, beforeAll, expect, test } from 'vitest'
import { FIELD, postPoint } from '#test/advice/point/ask.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

test.each([
  [{ area: '2 hectares' }, { area: '2 ha' }],
  [{ area: '1 Hectare' }, { area: '1 ha' }],
  [{ area: '2.5 acres' }, { area: '2.5 acre' }],
  [{ area: { value: 3, unit: 'Timads' } }, { area: '3 timad' }],
  [{ area: '500 m²' }, { area: '500 m2' }],
  [{ area: '500 square metres' }, { area: '500 m2' }],
  [{ area: '500 sq m' }, { area: '500 m2' }],
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

test('what a harvest is sold for may be told by the quintal', async () => {
  const ask = (produce_price: string) =>
    postPoint(service.app, 'yield', { body: { ...FIELD, area: '2 ha', produce_price } })
  const [quintal, kilogram] = [await ask('ETB 3850/quintal'), await ask('ETB 38.5')]
  expect(quintal.status).toBe(200)
  expect(quintal.body).toEqual(kilogram.body)
})

test.each([
  [{ area: '2 big fields' }, 'area.unit', 'must be one of ha, m2, are, acre, timad'],
  [{ bags: 'Urea:50 lb' }, 'bags.Urea', 'must be a number above 0 and at most 10000'],
  [{ bags: 'Urea:5e1' }, 'bags.Urea', 'must be a number above 0 and at most 10000'],
])('%j is refused', async (wanted, field, rule) => {
  const { status, body } = await postPoint(service.app, 'fertilizer', { body: { ...FIELD, ...wanted } })
  expect([status, body.details[0]]).toMatchObject([400, { field, message: `${field} ${rule}` }])
})
