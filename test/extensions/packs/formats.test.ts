import { execFile, spawnSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import initSqlJs from 'sql.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { findPackArea } from '#src/extensions/packs/content.ts'
import { listTableSeries, makeTable, type TableCell } from '#src/extensions/packs/rows.ts'
import { writeParquet } from '#src/extensions/packs/tables.ts'
import { createLookup } from '#src/lookup/lookup.ts'
import { readPng } from '#test/maps/palette-png.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { callUntilMade } from '#test/setup/made-answers.ts'
import { openApp } from '#test/setup/open-service.ts'
import { readRows } from './files.ts'

const service = openApp()

const hasGdal = spawnSync('gdalinfo', ['--version']).error === undefined
const formats = hasGdal ? String(spawnSync('ogrinfo', ['--formats']).stdout) : ''
if (!hasGdal) console.warn('test/extensions/packs/formats.test.ts is skipped in part: it needs gdal-bin.')

const run = async (program: string, ...parameters: string[]) =>
  (await promisify(execFile)(program, parameters)).stdout

const get = (url: string, method: 'GET' | 'HEAD' = 'GET') => callUntilMade(service.app, `${method} ${url}`)

const AREA = 'ETH-03-05'

describe('GeoParquet', () => {
  let bytes: Buffer
  let file: ArrayBuffer
  let rows: Record<string, unknown>[]
  beforeAll(async () => {
    bytes = (await get(`/packs/eth/${AREA}.parquet`)).bytes
    file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer
    rows = await parquetReadObjects({ file, geoparquet: false, utf8: false })
  })

  test('has the rows and columns of the CSV, with numbers as numbers', async () => {
    const texts = readRows((await get(`/packs/eth/${AREA}.csv`)).text)
    expect(rows.map(({ geometry: _, ...row }) => row)).toEqual(
      texts.map((row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, text]) => {
            const isText =
              /^(name|label|.*_code|.*_name|(release|forecast_month|valid_until|synthetic)_.*|.*_(scenario_of|condition).*)$/
            return [name, text === '' ? null : isText.test(name) ? text : Number(text)]
          }),
        ),
      ),
    )
  })

  test('lets others go on before each column and each hundred rows, in row groups of 400,000 cells', async () => {
    let pauses = 0
    const pause = async () => {
      pauses++
    }
    const lookup = createLookup(service.app)
    const sources = { app: service.app, lookup, pause }
    await lookup.inSnapshot(async (snapshot) => {
      const area = await findPackArea(sources, snapshot, { countryCode: 'eth', code: AREA, level: null })
      const table = await makeTable(sources, area, listTableSeries(sources, snapshot, 'eth'))
      const slices: TableCell[][][] = []
      for await (const slice of table.slices) slices.push(slice)
      expect(Math.max(...slices.map(({ length }) => length))).toBeLessThanOrEqual(100)
      pauses = 0
      async function* again() {
        yield* slices
      }
      const pieces: Uint8Array[] = []
      for await (const piece of writeParquet(area, { ...table, slices: again() }, pause)) pieces.push(piece)
      const made = Buffer.concat(pieces)
      const { row_groups: groups, num_rows: count } = parquetMetadata(
        made.buffer.slice(made.byteOffset, made.byteOffset + made.length) as ArrayBuffer,
      )
      const columns = table.columns.length + 1
      expect(pauses).toBeGreaterThanOrEqual(groups.length * columns)
      expect(Number(count)).toBe(slices.flat().length)
      const most = Math.ceil(400_000 / table.columns.length)
      expect(groups.map((group) => [group.columns.length, Number(group.num_rows)])).toEqual(
        groups.map((_, at) => [columns, Math.min(most, slices.flat().length - at * most)]),
      )
    })
  })

  test('has the centres of pixels as points', async () => {
    for (const { geometry, lat, lng } of rows) {
      const point = Buffer.from(geometry as Uint8Array)
      expect([point.length, point.readUInt8(0), point.readUInt32LE(1)]).toEqual([21, 1, 1])
      expect([point.readDoubleLE(5), point.readDoubleLE(13)]).toEqual([lng, lat])
    }
    const decoded = await parquetReadObjects({ file, columns: ['geometry'], rowEnd: 1 })
    expect(decoded[0]?.geometry).toEqual({ type: 'Point', coordinates: [rows[0]?.lng, rows[0]?.lat] })
  })

  test('says what it is, whose it is, and where its row groups are', () => {
    const { key_value_metadata: pairs = [], row_groups: groups, schema } = parquetMetadata(file)
    const said = Object.fromEntries(pairs.map(({ key, value }) => [key, JSON.parse(value ?? 'null')]))
    const [lats, lngs] = [rows.map(({ lat }) => lat as number), rows.map(({ lng }) => lng as number)]
    expect(said.geo).toEqual({
      version: '1.1.0',
      primary_column: 'geometry',
      columns: {
        geometry: {
          encoding: 'WKB',
          geometry_types: ['Point'],
          bbox: [Math.min(...lngs), Math.min(...lats), Math.max(...lngs), Math.max(...lats)],
        },
      },
    })
    expect(said.agro.area).toEqual({ country_code: 'eth', level: 2, code: AREA, name: rows[0]?.area_name })
    expect(said.agro.releases[0]).toMatchObject({ release: rows[0]?.release_yield_wheat, synthetic: true })
    expect(schema.find(({ name }) => name === 'geometry')).toMatchObject({
      type: 'BYTE_ARRAY',
      repetition_type: 'REQUIRED',
    })
    const statistics = groups[0]?.columns.find(({ meta_data: data }) => data?.path_in_schema[0] === 'lat')
      ?.meta_data?.statistics
    expect([statistics?.min_value, statistics?.max_value]).toEqual([Math.min(...lats), Math.max(...lats)])
  })

  test.runIf(/parquet/i.test(formats))('is read by GDAL', async () => {
    const path = join(await newFolder(), 'area.parquet')
    await writeFile(path, bytes)
    expect(await run('ogrinfo', '-so', '-al', path)).toContain(`Feature Count: ${rows.length}`)
  })
})

