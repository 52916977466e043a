import type { Stats } from 'node:fs'
import { basename, extname, sep } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { findTableForm, readCsv } from '#src/lib/csv.ts'
import { decodeText, TextError, type TextSource } from '#src/lib/text.ts'

/** GDAL converts these to GeoTIFF; by their first bytes. */
const FORMATS: Record<string, string[]> = {
  NetCDF: ['CDF\x01', 'CDF\x02', 'CDF\x05'],
  'NetCDF or HDF5': ['\x89HDF\r\n'],
  HDF4: ['\x0e\x03\x13\x01'],
  GRIB: ['GRIB'],
  'an ESRI ASCII grid': ['ncols', 'nrows'],
  'an ERDAS IMAGINE image': ['EHFA_HEADER_TAG'],
  'a virtual raster of GDAL': ['<VRTDataset'],
  'JPEG 2000': ['\0\0\0\x0cjP', '\xff\x4f\xff\x51'],
  PNG: ['\x89PNG'],
  JPEG: ['\xff\xd8\xff'],
  'a GeoPackage': ['SQLite format 3\0'],
}

/** Raw pixels, which a text beside them describes: by their endings, with that of the pixels. */
const DESCRIBED: [ending: RegExp, name: string, ofPixels: string][] = [
  [/\.(?:sgrd|sdat)$/i, 'a grid of SAGA', '.sdat'],
  [/\.(?:rst|rdc)$/i, 'a raster of IDRISI', '.rst'],
  [/\.hdr$/i, 'the header of a raster of ENVI or ESRI', '.bil'],
  [/\.(?:bil|bip|bsq|flt)$/i, 'a raster of ENVI or ESRI', ''],
]

/** Packed files that are not read: their endings, their first bytes, and what unpacks them. */
const PACKED: [ending: RegExp, start: string, unpack: string][] = [
  [/\.(?:tar(?:\.\w+)?|t[gbx]z2?|tzst)$/i, '', 'tar -xf'],
  [/\.gz$/i, '\x1f\x8b', 'gunzip -k'],
  [/\.zip$/i, 'PK\x03\x04', 'unzip'],
  [/\.bz2$/i, 'BZh', 'bunzip2 -k'],
  [/\.xz$/i, '\xfd7zXZ', 'unxz -k'],
  [/\.zst$/i, '(\xb5/\xfd', 'unzstd'],
  [/\.7z$/i, '7z\xbc\xaf', '7z x'],
  [/\.rar$/i, 'Rar!', 'unrar x'],
]

/** @throws {OperatorError} for a packed file, with the command that unpacks it @param beginning one character a byte */
export function refusePacked(path: string, beginning = ''): void {
  const isOne = ([ending, start]: (typeof PACKED)[number]) =>
    ending.test(path) || (start !== '' && beginning.startsWith(start))
  const unpack = PACKED.find(isOne)?.[2]
  if (!unpack) return
  const [, archive, entry = path] = /^(.*\.zip)\/(.+)$/i.exec(path) ?? []
  const first = archive ? `unzip ${quoted(basename(archive))} && ` : ''
  throw new OperatorError(`${path} is packed: \`${first}${unpack} ${quoted(entry)}\` unpacks it.`)
}

/** Files with several rasters. */
const OF_SEVERAL = new Set(['NetCDF', 'NetCDF or HDF5', 'HDF4', 'GRIB', 'Zarr', 'a GeoPackage'])

/** Enough to distinguish them. */
export const FORMAT_BYTES = 64

/**
 * Names the command that converts it.
 *
 * @param beginning one character a byte
 */
export function refuseOtherFormat(path: string, beginning: string): never {
  refusePacked(path, beginning)
  const name = nameFormat(beginning)
  const [, described, ending = ''] = DESCRIBED.find(([ending]) => ending.test(path)) ?? []
  if (name !== undefined) refuseFormat(path, name)
  if (described !== undefined) refuseFormat(path, described, ending === '' ? path : stemOf(path) + ending)
  // By its name it was meant to be one: a conversion would mislead.
  if (/\.tiff?$/i.test(path)) throw new OperatorError(`${path} is not a TIFF file.`)
  throw new OperatorError(
    `${path} is not a TIFF file: if gdalinfo ${quoted(path)} knows it, ${conversion(path)} makes one of it.`,
  )
}

