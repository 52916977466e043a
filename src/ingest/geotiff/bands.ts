import type { GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import type { GridSize } from '#src/raster/grid.ts'
import type { PixelType } from '#src/raster/pixels.ts'
import type { BandText, SideMetadata } from './metadata.ts'
import type { SampleLayout } from './samples.ts'

/** What a GeoTIFF says of one of its bands. */
export interface Band {
  /** From 1. */
  number: number
  pixelType: PixelType
  /** As written in the file: for Float32 pixels it still has to be rounded to one. NaN is possible. */
  nodata: number | undefined
  scale: number
  offset: number
  /** Why they cannot be read, where the manifest does not give others. */
  refusals: { scale?: string; offset?: string }
  /** What the operator should know of it. */
  notes: string[]
  /** And of its nodata value, where the manifest does not give another. */
  nodataNote: string | undefined
}

/** TIFF SampleFormat values. */
const UNSIGNED = 1
const SIGNED = 2
const FLOAT = 3
/** TIFF 6.0 has readers take it for the first. */
const UNDEFINED = 4

/** How the samples of an image look in memory; all its bands are alike. */
export type SampleType = Pick<SampleLayout, 'pixelType' | 'bytes' | 'float' | 'packed' | 'integers64'>

/** What an image, what GDAL has written into it and what lies beside it say of its bands. */
interface BandSources {
  image: GeoTIFFImage
  type: SampleType
  inside: Map<number, BandText>
  side: SideMetadata | undefined
  path: string
}

/**
 * What is said of a band in the file and beside it. Where both say something, they are followed as GDAL does,
 * so that operators get what they see elsewhere: the nodata value beside the file, the rest in it.
 *
 * @param named its number from 1, or its name, which GDAL calls its description
 * @throws {OperatorError} when the band is not there
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
  // They belong together: a file that has one of them has both, of which one says nothing.
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

/** What there is to say of the nodata value of a band, by the text beside its file. */
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

/** PhotometricInterpretation: pixels are places in a list of colours. */
const PALETTE = 3

/** Classes that a note names. */
const LISTED_CLASSES = 10

/** Pixels of classes are read as the numbers that they are, which are amounts of nothing. */
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

/** Names that a refusal lists. */
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

/** @throws {OperatorError} when pixels of this type cannot be stored */
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

/** The nodata tag of an image, which is one for all its bands. */
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

/** GDAL takes one decimal comma for a point, in what a file itself says. */
function withPoint(text: string): string {
  const number = text.replace(',', '.')
  return Number.isNaN(Number(number)) ? text : number
}

function isSaid(text: string | undefined): text is string {
  return text !== undefined && text.trim() !== ''
}

/** How writers spell what is no finite number. */
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

/** Images up to here may be as empty as they like: sparse files and those of one value are small. */
const UNSUSPICIOUS_BYTES = 2 ** 30
/** DEFLATE makes 1,032 bytes of one at most, and no raster of measurements comes near it. */
const MAX_RATIO = 1000

/** @throws {OperatorError} where the image has more pixels than are read, or says so without a reason */
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

/** @throws {OperatorError} where a grid has more pixels than are read */
export function refuseAbsurdGrid({ width, height }: GridSize, path: string): void {
  if (Math.max(width, height) <= MAX_SIDE && width * height <= MAX_PIXELS) return
  throw new OperatorError(
    `${path} has ${width} x ${height} pixels; at most ${MAX_SIDE} a side and ${MAX_PIXELS} in all are read: cut it with gdal_translate -projwin.`,
  )
}

/**
 * @param part of the image that counts
 * @throws {OperatorError} where the pixels of a large image cannot come from so small a file
 */
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
