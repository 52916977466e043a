import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { createTileWriter, insertCoverage, insertRelease } from '#src/ingest/queries.ts'
import type { Grid } from '#src/raster/grid.ts'
import { markNodata, storedNodata } from '#src/raster/pixels.ts'
import { decodeTile, TILE_SIZE, tilesOf } from '#src/raster/tiles.ts'
import { openService } from '#test/setup/open-service.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { type Band, meaningOf, part, release } from './drawn-tiles.ts'

let releaseId: number
const service = openService({ template: 'empty' })
beforeAll(async () => {
  const release = await insertRelease(service.database.writer, {
    product: 'forage',
    countryCode: 'eth',
    cropCode: null,
    forecastPeriod: null,
    synthetic: false,
    source: 'A test',
    licence: 'CC0-1.0',
    checksum: 'none',
  })
  releaseId = release.id
})

test('PostGIS and the service have every pixel of every grid, whatever its size, type, nodata value and windows', async () => {
  await fc.assert(
    fc.asyncProperty(release, async ({ width, height, bands, windowWidth, windowHeight }) => {
      const corner = { srid: 4326, originX: 38, originY: 9, pixelWidth: 0.01, pixelHeight: -0.01 }
      const coverageId = await store({ ...corner, width, height }, bands, windowWidth, windowHeight)
      for (const found of [await readBack(coverageId, bands.length), await decodeBack(coverageId)]) {
        const differences: unknown[] = []
        bands.forEach((band, index) => {
          for (let pixel = 0; pixel < width * height; pixel++) {
            const place = `${index + 1} ${Math.floor(pixel / width)} ${pixel % width}`
            const expected = meaningOf(band, pixel)
            // A tile that is left out has no value anywhere.
            if ((found.get(place) ?? null) !== expected && !(expected === 0 && found.get(place) === 0)) {
              differences.push({ place, type: band.type, expected, found: found.get(place) })
            }
          }
        })
        expect(differences.slice(0, 5)).toEqual([])
      }
    }),
    { numRuns: runsOf(24) },
  )
})

test('a band that PostGIS marks as without values is decoded so, and what is no raster is refused', async () => {
  const bandOf = async (raster: string) => {
    const { rows } = await sql<{ wkb: Buffer }>`select (${sql.raw(raster)})::bytea as wkb`.execute(
      service.database.writer,
    )
    return (rows[0] as { wkb: Buffer }).wkb
  }
  const of = (value: number, nodata: number) =>
    `st_addband(st_makeemptyraster(4, 4, 0, 0, 1), '16BUI'::text, ${value}, ${nodata})`
  const marked = decodeTile(await bandOf(`st_setbandisnodata(${of(5, 7)}, 1)`)).bands[0]
  expect(marked).toEqual({ pixels: new Uint16Array(16).fill(7), nodata: 7 })
  const wkb = await bandOf(of(5, 0))
  expect(decodeTile(wkb).bands[0]?.pixels).toEqual(new Uint16Array(16).fill(5))
  const faults: [at: number, byte: number][] = [
    [0, 0],
    [1, 9],
    [61, 9],
    [61, 0x84],
  ]
  for (const [at, byte] of faults) {
    const copy = Buffer.from(wkb)
    copy[at] = byte
    expect(() => decodeTile(copy)).toThrow(RangeError)
  }
  expect(() => decodeTile(wkb.subarray(0, -1))).toThrow(RangeError)
})

async function store(grid: Grid, bands: Band[], windowWidth: number, windowHeight: number): Promise<number> {
  const { database } = service
  const extent = { west: 0, south: 0, east: 1, north: 1 }
  const coverageId = await insertCoverage(database.writer, releaseId, grid, extent)
  const stored = bands.map(({ type, nodata }) => ({ pixelType: type, nodata: storedNodata(type, nodata) }))
  const tiles = createTileWriter(database.writer, coverageId)
  for (let row = 0; row < grid.height; row += windowHeight) {
    for (let column = 0; column < grid.width; column += windowWidth) {
      const window = {
        column,
        row,
        width: Math.min(windowWidth, grid.width - column),
        height: Math.min(windowHeight, grid.height - row),
      }
      const pixels = bands.map((band) => {
        const copy = part(band.pixels, grid.width, window)
        markNodata(copy, band.type, band.nodata)
        return copy
      })
      for (const tile of tilesOf(grid, stored, window, pixels)) await tiles.add(tile)
    }
  }
  await tiles.flush()
  return coverageId
}

/** Every pixel of every band as PostGIS has it, null where it has none; by band, row and column. */
async function readBack(coverageId: number, bands: number): Promise<Map<string, number | null>> {
  const { rows } = await sql<{ place: string; value: number | null }>`
    select
      band || ' ' || tile_row * ${sql.lit(TILE_SIZE)} + y - 1 || ' ' || tile_column * ${sql.lit(TILE_SIZE)} + x - 1
        as place,
      st_value(rast, band, x, y) as value
    from raster_tile
    cross join generate_series(1, ${bands}::integer) as band
    cross join generate_series(1, st_width(rast)) as x
    cross join generate_series(1, st_height(rast)) as y
    where coverage_id = ${coverageId}`.execute(service.database.writer)
  return new Map(rows.map(({ place, value }) => [place, value]))
}

/** The same as the service decodes it. */
async function decodeBack(coverageId: number): Promise<Map<string, number | null>> {
  const { rows } = await sql<{ row: number; column: number; wkb: Buffer }>`
    select tile_row as row, tile_column as column, rast::bytea as wkb
    from raster_tile where coverage_id = ${coverageId}`.execute(service.database.writer)
  const found = new Map<string, number | null>()
  for (const { row, column, wkb } of rows) {
    const { width, bands } = decodeTile(wkb)
    for (const [band, { pixels, nodata }] of bands.entries()) {
      for (const [at, pixel] of pixels.entries()) {
        const [y, x] = [row * TILE_SIZE + Math.floor(at / width), column * TILE_SIZE + (at % width)]
        found.set(`${band + 1} ${y} ${x}`, pixel === nodata ? null : pixel)
      }
    }
  }
  return found
}
