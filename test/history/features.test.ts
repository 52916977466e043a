import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Feature, FeatureCollection } from 'geojson'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { advise, history, keepAt, recordOf } from './advisories.ts'

const GEOJSON = 'application/geo+json'

const RING = [
  [38, 9],
  [38.1, 9],
  [38.1, 9.1],
  [38, 9],
]
const TRIANGLE = { type: 'Polygon', coordinates: [RING] }
const WITH_HEIGHTS = { type: 'MultiPolygon', coordinates: [[RING.map((position) => [...position, 2400])]] }

let service: TestApp
let person: Person
/** One call of each kind, in the order in which they were made. */
const ids = { point: '', forage: '', all: '', polygon: '', feature: '', area: '', country: '' }

beforeAll(async () => {
  service = await createTestApp()
  person = await newPerson(service.app)
  const asked: [keyof typeof ids, path: string, body: object][] = [
    ['point', 'fertilizer/point', { lat: 9.5, lng: 38.5, name: 'Field' }],
    ['forage', 'forage/point', { lat: -1, lng: 36.5, country_code: 'ken', name: 'ወንጂ' }],
    ['all', 'point', { lat: 9.5, lng: 38.5 }],
    ['polygon', 'fertilizer', { geometry: TRIANGLE, name: 'Plot' }],
    ['feature', 'yield', { geometry: { type: 'Feature', geometry: WITH_HEIGHTS, properties: null } }],
    ['area', 'isfm', { admin: { country_code: 'RWA', code: 'RWA-01' }, crop: 'potato', name: 'The capital' }],
    ['country', 'forage', { admin: { country_code: 'ken', code: 'KEN', level: 0 } }],
  ]
  for (const [key, path, payload] of asked) {
    ids[key] = (await advise(service, person, path, payload)).json().history_id
  }
})
afterAll(() => service.close())

async function collectionOf(path: string): Promise<FeatureCollection & { next_cursor: string | null }> {
  const response = await history(service, person, path, GEOJSON)
  expect(response.statusCode, response.body).toBe(200)
  expect(response.headers['content-type']).toBe(`${GEOJSON}; charset=utf-8`)
  return response.json()
}

async function featureOf(id: string): Promise<Feature> {
  return (await history(service, person, id, GEOJSON)).json()
}

/** The shape of an area for maps, as it is listed. */
async function outlineOf(country: string, code: string) {
  const response = await service.app.inject({
    url: `/admin?admin0=${country}&level=1&geometry=simplified&format=geojson`,
    headers: person.headers,
  })
  return (response.json() as FeatureCollection).features.find(({ id }) => id === code)?.geometry
}

/** Takes the boundaries of Rwanda away, until the end of the test. */
async function unloadRwanda(): Promise<void> {
  const move = (from: string, to: string) =>
    sql`update admin_area set code = ${to} where country_code = 'rwa' and code = ${from}`.execute(
      service.database.writer,
    )
  await move('RWA-01', 'gone')
  onTestFinished(async () => {
    await move('gone', 'RWA-01')
  })
}

