import { sql } from 'kysely'
import { describe, expect, test, vi } from 'vitest'
import type { RegionStatistics } from '#src/advice/region-statistics.ts'
import type { ReadContext } from '#src/extensions/ogc/api.ts'
import { createAreas } from '#src/extensions/ogc/areas.ts'
import { ringOf } from '#test/advice/polygon/shapes.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'

/** Rwanda as one province of two districts side by side, whose border has a bend of 0.0009 degrees. */
const BORDER = [
  [30, -2],
  [30.0009, -1.75],
  [30, -1.5],
]
const WEST = { type: 'Polygon', coordinates: [[[29.5, -2], ...BORDER, [29.5, -1.5], [29.5, -2]]] }
const EAST = {
  type: 'Polygon',
  coordinates: [[[30.5, -1.5], ...BORDER.toReversed(), [30.5, -2], [30.5, -1.5]]],
}

/** An island in a bay, which would lie on the land if the bay were left out. */
const COAST = {
  type: 'MultiPolygon',
  coordinates: [
    [ringOf('0 6, 1 6, 1 7, 0.6 7, 0.55 6.95, 0.5 7, 0 7, 0 6')],
    [ringOf('0.545 6.985, 0.555 6.985, 0.555 6.995, 0.545 6.985')],
  ],
}

const CRS84 = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84'
const EPSG = 'http://www.opengis.net/def/crs/EPSG/0'

const service = openService({
  template: 'empty',
  settings: { RELEASE_MAX_AGE_MS: '0' },
  prepare: async (database) => {
    const outline = feature({ code: 'RWA', name: 'Rwanda' }, rectangle(29.5, -2, 30.5, -1.5))
    const districts = [
      feature({ code: 'E', name: 'East & <more>', parent_code: 'RWA' }, EAST),
      feature({ code: 'W', name: 'West', parent_code: 'RWA' }, WEST),
    ]
    const coast = feature({ code: 'GHA', name: 'Ghana' }, COAST)
    await loadFile(database, await boundaryFile([outline]), 'rwa', 0)
    await loadFile(database, await boundaryFile(districts), 'rwa', 1)
    await loadFile(database, await boundaryFile([coast]), 'gha', 0)
  },
})

const ITEMS = '/collections/areas-rwa-1/items'

interface Features {
  numberMatched: number
  numberReturned: number
  timeStamp: string
  links: { href: string; rel: string }[]
  features: { id: string; geometry: { coordinates: number[][][][] }; properties: object }[]
}

