import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { publishRelease } from '#src/catalog/release-queries.ts'
import { loadConfig } from '#src/config.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { findExtent, insertCoverage } from '#src/ingest/queries.ts'
import type { Position } from '#src/lookup/layers.ts'
import { createLookup, type Lookup } from '#src/lookup/lookup.ts'
import { createPixelReader, type PixelReader } from '#src/lookup/pixels.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { createSnapshots } from '#src/lookup/snapshot.ts'
import type { Grid } from '#src/raster/grid.ts'
import { type Band, rasterWkb } from '#test/raster/raster-wkb.ts'
import { openService } from '#test/setup/open-service.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { type CoverageCase, coverage, nullForNaN, pixelsOf, place, SERIES } from './drawn-coverages.ts'

const service = openService({ template: 'empty' })

let versions = 0

test('memory, coalesced queries and ST_Value give the same doubles, whatever the pixels, grid and place', async () => {
  const tiles = await createTileStores(service.database)
  const settings = { ...service.testDatabase.environment, RELEASE_MAX_AGE_MS: '0' }
  const ways = [16, 0].map((megabytes) => ({
    inMemory: megabytes > 0,
    pixels: createPixelReader(service.database, tiles, {
      cacheBytes: megabytes * 1024 ** 2,
      concurrency: 1,
    }),
    lookup: createLookup({
      database: service.database,
      tiles,
      config: loadConfig({ ...settings, TILE_CACHE_MB: String(megabytes) }),
      products: PRODUCTS,
    }),
  })) satisfies { inMemory: boolean; pixels: PixelReader; lookup: Lookup }[]
  const snapshots = createSnapshots(service.database, PRODUCTS, 0)

  await fc.assert(
    fc.asyncProperty(
      fc.array(coverage, { minLength: 1, maxLength: 2 }),
      fc.array(place, { minLength: 5, maxLength: 15 }),
      async (coverages, places) => {
        const code = await store(coverages)
        const positions = await positionsIn((coverages[0] as CoverageCase).grid, places)
        const release = (await snapshots.renewed()).releaseOf(SERIES) as PublishedRelease
        expect(release.code).toBe(code)
        const expected = []
        for (const position of positions) expected.push(await reference(code, position))

        for (const { inMemory, pixels, lookup } of ways) {
          // Twice: with the tiles asked for, and with the tiles in memory.
          for (const _ of [1, 2]) {
            const read = await Promise.all(
              positions.map((position) =>
                Promise.all(release.coverages.map((coverage) => pixels.read(coverage, position))),
              ),
            )
            expect(read.map((found) => pixelsOf(release, found))).toEqual(
              expected.map((answer) => answer.pixels),
            )
            const values = await lookup.inRelease(SERIES, async (_, answering) => {
              expect(answering?.code).toBe(code)
              return lookup.valuesAt(answering as PublishedRelease, positions)
            })
            expect(values.map((found) => found?.map(nullForNaN) ?? null)).toEqual(
              expected.map((answer) => answer.values),
            )
          }
          const remembered = positions.map((position) =>
            release.coverages.map((coverage) => pixels.fromMemory(coverage, position)),
          )
          // Positions on projected grids are for the database to transform.
          for (const [at, found] of remembered.entries()) {
            const known = found.map((_, index) => inMemory && release.coverages[index]?.srid === 4326)
            expect(found.map((one) => one !== undefined)).toEqual(known)
            if (known.every(Boolean)) expect(pixelsOf(release, found)).toEqual(expected[at]?.pixels)
          }
        }
      },
    ),
    // To shrink a case takes minutes: each step stores a release.
    { numRuns: runsOf(24), endOnFailure: true },
  )
})

const TILE_SIZE = 4

