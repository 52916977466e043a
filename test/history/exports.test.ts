import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parse } from 'csv-parse/sync'
import type { Feature, FeatureCollection } from 'geojson'
import { sql } from 'kysely'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { beginAnswer } from '#test/setup/begun-answers.ts'
import type { Called } from '#test/setup/calls.ts'
import { newFolder } from '#test/setup/folders.ts'
import { describeOnServer } from '#test/setup/on-server.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { ringOf } from '#test/setup/square.ts'
import { advise, history, keepAt, rate, recordOf } from './advisories.ts'

const CSV = 'text/csv'
const GEOJSON = 'application/geo+json'

const RING = ringOf('38.5 9.5, 38.6 9.5, 38.6 9.6, 38.5 9.5')
const TRIANGLE = { type: 'Polygon', coordinates: [RING] }
const WITH_HEIGHTS = { type: 'MultiPolygon', coordinates: [[RING.map((position) => [...position, 2400])]] }

/** One call of each kind, in the order in which they were made. */
const ids = { point: '', forage: '', all: '', polygon: '', feature: '', area: '', country: '' }

const service = openService()
beforeAll(async () => {
  const { person } = service
  const asked: [keyof typeof ids, path: string, body: object][] = [
    ['point', 'fertilizer/point', { lat: 9.5, lng: 38.5, name: '=cmd|"x", \r\n-2' }],
    ['forage', 'forage/point', { lat: -1, lng: 36.5, country_code: 'ken', name: 'ወንጂ' }],
    ['all', 'point', { lat: 9.5, lng: 38.5 }],
    ['polygon', 'fertilizer', { geometry: TRIANGLE, name: 'Plot' }],
    ['feature', 'yield', { geometry: { type: 'Feature', geometry: WITH_HEIGHTS, properties: null } }],
    ['area', 'isfm', { admin: { country_code: 'RWA', code: 'RWA-01' }, crop: 'potato', name: 'The capital' }],
    ['country', 'forage', { admin: { country_code: 'ken', code: 'KEN', level: 0 } }],
  ]
  for (const [key, path, payload] of asked) {
    ids[key] = (await advise(service, person, path, payload)).body.history_id
  }
  await rate(service, person, ids.point, {
    rating: 4,
    comment: '+1, "fine"',
    observed: { yield_kg_ha: 3000, harvested_on: '2026-11-20' },
  })
})

const read = (text: string): Record<string, string>[] =>
  parse(text, { columns: true, record_delimiter: '\r\n' })

describe('CSV', () => {
  test('has a row for each value, with guarded text, bare numbers, areas, and the release of each product', async () => {
    const { text: body } = await history(service, service.person, 'my', CSV)
    // The outlines of the demo's areas are not the same to the last digit with each version of PostGIS.
    const lines = anonymous(body).split('\n')
    const text = lines.filter((line) => !/^(area|country),/.test(line)).join('\n')
    await expect(text).toMatchFileSnapshot('exports/history.csv')
  })

  test('of an area has the numbers of the answer', async () => {
    const { answer } = (await history(service, service.person, ids.area)).body
    const { area_ha, admin } = answer.location
    const rows = await csv(ids.area)
    const ofAll = { area_ha: String(area_ha), admin_code: admin.code, admin_name: admin.name }
    expect(rows[0]).toMatchObject(ofAll)
    const columns = ['value', 'min', 'max', 'stddev', 'covered_percent', 'total']
    const members = ['rate_tons_ha', 'min', 'max', 'stddev', 'covered_percent', 'total_tons']
    expect(rows.map((row) => columns.map((column) => row[column]))).toEqual(
      answer.isfm_data.map((entry: Record<string, number>) => members.map((member) => String(entry[member]))),
    )
  })

  test('of the list is the same page as in JSON, with the next one in Link', async () => {
    const page = (await history(service, service.person, 'my?limit=3')).body
    const { headers, text } = await history(service, service.person, 'my?limit=3', CSV)
    expect(headers).toMatchObject({
      'content-disposition': 'attachment; filename="history.csv"',
      link: `</history/my?limit=3&cursor=${page.next_cursor}>; rel="next"`,
      vary: 'Accept, Accept-Encoding',
    })
    expect(idsOf(read(text))).toEqual([ids.country, ids.area, ids.feature])
    const next = await csv(`my?limit=4&cursor=${page.next_cursor}`)
    expect(idsOf(next)).toEqual([ids.polygon, ids.all, ids.forage, ids.point])
    expect(next.find(({ id }) => id === ids.forage)?.name).toBe('ወንጂ')
  })

  test('of an empty history is the header', async () => {
    const nobody = await newPerson(service.app)
    const { text } = await history(service, nobody, 'my', CSV)
    const whole = await history(service, service.person, 'my', CSV)
    expect(text).toBe(whole.text.slice(0, whole.text.indexOf('\n') + 1))
  })
})

