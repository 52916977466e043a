// Runs on a server alone: what is stored of a raster is the same on both; rasters.test.ts tries each type of pixel.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingestManifest, kindFixture, manifestText, writeManifest } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'
import { TAGS, type TiffOptions } from './tiff.ts'

let ingest: RefusingIngest
beforeAll(async () => {
  ingest = await createRefusingIngest()
  await raster('west.tif', 38)
})
afterAll(() => ingest.close())

/** A raster of 20 x 20 pixels of 0.01 degrees that begins at a longitude, and has ones. */
const raster = (name: string, lng: number, { tags, ...options }: Partial<TiffOptions> = {}) =>
  ingest.writeRaster(name, {
    tags: { [TAGS.tiepoints]: ['double', [0, 0, 0, lng, 9, 0]], ...tags },
    ...options,
  })

/** Why a layer of these files is refused. */
const refusalOf = (files: string[], settings: Record<string, unknown> = {}) =>
  ingest.refusalOf(manifestText([{ files, ...settings }]))

/** Everything that is stored of the pixels of a release, in order. */
async function tilesOf(code: string): Promise<unknown[]> {
  const { rows } = await sql`
    select tile_row, tile_column, rast::bytea as wkb
    from raster_tile
    join coverage on coverage.id = raster_tile.coverage_id
    join release on release.id = coverage.release_id
    where release.code = ${code}
    order by tile_row, tile_column`.execute(ingest.database.writer)
  return rows
}

/** Of all values of a release. */
async function sumOf(code: string): Promise<number> {
  const { rows } = await sql<{ sum: number }>`
    select round(sum(mean * valid_count)) as sum
    from layer join release on release.id = layer.release_id
    where release.code = ${code}`.execute(ingest.database.writer)
  return Number(rows[0]?.sum)
}

/** Loads a layer into a month of its own; answers with the code of its release. */
async function load(layer: Record<string, unknown>, month: string): Promise<string> {
  const text = manifestText([layer], { forecast_period: month })
  return (await ingestManifest(ingest.database, await writeManifest(ingest.folder, text))).code
}

describe('files that lie side by side', () => {
  test('are stored byte for byte as the one file that they were cut out of, in whatever order they come', async () => {
    const whole = await tilesOf(await load({ file: kindFixture('mosaic-whole.tif') }, '2024-01'))
    expect(whole).toHaveLength(6)
    const found = await tilesOf(await load({ files: [kindFixture('mosaic-*th-*.tif')] }, '2024-02'))
    expect(found).toEqual(whole)
    const named = ['south-east', 'north-west', 'south-west', 'north-east', 'north-west']
    const files = named.map((corner) => kindFixture(`mosaic-${corner}.tif`))
    expect(await tilesOf(await load({ files }, '2024-03'))).toEqual(whole)
  })

  test('have bands of one name under whatever number', async () => {
    const files = ['names.tif', 'names-east.tif'].map(kindFixture)
    const code = await load({ files, band: 'Urea' }, '2024-06')
    const west = await load({ file: files[0], band: 'Urea' }, '2023-01')
    const east = await load({ file: files[1], band: 'Urea' }, '2023-02')
    expect(await sumOf(code)).toBe((await sumOf(west)) + (await sumOf(east)))
  })

  test('have no value where none of them has pixels, though each of theirs is one', async () => {
    const row = () => new Uint8Array(20).fill(255)
    await raster('bytes-west.tif', 40, { bits: 8, format: 1, row })
    await raster('bytes-east.tif', 40.4, { bits: 8, format: 1, row })
    const code = await load({ files: ['bytes-west.tif', 'bytes-east.tif'] }, '2024-04')
    const { rows } = await sql`
      select valid_count, minimum, maximum, pixel_type, width
      from layer join coverage on coverage.id = coverage_id join release on release.id = layer.release_id
      where code = ${code}`.execute(ingest.database.writer)
    expect(rows).toEqual([{ valid_count: 800, minimum: 255, maximum: 255, pixel_type: '16BSI', width: 60 }])
  })
})