function nameFormat(beginning: string): string | undefined {
  return Object.keys(FORMATS).find((name) =>
    FORMATS[name]?.some((start) => folded(beginning).startsWith(folded(start))),
  )
}

/** Byte order and version of classic TIFF and BigTIFF. */
export const TIFF_SIGNATURES = ['II*\0', 'MM\0*', 'II+\0', 'MM\0+']

/** Other files that are given instead of a manifest: by their first bytes and their endings. */
const NO_MANIFESTS: [start: string, ending: RegExp, name: string][] = [
  ...TIFF_SIGNATURES.map((start): [string, RegExp, string] => [start, /$/, 'a raster (GeoTIFF)']),
  ['PK\x03\x04', /\.(?:xls[xmb]|ods)$/i, 'a workbook'],
  ['PK\x03\x04', /$/, 'a zip archive'],
  ['\xd0\xcf\x11\xe0', /$/, 'a workbook or another file of Office'],
]

export const BEGIN_MANIFEST =
  'Begin one with a copy of examples/rwanda/potato-2026-08.yaml; docs/manifest.md has its fields.'

/** @throws {OperatorError} for a file that is no text @param beginning one character a byte */
export function refuseNoManifest(path: string, beginning: string): void {
  const other = NO_MANIFESTS.find(([start, ending]) => beginning.startsWith(start) && ending.test(path))
  const name = other?.[2] ?? nameFormat(beginning)
  if (name !== undefined) throw new OperatorError(`${path} is ${name}, not a manifest. ${BEGIN_MANIFEST}`)
  refusePacked(path, beginning)
}

/** @throws {OperatorError} for a folder, or what else is no file */
export function refuseNoFile(path: string, found: Stats): never {
  if (/\.zarr$/i.test(path)) refuseFormat(path, 'Zarr')
  throw new OperatorError(
    found.isDirectory()
      ? `${path} is a folder: give a raster in it, or those of one layer, as in "files: [${path}/*.tif]".`
      : `${path} is not a file.`,
  )
}

function refuseFormat(path: string, name: string, read = path): never {
  const several = OF_SEVERAL.has(name)
    ? `; of several variables or bands, gdalinfo ${quoted(path)} lists what to give instead`
    : ''
  throw new OperatorError(`${path} is ${name}, not a GeoTIFF: ${conversion(read)} makes one of it${several}.`)
}

/** Without the ending. */
export function stemOf(path: string): string {
  return path.slice(0, path.length - extname(path).length)
}

/** A shell command. */
export function conversion(path: string, stem = stemOf(path)): string {
  const made = stem === stemOf(path) && /\.tiff?$/i.test(path) ? `${stem}-deflate.tif` : `${stem}.tif`
  return `gdal_translate -co COMPRESS=DEFLATE ${quoted(path)} ${quoted(made)}`
}

/** Texts may start with spaces, in either case. */
function folded(text: string): string {
  return text.trimStart().toLowerCase()
}

/** For a shell, and never an option. */
export function quoted(given: string): string {
  const path = given.replace(/^-/, './-')
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

/** What a shell makes of {@link quoted}. */
export function unquoted(word: string): string {
  return word.replace(/'([^']*)'|\\(')/g, '$1$2')
}

/**
 * A shell command of GDAL that makes a GeoPackage.
 *
 * @param file its path; of one in an archive, behind the archive's and a slash
 * @param options of ogr2ogr
 * @param layer of several; left out, all are converted
 * @param edit a script of sed for the text of a table
 */