test.each(['my', 'item'])('a media type that there is none of is refused: %s', async (path) => {
  const response = await history(service, service.person, path === 'my' ? path : ids.point, 'application/pdf')
  expect([response.status, response.body.code]).toEqual([406, 'NOT_ACCEPTABLE'])
})

/** The shape of an area for maps, as it is listed. */
async function outlineOf(country: string, code: string) {
  const response = await service.get(`/admin?admin0=${country}&level=1&geometry=simplified&format=geojson`, {
    by: service.person,
  })
  return (response.body as FeatureCollection).features.find(({ id }) => id === code)?.geometry
}

describe('an item in GeoJSON', () => {
  test('is a Feature of flat properties, a column a layer, with its statistics', async () => {
    const response = await history(service, service.person, ids.point, GEOJSON)
    expect(response.headers['content-type']).toBe(`${GEOJSON}; charset=utf-8`)
    expect(response.headers['content-disposition']).toBe(
      `attachment; filename="history-${ids.point}.geojson"`,
    )
    const { type, id, created_at, geometry, properties } = response.body
    const { answer, ...item } = (await history(service, service.person, ids.point)).body
    expect([type, id, created_at, geometry]).toEqual([
      'Feature',
      ids.point,
      item.created_at,
      { type: 'Point', coordinates: [38.5, 9.5] },
    ])
    const values = Object.entries(properties).filter(([name]) => /^[A-Z]+_(DAP|Urea)_FS$/.test(name))
    const told = answer.fertilizer_data.map(({ rate_kg_ha }: { rate_kg_ha: number }) => rate_kg_ha)
    expect(values.map(([, value]) => value)).toEqual(told)
    const features: Feature[] = []
    for (const key of ['point', 'all', 'polygon'] as const) features.push(await featureOf(ids[key]))
    const all = features.map(({ id, properties }) => ({ id, ...properties, date: 'DAY' }))
    const text = `${JSON.stringify(all, null, 2)}\n`
    await expect(anonymous(text)).toMatchFileSnapshot('exports/properties.json')
  })

  test('of an area has its code, its name and the outline that it has now', async () => {
    const { geometry, properties } = await featureOf(ids.area)
    const area = { adm_level: 1, adm_code: 'RWA-01', adm_name: 'City of Kigali', name: 'The capital' }
    expect(properties).toMatchObject(area)
    expect(geometry?.type).toBe('MultiPolygon')
    expect(geometry).toEqual(await outlineOf('rwa', 'RWA-01'))
  })

  test.each([
    ['as it was asked about', { code: ' RWA-01 ', level: 1 }, undefined, [1, 'RWA-01', 'Kigali']],
    ['without a level', { code: 'RWA-01' }, undefined, [undefined, 'RWA-01', 'Kigali']],
    ['under a label of the caller', { code: 'RWA-01' }, 'Kigali', [undefined, 'RWA-01', undefined]],
  ])(
    'recorded before answers named their area says what is known of it: %s',
    async (_, admin, name, known) => {
      const location = { name: 'Kigali', lat: -1.94, lng: 30.06, type: 'polygon', area_ha: 73_000 }
      const record = recordOf(service.person, {
        kind: 'polygon',
        countryCode: 'rwa',
        request: { admin: { country_code: 'rwa', ...admin }, ...(name && { name }) },
        answer: { location, forecast_period: 'July 2026', yield_data: [] },
      })
      const [id = ''] = await keepAt(service, [[record, new Date('2026-01-01T00:00:00Z')]])
      const { geometry, properties } = await featureOf(id)
      expect([properties?.adm_level, properties?.adm_code, properties?.adm_name]).toEqual(known)
      expect(geometry).toEqual(await outlineOf('rwa', 'RWA-01'))
      await service.delete(`/history/${id}`, { by: service.person })
    },
  )
})

