// Runs on a server alone: what is stored of a raster is the same on both; rasters.test.ts tries each type of pixel.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingestManifest, kindFixture, manifestText, writeManifest } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest, refusalsOf } from './refusals.ts'
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

const scaled = '<GDALMetadata><Item name="SCALE" sample="0" role="scale">2</Item></GDALMetadata>'

/** A raster that does not go with the one in the west, which ends at 38.2. */
const APART: Record<string, [lng: number, options?: Partial<TiffOptions>]> = {
  'other values where both lie': [38.1, { row: () => new Float32Array(20).fill(2) }],
  'pixels of another size': [38.2, { tags: { [TAGS.pixelScale]: ['double', [0.02, 0.02, 0]] } }],
  'pixels between the others': [38.205],
  'a place far away': [38 + 2600],
  'another type': [38.2, { bits: 16, format: 1, row: () => new Uint16Array(20) }],
  'another nodata value': [38.2, { tags: { [TAGS.nodata]: ['ascii', '-9999\0'] } }],
  'another CRS': [38.2, { tags: { [TAGS.geoKeys]: ['short', [1, 1, 0, 1, 2048, 0, 1, 4210]] } }],
  'another scale': [38.2, { tags: { 42112: ['ascii', `${scaled}\0`] } }],
}

test('files that do not go together are refused', async () => {
  const refusals = await refusalsOf(APART, async ([lng, options]) => {
    await raster('it.tif', lng, options)
    return refusalOf(['west.tif', 'it.tif'])
  })
  await expect(refusals).toMatchFileSnapshot('refused/mosaics.txt')
})

test('files are refused of which one has not the band, or is not there, or there are too many', async () => {
  await raster('east.tif', 38.2)
  const noBand = await refusalOf(['west.tif', 'east.tif'], { band: 2 })
  expect(noBand).toBe('west.tif has 1 band; band 2 is not there.')
  expect(await refusalOf(['west.tif', 'gone.tif'])).toBe('manifest.yaml:8: gone.tif does not exist.')
  await Promise.all(Array.from({ length: 257 }, (_, index) => raster(`many-${index}.tif`, 38 + index * 0.2)))
  expect(await refusalOf(['many-*.tif'])).toBe(
    'The release is in more than 256 files: put some together with gdalbuildvrt and gdal_translate.',
  )
})

test('a name with stars fits names with its parts in their order', async () => {
  await raster('stars-a-b.tif', 50)
  await writeFile(join(ingest.folder, 'stars-a-b.tif.aux'), 'not a raster')
  expect(await refusalOf(['stars-b*a*.tif'])).toBe('manifest.yaml:8: stars-b*a*.tif fits no file.')
  expect(await refusalOf(['stars-a-b.tif*b.tif'])).toBe('manifest.yaml:8: stars-a-b.tif*b.tif fits no file.')
  const code = await load({ files: ['st*-*b.tif'] }, '2024-05')
  expect(await tilesOf(code)).toHaveLength(4)
})

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
