import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { entityTag } from '#src/http/entity-tags.ts'
import { VERSION } from '#src/lib/version.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

// Runs on a server alone: no statement of its own; those that it asks are tried in features.test.ts.

interface Link {
  href: string
  rel: string
  type?: string
  templated?: true
}

let service: TestApp

beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

const get = (path: string, headers: Record<string, string> = {}) =>
  service.app.inject({ url: `/ogc${path}`, headers })

/** Asks for every link of an answer, and compares the type that it says. */
async function expectLinksToWork(links: Link[]): Promise<void> {
  for (const link of links) {
    const { pathname, search } = new URL(link.href)
    const response = await service.app.inject(pathname + search)
    expect([link.href, response.statusCode]).toEqual([link.href, 200])
    if (link.type) expect(String(response.headers['content-type'])).toContain(link.type)
  }
}

const rels = (links: Link[]) => [...new Set(links.map(({ rel }) => rel))].sort()

describe('OGC API Features: Core', () => {
  test('the landing page leads to all else (A.2.2)', async () => {
    const { links, ...landing } = (await get('')).json()
    expect(landing.title).toBe('Agricultural advisory service')
    expect(rels(links)).toEqual([
      'alternate',
      'conformance',
      'data',
      'related',
      'self',
      'service-desc',
      'service-doc',
    ])
    await expectLinksToWork(links.filter(({ templated }: Link) => !templated))
    expect((await get('/')).json().links).toEqual(links)
  })

  test('the landing page says where the tiles of a layer are', async () => {
    const { links } = (await get('')).json()
    const { href, type } = links.find(({ templated }: Link) => templated)
    const named = href.replace('{release}', 'synthetic-yield-eth-wheat-2026-07-v1').replace('{layer}', '2')
    await expectLinksToWork([{ href: named, rel: 'related', type }])
    const { tiles } = (await service.app.inject(named)).json()
    const tile = tiles[0].replace('{z}', '6').replace('{x}', '38').replace('{y}', '30')
    await expectLinksToWork([{ href: tile, rel: 'item', type: 'image/png' }])
  })

  test('the API is described in OpenAPI 3.0, with the limits of limit (A.2.3)', async () => {
    const response = await get('/api')
    expect(response.headers['content-type']).toBe('application/vnd.oai.openapi+json;version=3.0')
    const document = response.json()
    expect(document.openapi).toBe('3.0.3')
    expect(document.components.parameters.limit.schema).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: 100,
    })
    const text = JSON.stringify(document)
    for (const [, name] of text.matchAll(/"#\/components\/(\w+\/[\w-]+)"/g)) {
      const [kind, member] = (name as string).split('/') as [string, string]
      expect(document.components[kind]).toHaveProperty([member])
    }
  })

  test.each([
    ['/conformance', ['core', 'oas30', 'html', 'geojson', 'crs']],
    ['/edr/conformance', ['core', 'collections', 'json', 'geojson', 'covjson', 'oas30', 'queries']],
  ])('%s declares the classes that these tests try (A.2.4)', async (path, classes) => {
    const { conformsTo } = (await get(path)).json()
    const own = conformsTo.filter((uri: string) => !uri.includes('ogcapi-common'))
    expect(own.map((uri: string) => uri.split('/').at(-1))).toEqual(classes)
  })

  test('the collections are those of the areas, each described and linked (A.2.5, A.2.6)', async () => {
    const { links, collections } = (await get('/collections')).json()
    expect(rels(links)).toEqual(['alternate', 'self'])
    const ids = collections.map(({ id }: { id: string }) => id)
    expect(ids).toContain('areas-eth-1')
    expect(ids.every((id: string) => /^[a-z0-9-]+$/.test(id))).toBe(true)
    for (const collection of collections.slice(0, 2)) {
      const response = await get(`/collections/${collection.id}`)
      const { links: own, ...described } = response.json()
      const { links: _, ...listed } = collection
      expect(described).toEqual(listed)
      expect(described.extent.spatial.bbox[0]).toHaveLength(4)
      expect(described.itemType).toBe('feature')
      expect(rels(own)).toEqual(['alternate', 'items', 'self'])
      await expectLinksToWork(own)
    }
  })

  test('pages of features link to themselves and on (A.2.7)', async () => {
    const { links, features, numberReturned } = (await get('/collections/areas-eth-1/items?limit=2')).json()
    expect(rels(links)).toEqual(['alternate', 'collection', 'next', 'self'])
    expect([features.length, numberReturned]).toEqual([2, 2])
    await expectLinksToWork(links)
    const one = (await get(`/collections/areas-eth-1/items/${features[0].id}`)).json()
    expect(rels(one.links)).toEqual(['alternate', 'collection', 'self'])
    expect(one.properties).toEqual(features[0].properties)
    await expectLinksToWork(one.links)
  })

  test.each([
    ['/?x=1', 'x'],
    ['/api?limit=1', 'limit'],
    ['/conformance?x=1', 'x'],
    ['/collections?limit=1', 'limit'],
    ['/collections/areas-eth-1?x=1', 'x'],
    ['/collections/areas-eth-1/items?unknown=1', 'unknown'],
    ['/collections/areas-eth-1/items?limit=1&limit=2', 'limit'],
    ['/collections/areas-eth-1/items?limit=0', 'limit'],
    ['/collections/areas-eth-1/items?limit=', 'limit'],
    ['/collections/areas-eth-1/items?limit=ten', 'limit'],
    ['/collections/areas-eth-1/items?offset=-1', 'offset'],
    ['/collections/areas-eth-1/items?bbox=1,2,3', 'bbox'],
    ['/collections/areas-eth-1/items?bbox=1,2,3,x', 'bbox'],
    ['/collections/areas-eth-1/items?bbox=1,2,3,1e400', 'bbox'],
    ['/collections/areas-eth-1/items?bbox=1,5,3,2', 'bbox'],
    ['/collections/areas-eth-1/items?bbox=-200,2,3,4', 'bbox'],
    ['/collections/areas-eth-1/items?bbox-crs=EPSG:4326', 'bbox-crs'],
    ['/collections/areas-eth-1/items?crs=EPSG:4326', 'crs'],
    ['/collections/areas-eth-1/items?datetime=today', 'datetime'],
    ['/collections/areas-eth-1/items?datetime=2026-13-01', 'datetime'],
    ['/collections/areas-eth-1/items?datetime=2026-07-02/2026-07-01', 'datetime'],
    ['/collections/areas-eth-1/items?datetime=2026/2027/2028', 'datetime'],
    ['/collections/areas-eth-1/items?max-allowable-offset=-1', 'max-allowable-offset'],
    ['/collections/areas-eth-1/items?f=xml', 'f'],
    ['/collections/areas-eth-1/items/ETH-01?limit=1', 'limit'],
  ])('%s is refused, and says which parameter is wrong', async (path, field) => {
    const response = await get(path)
    expect(response.statusCode).toBe(400)
    const { code, details } = response.json()
    expect([code, details[0].field]).toEqual(['INVALID_PARAMETERS', field])
    expect(response.headers['cache-control']).toBe('no-store')
  })

  test.each([
    ['/collections/nothing', 404, 'NOT_FOUND'],
    ['/collections/nothing/items', 404, 'NOT_FOUND'],
    ['/collections/advisory-nothing-1/items', 404, 'NOT_FOUND'],
    ['/edr/collections/nothing', 404, 'NOT_FOUND'],
    ['/edr/collections/nothing/position?coords=POINT(38.5 9.5)', 404, 'NOT_FOUND'],
    ['/nothing', 404, 'NOT_FOUND'],
    ['/collections', 406, 'NOT_ACCEPTABLE'],
  ])('%s as a picture or where nothing is there is answered %i %s', async (path, status, code) => {
    const response = await get(path, status === 406 ? { accept: 'image/png' } : {})
    expect([response.statusCode, response.json().code]).toEqual([status, code])
  })

  test.each([
    [{}, 'application/geo+json'],
    [{ accept: '*/*' }, 'application/geo+json'],
    [{ accept: 'application/json' }, 'application/json'],
    [{ accept: 'application/geo+json, application/json' }, 'application/geo+json'],
    [{ accept: 'text/html,application/xml;q=0.9,*/*;q=0.8' }, 'text/html; charset=utf-8'],
  ])('features are answered as %j asks for', async (headers, type) => {
    const response = await get('/collections/areas-eth-1/items?limit=1', headers)
    expect(response.headers['content-type']).toBe(type)
    expect(response.headers.vary).toContain('Accept')
  })
})