describe('a file of GeoJSON', () => {
  test('has the items of its page, and says where the next one begins', async () => {
    const response = await history(service, service.person, 'my?limit=4', GEOJSON)
    expect(response.headers['content-type']).toBe(`${GEOJSON}; charset=utf-8`)
    expect(response.headers['content-disposition']).toBe('attachment; filename="history.geojson"')
    const { type, features, next_cursor } = response.body
    const page = (await history(service, service.person, 'my?limit=4')).body
    expect([type, next_cursor]).toEqual(['FeatureCollection', page.next_cursor])
    expect(idsOf(features)).toEqual([ids.country, ids.area, ids.feature, ids.polygon])
    expect(response.headers.link).toContain(page.next_cursor)
  })

  test('of points has points, and of polygons MultiPolygons without heights', async () => {
    const geometriesOf = async (kind: string) => {
      const { features } = (await history(service, service.person, `my?kind=${kind}`, GEOJSON)).body
      return features.map(({ id, geometry }: Feature) => [id, geometry])
    }
    const type = (name: string) => expect.objectContaining({ type: name })
    expect(await geometriesOf('point')).toEqual(
      [ids.all, ids.forage, ids.point].map((id) => [id, type('Point')]),
    )
    const sent = { type: 'MultiPolygon', coordinates: [[RING]] }
    const own = [ids.feature, ids.polygon].map((id) => [id, sent])
    const ofAreas = [ids.country, ids.area].map((id) => [id, type('MultiPolygon')])
    expect(await geometriesOf('polygon')).toEqual([...ofAreas, ...own])
  })

  test('of polygons has no geometry for an area that is gone, which by itself is a point inside', async () => {
    const move = (from: string, to: string) =>
      sql`update admin_area set code = ${to} where country_code = 'rwa' and code = ${from}`.execute(
        service.database.writer,
      )
    await move('RWA-01', 'gone')
    onTestFinished(async () => void (await move('gone', 'RWA-01')))
    const { location } = (await history(service, service.person, ids.area)).body
    const { geometry } = await featureOf(ids.area)
    expect(geometry).toEqual({ type: 'Point', coordinates: [location.lng, location.lat] })
    const { features } = (await history(service, service.person, 'my?kind=polygon', GEOJSON)).body
    const area = features.find(({ id }: Feature) => id === ids.area)
    expect([area.geometry, area.properties.lat]).toEqual([null, location.lat])
  })

  test('has names that a Shapefile keeps, each of one layer', async () => {
    const names = ['Pennisetum purpureum', 'Panicum purpureum', 'p. PURPUREUM', 'name', 'ሣር', 'Brachiária']
    const answer = {
      location: { name: 'x', lat: 9.5, lng: 38.5, type: 'point' },
      forage_data: names.map((forage_variety, index) => ({ forage_variety, suitability_score: index / 10 })),
    }
    const record = recordOf(service.person, { product: 'forage', answer, releases: [] })
    const [id = ''] = await keepAt(service, [[record, new Date('2026-01-01T00:00:00Z')]])
    const { properties } = await featureOf(id)
    const columns = ['P_purpureu', 'P_purpur_2', 'p_PURPUR_3', 'name_2', 'forage', 'Brachiaria']
    const expected = columns.map((column, index) => [column, index / 10])
    expect(Object.entries(properties ?? {}).slice(-6)).toEqual(expected)
    const { features } = (await history(service, service.person, 'my?all=true', GEOJSON)).body
    for (const { properties } of features as Feature[]) {
      for (const [name, value] of Object.entries(properties ?? {})) {
        expect(name).toMatch(/^\w{1,10}$/)
        expect(['string', 'number', 'boolean']).toContain(typeof value)
      }
    }
    await service.delete(`/history/${id}`, { by: service.person })
  })

  test.runIf(spawnSync('ogr2ogr', ['--version']).status === 0).each([
    ['GPKG', 'polygon', 'Multi Polygon'],
    ['ESRI Shapefile', 'point', 'Point'],
  ])('becomes a %s of every %s without a warning', async (format, kind, type) => {
    const folder = await newFolder()
    const source = join(folder, 'history.geojson')
    const response = await history(service, service.person, `my?kind=${kind}&all=true`, GEOJSON)
    await writeFile(source, response.text)
    const target = join(folder, format === 'GPKG' ? 'history.gpkg' : 'shapes')
    // Shapefiles are in Latin letters unless they are asked for otherwise.
    const options = format === 'GPKG' ? [] : ['-lco', 'ENCODING=UTF-8']
    const converted = spawnSync('ogr2ogr', ['-f', format, target, source, ...options], { encoding: 'utf8' })
    expect([converted.status, converted.stderr, converted.stdout]).toEqual([0, '', ''])
    const { stdout } = spawnSync('ogrinfo', ['-ro', '-so', '-al', target], { encoding: 'utf8' })
    expect(stdout).toContain(`Geometry: ${type}\n`)
    expect(stdout).toContain(`Feature Count: ${response.body.features.length}\n`)
    expect(stdout).toMatch(/^date: Date/m)
    expect(stdout).toMatch(/^N_Urea(_FS)?: (Integer|Real)/m)
  })
})

