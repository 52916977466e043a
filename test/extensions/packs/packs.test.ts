// Runs on both databases: it reads shapes of areas, and transforms positions. What becomes of both is the same.
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { beforeAll, expect, test, vi } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { columnsOf } from '#test/advice/columns.ts'
import { loadRegion } from '#test/maps/certain-releases.ts'
import { callUntilMade } from '#test/setup/made-answers.ts'
import { describeOnServer, testOnServer } from '#test/setup/on-server.ts'
import { openApp } from '#test/setup/open-service.ts'
import { createRandom } from '#test/setup/random.ts'
import { gridOf, layerOf, operatorOf, releaseOn } from '#test/setup/releases.ts'
import { type PackRow, readRows } from './files.ts'

const service = openApp({ settings: { RELEASE_MAX_AGE_MS: '0' } })

describeOnServer.each([
  ['eth', 'ETH-03-05', 'wheat', 11],
  ['rwa', 'RWA-02', undefined, 12],
  ['eth', 'ETH-13', 'wheat', 13],
])('the table of %s %s', (country, code, _, seed) => {
  let rows: PackRow[]
  beforeAll(async () => {
    rows = readRows((await get(`/packs/${country}/${code}.csv`)).text)
  })

  test('has a row for each pixel of the finest grid that it covers, also in part', async () => {
    const names = rows.map(({ name }) => name)
    expect(new Set(names).size).toBe(rows.length)
    expect(names.length).toBeGreaterThan(50)
    expect(names).toEqual(await listPixels(code, 'yield'))
  })

  test('has in 200 rows the very numbers that the service answers with there', async () => {
    const draw = createRandom(seed)
    const { crops } = (await service.get('/catalog')).body.countries.find(
      (one: { code: string }) => one.code === country,
    )
    const columns = Object.keys(rows[0] as PackRow)
    for (let drawn = 0; drawn < Math.min(200, rows.length); drawn++) {
      const row = rows[Math.floor(draw() * rows.length)] as PackRow
      const place = { country_code: country, lat: Number(row.lat), lng: Number(row.lng) }
      const cells: PackRow = {}
      for (const { code: product, seasonal } of PRODUCTS.list) {
        for (const crop of seasonal ? crops : [null]) {
          Object.assign(cells, await askCells(product, crop, place))
        }
      }
      const inRow = Object.entries(row).filter(
        ([name, cell]) => /^(yield|fertilizer|isfm|forage)_/.test(name) && cell,
      )
      const answered = Object.entries(cells).filter(([name]) => !name.startsWith('release_'))
      expect(Object.fromEntries(inRow)).toEqual(Object.fromEntries(answered))
      for (const [name, release] of Object.entries(cells)) {
        expect(columns).toContain(name)
        if (name.startsWith('release_')) expect(row[name]).toBe(release)
      }
    }
  })

  test('has the corner and the size of pixels, by which a form finds the row of each place in the area', async () => {
    const byName = new Map(rows.map((row) => [row.name, row]))
    const { grid_lat, grid_lng, pixel_lat, pixel_lng } = rows[0] as PackRow
    for (const place of await drawWithin(code, 50)) {
      const column = Math.trunc((place.lng - Number(grid_lng)) / Number(pixel_lng))
      const line = Math.trunc((place.lat - Number(grid_lat)) / Number(pixel_lat))
      const row = byName.get(`${column}_${line}`)
      const crop = country === 'eth' ? 'wheat' : null
      const cells = await askCells(crop ? 'yield' : 'forage', crop, { ...place, country_code: country })
      expect(row).toMatchObject(cells)
    }
  })

  test('names the area and those above it, and each row for a list of ODK', async () => {
    const { items } = (
      await service.get(`/coverage?country_code=${country}&area=${code}&level=${code.split('-').length - 1}`)
    ).body
    for (const row of rows.slice(0, 3)) {
      expect(row).toMatchObject({ country_code: country, area_code: code, area_name: items[0].name })
      expect(row.label).toBe(`${row.area_name} ${row.lat}, ${row.lng}`)
      expect(row.name).toMatch(/^\d+_\d+$/)
    }
    const columns = Object.keys(rows[0] as PackRow)
    expect(columns.includes('level1_name')).toBe(code.split('-').length > 2)
    // XPath, and so ODK, takes such names alone.
    expect(columns.filter((name) => !/^[\p{L}_][\p{L}\p{N}_.-]*$/u.test(name))).toEqual([])
    expect(new Set(columns.map((name) => name.toLowerCase())).size).toBe(columns.length)
  })
})

