import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { SQUARE } from '#test/setup/square.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

const FIELD = { lat: 9.5, lng: 38.5 }

interface Sent {
  method?: 'GET'
  url: string
  payload?: object
}

/** Every way to ask for a month. */
const WAYS: [string, (forecast_period: string) => Sent][] = [
  [
    'in the body of a point',
    (period) => ({ url: '/yield/point', payload: { ...FIELD, forecast_period: period } }),
  ],
  ['in the query of a point', (period) => ({ url: `/yield/point?${query(period)}`, payload: FIELD })],
  ['in a GET', (period) => ({ method: 'GET', url: `/yield/point?lat=9.5&lng=38.5&${query(period)}` })],
  ['for all products', (period) => ({ url: '/point', payload: { ...FIELD, forecast_period: period } })],
  [
    'in the body of a batch',
    (period) => ({ url: '/yield/points', payload: { points: [FIELD], forecast_period: period } }),
  ],
  [
    'in the query of a batch',
    (period) => ({ url: `/yield/points?${query(period)}`, payload: { points: [FIELD] } }),
  ],
  ['with a polygon', (period) => ({ url: '/yield', payload: { geometry: SQUARE, forecast_period: period } })],
]

const query = (forecast_period: string) => new URLSearchParams({ forecast_period }).toString()

async function ask({ method, url, payload }: Sent) {
  const response = await service.app.inject({
    method: method ?? 'POST',
    url: `/advisory${url}`,
    headers: service.person.headers,
    ...(payload && { payload }),
  })
  const { history_id: _, request_id: __, ...body } = response.json()
  return { status: response.statusCode, body }
}

const RULE = 'forecast_period must be a month such as 2026-07 or July 2026'

test.each(WAYS)('a month %s may have its name, and is refused where it is none', async (_, sentWith) => {
  const expected = await ask(sentWith('2026-07'))
  expect(expected.status).toBe(200)
  expect(await ask(sentWith(' jUL  2026 '))).toEqual(expected)
  const details = [{ field: 'forecast_period', message: RULE }]
  expect(await ask(sentWith('Juli 2026'))).toEqual({
    status: 400,
    body: { error: `${RULE}.`, code: 'INVALID_PARAMETERS', details },
  })
})

const monthOf = (forecast_period: string) =>
  ask({ url: '/yield/point', payload: { ...FIELD, forecast_period } })

test.each(['July 2026', 'JULY 2026', 'Jul 2026', ' 2026-07 '])('%j is 2026-07', async (period) => {
  expect(await monthOf(period)).toEqual(await monthOf('2026-07'))
})

test.each(['Ju 2026', 'July 26', 'July', '2026-7', '2026-13', '0000-07', 'July 0000', '2026 July'])(
  '%j is no month',
  async (period) => expect(await monthOf(period)).toMatchObject({ status: 400, body: { error: `${RULE}.` } }),
)

test('each month of the year has its name', async () => {
  for (let month = 1; month <= 12; month++) {
    const name = new Date(Date.UTC(2020, month - 1)).toLocaleString('en', { month: 'long', timeZone: 'UTC' })
    for (const period of [name, name.slice(0, 3)]) {
      const { status, body } = await monthOf(`${period} 2020`)
      const code = `2020-${String(month).padStart(2, '0')}`
      expect([status, body.error]).toEqual([
        404,
        `There are no yield predictions of wheat for Ethiopia in ${code}; published are: 2026-07.`,
      ])
    }
  }
})