describe('a whole history', () => {
  let owner: Person
  let kept: string[]
  beforeAll(async () => {
    owner = await newPerson(service.app)
    const start = Date.UTC(2026, 5, 1)
    kept = await keepAt(
      service,
      Array.from({ length: 250 }, (_, index) => [
        recordOf(owner, { kind: index % 5 === 0 ? 'polygon' : 'point' }),
        new Date(start + index),
      ]),
    )
  })
  const rowsOf = async (who: Pick<Person, 'headers'>, query = '') =>
    read((await history(service, who, `my?all=true${query}`, CSV)).text)

  test('is one table with one header or one collection of all pages, of its owner alone', async () => {
    const { status, headers, text } = await history(service, owner, 'my?all=true', CSV)
    expect([status, headers.link]).toEqual([200, undefined])
    expect(headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="history.csv"',
    })
    expect(read(text).map(({ id }) => id)).toEqual(kept.toReversed())
    expect(text.match(/^id,/gm)).toHaveLength(1)
    expect(await rowsOf(await newPerson(service.app))).toEqual([])
    const { type, features, next_cursor } = (await history(service, owner, 'my?all=true', GEOJSON)).body
    expect([type, next_cursor]).toEqual(['FeatureCollection', null])
    expect(features.map(({ id }: Feature) => id)).toEqual(kept.toReversed())
  })

  test('is filtered as its pages are', async () => {
    const query = '&kind=polygon&from=2026-06-01T00:00:00.100Z&limit=3'
    const expected = kept.filter((_, index) => index % 5 === 0 && index >= 100).toReversed()
    expect((await rowsOf(owner, query)).map(({ id }) => id)).toEqual(expected)
    const none = 'my?all=true&product=isfm'
    expect((await history(service, owner, none, CSV)).text.split('\r\n')).toHaveLength(2)
    const empty = { type: 'FeatureCollection', features: [], next_cursor: null }
    expect((await history(service, owner, none, GEOJSON)).body).toEqual(empty)
  })

  test('is no JSON, and does not begin in the middle', async () => {
    const json = await history(service, owner, 'my?all=true')
    const { next_cursor } = (await history(service, owner, 'my?limit=1')).body
    const middle = await history(service, owner, `my?all=true&cursor=${next_cursor}`, CSV)
    const refusals = [json, middle].map((response) => [response.status, response.body.error])
    expect(refusals).toEqual([
      [400, 'all is for CSV and GeoJSON: ask for them by Accept.'],
      [400, 'cursor must be left out where all is true.'],
    ])
    expect(middle.headers['content-disposition']).toBeUndefined()
  })
})