testOnServer(
  'a pack is found in any case, is the same file each time, and is answered as HTTP has files',
  async () => {
    const whole = await get('/packs/eth/ETH-03-05.csv')
    const size = whole.bytes.length
    const { etag } = whole.headers as { etag: string }
    expect(whole.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-length': String(size),
      'content-disposition': 'attachment; filename="eth-ETH-03-05.csv"',
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=60, stale-if-error=86400',
    })
    const other = await get('/packs/ETH/eth-03-05.csv')
    expect([other.headers.etag, other.bytes.equals(whole.bytes)]).toEqual([etag, true])
    const part = await get('/packs/eth/ETH-03-05.csv', { range: 'bytes=10-19', 'if-range': etag })
    expect([part.status, part.headers['content-range']]).toEqual([206, `bytes 10-19/${size}`])
    expect(part.bytes.equals(whole.bytes.subarray(10, 20))).toBe(true)
    const beyond = await get('/packs/eth/ETH-03-05.csv', { range: `bytes=${size}-` })
    expect([beyond.status, beyond.body.code]).toEqual([416, 'RANGE_NOT_SATISFIABLE'])
    expect((await get('/packs/eth/ETH-03-05.csv', { 'if-none-match': etag })).status).toBe(304)
    expect((await get('/packs/eth/ETH-03-05.csv', { 'if-none-match': etag }, 'HEAD')).status).toBe(304)
    const head = await get('/packs/eth/ETH-03-05.csv', {}, 'HEAD')
    expect([head.status, head.headers.etag, head.headers['content-length'], head.text]).toEqual([
      200,
      etag,
      String(size),
      '',
    ])
  },
)

testOnServer('a text is compressed once, and stored so', async () => {
  const url = '/packs/eth/ETH-03-05.csv'
  const plain = await get(url)
  const gzip = { 'accept-encoding': 'gzip' }
  const small = await get(url, gzip)
  const weak = `W/${plain.headers.etag}`
  expect(small.headers).toMatchObject({
    ...{ 'content-encoding': 'gzip', 'content-length': String(small.bytes.length), etag: weak },
    vary: expect.stringContaining('Accept-Encoding'),
  })
  expect(small.headers).not.toHaveProperty('accept-ranges')
  expect(gunzipSync(small.bytes).equals(plain.bytes)).toBe(true)
  const again = await get(url, { ...gzip, 'if-none-match': weak })
  expect([again.status, again.headers.etag]).toEqual([304, weak])
  const head = await get(url, gzip, 'HEAD')
  expect([head.headers['content-length'], head.headers.etag]).toEqual([String(small.bytes.length), weak])
  const part = await get(url, { ...gzip, range: 'bytes=0-9' })
  expect([part.status, part.headers['content-encoding']]).toEqual([206, undefined])
  const refused = await get('/packs/eth/ETH-99.csv', gzip)
  expect([refused.status, refused.body.code]).toEqual([404, 'UNKNOWN_AREA'])
})

