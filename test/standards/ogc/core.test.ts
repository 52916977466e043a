import { execFile, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { entityTag } from '#src/http/entity-tags.ts'
import { VERSION } from '#src/lib/version.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { newPerson } from '#test/setup/people.ts'

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
    ['/conformance?x=1', 'x'],
    ['/collections/areas-eth-1/items?unknown=1', 'unknown'],
    ['/collections/areas-eth-1/items?limit=0', 'limit'],
    ['/collections/areas-eth-1/items?offset=-1', 'offset'],
    ['/collections/areas-eth-1/items?bbox=1,2,3', 'bbox'],
    ['/collections/areas-eth-1/items?bbox=1,2,3,1e400', 'bbox'],
    ['/collections/areas-eth-1/items?bbox=1,5,3,2', 'bbox'],
    ['/collections/areas-eth-1/items?bbox=-200,2,3,4', 'bbox'],
    ['/collections/areas-eth-1/items?bbox-crs=EPSG:4326', 'bbox-crs'],
    ['/collections/areas-eth-1/items?crs=EPSG:4326', 'crs'],
    ['/collections/areas-eth-1/items?datetime=2026-13-01', 'datetime'],
    ['/collections/areas-eth-1/items?datetime=2026/2027/2028', 'datetime'],
    ['/collections/areas-eth-1/items?datetime=2026-07-02/2026-07-01', 'datetime'],
    ['/collections/areas-eth-1/items?f=xml', 'f'],
  ])('%s is refused, and says which parameter is wrong', async (path, field) => {
    const response = await get(path)
    expect(response.statusCode).toBe(400)
    const { code, details } = response.json()
    expect([code, details[0].field]).toEqual(['INVALID_PARAMETERS', field])
    expect(response.headers['cache-control']).toBe('no-store')
  })

  test.each([
    ['/collections/nothing', 404, 'NOT_FOUND'],
    ['/collections/advisory-nothing-1/items', 404, 'NOT_FOUND'],
    ['/collections/areas-eth-1/items/nothing', 404, 'NOT_FOUND'],
    ['/edr/collections/nothing', 404, 'NOT_FOUND'],
    ['/collections', 406, 'NOT_ACCEPTABLE'],
  ])('%s as a picture or where nothing is there is answered %i %s', async (path, status, code) => {
    const response = await get(path, status === 406 ? { accept: 'image/png' } : {})
    expect([response.statusCode, response.json().code]).toEqual([status, code])
  })

  test.each([
    [{}, 'application/geo+json'],
    [{ accept: 'application/json' }, 'application/json'],
    [{ accept: 'application/geo+json, application/json' }, 'application/geo+json'],
    [{ accept: 'text/html,application/xml;q=0.9,*/*;q=0.8' }, 'text/html; charset=utf-8'],
  ])('features are answered as %j asks for', async (headers, type) => {
    const response = await get('/collections/areas-eth-1/items?limit=1', headers)
    expect(response.headers['content-type']).toBe(type)
    expect(response.headers.vary).toContain('Accept')
  })
})

test('the tag of what has no data changes with the version of the service', async () => {
  const { headers } = await get('')
  const type = String(headers['content-type']).replace(/;.*/, '')
  expect(headers.etag).toBe(`W/${entityTag(VERSION, '', type, 'http://localhost:80', '/ogc')}`)
})

test('no host is written into thousands of links that can be none', async () => {
  const longest = `${'a'.repeat(253)}:65535`
  expect((await get('/collections', { host: longest })).statusCode).toBe(200)
  const response = await get('/collections', { host: `a${longest}` })
  expect([response.statusCode, response.json().code]).toEqual([400, 'MALFORMED_REQUEST'])
})

