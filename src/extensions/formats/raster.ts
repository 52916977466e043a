import { OperatorError } from '#src/errors.ts'
import { refuseAbsurdGrid, refuseTooFew } from '#src/ingest/geotiff/bands.ts'
import { conversion, stemOf } from '#src/ingest/other-formats.ts'
import type { Band, MeantBand, RasterFile, Words } from '#src/ingest/readers.ts'
import { formatError } from '#src/lib/promises.ts'
import type { Window } from '#src/raster/grid.ts'
import { bytesOf, type Pixels, type PixelType } from '#src/raster/pixels.ts'
import { findPlace, type Place } from './axes.ts'
import {
  type Container,
  describeMeant,
  lastName,
  numbersOf,
  textOf,
  UNMASKED,
  type Variable,
} from './container.ts'
import { createCleaner, findMissing, type Missing } from './missing.ts'
import { listSteps } from './steps.ts'

const MOST_BANDS = 4096
/** Decompressed at a time. */
const MOST_CHUNK_BYTES = 64 * 2 ** 20
const LISTED = 20

/** A variable that lies on a grid. */
interface Field {
  variable: Variable & { pixelType: PixelType }
  place: Place
  missing: Missing
}

interface FieldBand {
  field: Field
  at: number[]
  name: string
  /** The name without that of the variable. */
  step: string
}

/**
 * The variables of a file that lie on one grid, each a band, or a band for each of its times. Of several grids it is that of
 * most bands.
 */
export async function openContainer(container: Container, path: string): Promise<RasterFile> {
  const { fields, reasons } = await findFields(container)
  const ofGroups: FieldBand[][] = []
  for (const group of groupByPlace(fields).values()) ofGroups.push(await listBands(container, group, reasons))
  const bands = ofGroups.reduce((most, one) => (one.length > most.length ? one : most), [])
  const [first] = bands
  if (!first) refuseWithoutFields(path, container, reasons)
  const others = ofGroups.filter((one) => one !== bands).flat()
  for (const { field, name } of others)
    reasons.set(name, `it lies on another grid than ${first.name}, as ${field.variable.name} does`)
  const { place } = first.field
  refuseAbsurdGrid(place.grid, path)
  const { width, height } = place.grid
  const [rows = 1, columns = 1] = first.field.variable.chunk.slice(-2)
  /** Bands whose pixels are read as they are, since the manifest says which are missing. */
  const asTheyAre = new Set<number>()
  const bytes = bands.reduce((sum, { field }) => sum + width * height * bytesOf(field.variable.pixelType), 0)
  return {
    path,
    grid: place.grid,
    crs: place.crs,
    notes: place.notes.map((note) => `${path}: ${note}`),
    block: { width: Math.min(columns, width), height: Math.min(rows, height) },
    bandCount: bands.length,
    words: (number) =>
      wordsOf(number === 0 ? container : bands[number - 1]?.field.variable, bands[number - 1]),
    ...UNMASKED,
    refuseInflated: () => refuseTooFew(bytes, container.bytes, path),
    band(entry, notes) {
      const number = findBand(bands, entry.band, reasons, path, container)
      const found = bands[number - 1] as FieldBand
      for (const note of found.field.missing.notes) notes.add(`${path}: ${note}`)
      if (entry.nodata !== undefined) asTheyAre.add(number)
      return describeBand(found, number, entry)
    },
    async read(window, numbers) {
      const pixels: Pixels[] = []
      for (const number of numbers) {
        const band = bands[number - 1] as FieldBand
        const found = await readWindow(band, window).catch((error) => refuseRows(path, band, window, error))
        if (!asTheyAre.has(number)) createCleaner(band.field.missing)(found)
        pixels.push(found)
      }
      return pixels
    },
    close: () => container.close(),
  }
}

/** With the reasons of other variables of at least two dimensions. */
async function findFields(container: Container) {
  const fields: Field[] = []
  const reasons = new Map<string, string>()
  for (const variable of container.variables) {
    const { pixelType, shape, chunk, name, fault } = variable
    if (shape.length < 2 || shape.includes(0)) continue
    if (fault !== undefined) reasons.set(name, fault)
    if (pixelType === undefined) continue
    try {
      const isWhole = [...shape, ...chunk].every((size) => Number.isInteger(size) && size > 0)
      if (!isWhole || chunk.length !== shape.length) throw new Error('its sizes are no numbers of pixels')
      const chunkBytes = chunk.reduce((product, size) => product * size, bytesOf(pixelType))
      if (chunkBytes > MOST_CHUNK_BYTES) {
        throw new Error(`its chunks have ${chunkBytes} bytes; at most ${MOST_CHUNK_BYTES} are read at a time`)
      }
      const place = await findPlace(container, variable)
      fields.push({
        variable: { ...variable, pixelType },
        place,
        missing: findMissing(variable, pixelType, container.isNetcdf),
      })
    } catch (error) {
      if (error instanceof OperatorError) throw error
      reasons.set(name, formatError(error))
    }
  }
  return { fields, reasons }
}

function groupByPlace(fields: Field[]): Map<string, Field[]> {
  const groups = new Map<string, Field[]>()
  for (const field of fields) {
    const key = JSON.stringify([field.place.grid, field.place.crs])
    groups.set(key, [...(groups.get(key) ?? []), field])
  }
  return groups
}

/** @param reasons gets those of variables with too many */
async function listBands(
  container: Container,
  fields: Field[],
  reasons: Map<string, string>,
): Promise<FieldBand[]> {
  const bands: FieldBand[] = []
  for (const field of fields) {
    const { name } = field.variable
    const steps = await listSteps(container, field.variable, MOST_BANDS - bands.length).catch((error) => {
      if (error instanceof OperatorError) throw error
      reasons.set(name, formatError(error))
      return []
    })
    for (const { at, label } of steps) {
      bands.push({ field, at, step: label, name: label === '' ? name : `${name} ${label}` })
    }
  }
  return bands
}