describe('an item', () => {
  test('is a Feature of flat properties, a column a layer', async () => {
    const response = await history(service, person, ids.point, GEOJSON)
    expect(response.headers['content-type']).toBe(`${GEOJSON}; charset=utf-8`)
    expect(response.headers['content-disposition']).toBe(
      `attachment; filename="history-${ids.point}.geojson"`,
    )
    const { created_at, answer } = (await history(service, person, ids.point)).json()
    const rate = (type: string, scenario: string) =>
      answer.fertilizer_data.find(
        (entry: Record<string, unknown>) => entry.fertilizer_type === type && entry.scenario === scenario,
      ).rate_kg_ha
    expect(response.json()).toEqual({
      type: 'Feature',
      id: ids.point,
      created_at,
      geometry: { type: 'Point', coordinates: [38.5, 9.5] },
      properties: {
        date: created_at.slice(0, 10),
        kind: 'point',
        product: 'fertilizer',
        country: 'eth',
        crop: 'wheat',
        name: 'Field',
        lat: 9.5,
        lng: 38.5,
        month: '2026-07',
        release: 'synthetic-fertilizer-eth-wheat-2026-07-v1',
        synthetic: true,
        unit: 'kg/ha',
        AN_DAP: rate('DAP', 'Above Normal'),
        N_DAP: rate('DAP', 'Normal'),
        BN_DAP: rate('DAP', 'Below Normal'),
        D_DAP: rate('DAP', 'Dominant'),
        AN_Urea: rate('Urea', 'Above Normal'),
        N_Urea: rate('Urea', 'Normal'),
        BN_Urea: rate('Urea', 'Below Normal'),
        D_Urea: rate('Urea', 'Dominant'),
      },
    })
  })

  test('of a polygon has its statistics', async () => {
    const { answer } = (await history(service, person, ids.polygon)).json()
    const urea = answer.fertilizer_data.find(
      (entry: Record<string, unknown>) => entry.fertilizer_type === 'Urea' && entry.scenario === 'Normal',
    )
    const { properties } = await featureOf(ids.polygon)
    expect(properties).toMatchObject({
      area_ha: answer.location.area_ha,
      N_Urea: urea.rate_kg_ha,
      min_N_Urea: urea.min,
      max_N_Urea: urea.max,
      sd_N_Urea: urea.stddev,
      cov_N_Urea: urea.covered_percent,
      tot_N_Urea: urea.total_kg,
    })
    expect(Object.keys(properties ?? {}).filter((name) => name.includes('Ure'))).toHaveLength(24)
  })

  test('for all products has the columns of each, and no unit for all', async () => {
    const { answer } = (await history(service, person, ids.all)).json()
    const { properties } = await featureOf(ids.all)
    expect(properties).toMatchObject({
      month: '2026-07',
      synthetic: true,
      AN_yield: answer.yield.yield_data[0].yield_kg_ha,
      AN_Vermico: answer.isfm.isfm_data[4].rate_tons_ha,
      B_brizanth: answer.forage.forage_data[0].suitability_score,
    })
    const values = ['yield', 'fertilizer', 'isfm', 'forage'].flatMap((code) => answer[code][`${code}_data`])
    expect(Object.keys(properties ?? {})).toHaveLength(11 + values.length)
    expect(properties).not.toHaveProperty('unit')
  })

  test('of an area has its code, its name and the outline that it has now', async () => {
    const { geometry, properties } = await featureOf(ids.area)
    expect(geometry?.type).toBe('MultiPolygon')
    expect(geometry).toEqual(await outlineOf('rwa', 'RWA-01'))
    expect(properties).toMatchObject({
      name: 'The capital',
      adm_level: 1,
      adm_code: 'RWA-01',
      adm_name: 'City of Kigali',
    })
  })

  test('of an area that is gone is a point inside', async () => {
    await unloadRwanda()
    const { location } = (await history(service, person, ids.area)).json()
    const { geometry } = await featureOf(ids.area)
    expect(geometry).toEqual({ type: 'Point', coordinates: [location.lng, location.lat] })
  })

  test.each([
    ['as it was asked about', { code: ' RWA-01 ', level: 1 }, undefined, [1, 'RWA-01', 'Kigali']],
    ['without a level', { code: 'RWA-01' }, undefined, [undefined, 'RWA-01', 'Kigali']],
    ['under a label of the caller', { code: 'RWA-01' }, 'Kigali', [undefined, 'RWA-01', undefined]],
  ])(
    'recorded before answers named their area says what is known of it: %s',
    async (_, admin, name, known) => {
      const location = { name: 'Kigali', lat: -1.94, lng: 30.06, type: 'polygon', area_ha: 73_000 }
      const record = recordOf(person, {
        kind: 'polygon',
        countryCode: 'rwa',
        request: { admin: { country_code: 'rwa', ...admin }, ...(name && { name }) },
        answer: { location, forecast_period: 'July 2026', yield_data: [] },
      })
      const [id = ''] = await keepAt(service, [[record, new Date('2026-01-01T00:00:00Z')]])
      const { geometry, properties } = await featureOf(id)
      expect([properties?.adm_level, properties?.adm_code, properties?.adm_name]).toEqual(known)
      expect(geometry).toEqual(await outlineOf('rwa', 'RWA-01'))
      await service.app.inject({ method: 'DELETE', url: `/history/${id}`, headers: person.headers })
    },
  )
})

