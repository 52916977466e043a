import { execFile, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { entityTag } from '#src/http/entity-tags.ts'
import { VERSION } from '#src/lib/version.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'

// Runs on a server alone: no statement of its own; those that it asks are tried in features.test.ts.

interface Link {
  href: string
  rel: string
  type?: string
  templated?: true
}

const service = openService()

describe('OGC API Features: Core', () => {
  test('the landing page leads to all else (A.2.2)', async () => {
    const { links, ...landing } = (await get('')).body
    expect(landing.title).toBe('Agricultural advisory service')
    const named = ['alternate', 'conformance', 'data', 'related', 'self', 'service-desc', 'service-doc']
    expect(rels(links)).toEqual(named)
    await expectLinksToWork(links.filter(({ templated }: Link) => !templated))
    expect((await get('/')).body.links).toEqual(links)
  })

  test('the landing page says where the tiles of a layer are', async () => {
    const { links } = (await get('')).body
    const { href, type } = links.find(({ templated }: Link) => templated)
    const named = href.replace('{release}', 'synthetic-yield-eth-wheat-2026-07-v1').replace('{layer}', '2')
    await expectLinksToWork([{ href: named, rel: 'related', type }])
    const { tiles } = (await getAt(named)).body
    const tile = tiles[0].replace('{z}', '6').replace('{x}', '38').replace('{y}', '30')
    await expectLinksToWork([{ href: tile, rel: 'item', type: 'image/png' }])
  })

  test('the API is described in OpenAPI 3.0, with the limits of limit (A.2.3)', async () => {
    const { headers, text, body: document } = await get('/api')
    expect(headers['content-type']).toBe('application/vnd.oai.openapi+json;version=3.0')
    expect(document.openapi).toBe('3.0.3')
    const limits = { type: 'integer', minimum: 1, maximum: 1000, default: 100 }
    expect(document.components.parameters.limit.schema).toEqual(limits)
    for (const [, name] of text.matchAll(/"#\/components\/(\w+\/[\w-]+)"/g)) {
      const [kind, member] = (name as string).split('/') as [string, string]
      expect(document.components[kind]).toHaveProperty([member])
    }
  })

  test('the collections are those of the areas, each described and linked (A.2.5, A.2.6)', async () => {
    const { links, collections } = (await get('/collections')).body
    expect(rels(links)).toEqual(['alternate', 'self'])
    const ids = collections.map(({ id }: { id: string }) => id)
    expect(ids).toContain('areas-eth-1')
    expect(ids.every((id: string) => /^[a-z0-9-]+$/.test(id))).toBe(true)
    for (const collection of collections.slice(0, 2)) {
      const { links: own, ...described } = (await get(`/collections/${collection.id}`)).body
      const { links: _, ...listed } = collection
      expect(described).toEqual(listed)
      expect(described.extent.spatial.bbox[0]).toHaveLength(4)
      expect(described.itemType).toBe('feature')
      expect(rels(own)).toEqual(['alternate', 'items', 'self'])
      await expectLinksToWork(own)
    }
  })

  test('pages of features link to themselves and on (A.2.7)', async () => {
    const { links, features, numberReturned } = (await get('/collections/areas-eth-1/items?limit=2')).body
    expect(rels(links)).toEqual(['alternate', 'collection', 'next', 'self'])
    expect([features.length, numberReturned]).toEqual([2, 2])
    await expectLinksToWork(links)
    const one = (await get(`/collections/areas-eth-1/items/${features[0].id}`)).body
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
    const { status, body, headers } = await get(path)
    expect([status, body.code, body.details[0].field]).toEqual([400, 'INVALID_PARAMETERS', field])
    expect(headers['cache-control']).toBe('no-store')
  })

  test.each([
    ['/collections/nothing', 404, 'NOT_FOUND'],
    ['/collections/advisory-nothing-1/items', 404, 'NOT_FOUND'],
    ['/collections/areas-eth-1/items/nothing', 404, 'NOT_FOUND'],
    ['/edr/collections/nothing', 404, 'NOT_FOUND'],
    ['/collections', 406, 'NOT_ACCEPTABLE'],
  ])('%s as a picture or where nothing is there is answered %i %s', async (path, status, code) => {
    const answer = await get(path, status === 406 ? { accept: 'image/png' } : {})
    expect([answer.status, answer.body.code]).toEqual([status, code])
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
  expect((await get('/collections', { host: longest })).status).toBe(200)
  const { status, body } = await get('/collections', { host: `a${longest}` })
  expect([status, body.code]).toEqual([400, 'MALFORMED_REQUEST'])
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
    const { status, headers, text } = await get(`${path}?f=html`)
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/)
    expect(text).not.toMatch(/<script|<img|<link|style=/)
    const hrefs = [...text.matchAll(/href="([^"]*)"/g)].map(([, href]) =>
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

async function inBulk(): Promise<Feature[]> {
  const payload = { admin: { country_code: 'rwa', level: 1 }, crop: 'potato' }
  const sent = { by: service.person, headers: { accept: 'application/geo+json' }, payload }
  return (await service.post('/advisory/yield/polygons', sent)).body.features
}

/** All features, page by page: a page ends where computing takes long. */
async function allFeatures(): Promise<{ matched: number; features: Feature[] }> {
  const features: Feature[] = []
  for (let url = ITEMS; ; ) {
    const { status, body: page } = await getAt(url)
    expect(status).toBe(200)
    features.push(...page.features)
    const next = page.links.find(({ rel }: Link) => rel === 'next')
    if (!next) return { matched: page.numberMatched, features }
    url = next.href.slice(next.href.indexOf('/ogc'))
  }
}

test('what a release comes to in areas is what is answered about them in bulk', async () => {
  const { features, matched } = await allFeatures()
  const expected = (await inBulk()).map(({ id, properties }) => {
    const { name, lat: _lat, lng: _lng, area_ha: _area, 'scenario_of Dominant': _of, ...said } = properties
    const area = { code: id, name, level: 1, country_code: 'rwa', country: 'Rwanda', parent: 'RWA' }
    return { id, properties: { ...area, ...said } }
  })
  expect(matched).toBe(expected.length)
  expect(features.map(({ id, properties }: Feature) => ({ id, properties }))).toEqual(expected)
  expect(features[0]?.properties.release).toBe(RELEASE)
  expect(features[0]?.properties['covered_percent Normal']).toBeGreaterThan(0)

  const one = (await getAt(`${ITEMS}/${features[1]?.id}`)).body
  expect(one.properties).toEqual(features[1]?.properties)
})

test('pages for people have totals with three or four digits', async () => {
  const items = '/ogc/collections/advisory-synthetic-fertilizer-rwa-potato-2026-07-v1-1/items'
  const [first] = (await getAt(items)).body.features
  const exact = first?.properties['total_kg Urea Normal'] as number
  const rounded = Number(exact.toPrecision(/^[1-4]/.test(String(exact)) ? 4 : 3))
  expect(rounded).not.toBe(exact)
  for (const url of [`${items}?f=html`, `${items}/${first?.id}?f=html`]) {
    const { text } = await getAt(url)
    expect(text).toContain(`<td>${rounded}</td>`)
    expect(text).not.toContain(`<td>${exact}</td>`)
  }
})

test('the month of a release is the time of its features', async () => {
  const matched = async (datetime: string) =>
    (await getAt(`${ITEMS}?datetime=${datetime}`)).body.numberMatched
  expect(await matched('2026-07-15')).toBeGreaterThan(0)
  expect(await matched('2026-08-01T00:00:00Z/..')).toBe(0)
  const { extent, title } = (await getAt(ITEMS.replace('/items', ''))).body
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

const getAt = (url: string, headers = {}) => service.get(url, { headers })
const get = (path: string, headers = {}) => getAt(`/ogc${path}`, headers)

/** Asks for every link of an answer, and compares the type that it says. */
async function expectLinksToWork(links: Link[]): Promise<void> {
  for (const { href, type = '' } of links) {
    const { pathname, search } = new URL(href)
    const { status, headers } = await getAt(pathname + search)
    expect([href, status, headers['content-type']]).toEqual([href, 200, expect.stringContaining(type)])
  }
}

const rels = (links: Link[]) => [...new Set(links.map(({ rel }) => rel))].sort()
