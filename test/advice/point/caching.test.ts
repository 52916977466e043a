import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { defineProducts } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { buildApp } from '#src/app.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'
import { onePixelRelease, PIXEL_CENTRE } from '#test/setup/releases.ts'

const service = openService({ settings: { CORS_ORIGINS: 'https://maps.example.org' } })

const FIELD = '?lat=9.5&lng=38.5&name=Field'
const PATHS = ['/advisory/yield/point', '/advisory/forage/point', '/advisory/point']

describe('GET answers as POST does, and lets others keep it', () => {
  test.each(PATHS)('%s', async (path) => {
    const response = await get(path + FIELD)
    const posted = await get(path + FIELD, {}, 'POST')
    expect(response.status).toBe(200)
    expect(response.text).toBe(posted.text)
    expect(response.headers['advisory-release']).toBe(posted.headers['advisory-release'])
    expect(response.headers['cache-control']).toBe('public, max-age=60, stale-if-error=86400')
    expect(response.headers.vary).toBe('Origin, Authorization, Accept, Accept-Encoding')
    expect(posted.headers).not.toHaveProperty('etag')
    expect(posted.headers).not.toHaveProperty('server-timing')
    expect(posted.headers).not.toHaveProperty('cache-control')

    const head = await get(path + FIELD, {}, 'HEAD')
    expect(head.status).toBe(200)
    expect(head.text).toBe('')
    for (const name of ['etag', 'content-length', 'cache-control', 'advisory-release', 'content-type']) {
      expect(head.headers[name], name).toBe(response.headers[name])
    }
  })

  test.each([
    ['?lng=38.5', 400, 'lat is required.'],
    ['?lat=9.5&lat=9.5&lng=38.5', 400, 'lat must be given once.'],
    ['?lat=9.5&lng=38.5&country_code=xx', 400, 'country_code must be one of eth, gha, ken, rwa.'],
    ['?lat=0&lng=0', 404, 'The point at latitude 0, longitude 0 lies outside Ethiopia.'],
  ])('but nobody keeps an error: %s', async (query, status, error) => {
    for (const path of PATHS) {
      const response = await get(path + query, { 'if-none-match': '*' })
      expect(response.status).toBe(status)
      expect(response.body.error).toBe(error)
      expect(response.headers['cache-control']).toBe('no-store')
      expect(response.headers).not.toHaveProperty('etag')
    }
  })
})