export function convertAreas(
  file: string,
  options = '-t_srs EPSG:4326',
  layer?: string,
  edit?: string,
): string {
  const packed = /\.gz$/i.test(file)
  const stem = stemOf(basename(packed ? stemOf(file) : file))
  const store = packed ? '/vsigzip/' : IN_ARCHIVE.test(file) ? '/vsizip/' : ''
  // Names of layers, which are often those of their files, begin with no sign.
  const name = stem.replace(/^[!-/:-@[-^`{-~]+/, '') || 'areas'
  const named = name === stem || layer !== undefined ? options : `-nln ${quoted(name)} ${options}`
  const made = quoted(`${name}${/\.gpkg$/i.test(file) ? '-wgs84' : ''}.gpkg`)
  const [edited, read] = edit
    ? [`sed ${quoted(edit)} ${quoted(file)} | `, 'CSV:/vsistdin/']
    : ['', quoted(store + file)]
  return `\`${edited}ogr2ogr ${named} ${made} ${read}${layer === undefined ? '' : ` ${quoted(layer)}`}\``
}

/** What GDAL converts: a name, what differs in the command, and what must hold for it. */
type Kind = [
  endings: string,
  name: string,
  options?: string,
  condition?: string,
  layer?: string,
  edit?: string,
]

// TopoJSON and CSV state no CRS to convert from.
export const TOPOJSON: Kind = ['topojson', 'TopoJSON', '-a_srs EPSG:4326']
export const ESRI_JSON: Kind = ['', 'JSON of Esri']
const ofCsv = (columns: string, crs = '-a_srs EPSG:4326') =>
  `${crs} -oo ${quoted(`GEOM_POSSIBLE_NAMES=${columns}`)} -oo KEEP_GEOM_COLUMNS=NO`
const IF_CSV = ', if a column such as WKT or geometry has polygons in WKT; points are no areas'
const IF_GPX = ', of closed tracks alone; other lines and points are no areas'
const IF_PARQUET = ', with a GDAL that has the driver Parquet, which that of Debian lacks'

const KINDS: Kind[] = [
  TOPOJSON,
  ['kml|kmz', 'KML'],
  ['fgb', 'FlatGeobuf'],
  ['parquet|geoparquet', 'GeoParquet', undefined, IF_PARQUET],
  ['geojsonl|geojsons|ndjson', 'GeoJSON of one feature a line'],
  ['gml', 'GML'],
  ['tab', 'MapInfo TAB'],
  ['mif', 'MapInfo MIF'],
  ['sqlite', 'SpatiaLite'],
  ['gdb', 'a file geodatabase'],
  ['csv|tsv', 'CSV', ofCsv('*wkt*,*geom*'), IF_CSV],
  ['gpx', 'GPX', '-nlt MULTIPOLYGON', IF_GPX, 'tracks'],
]

/** By the ending. */
export function findKind(name: string): Kind | undefined {
  return KINDS.find(([endings]) => new RegExp(`\\.(${endings})/?$`, 'i').test(name))
}

/** For sentences: without folders, but for those in an archive. */
export function shownName(path: string): string {
  return IN_ARCHIVE.exec(path)?.[0] ?? basename(path)
}

const IN_ARCHIVE = /[^/\\]+\.zip\/.+$/i

/** Names the command that converts it. */
export function refuseOtherKind(path: string, [, kind, options, condition = '', layer, edit]: Kind): never {
  throw new OperatorError(
    `${shownName(path)} is ${kind}, which is not read: ${convertAreas(path, options, layer, edit)} makes a GeoPackage of it${condition}.`,
  )
}

/** Enough of a table for its first shape to begin. */
export const TABLE_BYTES = 64 * 1024

/** In WKT, in that of PostGIS, in hexadecimal WKB or in GeoJSON. */
const SHAPE = /(?:SRID=(?<srid>\d+);)?\s*\b(?:(?:MULTI)?POLYGON|01(?:03|06)0000|\{\s*""type"")/i

/** Names the command for the column that has shapes. @param beginning of the file */
export function refuseTable(path: string, kind: Kind, beginning: string): never {
  const { column, srid } = findShapes(beginning) ?? {}
  if (!column) refuseOtherKind(path, kind)
  // GDAL takes commas for ends of names.
  const names = column.replaceAll(/[^\w .-]/g, '*')
  const crs = srid === undefined || srid === '4326' ? undefined : `-s_srs EPSG:${srid} -t_srs EPSG:4326`
  const edit = srid && `s/SRID=${srid};//`
  refuseOtherKind(path, ['', kind[1], ofCsv(names, crs), undefined, undefined, edit])
}

function findShapes(table: string): { column?: string | undefined; srid?: string | undefined } | undefined {
  const form = findTableForm(table)
  const head = readHead(table, form)
  const rows = table.slice(head?.end)
  const shape = SHAPE.exec(rows)
  if (!shape) return undefined
  const before = rows.slice(0, shape.index).replaceAll(/"[^"]*"/g, '')
  const index = before.slice(before.lastIndexOf('\n') + 1).split(form.delimiter).length - 1
  return { column: head?.cells[index]?.trim(), srid: shape.groups?.srid }
}

/** Undefined for quotes that are ambiguous. */
function readHead(...table: Parameters<typeof readCsv>) {
  try {
    return readCsv(...table).next().value ?? undefined
  } catch {
    return undefined
  }
}

/** What GDAL calls the stores behind addresses. */
const STORES: Record<string, string> = {
  s3: '/vsis3/',
  gs: '/vsigs/',
  az: '/vsiaz/',
  ftp: '/vsicurl/',
}

const OTHER_PATHS: [RegExp, string][] = [
  [
    /^\/vsi\w+\//i,
    'is a path of GDAL, which other programs do not know: give the file, or its https address',
  ],
  [/^file:/i, 'is an address of a file: give its path'],
  [
    /^(?!https?:)[a-z][a-z\d+.-]+:\/\//i,
    'is no address that is read: give an https address, or download the file',
  ],
  [/^(?:[a-z]:[\\/]|\\\\)/i, 'is a path of Windows: give the path on this computer'],
]

/** @throws {OperatorError} for a path of another kind than those of this computer */
export function refuseOtherPath(name: string): void {
  const [, rule] = OTHER_PATHS.find(([kind]) => kind.test(name) && !(kind.test('C:\\') && sep === '\\')) ?? []
  if (rule !== undefined) throw new OperatorError(`${name} ${rule}.`)
}

/** An address without names, passwords and signatures, which are secret. */
export function shownAddress(text: string): string {
  if (!URL.canParse(text)) return 'An address'
  const { protocol, host, pathname } = new URL(text)
  return `${protocol}//${host}${pathname}`
}

/** @throws {OperatorError} for a raster elsewhere, or within a file, with the command that makes a GeoTIFF of it */
export function refuseOtherRaster(name: string): void {
  const [, scheme = '', path = ''] = /^([a-z][a-z\d]+):\/\/(.+)$/i.exec(name) ?? []
  if (/^https?$/i.test(scheme)) {
    throw new OperatorError(`${shownAddress(name)} is not read here: download it, and give its path.`)
  }
  const store = STORES[scheme.toLowerCase()]
  if (store !== undefined) {
    const line = conversion(store + (store === STORES.ftp ? name : path), stemOf(basename(path)))
    throw new OperatorError(`${name} is not read: give an https address, or load what ${line} makes.`)
  }
  refuseOtherPath(name)
  const [, parts] = /^[A-Z][A-Z\d_]+:(.+)$/.exec(name.replaceAll('"', '')) ?? []
  if (parts === undefined) return
  const made = parts.split(/[:/]+/).map((part) => stemOf(part))
  throw new OperatorError(
    `${name} is a part of a file as GDAL names it: ${conversion(name, made.join('-'))} makes a GeoTIFF of it.`,
  )
}

/** Of a failed look at a file or folder. */
export function refuseUnreadable(path: string, error: NodeJS.ErrnoException): never {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    throw new OperatorError(`${path} does not exist.`, { code: 'NOT_FOUND' })
  if (error.code === 'EACCES' || error.code === 'EPERM') throw new OperatorError(`${path} may not be read.`)
  throw new OperatorError(`${path} cannot be read: ${error.message}.`)
}

/** Decodes a file of an operator. @throws {OperatorError} for text that cannot be read, and for notes without a reader */
export function decodeFile(bytes: Buffer, file: TextSource, noted: (note: string) => void = refuse): string {
  try {
    const { text, notes } = decodeText(bytes, file)
    for (const note of notes) noted(note)
    return text
  } catch (error) {
    throw error instanceof TextError ? new OperatorError(error.message) : error
  }
}

function refuse(note: string): never {
  throw new OperatorError(note)
}
