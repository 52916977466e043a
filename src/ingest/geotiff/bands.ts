import type { GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import type { GridSize } from '#src/raster/grid.ts'
import type { PixelType } from '#src/raster/pixels.ts'
import type { BandText, SideMetadata } from './metadata.ts'
import type { SampleLayout } from './samples.ts'

export interface Band {
  number: number
  pixelType: PixelType
  /** As written: for Float32 pixels still to be rounded. May be NaN. */
  nodata: number | undefined
  scale: number
  offset: number
  /** Unless the manifest overrides them. */
  refusals: { scale?: string; offset?: string }
  /** For the operator. */
  notes: string[]
  /** Unless the manifest overrides nodata. */
  nodataNote: string | undefined
}

/** SampleFormat of TIFF. */
const UNSIGNED = 1
const SIGNED = 2
const FLOAT = 3
/** Readers treat it as unsigned (TIFF 6.0). */
const UNDEFINED = 4

/** Equal for all bands of an image. */
export type SampleType = Pick<SampleLayout, 'pixelType' | 'bytes' | 'float' | 'packed' | 'integers64'>

interface BandSources {
  image: GeoTIFFImage
  type: SampleType
  inside: Map<number, BandText>
  side: SideMetadata | undefined
  path: string
}

/**
 * Contradictions are resolved as in GDAL, so that operators see the same: nodata beside the file, the rest in it.
 *
 * @param named its number from 1, or its description in GDAL
 */
export function bandOf(sources: BandSources, named: number | string): Band {
  const { image, type, inside: all, side, path } = sources
  const number = typeof named === 'number' ? named : numberOf(named, sources)
  const count = image.getSamplesPerPixel()
  if (number > count) {
    throw new OperatorError(
      `${path} has ${count} band${count === 1 ? '' : 's'}; band ${number} is not there.`,
    )
  }
  const metadata = all.get(number)
  const beside = side?.bands.get(number)
  const [nodataInside, nodataBeside] = [nodataOf(image), numberIn(beside?.nodata)]
  // A file has both or none; one of them may be empty.
  const isInside = isSaid(metadata?.scale) || isSaid(metadata?.offset)
  const { scale, offset } = (isInside ? withPoints(metadata) : beside) ?? {}
  const saying = { path: isInside ? path : side?.path, number }
  return {
    number,
    pixelType: type.pixelType,
    nodata: nodataBeside ?? nodataInside,
    scale: numberIn(scale) ?? 1,
    offset: numberIn(offset) ?? 0,
    refusals: {
      scale: refusalOf('scale', scale, saying),
      offset: refusalOf('offset', offset, saying),
    },
    notes: classNotes(sources, number),
    nodataNote: nodataNote(sources, beside?.nodata),
  }
}

function nodataNote({ image, side, path }: BandSources, besideText: string | undefined): string | undefined {
  const [inside, beside] = [nodataOf(image), numberIn(besideText)]
  if (inside !== undefined && beside !== undefined && !Object.is(inside, beside)) {
    return `${side?.path} says nodata ${beside}, and the file itself ${inside}: ${beside} counts.`
  }
  const insideText = nodataTextOf(image)
  if (beside === undefined && isSaid(besideText)) return unreadNodata(side?.path, besideText)
  if (beside === undefined && inside === undefined && isSaid(insideText))
    return unreadNodata(path, insideText)
  return undefined
}

function unreadNodata(path: string | undefined, text: string): string {
  return `${path} says nodata "${text}", which is no number and does not count: give the layer's nodata.`
}

function refusalOf(
  name: 'scale' | 'offset',
  text: string | undefined,
  { path, number }: { path: string | undefined; number: number },
): string | undefined {
  if (!isSaid(text) || numberIn(text) !== undefined) return undefined
  return `${path} says ${name} "${text.trim()}" of band ${number}, which is no number: give the layer's ${name}.`
}

/** PhotometricInterpretation: indices of colours. */
const PALETTE = 3

const LISTED_CLASSES = 10

/** Numbers of classes are no amounts. */
function classNotes({ image, side, path }: BandSources, number: number): string[] {
  const classes = side?.bands.get(number)?.categories ?? []
  const isPalette = image.fileDirectory.getValue('PhotometricInterpretation') === PALETTE
  if (!isPalette && classes.length === 0) return []
  const named = classes.flatMap((name, value) => (name === '' ? [] : [`${value} "${name}"`]))
  const more = named.length > LISTED_CLASSES ? ` and ${named.length - LISTED_CLASSES} more` : ''
  const listed = named.length === 0 ? '' : ` (${named.slice(0, LISTED_CLASSES).join(', ')}${more})`
  return [
    `Band ${number} of ${path} has ${isPalette ? 'a palette' : 'names for its values'}: they are read as the numbers of classes${listed}.`,
  ]
}

const LISTED_NAMES = 20

function numberOf(name: string, { image, inside, side, path }: BandSources): number {
  const names = Array.from({ length: image.getSamplesPerPixel() }, (_, index) => {
    return (inside.get(index + 1)?.description ?? side?.bands.get(index + 1)?.description)?.trim()
  })
  const numbers = names.flatMap((other, index) => (other === name ? [index + 1] : []))
  const [number] = numbers
  if (number !== undefined && numbers.length === 1) return number
  if (number !== undefined) {
    throw new OperatorError(`${path} has several bands "${name}": ${numbers.join(', ')}; give the number.`)
  }
  const named = names.flatMap((other, index) => (other ? [`${index + 1} "${other}"`] : []))
  const more = named.length > LISTED_NAMES ? ` and ${named.length - LISTED_NAMES} more` : ''
  throw new OperatorError(
    `${path} has no band "${name}": ${named.length === 0 ? 'its bands have no names' : `it has ${named.slice(0, LISTED_NAMES).join(', ')}${more}`}.`,
  )
}

export function sampleTypeOf(image: GeoTIFFImage, path: string): SampleType {
  const bands = Array.from({ length: image.getSamplesPerPixel() }, (_, band) => band)
  const bits = image.getBitsPerSample(0)
  const formatOf = (band: number) =>
    image.getSampleFormat(band) === UNDEFINED ? UNSIGNED : image.getSampleFormat(band)
  const format = formatOf(0)
  if (bands.some((band) => image.getBitsPerSample(band) !== bits || formatOf(band) !== format)) {
    throw new OperatorError(`${path} has bands of different pixel types; make a file of each type.`)
  }
  const bytes = bits / 8
  if (format === FLOAT && (bits === 16 || bits === 32)) return { pixelType: '32BF', bytes, float: true }
  if (format === FLOAT && bits === 64) return { pixelType: '64BF', bytes, float: true }
  if ((format === UNSIGNED || format === SIGNED) && (bits === 8 || bits === 16 || bits === 32)) {
    return { pixelType: `${bits}B${format === SIGNED ? 'SI' : 'UI'}`, bytes, float: false }
  }
  if ((format === UNSIGNED || format === SIGNED) && bits === 64) {
    return { pixelType: '64BF', bytes, float: false, integers64: format === SIGNED ? 'signed' : 'unsigned' }
  }
  const kind = format === FLOAT ? 'floats' : format > FLOAT ? 'complex numbers' : 'integers'
  throw new OperatorError(
    `${path} has pixels that are ${bits}-bit ${kind}, which cannot be stored; convert it to Float64 or to ` +
      'integers of 8, 16 or 32 bits.',
  )
}

/** One tag for all bands. */
export function nodataOf(image: GeoTIFFImage): number | undefined {
  const text = nodataTextOf(image)
  return numberIn(text === undefined ? undefined : withPoint(text))
}

function nodataTextOf(image: GeoTIFFImage): string | undefined {
  const text = image.fileDirectory.getValue('GDAL_NODATA') as string | undefined
  return text?.replaceAll('\0', '').trim()
}

function withPoints({ scale, offset }: BandText = {}): Pick<BandText, 'scale' | 'offset'> {
  return { scale: scale && withPoint(scale), offset: offset && withPoint(offset) }
}

/** GDAL accepts a decimal comma in the file itself. */
function withPoint(text: string): string {
  const number = text.replace(',', '.')
  return Number.isNaN(Number(number)) ? text : number
}

function isSaid(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== ''
}

/** Writers' spellings of non-finite numbers. */
const NOT_FINITE = /^[+-]?(?:nan|inf(?:inity)?|1\.#\w+)$/i

function numberIn(text: string | undefined): number | undefined {
  if (!isSaid(text)) return undefined
  const number = Number(text)
  return Number.isNaN(number) && !NOT_FINITE.test(text.trim()) ? undefined : number
}

/** A country at 10 m has about 150,000 pixels a side. */
const MAX_SIDE = 250_000
const MAX_PIXELS = 10_000_000_000
const MAX_BANDS = 4096

/** Below this, sparse files and files of one value may be tiny. */
const UNSUSPICIOUS_BYTES = 2 ** 30
/** DEFLATE reaches 1,032; measurements never do. */
const MAX_RATIO = 1000

export function refuseAbsurdSize(image: GeoTIFFImage, path: string): void {
  const [width, height, bands] = [image.getWidth(), image.getHeight(), image.getSamplesPerPixel()]
  if (![width, height, bands].every((size) => Number.isInteger(size) && size > 0)) {
    throw new OperatorError(`${path} is damaged: its size is not a number of pixels.`)
  }
  refuseAbsurdGrid({ width, height }, path)
  if (bands > MAX_BANDS) {
    throw new OperatorError(`${path} has ${bands} bands; at most ${MAX_BANDS} are read.`)
  }
}

export function refuseAbsurdGrid({ width, height }: GridSize, path: string): void {
  if (Math.max(width, height) <= MAX_SIDE && width * height <= MAX_PIXELS) return
  throw new OperatorError(
    `${path} has ${width} x ${height} pixels; at most ${MAX_SIDE} a side and ${MAX_PIXELS} in all are read: cut it with gdal_translate -projwin.`,
  )
}

/** @param part the share of the image that counts */
export function refuseInflated(
  image: GeoTIFFImage,
  { bytes }: SampleType,
  fileSize: number,
  path: string,
  part = 1,
): void {
  const declared = Math.ceil(part * image.getWidth() * image.getHeight() * image.getSamplesPerPixel() * bytes)
  if (declared <= UNSUSPICIOUS_BYTES || declared <= MAX_RATIO * fileSize) return
  throw new OperatorError(
    `${path} has ${fileSize} bytes and says that they hold ${declared} bytes of pixels: more than ${MAX_RATIO} for one are not read of an image over ${UNSUSPICIOUS_BYTES} bytes.`,
  )
}
