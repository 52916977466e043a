import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { TAGS, type Tag, writeTiff } from '#test/ingest/tiff.ts'

/** A grid over Ethiopia, of small pixels as its rasters have them, but fewer. */
const WIDTH = 64
const HEIGHT = 58
const NODATA = -3.4028234663852886e38

export interface BandToWrite {
  /** What GDAL calls its description. */
  name?: string
  /** Of a column and a row; undefined for no value. */
  valueAt(column: number, row: number): number | undefined
}

interface FileToWrite {
  /** Null for a file that declares none; undefined pixels have it all the same. */
  nodata?: number | null
  /** What undefined pixels are written as. */
  fill?: number
  /** West, north, and the width and height of a pixel. */
  place?: [number, number, number, number]
  /** In UTM. */
  srid?: number
  notes?: Record<string, string>
  unit?: string
}

const ETHIOPIA: [number, number, number, number] = [33, 14.9, 0.23, 0.2]
export const PLACES: Record<string, [number, number, number, number]> = {
  eth: ETHIOPIA,
  rwa: [28.8, -1, 0.033, 0.033],
  ken: [33.8, 5.6, 0.128, 0.18],
  gha: [-3.4, 11.3, 0.073, 0.117],
}

/** An ellipse, as a country has a border. */
export function isInside(column: number, row: number): boolean {
  return ((column - 31.5) / 30) ** 2 + ((row - 28.5) / 27) ** 2 < 1
}

/** From `low` to `high`, and seldom twice. */
export function smooth(low: number, high: number): BandToWrite['valueAt'] {
  return (column, row) =>
    isInside(column, row)
      ? Math.round(10 * (low + (high - low) * (0.5 + 0.5 * Math.sin(column / 9) * Math.cos(row / 7)))) / 10
      : undefined
}

/** Writes a GeoTIFF of 32-bit floats, a band behind the other. */
export async function writeRaster(
  path: string,
  bands: readonly BandToWrite[],
  { nodata = NODATA, fill = nodata ?? NODATA, place = ETHIOPIA, srid, notes = {}, unit }: FileToWrite = {},
): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const items = [
    ...Object.entries(notes).map(([name, text]) => `<Item name="${name}">${text}</Item>`),
    ...bands.flatMap(({ name }, at) =>
      name ? [`<Item name="DESCRIPTION" sample="${at}" role="description">${name}</Item>`] : [],
    ),
    ...(unit ? [`<Item name="UNITTYPE" sample="0" role="unittype">${unit}</Item>`] : []),
  ]
  const [west, north, width, height] = place
  const each = (value: number) => bands.map(() => value)
  const tags: Record<string, Tag> = {
    258: ['short', each(32)],
    277: ['short', [bands.length]],
    284: ['short', [2]],
    339: ['short', each(3)],
    [TAGS.pixelScale]: ['double', [width, height, 0]],
    [TAGS.tiepoints]: ['double', [0, 0, 0, west, north, 0]],
    ...(srid && { [TAGS.geoKeys]: ['short', [1, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, srid]] as Tag }),
    ...(items.length > 0 && { 42112: ['ascii', `<GDALMetadata>${items.join('')}</GDALMetadata>\0`] as Tag }),
    ...(nodata !== null && { [TAGS.nodata]: ['ascii', `${nodata}\0`] as Tag }),
  }
  const rows = bands.flatMap(({ valueAt }) =>
    Array.from({ length: HEIGHT }, (_, row) =>
      Buffer.from(Float32Array.from({ length: WIDTH }, (_, column) => valueAt(column, row) ?? fill).buffer),
    ),
  )
  await writeTiff(path, { width: WIDTH, height: HEIGHT, strips: rows, tags })
}

/** What a layer is for, as its file says it. */
export interface ExpectedLayer {
  file: string
  band: number
  product: string
  input?: string
  scenario: string
  condition?: string
}

const SCENARIOS: [word: string, scenario: string, factor: number][] = [
  ['above', 'Above Normal', 1.12],
  ['normal', 'Normal', 1],
  ['below', 'Below Normal', 0.83],
  // In one place and the other.
  ['dominant', 'Dominant', Number.NaN],
]

/** Of a scenario; the likeliest season is the better one in the west. */
function seasonal(low: number, high: number, factor: number): BandToWrite['valueAt'] {
  const of = (factor: number) => smooth(low * factor, high * factor)
  return (column, row) => of(Number.isNaN(factor) ? (column < 32 ? 1.12 : 0.83) : factor)(column, row)
}

/**
 * A season as an institute hands it over: 32 layers in 29 files, with five faults: a misspelt name, a file that is cut off,
 * -9999 that is not declared, 0 instead of no value, and another grid.
 */
export async function writeSeason(folder: string): Promise<ExpectedLayer[]> {
  const expected: ExpectedLayer[] = []
  const inputs: [input: string, name: string, low: number, high: number][] = [
    ['Urea', 'et_wheat_urea', 50, 340],
    ['NPS', 'et_wheat_nps', 30, 199],
    ['P', 'et_wheat_optimal_nutrients_p', 4.8, 38.8],
  ]
  for (const [input, name, low, high] of inputs) {
    for (const [word, scenario, factor] of SCENARIOS) {
      const odds = input === 'P' ? 'probablistic' : 'probabilistic'
      const written = input === 'NPS' && word === 'above' ? 'abvoe' : word
      const file = `${name}_jja_${odds}_${written}_202607.tif`
      const bands = [{ valueAt: seasonal(low, high, factor) }]
      await writeRaster(join(folder, file), bands, FAULTS[`${input} ${word}`])
      expected.push({ file, band: 1, product: 'fertilizer', input, scenario })
    }
  }
  const cut = join(folder, 'et_wheat_nps_jja_probabilistic_normal_202607.tif')
  const bytes = await readFile(cut)
  await writeFile(cut, bytes.subarray(0, (bytes.length * 2) / 3))
  const dap = 'et_wheat_dap_jja_probabilistic_202607.tif'
  const bands = SCENARIOS.map(([name, , factor]) => ({ name, valueAt: seasonal(24, 160, factor) }))
  await writeRaster(join(folder, dap), bands)
  for (const [at, [, scenario]] of SCENARIOS.entries())
    expected.push({ file: dap, band: at + 1, product: 'fertilizer', input: 'DAP', scenario })
  const kinds: [word: string, condition: string, factor: number][] = [
    ['optimal', 'optimal', 1],
    ['farmer', 'farmer practice', 0.45],
    ['blanket', 'blanket', 0.7],
    ['sitespecific', 'site specific', 0.9],
  ]
  for (const [kind, condition, factor] of kinds) {
    for (const [word, scenario, better] of SCENARIOS) {
      const file = `et_wheat_yieldtypes_${kind}_jja_probabilistic_${word}_202607.tif`
      const valueAt = seasonal(1500 * factor, 6000 * factor, better)
      await writeRaster(join(folder, file), [{ valueAt }])
      expected.push({ file, band: 1, product: 'yield', scenario, condition })
    }
  }
  await writeFile(join(folder, 'README.txt'), 'Season JJA 2026, wheat, Ethiopia. Units kg/ha.\n')
  await writeFile(join(folder, 'Thumbs.db'), Buffer.alloc(100))
  return expected
}

const FAULTS: Record<string, FileToWrite> = {
  'Urea below': { nodata: null, fill: -9999 },
  'Urea dominant': { srid: 32637, place: [-160_000, 1_650_000, 25_000, 22_000] },
  'P above': { nodata: null, fill: 0 },
}