testOnServer('a page that turns out too large is refused from then on without being made', async () => {
  const url = '/packs/eth/ETH.html'
  expect((await get(url, {}, 'HEAD')).status).toBe(200)
  const first = await get(url)
  expect([first.status, first.body.code]).toEqual([413, 'TOO_MANY_POINTS'])
  const next = vi.spyOn(service.app.slices, 'next')
  expect((await get(url)).body.error).toBe(first.body.error)
  expect((await get(url, {}, 'HEAD')).status).toBe(413)
  expect(next.mock.calls.filter(([{ caller }]) => caller === 'packs')).toEqual([])
  next.mockRestore()
})

testOnServer('HEAD makes nothing, and has the tag of the file that GET makes', async () => {
  const next = vi.spyOn(service.app.slices, 'next')
  const head = await get('/packs/eth/ETH-06.csv', {}, 'HEAD')
  expect([head.status, next.mock.calls.length]).toEqual([200, 0])
  expect(head.headers).not.toHaveProperty('content-length')
  const { headers } = await get('/packs/eth/ETH-06.csv')
  expect(headers.etag).toBe(head.headers.etag)
  expect(next.mock.calls.map(([clientKey]) => clientKey)).toContainEqual({ network: '', caller: 'packs' })
  expect(next.mock.calls.filter(([{ network }]) => network !== '')).toEqual([])
  next.mockRestore()
})

testOnServer.each([
  [
    '/packs/eth/ETH-99.csv',
    404,
    'UNKNOWN_AREA',
    'Ethiopia has no area with the code ETH-99; GET /places finds codes by names.',
  ],
  [
    '/packs/eth/a.b%2Fc.parquet',
    404,
    'UNKNOWN_AREA',
    'Ethiopia has no area with the code a.b/c; GET /places finds codes by names.',
  ],
  [
    '/packs/eth/ETH-03-05.csv?level=1',
    404,
    'UNKNOWN_AREA',
    'Ethiopia has no area of level 1 with the code ETH-03-05; GET /places finds codes by names.',
  ],
  ['/packs/eth/ETH-03-05.mbtiles?release=none', 400, 'INVALID_PARAMETERS', /^release must be one of /],
  ['/packs/eth/ETH-03-05.mbtiles?layer=1000', 400, 'INVALID_PARAMETERS', /^layer must be at most /],
  ['/packs/nil/ETH-03-05.csv', 400, 'INVALID_PARAMETERS', /^country must be one of /],
])('%s is refused with a reason', async (url, status, code, sentence) => {
  for (const method of ['GET', 'HEAD'] as const) {
    const answer = await get(url, {}, method)
    expect([answer.status, answer.headers['cache-control']]).toEqual([status, 'no-store'])
    if (method === 'HEAD') continue
    expect(answer.body).toMatchObject({ code, error: expect.stringMatching(sentence) })
  }
})

testOnServer('the largest country of the demo has all of its pixels in a table', async () => {
  const { text } = await get('/packs/eth/ETH.csv')
  const names = [...text.matchAll(/^\d+_\d+(?=,)/gm)].map(([name]) => name)
  expect(names.length).toBeGreaterThan(30_000)
  expect(names).toEqual(await listPixels('ETH', 'yield'))
})

const load = (grid: ReturnType<typeof gridOf>, value: (at: number) => number, forecastPeriod: string) => {
  const pixels = Float32Array.from({ length: grid.width * grid.height }, (_, at) => value(at))
  const layers = [{ ...layerOf(''), input: null }]
  return loadRelease(
    service.database,
    releaseOn(grid, layers, [pixels], { product: 'yield', forecastPeriod, checksum: forecastPeriod }),
    { publish: true },
  )
}