describe('files that do not go together are refused', () => {
  test('with different values where they overlap', async () => {
    await raster('twos.tif', 38.1, { row: () => new Float32Array(20).fill(2) })
    expect(await refusalOf(['west.tif', 'twos.tif'])).toBe(
      'twos.tif has 2 in band 1 at 38.105, 8.995, where west.tif has 1: files of one layer overlap only where they are equal or one has no value.',
    )
  })

  test('with pixels of another size', async () => {
    await raster('coarse.tif', 38.2, { tags: { [TAGS.pixelScale]: ['double', [0.02, 0.02, 0]] } })
    expect(await refusalOf(['west.tif', 'coarse.tif'])).toBe(
      'coarse.tif has pixels of 0.02 x -0.02, and west.tif of 0.01 x -0.01; files of one layer have pixels of one size: gdalwarp -tr makes them so.',
    )
  })

  test('with pixels between those of the others', async () => {
    await raster('between.tif', 38.205)
    expect(await refusalOf(['west.tif', 'between.tif'])).toBe(
      'between.tif has pixels that lie between those of west.tif; files of one layer share their columns and rows: gdalwarp -tap puts them there.',
    )
  })

  test('so far apart that the grid would be too large', async () => {
    await raster('far.tif', 38 + 2600)
    expect(await refusalOf(['west.tif', 'far.tif'])).toBe(
      'west.tif with the other files of its layer has 260020 x 20 pixels; at most 250000 a side and 10000000000 in all are read: cut it with gdal_translate -projwin.',
    )
  })

  test.each<[string, Partial<TiffOptions>]>([
    ['a pixel type', { bits: 16, format: 1, row: () => new Uint16Array(20) }],
    ['a nodata value', { tags: { [TAGS.nodata]: ['ascii', '-9999\0'] } }],
    ['a CRS', { tags: { [TAGS.geoKeys]: ['short', [1, 1, 0, 1, 2048, 0, 1, 4210]] } }],
    [
      'a scale and an offset',
      {
        tags: {
          42112: [
            'ascii',
            '<GDALMetadata><Item name="SCALE" sample="0" role="scale">2</Item></GDALMetadata>\0',
          ],
        },
      },
    ],
  ])('with %s of their own', async (what, options) => {
    await raster('other.tif', 38.2, options)
    expect(await refusalOf(['west.tif', 'other.tif'])).toBe(
      `other.tif has ${what} of its own, and files of one layer have one: it is not that of west.tif.`,
    )
  })

  test('with a band that one of them has not, or a file that is not there', async () => {
    await raster('east.tif', 38.2)
    expect(await refusalOf(['west.tif', 'east.tif'], { band: 2 })).toBe(
      'west.tif has 1 band; band 2 is not there.',
    )
    expect(await refusalOf(['west.tif', 'gone.tif'])).toBe('gone.tif does not exist.')
  })

  test('more of them than a release may have', async () => {
    await Promise.all(
      Array.from({ length: 257 }, (_, index) => raster(`many-${index}.tif`, 38 + index * 0.2)),
    )
    expect(await refusalOf(['many-*.tif'])).toBe(
      'The release is in more than 256 files: put some together with gdalbuildvrt and gdal_translate.',
    )
  })
})

test('a name with stars fits names with its parts in their order', async () => {
  await raster('stars-a-b.tif', 50)
  await writeFile(join(ingest.folder, 'stars-a-b.tif.aux'), 'not a raster')
  expect(await refusalOf(['stars-b*a*.tif'])).toBe('stars-b*a*.tif fits no file.')
  expect(await refusalOf(['stars-a-b.tif*b.tif'])).toBe('stars-a-b.tif*b.tif fits no file.')
  const code = await load({ files: ['st*-*b.tif'] }, '2024-05')
  expect(await tilesOf(code)).toHaveLength(4)
})
