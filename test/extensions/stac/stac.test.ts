import { beforeAll, describe, expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { layerOf, operatorOf, releaseOn } from '#test/setup/releases.ts'

const METRES = { srid: 32637, originX: 400_000, originY: 1_105_000, pixelWidth: 1000, pixelHeight: -1000 }

let code: string
const service = openService({ settings: { RELEASE_MAX_AGE_MS: '0' } })
beforeAll(async () => {
  const layer = layerOf('Urea', { pixelType: '16BSI', nodata: -1, scale: 0.5 })
  const pixels = Int16Array.from({ length: 200 }, (_, at) => at)
  const described = { licence: 'Ask us first', validUntil: '2026-12-31' }
  const release = releaseOn({ ...METRES, width: 20, height: 10 }, [layer], [pixels], described)
  code = (await loadRelease(service.database, release)).code
})

const HOST = 'http://advice.example.org'

test('from the catalog all collections and items are found, and all that is published is among them', async () => {
  const codes: string[] = []
  const root = await expectLinked(`${HOST}/stac`, 'application/json', undefined)
  expect(root.type).toBe('Catalog')
  for (const child of linksTo(root, 'child')) {
    const collection = await expectLinked(child.href, child.type as string, `${HOST}/stac`)
    expect(collection.type).toBe('Collection')
    expect(child.href).toBe(`${HOST}/stac/collections/${collection.id}`)
    const country = collection.id.split('-').at(-1)
    expect(collection.linkTemplates).toMatchObject([
      { rel: 'packs', uriTemplate: `${HOST}/packs/${country}/{area}.{format}` },
    ])
    const { spatial, temporal } = collection.extent
    const [west, south, east, north] = spatial.bbox[0]
    for (const link of linksTo(collection, 'item')) {
      const item = await expectLinked(link.href, 'application/geo+json', child.href)
      expect([item.type, item.collection]).toEqual(['Feature', collection.id])
      expect(linksTo(item, 'collection').map(({ href }) => href)).toEqual([child.href])
      const [itsWest, itsSouth, itsEast, itsNorth] = item.bbox
      expect([itsWest >= west, itsSouth >= south, itsEast <= east, itsNorth <= north]).not.toContain(false)
      const { datetime, start_datetime = datetime, end_datetime = datetime } = item.properties
      expect(Date.parse(start_datetime)).toBeLessThanOrEqual(Date.parse(end_datetime))
      expect(Date.parse(temporal.interval[0][0])).toBeLessThanOrEqual(Date.parse(start_datetime))
      expect(Date.parse(temporal.interval[0][1])).toBeGreaterThanOrEqual(Date.parse(end_datetime))
      codes.push(item.id)
    }
  }
  const { releases } = (await service.get('/catalog')).body
  expect(codes.sort()).toEqual(releases.map(({ release }: { release: string }) => release).sort())
  expect(codes).toContain(code)
})

const itemOf = async (collection: string, item: string) =>
  (await get(`${HOST}/stac/collections/${collection}/items/${item}`)).body

describe('an item', () => {
  test('says what, where and when its release is of', async () => {
    const item = await itemOf('fertilizer-eth', code)
    expect(item.properties).toMatchObject({
      title: 'Fertilizer rates of wheat in Ethiopia, July 2026',
      datetime: null,
      start_datetime: '2026-07-01T00:00:00.000Z',
      end_datetime: '2026-12-31T23:59:59.000Z',
      license: 'other',
      providers: [
        { name: 'A test', roles: ['producer', 'licensor'] },
        { name: 'Agricultural advisory service', roles: ['host'], url: `${HOST}/` },
      ],
      synthetic: false,
    })
    expect(linksTo(item, 'license').map(({ href }) => href)).toEqual([`${HOST}/catalog`])
    expect(item.geometry).toEqual(rectangle(...(item.bbox as Parameters<typeof rectangle>)))
  })

  test('of no time says when it was loaded, and a code of SPDX is its licence', async () => {
    const { properties } = await itemOf('forage-ken', 'synthetic-forage-ken-v1')
    expect(properties.datetime).toBe(properties.created)
    expect(properties).not.toHaveProperty('start_datetime')
    expect([properties.license, properties.synthetic]).toEqual(['CC0-1.0', true])
  })

  test('has its layers as files and maps, which are there and as it says', async () => {
    const { assets } = await itemOf('fertilizer-eth', code)
    expect(assets).toEqual({
      'layer-1': {
        href: `${HOST}/releases/${code}/layers/1.tif`,
        type: 'image/tiff; application=geotiff; profile=cloud-optimized',
        title: 'Urea, Normal',
        roles: ['data'],
        bands: [
          {
            name: 'Urea, Normal',
            data_type: 'int16',
            unit: 'kg/ha',
            'raster:sampling': 'area',
            'raster:scale': 0.5,
            'raster:offset': 0,
          },
        ],
        'proj:code': 'EPSG:32637',
        'proj:shape': [10, 20],
        'proj:transform': [1000, 0, 400_000, 0, -1000, 1_105_000],
      },
      'map-1': {
        href: `${HOST}/releases/${code}/layers/1/tiles.json`,
        type: 'application/json',
        title: 'Urea, Normal: a map, as TileJSON',
        roles: ['visual'],
      },
    })
    expect((await get(assets['map-1'].href)).body.layer).toBe(1)
    const file = await service.get(`/releases/${code}/layers/1.tif`)
    expect(file.headers['content-type']).toBe(assets['layer-1'].type)
  })

  test('has ranges of what is stored as it is', async () => {
    const { assets } = await itemOf('yield-eth', 'synthetic-yield-eth-wheat-2026-07-v1')
    // A file and a map of four scenarios, six ends of ranges and three odds, and the map of the likeliest season.
    expect(Object.keys(assets)).toHaveLength(2 * 13 + 1)
    const [band] = assets['layer-2'].bands
    expect(band).toMatchObject({ data_type: 'float32', nodata: Math.fround(-3.4028234663852886e38) })
    expect(band.statistics.minimum).toBeLessThan(band.statistics.maximum)
  })

  test('names no files where the service allows no downloads', async () => {
    const app = await buildApp({ ...service.testDatabase.config, DOWNLOAD_CACHE_MB: 0 }, service.database)
    const { assets } = (await call(app, `GET /stac/collections/fertilizer-eth/items/${code}`)).body
    await app.close()
    expect(Object.keys(assets)).toEqual(['map-1'])
  })
})

test('what is not there is said, and what has not changed is not sent again', async () => {
  const ask = async (path: string, headers = {}) => {
    const { status, body } = await service.get(`/stac${path}`, { headers })
    return [status, body?.error]
  }
  const none = (id: string) => [
    404,
    `There is no collection ${id}; \`GET /stac\` links those that there are.`,
  ]
  expect(await ask('/collections/yield-ken')).toEqual(none('yield-ken'))
  expect(await ask('/collections/yield')).toEqual(none('yield'))
  expect(await ask('/collections/yield-%00')).toEqual(none('yield-\0'))
  expect((await ask('/collections/yield-eth/items/%00'))[0]).toBe(404)
  expect(await ask(`/collections/yield-eth/items/${code}`)).toEqual([
    404,
    `There is no item ${code} in the collection yield-eth.`,
  ])
  const { headers } = await service.get('/stac')
  const tag = { 'if-none-match': headers.etag as string }
  expect(await ask('', tag)).toEqual([304, undefined])
  await operatorOf(service.database).remove(code, true)
  expect((await ask('', tag))[0]).toBe(200)
  expect(await ask('/collections/fertilizer-eth')).toEqual(none('fertilizer-eth'))
  expect((await ask(`/collections/fertilizer-eth/items/${code}`))[0]).toBe(404)
})

interface Link {
  rel: string
  href: string
  type?: string
}

async function get(href: string) {
  expect(href.startsWith(`${HOST}/`)).toBe(true)
  const sent = { headers: { host: 'advice.example.org' } }
  const { status, headers, body } = await service.get(href.slice(HOST.length), sent)
  expect([href, status]).toEqual([href, 200])
  return { type: String(headers['content-type']).replace('; charset=utf-8', ''), body }
}

const linksTo = (body: { links: Link[] }, rel: string) => body.links.filter((link) => link.rel === rel)

/** What each object of a catalog has to say of itself, and of where it stands (STAC 1.1.0). */
async function expectLinked(href: string, type: string, parent: string | undefined) {
  const found = await get(href)
  expect(found.type).toBe(type)
  expect(found.body.stac_version).toBe('1.1.0')
  expect(found.body.id).toMatch(/^[\w-]+$/)
  expect(linksTo(found.body, 'self').map((link) => link.href)).toEqual([href])
  expect(linksTo(found.body, 'root').map((link) => link.href)).toEqual([`${HOST}/stac`])
  expect(linksTo(found.body, 'parent').map((link) => link.href)).toEqual(parent ? [parent] : [])
  return found.body
}
