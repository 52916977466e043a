import { readFile, stat } from 'node:fs/promises'
import { parseXml, XmlElement } from '@rgrove/parse-xml'
import type { GeoTIFFImage } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import { decodeFile } from '#src/ingest/other-formats.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import type { GridSize } from '#src/raster/grid.ts'
import { refuseUnreadable } from '../other-formats.ts'
import type { Band, MeantBand, Words } from '../readers.ts'
import type { SampleLayout } from './samples.ts'

/** GDAL's metadata beside a raster whose format cannot hold it. */
export interface SideMetadata {
  path: string
  crs: string | undefined
  geotransform: Affine | undefined
  /** Free notes about all of it. */
  notes: Record<string, string>
  /** From 1. */
  bands: Map<number, SideBand>
}

interface SideBand extends BandText {
  nodata?: string
  /** By value, from 0. */
  categories: string[]
}

/** Histograms and tables of classes fit. */
const MAX_BYTES = 8 * 2 ** 20

/** `FILE.aux.xml`, GDAL's "persistent auxiliary metadata"; undefined without one. */
export async function readSideMetadata(imagePath: string): Promise<SideMetadata | undefined> {
  const path = `${imagePath}.aux.xml`
  const text = await readSmallFile(path, MAX_BYTES)
  if (text === undefined) return undefined
  const root = parseRoot(text, 'PAMDataset', path)
  if (!root) {
    throw new OperatorError(`${path} is not what GDAL keeps of a raster: it is no PAMDataset.`)
  }
  return {
    path,
    crs: readText(root, 'SRS'),
    geotransform: geotransformIn(readText(root, 'GeoTransform'), path),
    notes: readNotes(root),
    bands: new Map(
      listChildren(root, 'PAMRasterBand').map((band) => [
        Number(band.attributes.band),
        {
          nodata: readText(band, 'NoDataValue'),
          scale: readText(band, 'Scale'),
          offset: readText(band, 'Offset'),
          description: readText(band, 'Description'),
          unit: readText(band, 'UnitType'),
          notes: readNotes(band),
          categories: listChildren(band, 'CategoryNames')
            .flatMap((names) => listChildren(names, 'Category'))
            .map(({ text }) => text.trim()),
        },
      ]),
    ),
  }
}

/** Of the domain without a name: others are of programs. */
function readNotes(element: XmlElement): Record<string, string> {
  const items = listChildren(element, 'Metadata')
    .filter(({ attributes }) => attributes.domain === undefined)
    .flatMap((metadata) => listChildren(metadata, 'MDI'))
  return Object.fromEntries(items.map(({ attributes, text }) => [attributes.key ?? '', text.trim()]))
}

function readText(element: XmlElement, name: string): string | undefined {
  return listChildren(element, name)[0]?.text.trim() || undefined
}

/** GDAL's order: x of the origin, its change a column and a row, then y. */
function geotransformIn(text: string | undefined, path: string): Affine | undefined {
  if (text === undefined) return undefined
  const numbers = text.split(',').map(Number)
  if (numbers.length !== 6 || !numbers.every(Number.isFinite)) {
    throw new OperatorError(`${path} has a GeoTransform that is not six numbers.`)
  }
  const [c, a, b, f, d, e] = numbers as Affine
  return [a, b, c, d, e, f]
}

interface BandText {
  scale?: string
  offset?: string
  description?: string
  unit?: string
  notes?: Record<string, string>
}

/** What GDAL calls members of a band. */
const ROLES = { scale: 'scale', offset: 'offset', description: 'description', unittype: 'unit' } as const