testOnServer(
  'an area with more pixels than a table may have is refused with the codes below, before it is made',
  async () => {
    const before = await get('/packs/eth/ETH-03.csv', {}, 'HEAD')
    // Pixels of 1 km: Amhara has some 130,000.
    const { code } = await load(gridOf(4326, [33, 15], [0.01, -0.01], [1500, 1150]), () => 1, '2027-01-01')
    for (const format of ['csv', 'parquet']) {
      const answer = await get(`/packs/eth/ETH-03.${format}`)
      expect(answer.status).toBe(413)
      const { code: error, error: sentence, details } = answer.body
      expect(error).toBe('TOO_MANY_POINTS')
      expect(sentence).toMatch(
        /^Amhara \(ETH-03\) has \d+ pixels, and a pack at most 50000\. Ask for areas of level 2 in it: /,
      )
      expect(details[0].allowed).toContain('ETH-03-05')
      expect((await get(`/packs/eth/ETH-03.${format}`, {}, 'HEAD')).status).toBe(413)
    }
    expect((await get('/packs/eth/ETH-03-05.csv')).status).toBe(200)
    await operatorOf(service.database).remove(code, true)
    expect((await get('/packs/eth/ETH-03.csv', {}, 'HEAD')).headers.etag).toBe(before.headers.etag)
  },
)

testOnServer('a finer grid that ends within an area leaves the rows of the whole area', async () => {
  const url = '/packs/eth/ETH-03-05.csv'
  const before = readRows((await get(url)).text)
  const { lat, lng } = before[Math.floor(before.length / 2)] as PackRow
  const { code } = await load(
    gridOf(4326, [Number(lng), Number(lat)], [0.005, -0.005], [40, 40]),
    () => 7,
    '2027-03-01',
  )
  const rows = readRows((await get(url)).text)
  expect(rows.map(({ name }) => name)).toEqual(before.map(({ name }) => name))
  const yields = new Set(rows.map((row) => row.yield_wheat_yield_kg_ha_Normal))
  expect(yields).toEqual(new Set(['7', '']))
  await operatorOf(service.database).remove(code, true)
})

test('a release that takes the place of another one has another pack and tag, which the old one has never', async () => {
  const url = '/packs/eth/ETH-06.csv'
  const old = await get(url)
  const grid = gridOf(32637, [600_000, 1_200_000], [5000, -5000], [60, 60])
  const { code } = await load(grid, (at) => at, '2027-02-01')
  const head = await get(url, {}, 'HEAD')
  expect(head.headers.etag).not.toBe(old.headers.etag)
  const fresh = await get(url, { 'if-none-match': String(old.headers.etag) })
  expect([fresh.status, fresh.headers.etag]).toEqual([200, head.headers.etag])
  const rows = readRows(fresh.text)
  expect(new Set(rows.map((row) => row.release_yield_wheat))).toEqual(new Set([code]))

  // The finest grid is projected: each row has the pixel that PostGIS finds at its position, and no form can.
  expect(rows.length).toBeGreaterThan(30)
  expect(rows[0]).toMatchObject({ grid_lat: '', grid_lng: '', pixel_lat: '', pixel_lng: '' })
  const draw = createRandom(7)
  for (let drawn = 0; drawn < 50; drawn++) {
    const row = rows[Math.floor(draw() * rows.length)] as PackRow
    const [column, line] = (row.name as string).split('_').map(Number) as [number, number]
    const place = { country_code: 'eth', lat: Number(row.lat), lng: Number(row.lng) }
    const cells = await askCells('yield', 'wheat', place)
    expect(cells.yield_wheat_yield_kg_ha_Normal).toBe(String(line * 60 + column))
    expect(row.yield_wheat_yield_kg_ha_Normal).toBe(cells.yield_wheat_yield_kg_ha_Normal)
  }
  await operatorOf(service.database).remove(code, true)
  const again = await get(url)
  expect([again.headers.etag, again.bytes.equals(old.bytes)]).toEqual([old.headers.etag, true])
})

testOnServer(
  'boundaries of another country leave the tag of a pack, and those of its own change it',
  async () => {
    const url = '/packs/eth/ETH-06.csv'
    const { etag } = (await get(url, {}, 'HEAD')).headers
    const reload = (country: string) =>
      sql`update boundary_set set loaded_at = now() where country_code = ${country}`.execute(
        service.database.writer,
      )
    await reload('ken')
    expect((await get(url, {}, 'HEAD')).headers.etag).toBe(etag)
    await reload('eth')
    expect((await get(url, {}, 'HEAD')).headers.etag).not.toBe(etag)
  },
)

