import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import {
  type CrsText,
  isCrs,
  MAX_CRS_CHARACTERS,
  nameOfCrs,
  readCrsText,
  sridOfCode,
  sridOfText,
} from '#src/data/crs.ts'
import type { Db } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { shortNumber } from '#src/lib/round.ts'
import { type PixelGrid, ROUNDING, type Window } from '#src/raster/grid.ts'
import {
  bytesOf,
  createPixels,
  markNodata,
  type StoredBand,
  storedNodata,
  storedWithGaps,
} from '#src/raster/pixels.ts'
import type { ManifestLayer } from '../manifest.ts'
import { stemOf } from '../other-formats.ts'
import { isGeographic } from '../queries.ts'
import type { Band, FileCrs, RasterFile } from '../readers.ts'
import type { LayerSource } from '../source.ts'
import { refuseAbsurdGrid } from './bands.ts'
import { findContradiction, parseCrs } from './crs.ts'

/** The smallest common grid. */
function combineGrids([first, ...others]: readonly [RasterFile, ...RasterFile[]]): Placement {
  if (others.length === 0) {
    const whole = { column: 0, row: 0, width: first.grid.width, height: first.grid.height }
    return { grid: first.grid, pieces: [{ file: 0, ...whole, from: { column: 0, row: 0 } }] }
  }
  const pieces = [first, ...others].map((other, file): Piece => {
    refuseOtherSpacing(first, other)
    const { grid, path } = other
    const { width, height } = grid
    const column = (grid.originX - first.grid.originX) / first.grid.pixelWidth
    const row = (grid.originY - first.grid.originY) / first.grid.pixelHeight
    const shift = { column: Math.round(column), row: Math.round(row) }
    if (Math.max(Math.abs(column - shift.column), Math.abs(row - shift.row)) > ROUNDING) {
      throw new OperatorError(
        `${path} has pixels that lie between those of ${first.path}; files of one layer share their columns and rows: gdalwarp -tap puts them there.`,
      )
    }
    return { file, ...shift, width, height, from: { column: 0, row: 0 } }
  })
  const column = Math.min(...pieces.map((piece) => piece.column))
  const row = Math.min(...pieces.map((piece) => piece.row))
  const { originX, originY, pixelWidth, pixelHeight } = first.grid
  const grid = {
    originX: originX + column * pixelWidth,
    originY: originY + row * pixelHeight,
    pixelWidth,
    pixelHeight,
    width: Math.max(...pieces.map((piece) => piece.column + piece.width)) - column,
    height: Math.max(...pieces.map((piece) => piece.row + piece.height)) - row,
  }
  refuseAbsurdGrid(grid, `${first.path} with the other files of its layer`)
  return {
    grid,
    pieces: pieces.map((piece) => ({ ...piece, column: piece.column - column, row: piece.row - row })),
  }
}

/** Pixels of a size stay in their columns and rows over the whole file. */
function refuseOtherSpacing(first: RasterFile, { grid, path }: RasterFile): void {
  const { pixelWidth, pixelHeight } = first.grid
  const apart = Math.max(
    Math.abs(((grid.pixelWidth - pixelWidth) * grid.width) / pixelWidth),
    Math.abs(((grid.pixelHeight - pixelHeight) * grid.height) / pixelHeight),
  )
  if (apart <= ROUNDING) return
  throw new OperatorError(
    `${path} has pixels of ${formatSize(grid)}, and ${first.path} of ${formatSize(first.grid)}; files of one layer have pixels of one size: gdalwarp -tr makes them so.`,
  )
}

function formatSize({ pixelWidth, pixelHeight }: PixelGrid): string {
  return `${pixelWidth} x ${pixelHeight}`
}

const CIRCLE = 360
/** Larger numbers are no degrees. */
const FARTHEST = 540

/**
 * Moves a geographic grid between 180 degrees west and east, where points are looked up. A grid on both sides of the
 * meridian wraps around the Earth.
 */
