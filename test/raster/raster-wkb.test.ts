import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DecodedTile, decodeTile } from '#src/raster/tiles.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
})
afterAll(() => service.close())

/** A raster of 5 x 3 pixels that SQL makes, as it is decoded and as PostGIS reads its pixels itself. */
async function rasterOf(
  bands: string[],
): Promise<{ wkb: Buffer; decoded: DecodedTile; values: (number | null)[][] }> {
  const empty = 'st_makeemptyraster(5, 3, 38.1, 9.4, 0.01, -0.01, 0, 0, 4326)'
  const raster = bands.reduce((inner, band, index) => {
    const [type, initial, nodata, pixels] = band.split(' ') as [string, string, string, string]
    const added = `st_addband(${inner}, '${type}'::text, ${initial}::float8, ${nodata}::float8)`
    return pixels ? `st_setvalues(${added}, ${index + 1}, 1, 1, array[${pixels}]::float8[][])` : added
  }, empty)
  const { rows } = await sql<{ wkb: Buffer; values: (number | null)[][] }>`
    with raster as materialized (select ${sql.raw(raster)} as rast)
    select
      rast::bytea as wkb,
      (
        select json_agg(pixels order by band)
        from (
          select band, json_agg(st_value(rast, band, x, y) order by y, x) as pixels
          from generate_series(1, st_numbands(rast)) as band
          cross join generate_series(1, 5) as x
          cross join generate_series(1, 3) as y
          group by band
        ) as bands
      ) as values
    from raster`.execute(service.database.writer)
  const [row] = rows as [{ wkb: Buffer; values: (number | null)[][] }]
  return { ...row, decoded: decodeTile(row.wkb) }
}

function valuesOf({ bands }: DecodedTile): (number | null)[][] {
  return bands.map(({ pixels, nodata }) => Array.from(pixels, (pixel) => (pixel === nodata ? null : pixel)))
}

test.each([
  ['1BB', '0 null [[0,1,0,1,1],[1,1,0,0,1],[0,0,0,1,0]]'],
  ['2BUI', '0 3 [[0,1,2,3,1],[3,1,0,2,1],[0,3,0,1,2]]'],
  ['4BUI', '0 15 [[0,1,2,15,1],[3,14,0,2,1],[0,3,0,1,2]]'],
  ['8BSI', '7 -128 [[-128,-127,-1,0,1],[127,5,-5,2,1],[0,3,0,1,2]]'],
  ['8BUI', '7 0 [[255,254,0,0,1],[127,5,128,2,1],[0,3,0,1,2]]'],
  ['16BSI', '7 -9999 [[-9999,-32768,-1,0,1],[32767,5,-5,2,1],[0,3,0,1,2]]'],
  ['16BUI', '7 65535 [[65535,65534,0,256,1],[32768,5,1,2,1],[0,3,0,1,2]]'],
  ['32BSI', '7 -2147483648 [[-2147483648,2147483647,-1,0,1],[65536,5,-5,2,1],[0,3,0,1,2]]'],
  ['32BUI', '7 4294967295 [[4294967295,4294967294,0,1,2],[65536,5,3,2,1],[0,3,0,1,2]]'],
  ['32BF', '7.5 -9999 [[-9999,0.1,-1e-30,3e38,1],[16777217,5.25,-5,2,1],[0,3,0,1,2]]'],
  ['64BF', '7.5 -1e300 [[-1e300,0.1,-1e-300,1e308,1],[16777217,5.25,-5,2,1],[0,3,0,1,2]]'],
])('a band of type %s is decoded to the pixels and the nodata that PostGIS reads', async (type, band) => {
  const [initial, nodata, pixels] = band.split(' ') as [string, string, string]
  const { decoded, values } = await rasterOf([`${type} ${initial} ${nodata} ${pixels}`])
  expect([decoded.width, decoded.height]).toEqual([5, 3])
  expect(valuesOf(decoded)).toEqual(values)
})

test('bands of all types follow each other, whatever their alignment', async () => {
  const { decoded, values } = await rasterOf([
    '8BUI 1 0 [[0,1,2,3,4],[5,6,7,8,9],[10,11,12,13,14]]',
    '64BF 2.5 -1 ',
    '16BSI -3 null [[0,1,2,3,4],[5,6,7,8,9],[10,11,12,13,-14]]',
    '32BF 4.25 0 [[0,1,2,3,4],[5,6,7,8,9],[10,11,12,13,14]]',
    '8BSI -5 -5 ',
  ])
  expect(valuesOf(decoded)).toEqual(values)
  expect(decoded.bands.map(({ nodata }) => nodata)).toEqual([0, -1, undefined, 0, -5])
})

test('what is not a raster, or only a part of one, is refused', async () => {
  const { rows } = await sql<{ wkb: Buffer }>`
    select st_addband(st_makeemptyraster(4, 4, 0, 0, 1), '16BUI'::text, 5, 0)::bytea as wkb`.execute(
    service.database.writer,
  )
  const { wkb } = rows[0] as { wkb: Buffer }
  const changed = (at: number, byte: number) => {
    const copy = Buffer.from(wkb)
    copy[at] = byte
    return copy
  }
  expect(decodeTile(wkb).bands[0]?.pixels).toEqual(new Uint16Array(16).fill(5))
  for (const bytes of [
    changed(0, 0),
    changed(1, 9),
    changed(61, 9),
    changed(61, 0x84),
    wkb.subarray(0, -1),
  ]) {
    expect(() => decodeTile(bytes)).toThrow(RangeError)
  }
})