/** GDAL's metadata in the file, by band from 1; of all of it at 0. */
export async function readInternalMetadata(
  image: GeoTIFFImage,
  path: string,
): Promise<Map<number, BandText>> {
  const bands = new Map<number, BandText>([[0, { notes: await readTextTags(image) }]])
  if (!image.fileDirectory.hasTag('GDAL_METADATA')) return bands
  const text = String(await image.fileDirectory.loadValue('GDAL_METADATA')).replaceAll('\0', '')
  const root = parseRoot(text, 'GDALMetadata', `What ${path} says of its bands`)
  for (const { attributes, text } of root ? listChildren(root, 'Item') : []) {
    const { role = '', sample, name = '', domain } = attributes
    const band = sample === undefined ? 0 : Number(sample) + 1
    const found = bands.get(band) ?? {}
    const member = sample === undefined ? undefined : ROLES[role as keyof typeof ROLES]
    if (member) bands.set(band, { ...found, [member]: unescaped(text) })
    else if (role === '' && domain === undefined)
      bands.set(band, { ...found, notes: { ...found.notes, [name]: unescaped(text) } })
  }
  return bands
}

/** Tags of texts, with GDAL's names for them. */
const TEXT_TAGS = {
  ImageDescription: 'TIFFTAG_IMAGEDESCRIPTION',
  Artist: 'TIFFTAG_ARTIST',
  Copyright: 'TIFFTAG_COPYRIGHT',
} as const

async function readTextTags({ fileDirectory }: GeoTIFFImage): Promise<Record<string, string>> {
  const notes: Record<string, string> = {}
  for (const tag of Object.keys(TEXT_TAGS) as (keyof typeof TEXT_TAGS)[]) {
    if (!fileDirectory.hasTag(tag)) continue
    notes[TEXT_TAGS[tag]] = String(await fileDirectory.loadValue(tag))
      .replaceAll('\0', '')
      .trim()
  }
  return notes
}

const ESCAPED: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' }

/** GDAL escapes twice, an XML parser undoes one. */
function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot);/g, (entity) => ESCAPED[entity] as string)
}

/**
 * @param name for messages
 * @returns undefined for another root element
 */
function parseRoot(text: string, element: string, name: string): XmlElement | undefined {
  try {
    const { root } = parseXml(text)
    return root?.name === element ? root : undefined
  } catch (error) {
    throw new OperatorError(`${name} is damaged: ${formatError(error).split('\n')[0]}.`)
  }
}

function listChildren(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter(
    (child): child is XmlElement => child instanceof XmlElement && child.name === name,
  )
}