describe('MBTiles', () => {
  let bytes: Buffer
  let metadata: Record<string, string>
  let tiles: { zoom: number; column: number; row: number; picture: Uint8Array }[]
  beforeAll(async () => {
    bytes = (await get(`/packs/eth/${AREA}.mbtiles`)).bytes
    const { Database } = await initSqlJs()
    const database = new Database(bytes)
    const rowsOf = (query: string) => database.exec(query)[0]?.values ?? []
    metadata = Object.fromEntries(rowsOf('select name, value from metadata'))
    tiles = rowsOf('select zoom_level, tile_column, tile_row, tile_data from tiles').map(
      ([zoom, column, row, picture]) => ({ zoom, column, row, picture }) as (typeof tiles)[number],
    )
    database.close()
  })

  test('has the tiles of the service, counted from the south', async () => {
    const { release, layer } = metadata
    expect(tiles.length).toBeGreaterThan(7)
    for (const { zoom, column, row, picture } of tiles) {
      const path = `/releases/${release}/layers/${layer}/tiles/${zoom}/${column}/${2 ** zoom - 1 - row}`
      expect((await service.get(path)).bytes.equals(picture)).toBe(true)
    }
  })

  test('covers the area at each zoom up to one with fields, or to 200 tiles', async () => {
    const { release, layer, minzoom, maxzoom, bounds } = metadata as Record<string, string>
    const tileset = (await service.get(`/releases/${release}/layers/${layer}/tiles.json`)).body
    expect(Number(maxzoom)).toBeGreaterThan(tileset.maxzoom)
    const [west, south, east, north] = (bounds as string).split(',').map(Number) as [
      number,
      number,
      number,
      number,
    ]
    // Tile numbers by the formulas of OpenStreetMap's wiki, "Slippy map tilenames".
    const placeOf = (lng: number, lat: number, zoom: number) => {
      const radians = (lat * Math.PI) / 180
      return [
        Math.floor(((lng + 180) / 360) * 2 ** zoom),
        Math.floor(((1 - Math.asinh(Math.tan(radians)) / Math.PI) / 2) * 2 ** zoom),
      ] as const
    }
    const listPlaces = (zoom: number) => {
      const places: string[] = []
      const [[left, top], [right, bottom]] = [placeOf(west, north, zoom), placeOf(east, south, zoom)]
      for (let column = left; column <= right; column++) {
        for (let row = top; row <= bottom; row++) places.push(`${zoom} ${column} ${2 ** zoom - 1 - row}`)
      }
      return places
    }
    const expected: string[] = []
    for (let zoom = Number(minzoom); zoom <= Number(maxzoom); zoom++) expected.push(...listPlaces(zoom))
    expect(listPlaces(Number(maxzoom)).length).toBeLessThanOrEqual(200)
    expect(Number(maxzoom) === 14 || listPlaces(Number(maxzoom) + 1).length > 200).toBe(true)
    expect(tiles.map(({ zoom, column, row }) => `${zoom} ${column} ${row}`).sort()).toEqual(expected.sort())
  })

  test('says what it shows, and that it is synthetic', async () => {
    expect(metadata).toMatchObject({
      name: expect.stringContaining('Predicted yield, wheat, Normal'),
      format: 'png',
      type: 'overlay',
      synthetic: 'true',
      attribution: expect.stringContaining(metadata.release as string),
      description: expect.stringContaining('Synthetic'),
    })
    const { release, layer } = metadata
    const tileset = (await service.get(`/releases/${release}/layers/${layer}/tiles.json`)).body
    expect(JSON.parse(metadata.legend as string)).toEqual(tileset.classes)
  })

  test('is of the layer that the request names', async () => {
    const { release } = metadata
    const other = await get(`/packs/eth/${AREA}.mbtiles?release=${release}&layer=3`)
    expect(other.headers['content-disposition']).toContain(`eth-${AREA}-${release}-3.mbtiles`)
    const one = await get(`/packs/eth/${AREA}.mbtiles`, 'HEAD')
    expect(other.headers.etag).not.toBe(one.headers.etag)
    expect(other.bytes.equals(bytes)).toBe(false)
  })

  test.runIf(hasGdal)('is read by GDAL, pixel by pixel as the service draws it', async () => {
    const path = join(await newFolder(), 'area.mbtiles')
    await writeFile(path, bytes)
    const info = JSON.parse(await run('gdalinfo', '-json', path))
    expect(info.driverShortName).toBe('MBTiles')
    expect(info.metadata[''].attribution).toBe(metadata.attribution)
    const { maxzoom, release, layer } = metadata
    const zoom = Number(maxzoom)
    const highest = tiles.filter((one) => one.zoom === zoom)
    const { column, row } = highest[Math.floor(highest.length / 2)] as (typeof tiles)[number]
    const north = 2 ** zoom - 1 - row
    const { bytes: picture } = await service.get(
      `/releases/${release}/layers/${layer}/tiles/${zoom}/${column}/${north}`,
    )
    const { colourAt } = readPng(picture)
    const [originX, size, , originY] = info.geoTransform
    const half = 20_037_508.342_789_244
    const tileSide = (2 * half) / 2 ** zoom
    const left = Math.round((column * tileSide - half - originX) / size)
    const top = Math.round((originY - (half - north * tileSide)) / size)
    let compared = 0
    for (let at = 0; at < 256; at += 17) {
      const [x, y] = [left + at, top + ((at * 7) % 256)]
      if (x < 0 || y < 0 || x >= info.size[0] || y >= info.size[1]) continue
      const values = (await run('gdallocationinfo', '-valonly', path, String(x), String(y)))
        .trim()
        .split('\n')
        .map(Number)
      const colour = colourAt(at, (at * 7) % 256)
      expect(values[3]).toBe(colour === null ? 0 : 255)
      const seen = `#${Buffer.from(values.slice(0, 3)).toString('hex')}`
      if (colour !== null) expect(seen).toBe(colour)
      compared++
    }
    expect(compared).toBeGreaterThan(0)
  })
})