export function betweenMeridians({ grid, pieces }: Placement, path: string): Placement {
  const { originX, pixelWidth, width } = grid
  const span = width * pixelWidth
  if (Math.max(-originX, originX + span) > FARTHEST) return { grid, pieces }
  if (span > CIRCLE + 2 * pixelWidth) {
    throw new OperatorError(
      `${path} has ${shortNumber(span)} degrees of longitude, and places twice that are the same: cut it with gdal_translate -projwin, or have all files of its layer count longitudes in one way with gdal_translate -a_ullr.`,
    )
  }
  const circles = Math.round((originX + span / 2) / CIRCLE)
  const moved = { ...grid, originX: originX - circles * CIRCLE }
  // Columns centred on the 180th meridian reach half beyond it.
  const reach = CIRCLE / 2 + pixelWidth * (0.5 + ROUNDING)
  if (Math.max(-moved.originX, moved.originX + span) <= reach) return { grid: moved, pieces }

  const around = Math.round(CIRCLE / pixelWidth)
  if (Math.abs(around * pixelWidth - CIRCLE) > ROUNDING * pixelWidth) {
    throw new OperatorError(
      `${path} lies on both sides of the 180th meridian, and ${CIRCLE} degrees are not a whole number of its columns: cut it there with gdal_translate -projwin, or give it other pixels with gdalwarp -tr.`,
    )
  }
  const first = Math.floor((-CIRCLE / 2 - moved.originX) / pixelWidth + ROUNDING)
  const last = Math.ceil((CIRCLE / 2 - moved.originX) / pixelWidth - ROUNDING)
  const rolled = { ...moved, originX: moved.originX + first * pixelWidth, width: last - first }
  refuseAbsurdGrid(rolled, `${path}, once around the Earth,`)
  return { grid: rolled, pieces: pieces.flatMap((piece) => wherever(piece, first, around, rolled)) }
}

/** @param first the first column of the grid, which wraps after `around` columns */
function wherever(piece: Piece, first: number, around: number, { width, height }: Placement['grid']) {
  const whole = { column: 0, row: 0, width, height }
  return [-1, 0, 1].flatMap(
    (circle) => pieceIn(whole, { ...piece, column: piece.column - first + circle * around }) ?? [],
  )
}

interface Placement {
  grid: PixelGrid
  /** One covers the grid. Several may overlap; pixels outside have no value. */
  pieces: Piece[]
}

export interface Piece extends Window {
  file: number
  /** Its first pixel in the file. */
  from: { column: number; row: number }
}

/** The part of a piece in a window. */
export function pieceIn(window: Window, { file, from, ...shift }: Piece): Piece | undefined {
  const column = Math.max(window.column, shift.column)
  const row = Math.max(window.row, shift.row)
  const width = Math.min(window.column + window.width, shift.column + shift.width) - column
  const height = Math.min(window.row + window.height, shift.row + shift.height) - row
  if (width <= 0 || height <= 0) return undefined
  const first = { column: from.column + column - shift.column, row: from.row + row - shift.row }
  return { file, column, row, width, height, from: first }
}

export type LayerFiles = readonly [RasterFile, ...RasterFile[]]

export type FileLayer = Awaited<ReturnType<typeof openLayer>>

interface Remarks {
  /** These stop no load. */
  notes: Set<string>
  /** Ignored files beside the rasters. */
  notHonoured: Set<string>
}