function refuseWithoutFields(path: string, { driver }: Container, reasons: Map<string, string>): never {
  const [[name, reason] = []] = reasons
  const several = reasons.size > 1 ? ` (and ${reasons.size - 1} more)` : ''
  throw new OperatorError(
    name === undefined
      ? `${path} has no variable with rows and columns of numbers.`
      : `${path} has no variable that is read as a raster: of ${name}${several}, ${reason}. If gdalinfo knows it, ${lineOf(path, driver, name)} makes a GeoTIFF of it, and gdalwarp a north-up one.`,
  )
}

function lineOf(path: string, driver: string, name: string): string {
  const variable = driver === 'ZARR' ? `:/${name}` : driver === 'HDF5' ? `://${name}` : `:${name}`
  return conversion(`${driver}:${path}${variable}`, `${stemOf(path)}-${lastName(name)}`)
}

/** By its number, its whole name, that of its variable, its step alone, or its description. */
function findBand(
  bands: FieldBand[],
  meant: MeantBand['band'],
  reasons: Map<string, string>,
  path: string,
  { driver }: Container,
): number {
  const listed = bands.slice(0, LISTED).map(({ name }, at) => `${at + 1} "${name}"`)
  const some = `${listed.join(', ')}${bands.length > LISTED ? ` and ${bands.length - LISTED} more` : ''}`
  if (typeof meant === 'number') {
    if (meant <= bands.length) return meant
    throw new OperatorError(
      `${path} has ${bands.length} band${bands.length === 1 ? '' : 's'}; band ${meant} is not there: it has ${some}.`,
    )
  }
  if (meant === undefined && bands.length === 1) return 1
  if (meant === undefined) {
    throw new OperatorError(
      `${path} has ${bands.length} bands: say which, as in "band: ${bands[0]?.name}". It has ${some}.`,
    )
  }
  for (const read of [nameOf, variableOf, stepOf, describeField]) {
    const numbers = bands.flatMap((band, at) => (read(band) === meant ? [at + 1] : []))
    if (numbers.length === 1) return numbers[0] as number
    if (numbers.length > 1) {
      throw new OperatorError(
        `${path} has ${numbers.length} bands "${meant}": say which, by its number or its name. It has ${some}.`,
      )
    }
  }
  const reason = reasons.get(meant)
  throw new OperatorError(
    reason === undefined
      ? `${path} has no band "${meant}": it has ${some}.`
      : `${path} has ${meant}, and ${reason}: ${lineOf(path, driver, meant)} may make a GeoTIFF of it.`,
  )
}

const nameOf = ({ name }: FieldBand) => name
const variableOf = ({ field }: FieldBand) => field.variable.name
const stepOf = ({ step }: FieldBand) => step

/** What the file says of the variable follows the name. */
function describeField({ field, name }: FieldBand): string {
  const title = textOf(field.variable.attribute('long_name')) ?? ''
  const saysNothing = title === '' || title === field.variable.name || /^GDAL Band Number/.test(title)
  return saysNothing ? name : `${name}: ${title}`
}

const NOTED = ['title', 'summary', 'source', 'institution', 'comment', 'long_name', 'standard_name']

function wordsOf(of: Pick<Variable, 'attribute'> | undefined, band: FieldBand | undefined): Words {
  const read = (name: string) => (of ? textOf(of.attribute(name)) : undefined)
  const notes = NOTED.flatMap((name) => {
    const text = read(name)
    return text === undefined ? [] : [[name, text]]
  })
  return { description: band && describeField(band), unit: read('units'), notes: Object.fromEntries(notes) }
}

function describeBand(band: FieldBand, number: number, entry: MeantBand): Band {
  const { variable, missing } = band.field
  const [scale = 1] = numbersOf(variable.attribute('scale_factor'))
  const [offset = 0] = numbersOf(variable.attribute('add_offset'))
  const { pixelType } = variable
  const said = { number, pixelType, description: describeField(band), nodata: missing.nodata }
  return describeMeant(entry, { ...said, scale, offset })
}

/** As it lies on the grid: from north to south and from west to east. */
async function readWindow({ field, at }: FieldBand, window: Window): Promise<Pixels> {
  const { variable, place } = field
  const { grid, flipsRows, flipsColumns } = place
  const row = flipsRows ? grid.height - window.row - window.height : window.row
  const column = flipsColumns ? grid.width - window.column - window.width : window.column
  const counts = [...at.map(() => 1), window.height, window.width]
  const pixels = await variable.read([...at, row, column], counts)
  if (pixels.length !== window.width * window.height) throw new Error(`${pixels.length} pixels are there`)
  if (flipsColumns) pixels.reverse()
  // Reversed as a whole, its rows are so, too.
  return flipsRows === flipsColumns ? pixels : reverseRows(pixels, window.width)
}

function reverseRows(pixels: Pixels, width: number): Pixels {
  const reversed = pixels.slice()
  for (let from = 0, to = pixels.length - width; to >= 0; from += width, to -= width) {
    reversed.set(pixels.subarray(from, from + width), to)
  }
  return reversed
}

function refuseRows(path: string, { name }: FieldBand, { row, height }: Window, error: unknown): never {
  if (error instanceof OperatorError) throw error
  const { cause } = error as { cause?: unknown }
  const reason = formatError(cause ?? error)
    .split('\n')[0]
    ?.replace(/\.$/, '')
  throw new OperatorError(
    `${path} cannot be read at rows ${row} to ${row + height - 1} of ${name}: ${reason}.`,
  )
}
