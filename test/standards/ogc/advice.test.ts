import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson } from '#test/setup/people.ts'

const RELEASE = 'synthetic-yield-rwa-potato-2026-07-v1'
const ITEMS = `/ogc/collections/advisory-${RELEASE}-1/items`

interface Feature {
  id: string
  properties: Record<string, unknown>
}

let service: TestApp

beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

const get = (url: string) => service.app.inject({ url })

/** What the service answers about all areas of a level in one call. */
async function inBulk(): Promise<Feature[]> {
  const { headers } = await newPerson(service.app)
  const response = await service.app.inject({
    method: 'POST',
    url: '/advisory/yield/polygons',
    headers: { ...headers, accept: 'application/geo+json' },
    payload: { admin: { country_code: 'rwa', level: 1 }, crop: 'potato' },
  })
  expect(response.statusCode).toBe(200)
  return response.json().features
}

interface Page {
  numberMatched: number
  features: Feature[]
  links: { rel: string; href: string }[]
}

/** All features, page by page: a page ends where computing takes long. */
async function allFeatures(): Promise<{ matched: number; features: Feature[] }> {
  const features: Feature[] = []
  for (let url: string | undefined = ITEMS; ; ) {
    const response = await get(url)
    expect(response.statusCode).toBe(200)
    const page = response.json<Page>()
    features.push(...page.features)
    const next = page.links.find(({ rel }) => rel === 'next')
    if (!next) return { matched: page.numberMatched, features }
    url = next.href.slice(next.href.indexOf('/ogc'))
  }
}

test('what a release comes to in areas is what is answered about them in bulk', async () => {
  const { features, matched } = await allFeatures()
  const expected = (await inBulk()).map(({ id, properties }) => {
    const { name, lat: _lat, lng: _lng, area_ha: _area, ...said } = properties
    return {
      id,
      properties: {
        code: id,
        name,
        level: 1,
        country_code: 'rwa',
        country: 'Rwanda',
        parent: 'RWA',
        ...said,
      },
    }
  })
  expect(matched).toBe(expected.length)
  expect(features.map(({ id, properties }: Feature) => ({ id, properties }))).toEqual(expected)
  expect(features[0]?.properties.release).toBe(RELEASE)
  expect(features[0]?.properties['covered_percent Normal']).toBeGreaterThan(0)

  const one = (await get(`${ITEMS}/${features[1]?.id}`)).json()
  expect(one.properties).toEqual(features[1]?.properties)
})

test('pages for people have totals with three or four digits', async () => {
  const items = '/ogc/collections/advisory-synthetic-fertilizer-rwa-potato-2026-07-v1-1/items'
  const [first] = (await get(items)).json<Page>().features
  const exact = first?.properties['total_kg Urea Normal'] as number
  const rounded = Number(exact.toPrecision(/^[1-4]/.test(String(exact)) ? 4 : 3))
  expect(rounded).not.toBe(exact)
  for (const url of [`${items}?f=html`, `${items}/${first?.id}?f=html`]) {
    const { body } = await get(url)
    expect(body).toContain(`<td>${rounded}</td>`)
    expect(body).not.toContain(`<td>${exact}</td>`)
  }
})

test('the month of a release is the time of its features', async () => {
  const matched = async (datetime: string) =>
    (await get(`${ITEMS}?datetime=${datetime}`)).json().numberMatched
  expect(await matched('2026-07-15')).toBeGreaterThan(0)
  expect(await matched('2026-08-01T00:00:00Z/..')).toBe(0)
  const { extent, title } = (await get(ITEMS.replace('/items', ''))).json()
  expect(extent.temporal.interval).toEqual([['2026-07-01T00:00:00.000Z', '2026-07-31T23:59:59.000Z']])
  expect(title).toContain('by areas of level 1 of Rwanda')
})