describeOnServer('an area that is smaller than a pixel', () => {
  const small = openApp({
    template: 'empty',
    prepare: async (database) => {
      await loadRegion(database)
      const grid = gridOf(4326, [30, 20], [20, -20], [1, 1])
      const layers = [{ ...layerOf(''), input: null }]
      await loadRelease(database, releaseOn(grid, layers, [Float32Array.of(5)], { product: 'yield' }), {
        publish: true,
      })
    },
  })

  test('has a row with a place of it', async () => {
    const { text: body } = await callUntilMade(small.app, 'GET /packs/eth/A.csv')
    const [row, ...others] = readRows(body)
    expect([others, row?.name]).toEqual([[], '0_0'])
    const place = { lat: Number(row?.lat), lng: Number(row?.lng), country_code: 'eth' }
    const payload = { ...place, crop: 'wheat' }
    const answer = await small.post('/advisory/yield/point', { payload })
    expect([answer.status, row?.yield_wheat_yield_kg_ha_Normal]).toEqual([200, '5'])
  })
})

const get = (url: string, headers = {}, method: 'GET' | 'HEAD' = 'GET') =>
  callUntilMade(service.app, `${method} ${url}`, { headers })

/** The cells of a product as the answer of a point has them; none for a place without values. */
async function askCells(code: string, crop: string | null, place: object): Promise<PackRow> {
  const { status, headers, body } = await service.post(`/advisory/${code}/point`, {
    payload: { ...place, ...(crop !== null && { crop }) },
  })
  if (status === 404) return {}
  expect(status).toBe(200)
  const prefix = crop === null ? code : `${code}_${crop}`
  const cells = columnsOf(body).map(([name, value]) => [
    `${prefix}_${name.replaceAll(/[^\p{L}\p{N}_.-]+/gu, '_')}`,
    String(value),
  ])
  return { [`release_${prefix}`]: headers['advisory-release'], ...Object.fromEntries(cells) }
}

/** The names of the pixels of a grid of degrees of which PostGIS finds a thousandth in an area. */
async function listPixels(code: string, product: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with grid as (
      select coverage.* from coverage
      join release on release.id = release_id
      join publication on publication.release_id = release.id
      join admin_area as area on area.country_code = release.country_code and area.code = ${code}
      where release.product = ${product}
      order by pixel_width limit 1
    )
    select "column" || '_' || "row" as name
    from grid
    cross join lateral generate_series(0, width - 1) as "column"
    cross join lateral generate_series(0, height - 1) as "row"
    cross join lateral (select st_setsrid(st_envelope(st_makeline(
      st_makepoint(origin_x + "column" * pixel_width, origin_y + "row" * pixel_height),
      st_makepoint(origin_x + ("column" + 1) * pixel_width, origin_y + ("row" + 1) * pixel_height)
    )), 4326) as square) as pixel
    join (select geom from admin_area where code = ${code} order by level limit 1) as area
      on st_intersects(geom, square) and st_area(st_intersection(geom, square)) > 0.001 * st_area(square)
    order by "row", "column"`.execute(service.database.reader)
  return rows.map(({ name }) => name)
}

/** Places in an area, by PostGIS. */
async function drawWithin(code: string, count: number): Promise<{ lng: number; lat: number }[]> {
  const { rows } = await sql<{ lng: number; lat: number }>`
    select round(st_x(place)::numeric, 7)::float8 as lng, round(st_y(place)::numeric, 7)::float8 as lat
    from (
      select (st_dump(st_generatepoints(geom, ${count}::integer, 1))).geom as place
      from admin_area where code = ${code} order by level limit 1
    ) as drawn`.execute(service.database.reader)
  return rows
}