export async function openLayer(db: Db, files: LayerFiles, entry: ManifestLayer, remarks: Remarks) {
  const [first, ...others] = files
  const band = await meantBand(first, entry, remarks)
  const bands = [band.number]
  const srid = await findSrid(db, first, entry, remarks.notes)
  for (const other of others) {
    const ofOther = await meantBand(other, entry, remarks)
    refuseOther(first, band, other, ofOther)
    bands.push(ofOther.number)
    if ((await findSrid(db, other, entry, remarks.notes)) !== srid) refuseDifference(first, other, 'a CRS')
  }
  const lossy = files.find((file) => file.lossy)
  if (lossy && band.nodata !== undefined) {
    remarks.notes.add(
      `${lossy.path} has nodata ${band.nodata} and is compressed with loss: pixels that had it may have values near it.`,
    )
  }
  const placement = combineGrids(files)
  const { grid, pieces } = (await isGeographic(db, srid))
    ? betweenMeridians(placement, first.path)
    : placement
  const masked = files.some((file) => isMasked(file, entry))
  const stored =
    masked || pieces.length > 1
      ? storedWithGaps(band.pixelType, band.nodata)
      : { pixelType: band.pixelType, nodata: storedNodata(band.pixelType, band.nodata) }
  const reading =
    bytesOf(stored.pixelType) +
    (masked ? Math.max(...files.map(({ masks }) => masks.length)) : 0) +
    (stored.pixelType === band.pixelType ? 0 : bytesOf(band.pixelType))
  const percent = entry.unit === '%'
  const blank = files.map((file) => isMissing(file.fill, stored, band.nodata))
  for (const [index, file] of files.entries()) file.refuseInflated(blank[index] as boolean)
  const layer: LayerSource = {
    input: entry.input ?? null,
    scenario: entry.scenario ?? null,
    ...(entry.condition !== undefined && { condition: entry.condition }),
    ...(entry.role && { role: entry.role }),
    ...(entry.probability !== undefined && { probability: entry.probability }),
    ...(entry.range && { range: entry.range }),
    unit: percent ? '1' : entry.unit,
    scale: percent ? band.scale / 100 : band.scale,
    offset: percent ? band.offset / 100 : band.offset,
    decimals: entry.decimals,
    ...stored,
    origin: describeOrigin(files, entry),
    about: {
      line: entry.line,
      names: [entry.names?.join(' ') ?? '', band.description ?? ''],
      nodata: band.nodata,
    },
  }
  return {
    layer,
    grid: { srid, ...grid },
    files,
    pieces,
    /** From 1, a file each. */
    bands,
    /** As pixels of the files have it. */
    fileNodata: band.nodata,
    /** The masks of the files count. */
    masked,
    /** While reading. */
    pixelBytes: reading + (pieces.length > 1 ? bytesOf(stored.pixelType) : 0),
    /** True for windows that sparse files leave out. */
    isBlank: (window: Window) =>
      pieces.every((piece) => {
        const part = pieceIn(window, piece)
        if (part === undefined) return true
        const { file, from, width, height } = part
        const isWritten = files[file]?.isWritten({ ...from, width, height }, bands[file] as number)
        return Boolean(blank[file]) && !isWritten
      }),
  }
}

/** An unwritten pixel without a value. */
function isMissing(pixel: number, { pixelType, nodata }: StoredBand, fileNodata: number | undefined) {
  const pixels = createPixels(pixelType, 1).fill(pixel)
  markNodata(pixels, pixelType, fileNodata)
  return pixels[0] === nodata
}

function isMasked(file: RasterFile, { mask }: ManifestLayer): boolean {
  return file.masks.length > 0 && mask !== 'none'
}

async function meantBand(file: RasterFile, entry: ManifestLayer, { notes, notHonoured }: Remarks) {
  for (const sentence of await unreadBeside(file.path)) notHonoured.add(sentence)
  const band = file.band(entry, notes)
  if (isMasked(file, entry)) sayAlpha(file, band, notes)
  const { pixelType, nodata } = band
  if (nodata !== undefined && storedNodata(pixelType, nodata) === undefined) {
    notes.add(`${file.path} declares nodata ${nodata}, which its ${pixelType} pixels cannot hold: all count.`)
  }
  return band
}

function sayAlpha({ path, alphaBand }: RasterFile, { number }: Band, notes: Set<string>): void {
  if (number === alphaBand) {
    throw new OperatorError(
      `Band ${number} of ${path} is an alpha band, which says where the others have values; where it has values of its own, give the layer "mask: none".`,
    )
  }
  if (alphaBand !== undefined) {
    notes.add(
      `Band ${alphaBand} of ${path} is an alpha band: the others are missing where it is 0. Where it has values of its own, give the layers "mask: none".`,
    )
  }
}

/** A layer has one set of properties. */
function refuseOther(first: RasterFile, band: Band, other: RasterFile, ofOther: Band): void {
  const same = (key: 'pixelType' | 'nodata' | 'scale' | 'offset') => band[key] === ofOther[key]
  if (!same('pixelType')) refuseDifference(first, other, 'a pixel type')
  if (!same('nodata')) refuseDifference(first, other, 'a nodata value')
  if (!same('scale') || !same('offset')) refuseDifference(first, other, 'a scale and an offset')
}