describe('format=csv answers with a table, for those who have nothing but an address', () => {
  test.each(PATHS.slice(0, 2))('%s', async (path) => {
    const url = `${path}${FIELD.replace('Field', '%3D1')}`
    const table = await get(`${url}&format=csv`)
    expect(table.headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    const headers = { accept: 'text/csv' }
    const payload = { points: [{ lat: 9.5, lng: 38.5, name: '=1' }] }
    const many = await service.post(`${path}s?country_code=eth`, { headers, payload })
    const cells = (text: string) => parse(text) as string[][]
    // Those of many points have an id in front, and why there is none at the end.
    expect(cells(table.text)).toEqual(cells(many.text).map((row) => row.slice(1, -2)))

    const json = await get(`${url}&format=json`)
    expect(json.text).toBe((await get(url)).text)
    expect(json.headers.etag).toBe((await get(url)).headers.etag)
    expect(table.headers.etag).not.toBe(json.headers.etag)
    const again = await get(`${url}&format=csv`, { 'if-none-match': table.headers.etag as string })
    expect(again.status).toBe(304)
    expect((await get(`${url}&format=xml`)).body.details[0].allowed).toEqual(['json', 'csv', 'text'])
  })

  test('with quantities it has their columns', async () => {
    const query = `${FIELD}&area=10+timad&prices=ETB+Urea:45,DAP:52.5`
    const url = `/advisory/fertilizer/point${query}`
    const table = await get(`${url}&format=csv`)
    const rowOf = (text: string) => parse(text, { columns: true })[0] as Record<string, string>
    const { fertilizer_data, quantities, release } = (await get(url)).body
    const columns = fertilizer_data.flatMap(
      ({ fertilizer_type, scenario, quantity }: Record<string, { kg: number; cost: number }>) => [
        [`kg ${fertilizer_type} ${scenario}`, String(quantity?.kg)],
        [`cost ${fertilizer_type} ${scenario}`, String(quantity?.cost)],
      ],
    )
    expect(rowOf(table.text)).toMatchObject({
      ...Object.fromEntries(columns),
      quantity_area_ha: '2.5',
      expected_cost: String(quantities.expected.cost),
    })
    // A release that is named does not say that its season is over.
    const { stale: _, ...rest } = rowOf(table.text)
    expect(rowOf((await get(`${url}&format=csv&release=${release}`)).text)).toEqual(rest)
    const asText = await get(`${url}&format=csv`, { accept: 'text/plain' })
    expect([asText.headers['content-type'], asText.text]).toEqual([table.headers['content-type'], table.text])
    const plain = await get(`/advisory/fertilizer/point${FIELD}&format=csv`)
    expect(plain.headers.etag).not.toBe(table.headers.etag)
  })
})

describe('If-None-Match', () => {
  test.each(PATHS)('is answered with 304 as long as the release is the same: %s', async (path) => {
    const tag = await tagOf(path + FIELD)
    for (const header of [`W/${tag}`, '*', ` ${tag} ,"x"`]) {
      for (const method of ['GET', 'HEAD'] as const) {
        const response = await get(path + FIELD, { 'if-none-match': header }, method)
        expect(response.status, header).toBe(304)
        expect(response.text).toBe('')
        expect(response.headers.etag).toBe(tag)
        expect(response.headers['cache-control']).toBe('public, max-age=60, stale-if-error=86400')
        expect(response.headers.vary).toBe('Origin, Authorization, Accept, Accept-Encoding')
      }
    }
    for (const header of ['"other"', tag.replaceAll('"', '')]) {
      expect((await get(path + FIELD, { 'if-none-match': header })).status, header).toBe(200)
    }
  })

  test('tells apart whatever is answered differently', async () => {
    const urls = PATHS.flatMap((path) =>
      [FIELD, '?lat=9.5&lng=38.5', '?lat=9.6&lng=38.5&name=Field', '?lat=9.5&lng=38.6&name=Field'].map(
        (query) => path + query,
      ),
    )
    const tags = await Promise.all(urls.map(tagOf))
    expect(new Set(tags).size).toBe(urls.length)
    expect(await tagOf('/advisory/yield/point?lat=9.50&lng=38.5&crop=WHEAT')).toBe(
      await tagOf('/advisory/yield/point?lat=9.5&lng=38.5'),
    )
  })

  test('names another answer once another release is published', async () => {
    const urls = ['/advisory/fertilizer/point', '/advisory/point'].map(
      (path) => `${path}?lat=${PIXEL_CENTRE.lat}&lng=${PIXEL_CENTRE.lng}`,
    )
    const before = await Promise.all(urls.map(tagOf))
    const others = await tagOf(`/advisory/yield/point${FIELD}`)
    await loadRelease(service.database, onePixelRelease({ Urea: 12.5 }))
    for (const [index, url] of urls.entries()) {
      const tag = before[index] as string
      await expect.poll(async () => (await get(url, { 'if-none-match': tag })).status, PATIENCE).toBe(200)
      expect(await tagOf(url)).not.toBe(tag)
    }
    expect((await get(urls[0] as string)).body.fertilizer_data).toEqual([
      { fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 12.5 },
    ])
    expect(await tagOf(`/advisory/yield/point${FIELD}`)).toBe(others)
  })
})

test('an answer to a caller whose token is not known is kept by nobody: it may be known the next time', async () => {
  const path = PATHS[0] + FIELD
  const response = await get(path, { authorization: 'Bearer nobody', 'if-none-match': await tagOf(path) })
  expect(response.status).toBe(200)
  expect(response.headers).not.toHaveProperty('etag')
  expect(response.headers['cache-control']).toBe('no-store')
})

test('an answer to a caller with a token is kept in the history alone, once for GET and never for HEAD', async () => {
  const person = await newPerson(service.app)
  const tag = await tagOf(`/advisory/yield/point${FIELD}`)
  const headers = { ...person.headers, 'if-none-match': tag }
  const response = await get(`/advisory/yield/point${FIELD}`, headers)
  expect(response.status).toBe(200)
  expect(response.headers['cache-control']).toBe('private, no-store')
  expect(response.headers.vary).toBe('Origin, Authorization, Accept')
  expect(response.headers).not.toHaveProperty('etag')
  expect((await get(`/advisory/yield/point${FIELD}`, headers, 'HEAD')).status).toBe(200)
  const kept = await service.database.writer
    .selectFrom('advisory_history')
    .select(['id', 'request'])
    .where('user_id', '=', person.user.id)
    .execute()
  expect(kept.map(({ id }) => id)).toEqual([response.body.history_id])
  expect(kept[0]?.request).toEqual({ lat: 9.5, lng: 38.5, name: 'Field' })
})

describe('Server-Timing', () => {
  const STEPS = /^release;dur=(\d+\.\d{3}), values;dur=(\d+\.\d{3}), total;dur=(\d+\.\d{3})$/

  test.each([
    ['GET', 'server-timing'],
    ['POST', 'respond-async, Server-Timing; x=1'],
  ] as const)('comes to those who prefer it: %s %s', async (method, prefer) => {
    const { status, headers } = await get(`/advisory/point${FIELD}`, { prefer }, method)
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      'preference-applied': 'server-timing',
      'timing-allow-origin': 'https://maps.example.org',
      'cache-control': 'no-store',
    })
    const [, ...steps] = STEPS.exec(String(headers['server-timing'])) ?? []
    const [release, values, total] = steps.map(Number) as [number, number, number]
    expect(values).toBeGreaterThan(0)
    // Each of the three is rounded.
    expect(release + values).toBeLessThanOrEqual(total + 0.002)
  })
})

test('an answer with another member has another tag; no other answer has', async () => {
  const renamed = PRODUCTS.list.map((product) =>
    product.code === 'yield' ? { ...product, value: { ...product.value, key: 'predicted_kg_ha' } } : product,
  )
  const other = await buildApp(service.testDatabase.config, service.database, defineProducts(renamed))
  const changed: string[] = []
  for (const path of PATHS) {
    const { text: body, headers } = await get(path + FIELD)
    const { text: otherBody, headers: otherHeaders } = await call(other, `GET ${path + FIELD}`)
    expect(headers.etag === otherHeaders.etag, path).toBe(body === otherBody)
    if (body !== otherBody) changed.push(path)
  }
  await other.close()
  expect(changed).toEqual(['/advisory/yield/point', '/advisory/point'])
})

const get = (url: string, headers = {}, method = 'GET') => service.ask(`${method} ${url}`, { headers })

async function tagOf(url: string): Promise<string> {
  const { etag } = (await get(url)).headers
  expect(etag).toMatch(/^"[\w-]{27}"$/)
  return etag as string
}