describe('a file', () => {
  test('has the items of its page, and says where the next one begins', async () => {
    const response = await history(service, person, 'my?limit=4', GEOJSON)
    expect(response.headers['content-disposition']).toBe('attachment; filename="history.geojson"')
    const collection: FeatureCollection & { next_cursor: string } = response.json()
    const page = (await history(service, person, 'my?limit=4')).json()
    expect(collection.type).toBe('FeatureCollection')
    expect(collection.features.map(({ id }) => id)).toEqual([ids.country, ids.area, ids.feature, ids.polygon])
    expect(collection.next_cursor).toBe(page.next_cursor)
    expect(response.headers.link).toContain(page.next_cursor)
  })

  test('of points has points, and of polygons MultiPolygons without heights', async () => {
    const points = await collectionOf('my?kind=point')
    expect(points.features.map(({ id, geometry }) => [id, geometry.type])).toEqual([
      [ids.all, 'Point'],
      [ids.forage, 'Point'],
      [ids.point, 'Point'],
    ])
    const polygons = await collectionOf('my?kind=polygon')
    expect(polygons.features.map(({ id, geometry }) => [id, geometry.type])).toEqual([
      [ids.country, 'MultiPolygon'],
      [ids.area, 'MultiPolygon'],
      [ids.feature, 'MultiPolygon'],
      [ids.polygon, 'MultiPolygon'],
    ])
    const sent = { type: 'MultiPolygon', coordinates: [[RING]] }
    expect(polygons.features.slice(2).map(({ geometry }) => geometry)).toEqual([sent, sent])
  })

  test('of polygons has no geometry for an area that is gone', async () => {
    await unloadRwanda()
    const { features } = await collectionOf('my?kind=polygon')
    const area = features.find(({ id }) => id === ids.area)
    expect(area?.geometry).toBeNull()
    expect(area?.properties?.lat).toBeCloseTo(-1.94, 0)
  })

  test('has names that a Shapefile keeps, each of one layer', async () => {
    const answer = {
      location: { name: 'x', lat: 9.5, lng: 38.5, type: 'point' },
      forage_data: [
        { forage_variety: 'Pennisetum purpureum', suitability_score: 0.1 },
        { forage_variety: 'Panicum purpureum', suitability_score: 0.2 },
        { forage_variety: 'p. PURPUREUM', suitability_score: 0.3 },
        { forage_variety: 'name', suitability_score: 0.4 },
        { forage_variety: 'ሣር', suitability_score: 0.5 },
        { forage_variety: 'Brachiária', suitability_score: 0.6 },
      ],
    }
    const [id = ''] = await keepAt(service, [
      [recordOf(person, { product: 'forage', answer, releases: [] }), new Date('2026-01-01T00:00:00Z')],
    ])
    const { properties } = await featureOf(id)
    expect(Object.entries(properties ?? {}).slice(-6)).toEqual([
      ['P_purpureu', 0.1],
      ['P_purpur_2', 0.2],
      ['p_PURPUR_3', 0.3],
      ['name_2', 0.4],
      ['forage', 0.5],
      ['Brachiaria', 0.6],
    ])
    const { features } = await collectionOf('my?all=true')
    for (const { properties } of features) {
      for (const [name, value] of Object.entries(properties ?? {})) {
        expect(name).toMatch(/^\w{1,10}$/)
        expect(['string', 'number', 'boolean']).toContain(typeof value)
      }
    }
    await service.app.inject({ method: 'DELETE', url: `/history/${id}`, headers: person.headers })
  })

  test.runIf(spawnSync('ogr2ogr', ['--version']).status === 0).each([
    ['GPKG', 'point', 'Point'],
    ['GPKG', 'polygon', 'Multi Polygon'],
    ['ESRI Shapefile', 'point', 'Point'],
    ['ESRI Shapefile', 'polygon', 'Polygon'],
  ])('becomes a %s of every %s without a warning', async (format, kind, type) => {
    const folder = await newFolder()
    const source = join(folder, 'history.geojson')
    const response = await history(service, person, `my?kind=${kind}&all=true`, GEOJSON)
    await writeFile(source, response.body)
    const target = join(folder, format === 'GPKG' ? 'history.gpkg' : 'shapes')
    // Shapefiles are in Latin letters unless they are asked for otherwise.
    const options = format === 'GPKG' ? [] : ['-lco', 'ENCODING=UTF-8']
    const converted = spawnSync('ogr2ogr', ['-f', format, target, source, ...options], { encoding: 'utf8' })
    expect([converted.status, converted.stderr, converted.stdout]).toEqual([0, '', ''])
    const { stdout } = spawnSync('ogrinfo', ['-ro', '-so', '-al', target], { encoding: 'utf8' })
    expect(stdout).toContain(`Geometry: ${type}\n`)
    expect(stdout).toContain(`Feature Count: ${response.json().features.length}\n`)
    expect(stdout).toMatch(/^date: Date/m)
    expect(stdout).toMatch(/^N_Urea: (Integer|Real)/m)
  })
})