/** A file that may lie beside a raster; undefined without it. */
export async function readSmallFile(path: string, maxBytes: number): Promise<string | undefined> {
  const refuse = (error: NodeJS.ErrnoException) =>
    readErrorCode(error) === 'ENOENT' ? undefined : refuseUnreadable(path, error)
  const status = await stat(path).catch(refuse)
  if (!status) return undefined
  if (status.size > maxBytes) {
    throw new OperatorError(`${path} has ${status.size} bytes; at most ${maxBytes} are read.`)
  }
  const bytes = await readFile(path).catch(refuse)
  if (!bytes) return undefined
  const declared = /^<\?xml[^>]*?encoding=["']([\w-]+)/.exec(bytes.toString('latin1', 0, LONGEST_PROLOG))?.[1]
  return decodeFile(bytes, { source: path, declared }, () => {})
}

/** Of XML, which may name another encoding. */
const LONGEST_PROLOG = 200

/** x = a * column + b * row + c, y = d * column + e * row + f. */
export type Affine = [a: number, b: number, c: number, d: number, e: number, f: number]

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
 * Contradictions are resolved as in GDAL, so that operators see the same: nodata beside the file, the rest in it. The
 * manifest overrides both. NaN never is a value.
 */
export function readBand(sources: BandSources, entry: MeantBand, notes: Set<string>): Band {
  const { image, type, inside: all, side, path } = sources
  const { band = 1 } = entry
  const number = typeof band === 'number' ? band : findNumber(band, sources)
  const count = image.getSamplesPerPixel()
  if (number > count) {
    throw new OperatorError(
      `${path} has ${count} band${count === 1 ? '' : 's'}; band ${number} is not there.`,
    )
  }
  const metadata = all.get(number)
  const beside = side?.bands.get(number)
  // A file has both or none; one of them may be empty.
  const isInside = isSaid(metadata?.scale) || isSaid(metadata?.offset)
  const texts = (isInside ? withPoints(metadata) : beside) ?? {}
  const readNumber = (name: 'scale' | 'offset') => {
    const text = texts[name]
    if (entry[name] !== undefined || !isSaid(text)) return entry[name]
    const value = numberIn(text)
    if (value !== undefined) return value
    throw new OperatorError(
      `${isInside ? path : side?.path} says ${name} "${text.trim()}" of band ${number}, which is no number: give the layer's ${name}.`,
    )
  }
  for (const note of classNotes(sources, number)) notes.add(note)
  const note = entry.nodata === undefined && nodataNote(sources, beside?.nodata)
  if (note) notes.add(note)
  const nodata = entry.nodata ?? numberIn(beside?.nodata) ?? readNodata(image)
  return {
    number,
    pixelType: type.pixelType,
    description: describeBand(number, sources),
    nodata: typeof nodata === 'number' && !Number.isNaN(nodata) ? nodata : undefined,
    scale: readNumber('scale') ?? 1,
    offset: readNumber('offset') ?? 0,
  }
}

function nodataNote({ image, side, path }: BandSources, besideText: string | undefined): string | undefined {
  const [inside, beside] = [readNodata(image), numberIn(besideText)]
  if (inside !== undefined && beside !== undefined && !Object.is(inside, beside)) {
    return `${side?.path} says nodata ${beside}, and the file itself ${inside}: ${beside} counts.`
  }
  const insideText = readNodataText(image)
  if (beside === undefined && isSaid(besideText)) return unreadNodata(side?.path, besideText)
  if (beside === undefined && inside === undefined && isSaid(insideText))
    return unreadNodata(path, insideText)
  return undefined
}

function unreadNodata(path: string | undefined, text: string): string {
  return `${path} says nodata "${text}", which is no number and does not count: give the layer's nodata.`
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

/** What a file and the one beside it say in words. @param number of a band, from 1; 0 for all of it */
export function readWords(sources: BandSources, number: number): Words {
  const [own, beside] = [sources.inside.get(number), sources.side?.bands.get(number)]
  const notes = number === 0 ? sources.side?.notes : beside?.notes
  return {
    description: describeBand(number, sources),
    unit: own?.unit ?? beside?.unit,
    notes: { ...notes, ...own?.notes },
  }
}

const LISTED_NAMES = 20

function describeBand(
  number: number,
  { inside, side }: Pick<BandSources, 'inside' | 'side'>,
): string | undefined {
  return (inside.get(number)?.description ?? side?.bands.get(number)?.description)?.trim()
}

function findNumber(name: string, sources: BandSources): number {
  const { image, path } = sources
  const names = Array.from({ length: image.getSamplesPerPixel() }, (_, index) => {
    return describeBand(index + 1, sources)
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

export function readSampleType(image: GeoTIFFImage, path: string): SampleType {
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
export function readNodata(image: GeoTIFFImage): number | undefined {
  const text = readNodataText(image)
  return numberIn(text === undefined ? undefined : withPoint(text))
}

function readNodataText(image: GeoTIFFImage): string | undefined {
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
  const pixels = image.getWidth() * image.getHeight() * image.getSamplesPerPixel()
  refuseTooFew(Math.ceil(part * pixels * bytes), fileSize, path)
}

/** @param declared bytes of pixels that a file is to hold */
export function refuseTooFew(declared: number, fileSize: number, path: string): void {
  if (declared <= UNSUSPICIOUS_BYTES || declared <= MAX_RATIO * fileSize) return
  throw new OperatorError(
    `${path} has ${fileSize} bytes and says that they hold ${declared} bytes of pixels: more than ${MAX_RATIO} for one are not read of an image over ${UNSUSPICIOUS_BYTES} bytes.`,
  )
}