/** Stores a release as an ingest would, with tiles that an ingest would not write, too. */
async function store(coverages: CoverageCase[]): Promise<string> {
  const { writer } = service.database
  const code = `fertilizer-eth-wheat-2024-01-v${++versions}`
  const { id: releaseId } = await writer
    .insertInto('release')
    .values({
      code,
      product: 'fertilizer',
      country_code: 'eth',
      crop_code: 'wheat',
      forecast_period: '2024-01-01',
      version: versions,
      synthetic: false,
      source: 'A test',
      licence: 'CC0-1.0',
      checksum: code,
      status: 'ready',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  let ordinal = 0
  for (const { grid, layers, absent } of coverages) {
    const id = await insertCoverage(writer, releaseId, grid, await findExtent(writer, grid))
    await writer.updateTable('coverage').set({ tile_size: TILE_SIZE }).where('id', '=', id).execute()
    for (const [index, { scale, offset, decimals, kind }] of layers.entries()) {
      ordinal++
      await sql`
        insert into layer (release_id, ordinal, coverage_id, band, input, scenario, unit, scale, "offset",
          decimals, pixel_type, valid_count)
        values (${releaseId}, ${ordinal}, ${id}, ${index + 1}, ${`F${ordinal}`}, 'Normal', 'kg/ha', ${scale}, ${offset},
          ${decimals}, ${kind}, 1)`.execute(writer)
    }
    let number = 0
    for (let row = 0; row * TILE_SIZE < grid.height; row++) {
      for (let column = 0; column * TILE_SIZE < grid.width; column++) {
        if (absent.includes(number++ % 7)) continue
        const width = Math.min(TILE_SIZE, grid.width - column * TILE_SIZE)
        const height = Math.min(TILE_SIZE, grid.height - row * TILE_SIZE)
        const bands = layers.map(({ kind, nodata, palette }): Band => {
          const choices = nodata === undefined ? palette : [...palette, nodata]
          const pixels = Array.from(
            { length: width * height },
            (_, at) => choices[(at * 7 + number) % choices.length],
          )
          return { kind, nodata, pixels: pixels as number[] }
        })
        const wkb = rasterWkb(grid, column * TILE_SIZE, row * TILE_SIZE, width, height, bands)
        await sql`
          insert into raster_tile (coverage_id, tile_row, tile_column, rast)
          values (${id}, ${row}, ${column}, ${wkb.toString('hex')}::raster)`.execute(writer)
      }
    }
  }
  await writer.transaction().execute((trx) => publishRelease(trx, code))
  return code
}

/** The point that lies so many pixels from the corner of a grid, in longitude and latitude. */
async function positionsIn(grid: Grid, places: { column: number; row: number }[]): Promise<Position[]> {
  const { rows } = await sql<Position>`
    select st_x(point) as longitude, st_y(point) as latitude
    from unnest(
      ${places.map(({ column }) => grid.originX + column * grid.pixelWidth)}::float8[],
      ${places.map(({ row }) => grid.originY + row * grid.pixelHeight)}::float8[]
    ) with ordinality as place (x, y, ordinal)
    cross join lateral st_transform(st_setsrid(st_makepoint(x, y), ${grid.srid}::integer), 4326) as point
    order by ordinal`.execute(service.database.writer)
  return rows
}

/** One plain query a point: the reference. NaN counts as none. */
async function reference(code: string, { longitude, latitude }: Position) {
  const { rows } = await sql<{ decimals: number; pixel: number | null; value: number | null }>`
    select decimals, nullif(pixel, 'NaN') as pixel, nullif(pixel * scale + "offset", 'NaN') as value
    from release
    join layer on layer.release_id = release.id
    join coverage on coverage.id = layer.coverage_id
    left join lateral coverage_cell(coverage, ${longitude}, ${latitude}) as cell on true
    left join raster_tile as tile on tile.coverage_id = coverage.id
      and tile.tile_row = cell.pixel_row / coverage.tile_size
      and tile.tile_column = cell.pixel_column / coverage.tile_size
    left join lateral st_value(
      tile.rast, layer.band, cell.pixel_column % coverage.tile_size + 1, cell.pixel_row % coverage.tile_size + 1
    ) as pixel on true
    where release.code = ${code}
    order by ordinal`.execute(service.database.writer)
  const values = rows.map(({ value, decimals }) =>
    value === null ? null : Number(value.toFixed(decimals)) + 0,
  )
  return {
    pixels: rows.map(({ pixel }) => pixel),
    values: values.some((value) => value !== null) ? values : null,
  }
}