describe('features of areas', () => {
  test('say the same of every area, in the order of their codes', async () => {
    const found = await features('')
    expect(found.features.map(({ properties }) => properties)).toStrictEqual([
      { code: 'E', name: 'East & <more>', level: 1, country_code: 'rwa', country: 'Rwanda', parent: 'RWA' },
      { code: 'W', name: 'West', level: 1, country_code: 'rwa', country: 'Rwanda', parent: 'RWA' },
    ])
    expect(codesOf(found)).toEqual(['E', 'W'])
    expect([found.numberMatched, found.numberReturned]).toEqual([2, 2])
    expect(Math.abs(Date.parse(found.timeStamp) - Date.now())).toBeLessThan(600_000)
    const outline: Features = (await get('/collections/areas-rwa-0/items')).body
    expect(outline.features.map(({ properties }) => properties)).toStrictEqual([
      { code: 'RWA', name: 'Rwanda', level: 0, country_code: 'rwa', country: 'Rwanda', parent: null },
    ])
  })

  test('come page by page, by links that keep the rest of the query', async () => {
    const first = await features(`limit=1&crs=${encodeURIComponent(CRS84)}`)
    expect([codesOf(first), first.numberMatched, first.numberReturned]).toEqual([['E'], 2, 1])
    const next = new URL(hrefOf(first, 'next') as string)
    expect([next.origin, next.pathname]).toEqual(['http://example.org', `/ogc${ITEMS}`])
    expect(next.searchParams.get('crs')).toBe(CRS84)
    const second = await features(next.search.slice(1))
    expect(codesOf(second)).toEqual(['W'])
    expect(hrefOf(second, 'next')).toBeUndefined()
    const before = await features(new URL(hrefOf(second, 'prev') as string).search.slice(1))
    expect(codesOf(before)).toEqual(['E'])
    expect((await features('limit=100000')).numberReturned).toBe(2)
    expect(codesOf(await features('offset=5'))).toEqual([])
  })

  test('are those that meet a rectangle, by their shapes', async () => {
    expect(codesOf(await features('bbox=29,-3,29.6,-1'))).toEqual(['W'])
    // Within the extent of the west, on the other side of its border.
    expect(codesOf(await features('bbox=30.0005,-1.52,30.0008,-1.51'))).toEqual(['E'])
    expect(codesOf(await features('bbox=29.9,-1.8,0,30.2,-1.7,100'))).toEqual(['E', 'W'])
    expect(codesOf(await features('bbox=30.2,-1.8,30.2,-1.8'))).toEqual(['E'])
    expect(codesOf(await features('bbox=170,-3,29.6,0'))).toEqual(['W'])
    expect(codesOf(await features(`bbox=-3,29,-1,29.6&bbox-crs=${EPSG}/4326`))).toEqual(['W'])
    const metres = 'bbox=3228000,-330000,3295000,-111000'
    expect(codesOf(await features(`${metres}&bbox-crs=${EPSG}/3857`))).toEqual(['W'])
    expect((await features('bbox=0,0,1,1')).numberMatched).toBe(0)
  })

  test('are of all times', async () => {
    const moments = ['2026-07-01T00:00:00Z', '2026-07-01/2026-08-01', '../2020-01-01', '2020-01-01/']
    for (const datetime of moments) {
      expect(codesOf(await features(`datetime=${datetime}`))).toEqual(['E', 'W'])
    }
  })

  test('are written in the system that is asked for', async () => {
    const corner = async (crs: string) => {
      const { headers, body } = await get(`${ITEMS}?crs=${encodeURIComponent(crs)}`)
      const [, west] = (body as Features).features
      return [headers['content-crs'], west?.geometry.coordinates[0]?.[0]?.map(String)]
    }
    const [header, positions] = await corner(CRS84)
    expect(header).toBe(`<${CRS84}>`)
    expect(positions).toContain('29.5,-2')
    expect((await corner(`${EPSG}/4326`))[1]).toContain('-2,29.5')
    // gdaltransform -s_srs OGC:CRS84 -t_srs EPSG:3857 <<< '29.5 -2'
    expect((await corner(`${EPSG}/3857`))[1]).toContain('3283924.98,-222684.21')
    expect((await get(ITEMS)).headers['content-crs']).toBe(`<${CRS84}>`)
  })

  test('are simplified by as much as is allowed, and valid', async () => {
    const bends = async (offset: number) => {
      const { features: found } = await features(`max-allowable-offset=${offset}`)
      const shapes = JSON.stringify(found.map(({ geometry }) => geometry))
      const { rows } = await sql`
        select bool_and(st_isvalid(st_geomfromgeojson(shape::text))) as valid
        from json_array_elements(${shapes}::json) as shape`.execute(service.database.reader)
      expect(rows[0]).toEqual({ valid: true })
      return found.map(({ geometry }) => JSON.stringify(geometry).includes('30.0009'))
    }
    expect(await bends(0)).toEqual([true, true])
    expect(await bends(0.0008)).toEqual([true, true])
    expect(await bends(0.0011)).toEqual([false, false])
    expect(await bends(1000)).toEqual([false, false])
  })

  // The embedded database's ST_IsValid takes the island on the land for valid.
  testOnServer('stay whole where they would not be valid', async () => {
    const shape = async (offset: number) =>
      (await get(`/collections/areas-gha-0/items?max-allowable-offset=${offset}`)).body.features[0].geometry
        .coordinates
    const whole = await shape(0)
    expect(whole).toHaveLength(2)
    expect(await shape(0.1)).toEqual(whole)
  })

  test('are answered one by one', async () => {
    const { id, geometry } = (await get(`${ITEMS}/E`)).body
    expect([id, geometry]).toEqual(['E', (await features('')).features[0]?.geometry])
    expect((await get(`${ITEMS}/X`)).body.code).toBe('NOT_FOUND')
  })

  test('have a tag that lasts until boundaries are loaded, and may be cached for a minute', async () => {
    const { headers } = await get(ITEMS)
    expect(headers['cache-control']).toMatch(/^public, max-age=60/)
    const tag = { 'if-none-match': headers.etag }
    expect((await get(ITEMS, tag)).status).toBe(304)
    expect((await get(ITEMS, { ...tag, host: 'other.org' })).status).toBe(200)
    const outline = feature({ code: 'RWA', name: 'Rwanda' }, rectangle(29.5, -2, 30.5, -1.4))
    await loadFile(service.database, await boundaryFile([outline]), 'rwa', 0)
    expect((await get(ITEMS, tag)).status).toBe(200)
    expect((await get('/collections/areas-rwa-0/items')).text).toContain('-1.4')
  })
})

test('an answer with other boundaries than those of its tag is cached nowhere', async () => {
  const headers = new Map([['etag', '"a"']])
  const reply = {
    removeHeader: (name: string) => headers.delete(name) && reply,
    header: (name: string, value: string) => headers.set(name, value) && reply,
  }
  const areas = createAreas(service.app, {} as RegionStatistics)
  const withDatabasePermit = vi.fn((read: () => unknown) => read())
  const contextWith = (boundaries: string) => {
    const context = { exchange: { reply, withDatabasePermit }, snapshot: { boundaries } }
    return context as unknown as ReadContext
  }
  const db = service.database.reader
  const { rows } = await sql<{ boundaries: string }>`select boundaries_version() as boundaries`.execute(db)
  const { boundaries = '' } = rows[0] ?? {}
  const filter = { countryCode: 'rwa', levels: [1], limit: 1 }
  await areas.loaded(contextWith(boundaries))
  await areas.loaded(contextWith(boundaries))
  await areas.page(filter, contextWith(boundaries))
  expect([...headers]).toEqual([['etag', '"a"']])
  expect((await areas.page(filter, contextWith('others'))).matched).toBe(2)
  expect([...headers]).toEqual([['cache-control', 'no-store']])
  headers.set('etag', '"a"')
  await areas.loaded(contextWith('others'))
  expect(headers.has('etag')).toBe(false)
  // Two pages, and the levels of each boundaries once.
  expect(withDatabasePermit).toHaveBeenCalledTimes(4)
})

const get = (path: string, headers = {}) =>
  service.get(`/ogc${path}`, { headers: { host: 'example.org', ...headers } })

async function features(query: string): Promise<Features> {
  const { status, body } = await get(`${ITEMS}?${query}`)
  expect(status).toBe(200)
  return body
}

const codesOf = ({ features: found }: Features) => found.map(({ id }) => id)
const hrefOf = ({ links }: Pick<Features, 'links'>, rel: string) =>
  links.find((link) => link.rel === rel)?.href