describe('pages for people', () => {
  test.each([
    '',
    '/conformance',
    '/collections/areas-eth-1',
    '/collections/areas-eth-1/items',
    '/collections/areas-eth-1/items/ETH-01',
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

const RELEASE = 'synthetic-yield-rwa-potato-2026-07-v1'
const ITEMS = `/ogc/collections/advisory-${RELEASE}-1/items`

interface Feature {
  id: string
  properties: Record<string, unknown>
}

const getPage = (url: string) => service.app.inject({ url })

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
    const response = await getPage(url)
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

  const one = (await getPage(`${ITEMS}/${features[1]?.id}`)).json()
  expect(one.properties).toEqual(features[1]?.properties)
})

test('pages for people have totals with three or four digits', async () => {
  const items = '/ogc/collections/advisory-synthetic-fertilizer-rwa-potato-2026-07-v1-1/items'
  const [first] = (await getPage(items)).json<Page>().features
  const exact = first?.properties['total_kg Urea Normal'] as number
  const rounded = Number(exact.toPrecision(/^[1-4]/.test(String(exact)) ? 4 : 3))
  expect(rounded).not.toBe(exact)
  for (const url of [`${items}?f=html`, `${items}/${first?.id}?f=html`]) {
    const { body } = await getPage(url)
    expect(body).toContain(`<td>${rounded}</td>`)
    expect(body).not.toContain(`<td>${exact}</td>`)
  }
})

test('the month of a release is the time of its features', async () => {
  const matched = async (datetime: string) =>
    (await getPage(`${ITEMS}?datetime=${datetime}`)).json().numberMatched
  expect(await matched('2026-07-15')).toBeGreaterThan(0)
  expect(await matched('2026-08-01T00:00:00Z/..')).toBe(0)
  const { extent, title } = (await getPage(ITEMS.replace('/items', ''))).json()
  expect(extent.temporal.interval).toEqual([['2026-07-01T00:00:00.000Z', '2026-07-31T23:59:59.000Z']])
  expect(title).toContain('by areas of level 1 of Rwanda')
})

const run = promisify(execFile)

const hasGdal = spawnSync('ogrinfo', ['--version']).status === 0

describe.runIf(hasGdal)('GDAL', () => {
  let source: string
  beforeAll(async () => {
    source = `OAPIF:${await service.app.listen({ host: '127.0.0.1', port: 0 })}/ogc`
  })

  test('draws a layer from its XYZ tiles, as the guide describes', async () => {
    const guide = await readFile('docs/guide/gis.md', 'utf8')
    const [, described] = /```xml\n(.*?)```/s.exec(guide) as RegExpExecArray
    const [, window] = /gdal_translate (-projwin .*) map\.xml/.exec(guide) as RegExpExecArray
    const tiles = (described as string).replace('http://127.0.0.1:3000', new URL(source.slice(6)).origin)
    const file = join(await newFolder(), 'map.tif')
    await run('gdal_translate', [...(window as string).split(' '), tiles, file])
    const { stdout } = await run('gdalinfo', ['-json', '-checksum', file])
    const { bands, size, coordinateSystem } = JSON.parse(stdout)
    expect(coordinateSystem.wkt).toContain('WGS 84 / Pseudo-Mercator')
    // Pixels of 2,446 metres: those of zoom 6, which is the last one.
    expect(size).toEqual([expect.closeTo(683, -0.5), expect.closeTo(531, -0.5)])
    expect(bands.every(({ checksum }: { checksum: number }) => checksum > 0)).toBe(true)
  })

  const ogrinfo = async (...parameters: string[]) => (await run('ogrinfo', ['-ro', ...parameters])).stdout

  test('lists the collections', async () => {
    const listed = await ogrinfo(source)
    expect(listed).toContain('areas-rwa-1 (title: Areas of level 1 of Rwanda)')
    expect(listed).toContain('advisory-synthetic-yield-rwa-potato-2026-07-v1-1')
  })

  test('reads all pages of features, with their fields', async () => {
    const read = await ogrinfo('-al', '-so', '-oo', 'PAGE_SIZE=2', source, 'areas-rwa-1')
    expect(read).toContain('Feature Count: 5')
    expect(read).toContain('Geometry: Multi Polygon')
    for (const field of ['code: String', 'level: Integer', 'country: String', 'parent: String']) {
      expect(read).toContain(field)
    }
    const all = await ogrinfo('-al', '-q', '-geom=NO', '-oo', 'PAGE_SIZE=2', source, 'areas-rwa-1')
    expect(all.match(/^ {2}code \(String\) = /gm)).toHaveLength(5)
  })

  test('reads what a release comes to in areas, in a rectangle', async () => {
    const layer = 'advisory-synthetic-yield-rwa-potato-2026-07-v1-1'
    const read = await ogrinfo('-al', '-q', '-geom=NO', '-spat', '29.9', '-2', '30', '-1.9', source, layer)
    expect(read).toMatch(/yield_kg_ha Normal \((Integer|Real)\) = \d+/)
  })
})
