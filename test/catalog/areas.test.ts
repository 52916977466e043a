import { describe, expect, test } from 'vitest'
import type { AdminAreaList } from '#schemas/areas.ts'
import type { LocationValidation } from '#schemas/location.ts'
import { cursorAfter } from '#src/http/parameters.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { tellRefusals } from '#test/setup/refusals.ts'

// In every run: what is refused of areas.

/**
 * Rwanda as four squares of 0.5 degrees: provinces A (west) and B (east) of two districts each, and
 * sectors in the first district alone. Ghana has an outline and no more.
 */
const area = (
  code: string,
  name: string,
  parent_code: string | null,
  ...sides: Parameters<typeof rectangle>
) => feature({ code, name, parent_code }, rectangle(...sides))

const PROVINCES = [
  area('B', 'East', null, 30, -2.5, 30.5, -1.5),
  area('A', 'Wést', null, 29.5, -2.5, 30, -1.5),
]
const DISTRICTS = [
  area('A1', 'North West', 'A', 29.5, -2, 30, -1.5),
  area('A2', 'South West', 'A', 29.5, -2.5, 30, -2),
  area('B1', 'North East', 'B', 30, -2, 30.5, -1.5),
  area('B2', 'South East', 'B', 30, -2.5, 30.5, -2),
]
const SECTORS = [area('A11', 'Sector', 'A1', 29.6, -1.9, 29.7, -1.8)]

/**
 * Ethiopia and Kenya share a border, and so do two provinces and two districts in each of those. The codes of
 * the districts in the east are lower than those in the west, unlike their provinces'.
 */
const ETHIOPIAN_PROVINCES = [
  area('P2', 'East', null, 34, 3.5, 34.5, 4.5),
  area('P1', 'West', null, 33.5, 3.5, 34, 4.5),
]
const ETHIOPIAN_DISTRICTS = [
  area('D9', 'North West', 'P1', 33.5, 4, 34, 4.5),
  area('D8', 'South West', 'P1', 33.5, 3.5, 34, 4),
  area('D2', 'North East', 'P2', 34, 4, 34.5, 4.5),
  area('D1', 'South East', 'P2', 34, 3.5, 34.5, 4),
]

const BOUNDARIES: Record<string, object[][]> = {
  rwa: [[area('RWA', 'Rwanda', null, 29.5, -2.5, 30.5, -1.5)], PROVINCES, DISTRICTS, SECTORS],
  gha: [[area('GHA', 'Ghana', null, -3, 5, 1, 11)]],
  eth: [[area('ETH', 'Ethiopia', null, 33.5, 3.5, 34.5, 4.5)], ETHIOPIAN_PROVINCES, ETHIOPIAN_DISTRICTS],
  ken: [[area('KEN', 'Kenya', null, 34.5, 3.5, 35.5, 4.5)]],
}

const service = openService({
  template: 'empty',
  prepare: async (database) => {
    for (const [code, levels] of Object.entries(BOUNDARIES)) {
      for (const [level, features] of levels.entries()) {
        await loadFile(database, await boundaryFile(features), code, level)
      }
    }
  },
})