function refuseDifference(first: RasterFile, other: RasterFile, what: string): never {
  throw new OperatorError(
    `${other.path} has ${what} of its own, and files of one layer have one: it is not that of ${first.path}.`,
  )
}

function describeOrigin([first, ...others]: LayerFiles, { band = 1 }: ManifestLayer): string {
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `${basename(first.path)}${more} band ${typeof band === 'number' ? band : `"${band}"`}`
}

async function findSrid(db: Db, file: RasterFile, entry: ManifestLayer, notes: Set<string>) {
  const crs = parseEntryCrs(entry) ?? file.crs
  if (crs === file.crs) for (const note of file.notes) notes.add(note)
  if (entry.srid !== undefined && file.crs.kind === 'epsg' && file.crs.code !== entry.srid) {
    notes.add(`${file.path} says EPSG:${file.crs.code}, but the manifest's srid ${entry.srid} is used.`)
  }
  if (crs.kind === 'unknown') {
    throw new OperatorError(`${file.path} has an unknown CRS: ${crs.reason}; give the layer's srid or srs.`)
  }
  if (crs.kind === 'rotated-pole') {
    throw new OperatorError(
      `${file.path} has a CRS with a rotated pole, whose degrees are none of longitude and latitude: warp it with gdalwarp -t_srs EPSG:4326.`,
    )
  }
  if (crs.kind === 'unnamed-wgs84') {
    notes.add(`${file.path} names no CRS, but its parameters are those of WGS 84: it is read as EPSG:4326.`)
    return 4326
  }
  if (crs.kind === 'text') return findCheckedSrid(db, crs, file.path)
  const code = crs.kind === 'epsg' ? crs.code : crs.of
  const srid = await sridOfCode(db, code)
  if (srid === undefined) {
    throw new OperatorError(`${file.path} has an unknown CRS: PostGIS does not know EPSG:${code}.`)
  }
  const { wkt = '', proj = '' } = (await readCrsText(db, srid)) ?? {}
  if (crs.kind === 'epsg') {
    const found = findContradiction(crs.keys ?? {}, wkt)
    if (!found) return srid
    const name = await nameOfCrs(db, srid)
    throw new OperatorError(
      `${file.path} contradicts itself: its ${found.key} is ${found.value}, and its CRS ${name} has ${found.expected}. If the key is right, warp it with gdalwarp -t_srs ${name}. If the code is right, give the layer "srid: ${code}".`,
    )
  }
  const earth = proj.replace(/\+proj=longlat|\+no_defs/g, '').trim()
  return findCheckedSrid(db, { wkt: '', proj: `${crs.proj} ${earth} +no_defs` }, file.path)
}

function parseEntryCrs({ srid, srs }: ManifestLayer): FileCrs | undefined {
  if (srid !== undefined) return { kind: 'epsg', code: srid }
  if (srs === undefined) return undefined
  const reason = 'the srs of the manifest is neither a code nor PROJ nor WKT'
  return parseCrs(srs) ?? { kind: 'unknown', reason }
}

async function findCheckedSrid(db: Db, { wkt, proj }: CrsText, path: string): Promise<number> {
  const length = Math.max(wkt.length, proj.length)
  if (length > MAX_CRS_CHARACTERS) {
    throw new OperatorError(
      `${path} has a CRS of ${length} characters, and PostGIS keeps at most ${MAX_CRS_CHARACTERS}; give the layer's srs as a code or a PROJ string.`,
    )
  }
  if (!(await isCrs(db, { wkt, proj }))) {
    throw new OperatorError(`${path} has an unknown CRS: PROJ makes nothing of "${wkt || proj}".`)
  }
  return sridOfText(db, { wkt, proj }, path)
}

/** Ignored files of other software beside FILE.tif. */
const UNREAD = ['.aux', '.tab']

async function unreadBeside(path: string): Promise<string[]> {
  const notes: string[] = []
  for (const extension of UNREAD) {
    const beside = `${stemOf(path)}${extension}`
    const status = await stat(beside).catch(() => undefined)
    if (status?.isFile()) notes.push(`${beside} is not read: what it says of ${path} does not count.`)
  }
  return notes
}
