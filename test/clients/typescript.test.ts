import { beforeAll, expect, expectTypeOf, test } from 'vitest'
import { rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import {
  type AdvisoryClient,
  AdvisoryError,
  createAdvisoryClient,
  type Point,
  type PointItem,
} from '../../clients/typescript/src/index.ts'

const service = openService()
let baseUrl: string
let client: AdvisoryClient
/** The addresses that were asked, with the bodies of requests. */
const asked: { url: string; body: string }[] = []

beforeAll(async () => {
  baseUrl = await service.app.listen({ port: 0, host: '127.0.0.1' })
  client = createAdvisoryClient({
    baseUrl,
    key: () => service.person.access_token,
    fetch: async (request) => {
      asked.push({ url: request.url, body: await request.clone().text() })
      return fetch(request)
    },
  })
})

const HERE = { lat: 9.5, lng: 38.5 }

test('a point is answered as the service answers it, and is in the history once', async () => {
  const answer = await client.point('yield', HERE)
  expectTypeOf(answer.yield_data[0]?.yield_kg_ha).toEqualTypeOf<number | undefined>()
  const plain = await service.post('/advisory/yield/point', { payload: HERE })
  const { history_id, ...rest } = answer
  expect(rest).toEqual(plain.body)
  const { data: history } = await client.api.GET('/history/my')
  expect(history?.items.map(({ id }) => id)).toEqual([history_id])
})

test('rows of a table are points, ids stay text, and a batch that is refused as a whole is an error', async () => {
  const rows = [
    { id: '007', lat: '9.5', lng: ' 38.5 ' },
    { id: '1e3', lat: '9,5', lng: '38,5' },
    { id: 'x', lat: 'north', lng: 38.5 },
  ]
  const items = await allOf(client.points('yield', rows, { country_code: 'eth' }))
  expect(items.map((item) => [item.id, 'code' in item && item.code])).toEqual([
    ['007', false],
    ['1e3', false],
    ['x', 'INVALID_PARAMETERS'],
  ])
  const named = rows.map(({ id, lng }) => ({ id, lng, latitude: 9.5 })) as unknown as Point[]
  const refused = await allOf(client.points('yield', named, { batchSize: 2 })).catch(
    (thrown: unknown) => thrown,
  )
  expect(refused).toMatchObject({ status: 400, code: 'INVALID_PARAMETERS' })
  expect((refused as Error).message).toMatch(/^All 2 places are refused\. The first one: lat is required/)
})

test('a refusal is an error with its code, status and id', async () => {
  const refused = client.point('fertilizer', { ...HERE, crop: 'potato' })
  const error = await refused.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(AdvisoryError)
  expect(error).toMatchObject({ status: 400, code: 'CROP_NOT_AVAILABLE', details: [{ field: 'crop' }] })
  expect((error as AdvisoryError).requestId).toMatch(/./)
})

test('points of any number are cut into calls, and answered in their order as they are taken', async () => {
  const points: Point[] = Array.from({ length: 25 }, (_, index) => ({
    id: index,
    ...HERE,
    lat: 9 + index / 50,
  }))
  let read = 0
  function* generated(): Generator<Point> {
    for (const point of points) {
      read++
      yield point
    }
  }
  asked.length = 0
  const answers = client.points('yield', generated(), { crop: 'wheat', country_code: 'eth', batchSize: 10 })
  expectTypeOf(answers).toEqualTypeOf<AsyncGenerator<PointItem<'yield'>, void, void>>()
  const first = await answers.next()
  expect([first.value?.id, asked.length, read]).toEqual([0, 1, 11])
  const items = [first.value, ...(await allOf(answers))]
  expect(asked.map(({ url, body }) => [url.slice(baseUrl.length), body.split('\n').length])).toEqual(
    [10, 10, 5].map((count) => ['/advisory/yield/points?crop=wheat&country_code=eth', count]),
  )
  const payload = { points, crop: 'wheat', country_code: 'eth' }
  const alone = await service.post('/advisory/yield/points', { payload })
  expect(items).toEqual(alone.body.items.map((item: object) => expect.objectContaining(item)))
})

test('who stops early asks for no more', async () => {
  asked.length = 0
  for await (const { id } of client.points('forage', [HERE, HERE, HERE], { batchSize: 1 })) {
    expect(id).toBeUndefined()
    break
  }
  expect(asked).toHaveLength(1)
})

test('a signal ends a batch with its reason', async () => {
  const controller = new AbortController()
  const answers = client.points('yield', [HERE, HERE], { batchSize: 1, signal: controller.signal })
  await answers.next()
  controller.abort(new Error('enough'))
  await expect(answers.next()).rejects.toThrow('enough')
})

const squareAt = (id: string, lng: number, lat: number) => ({
  type: 'Feature' as const,
  id,
  geometry: rectangle(lng, lat, lng + 0.01, lat + 0.01),
})

test('polygons and the areas of a level are answered as by one call', async () => {
  const fields = [squareAt('a', 38.5, 9.5), squareAt('b', 38.6, 9.5), squareAt('nowhere', 0, 0)]
  const items = await allOf(client.polygons('fertilizer', fields, { batchSize: 2 }))
  expect(items.map(({ id, code }) => [id, code])).toEqual([
    ['a', undefined],
    ['b', undefined],
    ['nowhere', expect.any(String)],
  ])
  expectTypeOf(items[0]?.fertilizer_data?.[0]?.total_kg).toEqualTypeOf<number | undefined>()
  const { history_id: _, ...alone } = await client.polygon('fertilizer', {
    geometry: squareAt('a', 38.5, 9.5).geometry,
  })
  expect(items[0]).toEqual({ id: 'a', ...alone })

  const areas = await allOf(client.areas('isfm', { country_code: 'rwa', level: 1 }, { crop: 'potato' }))
  const { data } = await client.api.GET('/admin', { params: { query: { admin0: 'rwa', level: 1 } } })
  expect(areas.map(({ id }) => id)).toEqual(data?.items.map(({ code }) => code))
})

test('polygons without a key are refused', async () => {
  const anybody = createAdvisoryClient({ baseUrl })
  const areas = anybody.areas('yield', { country_code: 'eth', level: 1 })
  await expect(areas.next()).rejects.toMatchObject({ status: 401, code: 'UNAUTHORIZED' })
})

async function allOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all = []
  for await (const item of items) all.push(item)
  return all
}