test('the page has a weak tag and no ranges, since it says when it was made', async () => {
  const url = `/packs/eth/${AREA}.html`
  const page = await get(url)
  expect(page.status).toBe(200)
  expect(page.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    etag: expect.stringMatching(/^W\/"/),
    'content-disposition': `attachment; filename="eth-${AREA}.html"`,
  })
  expect(page.headers).not.toHaveProperty('accept-ranges')
  expect(page.bytes.length).toBeLessThan(2_000_000)
  const ask = (headers: Record<string, string>) => service.get(url, { headers })
  expect((await ask({ range: 'bytes=0-9' })).status).toBe(200)
  expect((await ask({ 'if-none-match': String(page.headers.etag) })).status).toBe(304)
  expect((await get(url, 'HEAD')).headers.etag).toBe(page.headers.etag)
})

// The embedded database has one process at a time.
describe.skipIf(process.env.TEST_DATABASE_KIND === 'embedded')('agro pack', () => {
  const agro = (...parameters: string[]) => runAgro(service.testDatabase, 'pack', ...parameters)

  test.each(['csv', 'parquet', 'mbtiles'])(
    'writes the same %s as the service answers with',
    async (format) => {
      const out = join(await newFolder(), `area.${format}`)
      const { code, stdout } = await agro(AREA, '--country', 'eth', '--out', out, '--json')
      const { bytes, headers } = await get(`/packs/eth/${AREA}.${format}`)
      expect([code, JSON.parse(stdout)]).toEqual([
        0,
        { area: AREA, format, file: out, bytes: bytes.length, etag: headers.etag },
      ])
      expect(bytes.equals(await readFile(out))).toBe(true)
    },
  )

  test('refuses what it cannot write with a sentence, and leaves no file', async () => {
    const folder = await newFolder()
    const out = join(folder, 'area.csv')
    const refusals = [
      [
        ['none', '--country', 'eth', '--out', out],
        'Ethiopia has no area with the code none; GET /places finds codes by names.',
      ],
      [
        [AREA, '--country', 'eth', '--out', join(folder, 'area.doc')],
        /^The ending of .* is no format: name one of html, csv/,
      ],
      [
        [AREA, '--country', 'eth', '--out', out, '--layer', '2'],
        /^--release and --layer choose what mbtiles show/,
      ],
      [[AREA, '--country', 'eth', '--out', join(folder, 'none', 'area.csv')], /cannot be written: ENOENT/],
    ] as const
    for (const [parameters, sentence] of refusals) {
      const { code, stderr } = await agro(...parameters)
      expect([code, stderr]).toEqual([1, expect.stringMatching(sentence)])
    }
    expect(await readdir(folder)).toEqual([])
  })
})