// It is about sockets, and the same on both databases.
describeOnServer('a long export', () => {
  /** More than the sockets of both sides hold, on many pages. */
  const ITEMS = 80
  const TEXT = 'x'.repeat(200_000)
  let owner: Person
  beforeAll(async () => {
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    owner = await newPerson(service.app)
    const location = { name: TEXT, lat: 9.5, lng: 38.5, type: 'point' }
    const answer = { location, yield_data: [{ scenario: 'Normal', yield_kg_ha: 1 }] }
    const kept = recordOf(owner, { answer })
    await keepAt(
      service,
      Array.from({ length: ITEMS }, (_, index) => [kept, new Date(1e12 + index)]),
    )
  })

  const ask = () =>
    beginAnswer(service.app, 'GET /history/my?all=true', {
      by: owner,
      headers: { accept: CSV },
    })

  const whole = (who: Person) => history(service, who, 'my?all=true', CSV)

  const until = (condition: () => boolean) => vi.waitUntil(condition, { ...PATIENCE, interval: 5 })

  /** How often the database was asked during some work, which is long enough to read a whole history. */
  async function countQueries(work: () => Promise<unknown>): Promise<number> {
    let queries = 0
    const count = () => queries++
    service.database.pool.on('acquire', count)
    for (let time = 0; time < 100; time++) await work()
    service.database.pool.off('acquire', count)
    return queries
  }

  const askNothing = () => service.get('/health/live')

  test('waits for a client that reads slowly, and then comes whole', async () => {
    const { response, socket } = await ask()
    await until(() => socket.writableNeedDrain)
    expect(await countQueries(askNothing)).toBeLessThan(3)
    expect(socket.writableLength).toBeLessThan(2_000_000)
    const rows = read(await text(response))
    expect([rows.length, new Set(rows.map(({ id }) => id)).size]).toEqual([ITEMS, ITEMS])
  })

  test('ends with its client, and makes room for others', async () => {
    const [first, second] = [await ask(), await ask()]
    const third = await whole(owner)
    expect([third.status, third.headers['retry-after']]).toEqual([503, '1'])
    const error = 'Too many exports of histories are under way; try again later.'
    expect(third.body).toMatchObject({ error, code: 'OVERLOADED' })
    expect((await history(service, owner, 'my?limit=1', CSV)).status).toBe(200)
    expect((await whole(await newPerson(service.app))).status).toBe(200)

    first.response.destroy()
    await until(() => first.socket.destroyed)
    expect(await countQueries(askNothing)).toBeLessThan(3)
    const fourth = await ask()
    expect(fourth.response.statusCode).toBe(200)
    for (const { response, socket } of [second, fourth]) {
      response.destroy()
      await until(() => socket.destroyed)
    }
  })

  test('is not read to its end for who asks for its headers alone', async () => {
    const url = '/history/my?all=true'
    const headers = { ...owner.headers, accept: CSV }
    let head: Promise<Called> | undefined
    const queries = await countQueries(async () => {
      head ??= service.head(url, { headers })
      await head
      await askNothing()
    })
    expect(queries).toBeLessThan(10)
    const response = (await head) as Called
    expect([response.status, response.headers['content-length']]).toEqual([200, undefined])
    expect(response.headers['content-type']).toBe('text/csv; charset=utf-8')
  })

  test('is cut off where it cannot be finished, and does not end as if it were whole', async () => {
    const { response, socket } = await ask()
    await until(() => socket.writableNeedDrain)
    const rename = (from: string, to: string) =>
      sql`alter table ${sql.ref(from)} rename to ${sql.ref(to)}`.execute(service.database.writer)
    await rename('advisory_feedback', 'feedback_elsewhere')
    onTestFinished(async () => void (await rename('feedback_elsewhere', 'advisory_feedback')))
    await expect(text(response)).rejects.toThrow('aborted')
    expect(response.complete).toBe(false)
  })
})

async function csv(path: string): Promise<Record<string, string>[]> {
  const response = await history(service, service.person, path, CSV)
  expect(response.headers['content-type']).toBe('text/csv; charset=utf-8')
  return read(response.text)
}

/** A text without what is of this run: ids have the names of their calls. */
function anonymous(text: string): string {
  const named = Object.entries(ids).reduce((all, [name, id]) => all.replaceAll(id, name), text)
  return named.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME').replaceAll('\r', '')
}

const idsOf = (rows: { id?: unknown }[]) => [...new Set(rows.map(({ id }) => id))]

async function featureOf(id: string): Promise<Feature> {
  return (await history(service, service.person, id, GEOJSON)).body
}
