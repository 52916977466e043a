import { NetCDFReader } from 'netcdfjs'
import { OperatorError } from '#src/errors.ts'
import { FileBytes } from '#src/ingest/geotiff/directories.ts'
import { bytesOf, createPixels, PIXEL_TYPES, type Pixels, type PixelType } from '#src/raster/pixels.ts'
import { type Container, MOST_VARIABLES, textOf, type Variable } from './container.ts'

type Header = NetCDFReader['header']
type Entry = Header['variables'][number]

/** The library reads the header alone; it fails beyond the end of what it gets. */
const FIRST_BYTES = 64 * 1024
const MOST_HEADER_BYTES = 16 * 2 ** 20

const TYPES: Record<string, PixelType> = {
  byte: '8BSI',
  short: '16BSI',
  int: '32BSI',
  float: '32BF',
  double: '64BF',
}

const UNSIGNED: Partial<Record<PixelType, PixelType>> = { '8BSI': '8BUI', '16BSI': '16BUI', '32BSI': '32BUI' }

/** NetCDF 3, classic or with offsets of 64 bits. Windows are read from where they lie. */
export async function openNetcdf3(path: string): Promise<Container> {
  const file = await FileBytes.open(path)
  try {
    const header = await readHeader(file)
    if (header.variables.length > MOST_VARIABLES) throw new Error(`it has over ${MOST_VARIABLES} variables`)
    return {
      isNetcdf: true,
      driver: 'NETCDF',
      attribute: attributesOf(header.globalAttributes),
      variables: header.variables.map((entry) => openVariable(entry, header, file, path)),
      bytes: file.fileSize,
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readHeader(file: FileBytes): Promise<Header> {
  for (let length = FIRST_BYTES; ; length *= 4) {
    const { data } = await file.fetchSlice({ offset: 0, length })
    try {
      const { header } = new NetCDFReader(data)
      return { ...header, dimensions: header.dimensions ?? [], variables: header.variables ?? [] }
    } catch (error) {
      if (!(error instanceof RangeError) || length >= Math.min(file.fileSize, MOST_HEADER_BYTES)) throw error
    }
  }
}

function openVariable(entry: Entry, header: Header, file: FileBytes, path: string): Variable {
  const attribute = attributesOf(entry.attributes)
  const isText = entry.type === 'char'
  const stored = isText ? '8BUI' : TYPES[entry.type]
  const isUnsigned = textOf(attribute('_Unsigned'))?.toLowerCase() === 'true'
  const pixelType = (isUnsigned && stored && UNSIGNED[stored]) || stored
  const { shape, dimensions } = readShape(entry, header)
  const read = pixelType
    ? createRead({ entry, shape, pixelType, step: stepOf(header), file, path })
    : () => Promise.reject(new Error(`${decodeName(entry.name)} has values of an unknown type`))
  const start = shape.map(() => 0)
  return {
    name: decodeName(entry.name),
    dimensions,
    shape,
    pixelType: isText ? undefined : pixelType,
    attribute,
    chunk: shape.map((size, at) => (at === shape.length - 1 ? size : 1)),
    read,
    ...(isText && { readTexts: async () => splitTexts(await read(start, shape), shape) }),
  }
}

function readShape({ dimensions, record }: Entry, header: Header) {
  const found = dimensions.map((id) => {
    const dimension = header.dimensions[id]
    if (!dimension) throw new Error('it names dimensions that it does not have')
    return dimension
  })
  return {
    dimensions: found.map(({ name }) => decodeName(name)),
    shape: found.map(({ size }, at) => (record && at === 0 ? header.recordDimension.length : size)),
  }
}

/** Bytes from a record to the next. A single variable has its records without padding. */
function stepOf({ variables, recordDimension, dimensions }: Header): number {
  const ofRecords = variables.filter(({ record }) => record)
  const [only] = ofRecords
  if (ofRecords.length !== 1 || !only) return recordDimension.recordStep ?? 0
  const [, ...inner] = only.dimensions
  const bytes = bytesOf(TYPES[only.type] ?? '8BUI')
  return inner.reduce((product, id) => product * (dimensions[id]?.size ?? 0), bytes)
}

interface Place {
  entry: Entry
  shape: number[]
  pixelType: PixelType
  step: number
  file: FileBytes
  path: string
}

function createRead({ entry, shape, pixelType, step, file, path }: Place): Variable['read'] {
  const bytes = bytesOf(pixelType)
  const strides = shape.map((_, at) => shape.slice(at + 1).reduce((product, size) => product * size, bytes))
  if (entry.record) strides[0] = step
  const end = shape.reduce(
    (at, size, index) => at + (size - 1) * (strides[index] as number),
    entry.offset + bytes,
  )
  return async (start, count) => {
    if (end > file.fileSize && !shape.includes(0)) {
      throw new OperatorError(
        `${path} is cut off: ${decodeName(entry.name)} ends at byte ${end}, and the file has ${file.fileSize}.`,
        { code: 'CUT_OFF' },
      )
    }
    const length = count.at(-1) ?? 1
    const pixels = createPixels(
      pixelType,
      count.reduce((product, size) => product * size, 1),
    )
    // Records of one dimension lie apart.
    const run = shape.length === 1 && entry.record ? 1 : length
    for (let at = 0; at < pixels.length; at += run) {
      const offset = offsetAt(at, start, count, strides) + entry.offset
      const raw = await file.read({ offset, length: run * bytes })
      pixels.set(fromBigEndian(raw, pixelType), at)
    }
    return pixels
  }
}

/** Of a value within the box, as the box counts them. */
function offsetAt(at: number, start: readonly number[], count: readonly number[], strides: number[]): number {
  let [rest, offset] = [at, 0]
  for (let axis = count.length - 1; axis >= 0; axis--) {
    const size = count[axis] as number
    offset += ((start[axis] as number) + (rest % size)) * (strides[axis] as number)
    rest = Math.floor(rest / size)
  }
  return offset
}

function fromBigEndian(bytes: Uint8Array, pixelType: PixelType): Pixels {
  // A copy, which begins at a multiple of eight bytes, as Buffer.from does not.
  const copy = Uint8Array.from(bytes)
  const buffer = Buffer.from(copy.buffer)
  const size = bytesOf(pixelType)
  if (size === 2) buffer.swap16()
  if (size === 4) buffer.swap32()
  if (size === 8) buffer.swap64()
  return new PIXEL_TYPES[pixelType].PixelArray(copy.buffer)
}

/** The library has a byte a character. */
function decodeName(text: string): string {
  return Buffer.from(text, 'latin1').toString('utf8')
}

function attributesOf(list: Header['globalAttributes']): Variable['attribute'] {
  const values = new Map(list.map(({ name, value }) => [name, value as unknown]))
  return (name) => {
    const value = values.get(name)
    if (value === undefined) return undefined
    return typeof value === 'string' ? decodeName(value).replaceAll('\0', '') : ([value].flat() as number[])
  }
}

/** Rows of characters, each a text. */
function splitTexts(bytes: Pixels, shape: number[]): string[] {
  const length = shape.at(-1) ?? 1
  const text = Buffer.from(bytes as Uint8Array)
  return Array.from({ length: bytes.length / length }, (_, row) =>
    text
      .toString('utf8', row * length, (row + 1) * length)
      .replaceAll('\0', '')
      .trim(),
  )
}
