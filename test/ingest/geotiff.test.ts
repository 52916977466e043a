import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { COMPRESSIONS, type Compression } from '#src/ingest/geotiff/compression.ts'
import { parseCrs } from '#src/ingest/geotiff/crs.ts'
import { decodeJpeg } from '#src/ingest/geotiff/jpeg.ts'
import { betweenMeridians } from '#src/ingest/geotiff/layers.ts'
import { planWindows } from '#src/ingest/geotiff/source.ts'
import type { Window } from '#src/raster/grid.ts'
import { gridOf } from '#test/setup/releases.ts'
import { kindFixture } from './fixtures.ts'

const LZW = 5
const PACK_BITS = 32773

/** Packs 9-bit codes, high bit first. */
function packCodes(codes: number[]): Uint8Array {
  const bits = codes.map((code) => code.toString(2).padStart(9, '0')).join('')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => Number.parseInt(byte, 2))
}

test('an LZW block ends with its last pixel, whatever bytes follow', async () => {
  const [CLEAR, UNDEFINED_CODE] = [256, 511]
  const block = packCodes([CLEAR, 65, 66, UNDEFINED_CODE, UNDEFINED_CODE, UNDEFINED_CODE])
  expect(await COMPRESSIONS.get(LZW)?.undo(block, 2, 2)).toEqual(Uint8Array.of(65, 66))
  await expect(COMPRESSIONS.get(LZW)?.undo(block, 3, 3)).rejects.toThrow('its LZW data are damaged')
})

/** TIFF's LZW, with one table for all bytes, which may become full. */
function packLzw(bytes: Uint8Array): Uint8Array {
  const codes = new Map<string, number>(Array.from({ length: 256 }, (_, byte) => [`${byte}`, byte]))
  let bits = (256).toString(2).padStart(9, '0')
  let [string, sent] = ['', 0]
  const send = () => {
    // What a decoder has in its table before this code.
    const next = Math.min(4096, 258 + Math.max(0, sent++ - 1))
    const width = [9, 10, 11].find((width) => next < 2 ** width - 1) ?? 12
    bits += (codes.get(string) as number).toString(2).padStart(width, '0')
  }
  for (const byte of bytes) {
    const longer = string === '' ? `${byte}` : `${string} ${byte}`
    if (!codes.has(longer)) {
      send()
      if (codes.size < 4096 - 2) codes.set(longer, codes.size + 2)
      string = `${byte}`
    } else string = longer
  }
  send()
  return Uint8Array.from(bits.padEnd(bits.length + 7, '0').match(/.{8}/g) ?? [], (byte) =>
    Number.parseInt(byte, 2),
  )
}

test.each([
  ['short strings', 2],
  ['long strings', 2000],
])('LZW is undone in pieces of any size, also when its table is full: %s', async (_, run) => {
  let seed = 1
  const random = () => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    return seed >>> 24
  }
  const bytes = Uint8Array.from(
    Array.from({ length: 16_000 / run }, random).flatMap((byte) => Array(run).fill(byte)),
  )
  const packed = packLzw(bytes)
  const { undo, stream } = COMPRESSIONS.get(LZW) as Required<Compression>
  expect(await undo(packed, bytes.length, bytes.length)).toEqual(bytes)
  for (const [size, atLeast] of [
    [1, 1],
    [97, 500],
    [5000, 7000],
  ] as const) {
    async function* pieces() {
      for (let at = 0; at < packed.length; at += size) yield packed.subarray(at, at + size)
    }
    const found: Uint8Array[] = []
    for await (const piece of stream(pieces(), atLeast)) found.push(Uint8Array.from(piece))
    expect(Buffer.concat(found).equals(bytes)).toBe(true)
  }
})

test('a PackBits block ends with its last pixel, and a short one is short', async () => {
  const block = Uint8Array.of(1, 65, 66, 255, 67, 0)
  expect(await COMPRESSIONS.get(PACK_BITS)?.undo(block, 3, 3)).toEqual(Uint8Array.of(65, 66, 67))
  expect(await COMPRESSIONS.get(PACK_BITS)?.undo(block, 9, 9)).toEqual(Uint8Array.of(65, 66, 67, 67))
})

const GRID = gridOf(4326, [0, 0], [1, -1], [1000, 300])

/** A layer in blocks of 100 x 100 pixels, of which those at some columns and rows were written. */
function layerWith(...written: [column: number, row: number][]): Parameters<typeof planWindows>[1][number] {
  const isBlank = ({ column, row, width, height }: Window) =>
    !written.some(
      ([x, y]) =>
        x * 100 < column + width && (x + 1) * 100 > column && y * 100 < row + height && (y + 1) * 100 > row,
    )
  const layer = {
    files: [{ block: { width: 100, height: 100 }, grid: GRID }],
    pixelBytes: 4,
    isBlank,
  }
  return layer as unknown as Parameters<typeof planWindows>[1][number]
}

test('windows are of what a layer has, and leave out what none was written in', () => {
  const layers = [layerWith([0, 0], [1, 0], [9, 0]), layerWith([5, 2])]
  expect(planWindows(GRID, layers)).toEqual([
    { row: 0, column: 0, width: 224, height: 128 },
    { row: 0, column: 896, width: 104, height: 128 },
    { row: 128, column: 448, width: 224, height: 128 },
    { row: 256, column: 448, width: 224, height: 44 },
  ])
  expect(planWindows(GRID, [layerWith()])).toEqual([])
})