describe('GET /admin', () => {
  test('answers everything about an area but its shape', async () => {
    expect(await listed('admin0=rwa&level=2&parent=B')).toEqual({
      items: [
        {
          code: 'B1',
          name: 'North East',
          level: 2,
          country_code: 'rwa',
          parents: [
            { level: 0, code: 'RWA', name: 'Rwanda' },
            { level: 1, code: 'B', name: 'East' },
          ],
          area_km2: 3076,
          bbox: [30, -2, 30.5, -1.5],
          centroid: { lat: -1.75, lng: 30.25 },
        },
        expect.objectContaining({ code: 'B2' }),
      ],
      next_cursor: null,
    })
  })

  const REFUSED = [
    '',
    'admin0=rwandaa&level=1',
    'admin0=%27&level=1',
    `admin0=${encodeURI('Ё')}&level=1`,
    'admin0=gha&level=1',
    'admin0=eth&level=3',
    'admin0=rwa&level=4',
    'admin0=rwa&level=1&cursor=QQ',
    'admin0=rwa&level=1&cursor=YWZ0ZXIgQQ==',
    `admin0=rwa&level=2&cursor=${cursorAfter('A\0', ['rwa', 2, null])}`,
    'admin0=rwa&level=2&parent=nowhere',
    'admin0=rwa&level=2&parent=A1',
  ]

  test('areas that there are not, and what is no page or parent, are refused, as refused.txt has it', async () => {
    const told = await tellRefusals(REFUSED.map((query) => [`?${query}`, () => get(query)]))
    await expect(told).toMatchFileSnapshot('refused.txt')
  })

  test.each([
    ['admin0=rw&level=1', ['A', 'B']],
    ['admin0=RWANDA&level=1', ['A', 'B']],
    ['admin0=rwândá&level=1', ['A', 'B']],
    ['admin0=%20Republic%20of%20%20Rwanda%20&level=1', ['A', 'B']],
    ['admin0=rwa&level=2&parent=A', ['A1', 'A2']],
    ['admin0=rwa&level=3&parent=A', ['A11']],
    ['admin0=rwa&level=3&parent=B', []],
    ['admin0=rwa&level=2&parent=RWA', ['A1', 'A2', 'B1', 'B2']],
  ])(
    'finds the country by its names, and the areas within one of any level above: %s',
    async (query, found) => {
      expect(await codes(encodeURI(decodeURI(query)))).toEqual(found)
    },
  )

  test('pages go through all areas once, in the order of their codes', async () => {
    const pages: string[][] = []
    let next: string | null = ''
    while (next !== null) {
      const query: string = `admin0=rwa&level=2&limit=3${next && `&cursor=${next}`}`
      const { items, next_cursor } = await listed(query)
      pages.push(items.map(({ code }) => code))
      next = next_cursor
    }
    expect(pages).toEqual([['A1', 'A2', 'B1'], ['B2']])
    expect((await listed('admin0=rwa&level=2&limit=4')).next_cursor).toBeNull()
  })

  test('goes on with the same areas only', async () => {
    const { next_cursor: cursor } = await listed('admin0=rwa&level=2&limit=1')
    const same = [
      'admin0=rwa&level=2&geometry=full',
      'admin0=Rwanda&level=2',
      'admin0=rwa&level=2&format=geojson',
    ]
    for (const query of same) expect((await get(`${query}&cursor=${cursor}`)).status).toBe(200)
    for (const query of ['admin0=rwa&level=1', 'admin0=rwa&level=2&parent=A']) {
      const { status, body } = await get(`${query}&cursor=${cursor}`)
      expect([status, body.details[0].field]).toEqual([400, 'cursor'])
    }
  })

  test('gives shapes when it is asked for them', async () => {
    const [full] = (await listed('admin0=rwa&level=1&geometry=full')).items
    expect(full?.geometry).toEqual({
      type: 'MultiPolygon',
      coordinates: [expect.arrayContaining([expect.arrayContaining([[29.5, -2.5]])])],
    })
  })

  test.each([
    ['the parameter', 'admin0=rwa&level=2&format=geojson&geometry=full', {}],
    ['the Accept header', 'admin0=rwa&level=2&geometry=full', { accept: 'application/geo+json, */*;q=0.1' }],
  ])('answers GeoJSON by %s', async (_, query, headers) => {
    const answer = await get(query, headers)
    expect(answer.headers['content-type']).toMatch(/^application\/geo\+json/)
    expect(answer.body.type).toBe('FeatureCollection')
    expect(answer.body.features).toHaveLength(4)
    expect(answer.body.features[0]).toMatchObject({
      type: 'Feature',
      id: 'A1',
      geometry: { type: 'MultiPolygon' },
      properties: { code: 'A1', adm0_code: 'RWA', adm1_code: 'A', adm1_name: 'Wést' },
    })
  })

  test('the format outweighs the Accept header, which else must allow what there is', async () => {
    const ask = (query: string, accept: string) => get(`admin0=rwa&level=1${query}`, { accept })
    const typeOf = async (query: string, accept: string) =>
      String((await ask(query, accept)).headers['content-type']).split(';')[0]
    expect([
      await typeOf('', 'application/*'),
      await typeOf('&format=json', 'application/geo+json'),
      await typeOf('&format=geojson', 'text/html'),
    ]).toEqual(['application/json', 'application/json', 'application/geo+json'])
    expect((await ask('', '*/*')).headers.vary).toBe('Accept, Accept-Encoding')
    expect((await ask('', 'text/csv')).status).toBe(406)
  })

  test('an unchanged answer is not sent again', async () => {
    const tag = String((await get('admin0=rwa&level=2')).headers.etag)
    const again = await get('admin0=rwa&level=2', { 'if-none-match': tag })
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', tag])
    expect((await get('admin0=rwa&level=2&format=geojson')).headers.etag).not.toBe(tag)
    for (const wrong of ['parent=NOPE', 'cursor=NOPE']) {
      const refused = await get(`admin0=rwa&level=2&${wrong}`, { 'if-none-match': tag })
      expect([refused.status, refused.headers.etag]).toEqual([400, undefined])
    }
  })

  test('an answer gets another tag when its areas are loaded anew, or those above them', async () => {
    const tags = async () => [
      (await get('admin0=rwa&level=1')).headers.etag,
      (await get('admin0=rwa&level=2')).headers.etag,
    ]
    const load = async (features: typeof PROVINCES, level: number, source: string) =>
      loadFile(service.database, await boundaryFile(features), 'rwa', level, { source })
    const before = await tags()
    await load(PROVINCES, 1, 'Another')
    const between = await tags()
    await load(DISTRICTS, 2, 'Another')
    const after = await tags()
    expect([between[0] === before[0], between[1] === before[1]]).toEqual([false, false])
    expect([after[0] === between[0], after[1] === between[1]]).toEqual([true, false])
  })
})

test.each<[string, object, string]>([
  ['inside', { lat: 4.25, lng: 34.25 }, 'eth P2 D2'],
  ['between provinces', { lat: 4.25, lng: 34 }, 'eth P1 D9'],
  ['between districts', { lat: 4, lng: 34.25 }, 'eth P2 D1'],
  ['where four districts meet', { lat: 4, lng: 34 }, 'eth P1 D8'],
  ['between countries', { lat: 4.25, lng: 34.5 }, 'eth P2 D2'],
  ['between countries, the other asked for', { lat: 4.25, lng: 34.5, country_code: 'ken' }, 'ken'],
  ['at a corner of the country', { lat: 3.5, lng: 33.5 }, 'eth P1 D8'],
  ['a micrometre outside', { lat: 4.25, lng: 33.49999999999 }, 'not null'],
])('a point %s is always in the same areas, those of lowest codes', async (_, payload, expected) => {
  const placeOf = async () => {
    const { body } = await service.post('/validate_location', { by: service.person, payload })
    const { valid, country_code, admin } = body as LocationValidation
    return [valid ? country_code : `not ${country_code}`, ...admin.map(({ code }) => code)].join(' ')
  }
  expect(await Promise.all([placeOf(), placeOf(), placeOf()])).toEqual(Array(3).fill(expected))
})

const get = (query: string, headers = {}) => service.get(`/admin?${query}`, { by: service.person, headers })

const listed = async (query: string): Promise<AdminAreaList> => (await get(query)).body

const codes = async (query: string) => (await listed(query)).items.map(({ code }) => code)