test.each(['', '/conformance', '/api', '/edr', '/edr/conformance'])(
  'the tag of %s changes with the version of the service',
  async (path) => {
    const response = await get(path)
    const type = String(response.headers['content-type']).replace(/;.*/, '')
    const tag = entityTag(VERSION, '', type, 'http://localhost:80', `/ogc${path}`)
    expect(response.headers.etag).toBe(`W/${tag}`)
  },
)

describe('pages for people', () => {
  test.each([
    '',
    '/conformance',
    '/api',
    '/collections',
    '/collections/areas-eth-1',
    '/collections/areas-eth-1/items',
    '/collections/areas-eth-1/items/ETH-01',
    '/edr',
    '/edr/conformance',
    '/edr/collections',
    '/edr/collections/synthetic-yield-eth-wheat-2026-07-v1',
  ])('%s runs nothing, loads nothing, and its links work', async (path) => {
    const response = await get(`${path}?f=html`)
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(response.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(response.body).not.toMatch(/<script|<img|<link|style=/)
    const hrefs = [...response.body.matchAll(/href="([^"]*)"/g)].map(([, href]) =>
      (href as string).replaceAll('&#38;', '&'),
    )
    // Queries need coordinates.
    const own = hrefs.filter((href) => /^http:\/\/localhost(?!.*\/(position|area)$)/.test(href))
    expect(own.length).toBeGreaterThan(0)
    await expectLinksToWork(own.map((href) => ({ href, rel: 'link' })))
  })
})