/** West and width of a row of pixels of one degree as stored; then column, width and first column of each piece. */
function placed(west: number, width: number): string {
  const piece = { file: 0, column: 0, row: 0, width, height: 1, from: { column: 0, row: 0 } }
  const grid = gridOf(4326, [west, 10], [1, -1], [width, 1])
  const { grid: stored, pieces } = betweenMeridians({ grid, pieces: [piece] }, 'row.tif')
  const texts = pieces.map(({ column, width, from }) => `${column} ${width} ${from.column}`)
  return `${stored.originX} ${stored.width}: ${texts.sort().join(', ')}`
}

test.each([
  ['lies between', -180, 360, '-180 360: 0 360 0'],
  ['lies beyond as a whole', 185, 4, '-175 4: 0 4 0'],
  ['reaches half a column beyond on both sides', -180.5, 361, '-180.5 361: 0 361 0'],
  ['has one column beyond in the east', 177, 4, '-180 360: 0 1 3, 357 3 0'],
  ['has one column beyond in the west', -181, 360, '-180 360: 0 359 1, 359 1 0'],
])('every pixel of a grid that %s is stored where a point finds it', (_, west, width, expected) => {
  expect(placed(west, width)).toBe(expected)
})

const textOf = (wkt: string, proj = '') => ({ kind: 'text', wkt, proj })

test.each(['longlat', 'latlong', 'latlon', 'lonlat'])(
  'a PROJ string of +proj=%s is one of longitude and latitude',
  (name) => {
    const rest = '+ellps=clrk80 +no_defs'
    expect(parseCrs(`+proj=${name} ${rest}`)).toEqual(textOf('', `+proj=longlat ${rest}`))
  },
)

/** A zone of UTM as ArcGIS writes it beside a raster; GDAL's MorphToESRI writes the same. */
function esriUtm(meridian: number, northing = 0, scale = '0.9996'): string {
  return `PROJCS["WGS_1984_UTM_Zone",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",${northing}.0],PARAMETER["Central_Meridian",${meridian}.0],PARAMETER["Scale_Factor",${scale}],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`
}

test.each([
  [32601, -177, 0],
  [32630, -3, 0],
  [32637, 39, 0],
  [32736, 33, 10_000_000],
  [32760, 177, 10_000_000],
])('a zone of UTM that ArcGIS has written out is its code %i', (code, meridian, northing) => {
  expect(parseCrs(esriUtm(meridian, northing))).toEqual({ kind: 'epsg', code })
})

const PROJECTED = 'PROJCS["ours",GEOGCS["ours"]]'

test.each([
  ['a transverse Mercator of another meridian', esriUtm(38)],
  ['a transverse Mercator of another scale', esriUtm(39, 0, '0.9999')],
  ['a transverse Mercator on another datum', esriUtm(39).replaceAll('WGS_1984', 'Adindan')],
  ['a transverse Mercator in feet', esriUtm(39).replace('"Meter",1.0', '"Foot",0.3048')],
  [
    'a transverse Mercator with a parameter more',
    esriUtm(39).replace(',UNIT["Meter', ',PARAMETER["Azimuth",1.0],UNIT["Meter'),
  ],
  ['a projected CRS with heights', `COMPD_CS["ours",${PROJECTED},VERT_CS["ours"]]`],
  ['a projected CRS that is bound', `BOUNDCRS[SOURCECRS[${PROJECTED}]]`],
])('%s is no zone of UTM, and its text is kept', (_, wkt) => {
  expect(parseCrs(wkt)).toEqual(textOf(wkt))
})

const ROOM = { width: 37, height: 32, depth: 3, isLuminance: true }

/** The stream at the end of a file, with all its tables. */
function streamIn(kind: string): Uint8Array {
  const file = readFileSync(kindFixture(`${kind}.tif`))
  return Uint8Array.from(file.subarray(file.lastIndexOf(Buffer.of(0xff, 0xd8, 0xff, 0xe0))))
}

test.each(['jpeg-restarts', 'jpeg-halved-across'])(
  '%s is decoded, or refused in a sentence, wherever it is damaged',
  async (kind) => {
    const stream = streamIn(kind)
    expect(await decodeJpeg(stream, [], ROOM)).toHaveLength(37 * 29 * 3)
    const place = fc.nat(stream.length - 1)
    const damages = fc.array(fc.tuple(place, fc.nat(255)), { minLength: 1, maxLength: 4 })
    const outcomes = { decoded: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(damages, fc.option(place), async (changes, end) => {
        const damaged = stream.slice(0, end ?? stream.length)
        for (const [at, byte] of changes) if (at < damaged.length) damaged[at] = byte
        try {
          const samples = await decodeJpeg(damaged, [], ROOM)
          outcomes.decoded++
          return samples.length % (37 * 3) === 0 && samples.length <= 37 * 32 * 3
        } catch (error) {
          outcomes.refused++
          return /^its JPEG data (are|have|say) [^\n]+[^.]$/.test((error as Error).message)
        }
      }),
      { numRuns: 100 },
    )
    // Both happen, or this has tried nothing.
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(0)
  },
)
