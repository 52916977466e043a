import type { Grid } from '#src/raster/grid.ts'
import { bytesOf, type PixelType, pixelsOf } from '#src/raster/pixels.ts'
import { geoKeysOf, sampleFormatOf, transformationOf } from '../georeference.ts'
import { ascii, type Field } from '../tiff.ts'
import { GEOTIFF_BLOCK, type Level } from './levels.ts'
import { predictorOf } from './predict.ts'

/** What a GeoTIFF says of its one layer. */
export interface GeotiffLayer {
  grid: Grid
  /** Whether its CRS has degrees. */
  geographic: boolean
  type: PixelType
  /** The pixel that means none; undefined where each has a value. */
  nodata: number | undefined
  /** What a value of its unit is: a pixel times the scale, and the offset. */
  scale: number
  offset: number
  unit: string
  /** What the layer is called. */
  name: string
  /** What the file is of, in a sentence. */
  description: string
  licence: string
  /** Further facts, by names in capitals. */
  facts: Record<string, string>
}

/** Where the blocks of a level lie in the file, row by row. */
export interface BlockPlaces {
  offsets: readonly number[]
  lengths: readonly number[]
}

/** Every reader of TIFF has it, as it has not Zstandard. */
const DEFLATE = 8
const BLACK_IS_ZERO = 1
const OVERVIEW = 1

/** The fields of a level, in the order of their tags. */
export function fieldsOf(
  layer: GeotiffLayer,
  level: Level,
  { offsets, lengths }: BlockPlaces,
  isOverview: boolean,
): Field[] {
  const { type, nodata } = layer
  const own = isOverview ? [] : fieldsOfLayer(layer)
  const fields: Field[] = [
    { tag: 254, type: 'long', values: [isOverview ? OVERVIEW : 0] },
    { tag: 256, type: 'long', values: [level.width] },
    { tag: 257, type: 'long', values: [level.height] },
    { tag: 258, type: 'short', values: [8 * bytesOf(type)] },
    { tag: 259, type: 'short', values: [DEFLATE] },
    { tag: 262, type: 'short', values: [BLACK_IS_ZERO] },
    { tag: 277, type: 'short', values: [1] },
    { tag: 284, type: 'short', values: [1] },
    { tag: 317, type: 'short', values: [predictorOf(pixelsOf(type, 0))] },
    { tag: 322, type: 'long', values: [GEOTIFF_BLOCK] },
    { tag: 323, type: 'long', values: [GEOTIFF_BLOCK] },
    { tag: 324, type: 'long', values: offsets },
    { tag: 325, type: 'long', values: lengths },
    { tag: 339, type: 'short', values: [sampleFormatOf(type)] },
    ...(nodata === undefined ? [] : [{ tag: 42113, type: 'ascii' as const, values: ascii(String(nodata)) }]),
  ]
  return [...fields, ...own].sort((one, other) => one.tag - other.tag)
}

function fieldsOfLayer(layer: GeotiffLayer): Field[] {
  const { grid, geographic, description, licence } = layer
  return [
    { tag: 270, type: 'ascii', values: ascii(description, 'utf8') },
    { tag: 33432, type: 'ascii', values: ascii(licence, 'utf8') },
    ...placeOf(grid),
    { tag: 34735, type: 'short', values: geoKeysOf(grid.srid, geographic) },
    { tag: 42112, type: 'ascii', values: ascii(metadataOf(layer), 'utf8') },
  ]
}

/** Where its pixels are: by their size and a corner, which every reader knows, where rows run north to south. */
function placeOf(grid: Grid): Field[] {
  const { originX, originY, pixelWidth, pixelHeight } = grid
  if (pixelWidth < 0 || pixelHeight > 0) {
    return [{ tag: 34264, type: 'double', values: transformationOf(grid, { column: 0, row: 0 }) }]
  }
  return [
    { tag: 33550, type: 'double', values: [pixelWidth, -pixelHeight, 0] },
    { tag: 33922, type: 'double', values: [0, 0, 0, originX, originY, 0] },
  ]
}

/** What GDAL knows of a file beside its pixels. */
function metadataOf({ facts, name, unit, scale, offset }: GeotiffLayer): string {
  const ofFile = Object.entries(facts).map(([key, value]) => `<Item name="${key}">${escaped(value)}</Item>`)
  const role = (role: string, value: string | number) =>
    `<Item name="${role.toUpperCase()}" sample="0" role="${role}">${escaped(String(value))}</Item>`
  const ofBand = [
    role('description', name),
    role('unittype', unit),
    ...(scale === 1 && offset === 0 ? [] : [role('offset', offset), role('scale', scale)]),
  ]
  return `<GDALMetadata>\n${[...ofFile, ...ofBand].join('\n')}\n</GDALMetadata>`
}

/** GDAL undoes this twice, as it does it twice when it writes: what another `&` begins would be lost. */
const ENTITIES: Record<string, string> = { '&': '&amp;amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text as XML has it; what XML has no place for is left out. */
function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no place for them.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
      .replace(/[&<>"]/g, (character) => ENTITIES[character] as string)
  )
}
