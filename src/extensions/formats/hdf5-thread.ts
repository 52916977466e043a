import { parentPort } from 'node:worker_threads'
import type { Dataset, File, Group, Metadata } from 'h5wasm'
import { formatError } from '#src/lib/promises.ts'
import { PIXEL_TYPES, type Pixels, type PixelType } from '#src/raster/pixels.ts'
import { type AttributeValue, exactNumbers, MOST_COORDINATES, MOST_VARIABLES, textOf } from './container.ts'
import type { Answered, Asked, Attributes, DescribedFile, DescribedVariable } from './hdf5.ts'

/**
 * NetCDF 4 and HDF5. The library reads windows by chunks, and waits for the disk; of damaged sizes it may look for ever. So it
 * has a thread of its own, which answers one question after the other.
 */

/** Classes of HDF5. */
const INTEGER = 0
const FLOAT = 1
const STRING = 3

/** While one is open the library opens no others: a file may name them, and it would read each byte of theirs. */
const opened = new Set<string>()

async function loadLibrary() {
  // What it prints where it gives up is also its error.
  console.log = console.error = () => {}
  const library = await import('h5wasm/node')
  await library.ready
  confine(library.FS as unknown as FileSystem)
  // Else it prints errors, and gives zeros for damaged chunks.
  library.Module.activate_throwing_error_handler()
  return library
}

interface FileSystem {
  open(path: string, flags: unknown, ...more: unknown[]): unknown
  ErrnoError: new (code: number) => Error
  isConfined?: boolean
}

/** ENOENT of the library's system. */
const NO_ENTRY = 44
/** O_CREAT and O_EXCL there: its messages go through a new file. */
const NEW_FILE = 0o300

function confine(files: FileSystem): void {
  if (files.isConfined) return
  const open = files.open.bind(files)
  files.open = (path, flags, ...more) => {
    const isNew = (Number(flags) & NEW_FILE) === NEW_FILE
    if (opened.size > 0 && !opened.has(path) && !isNew) throw new files.ErrnoError(NO_ENTRY)
    return open(path, flags, ...more)
  }
  files.isConfined = true
}

/** The files that are open, by number. */
const files = new Map<number, { path: string; file?: File }>()

/** Attributes of a file. */
const MOST_ATTRIBUTE_BYTES = 64_000_000

async function open(number: number, path: string): Promise<DescribedFile> {
  const library = await loadLibrary()
  opened.add(path)
  files.set(number, { path })
  try {
    const file = explained(() => new library.File(path, 'r'))
    files.set(number, { path, file })
    const names = explained(() => file.paths())
    if (names.length > MOST_VARIABLES) throw new Error(`it has over ${MOST_VARIABLES} members`)
    const readAttributes = attributeReader()
    const members = names.map((name) => {
      const found = file.get(name)
      return { name, found, attributes: readAttributes(found) }
    })
    const isScale = (attributes: Attributes) => attributes.CLASS === 'DIMENSION_SCALE'
    return {
      isNetcdf: '_NCProperties' in file.attrs || members.some(({ attributes }) => isScale(attributes)),
      attributes: readAttributes(file),
      variables: members.flatMap(({ name, found, attributes }) =>
        found instanceof library.Dataset
          ? (describeVariable(found, name, attributes, isScale(attributes)) ?? [])
          : [],
      ),
    }
  } catch (error) {
    close(number)
    throw error
  }
}

function close(number: number): void {
  const closed = files.get(number)
  files.delete(number)
  if (closed && ![...files.values()].some(({ path }) => path === closed.path)) opened.delete(closed.path)
  if (closed?.file) explained(() => closed.file?.close())
}

/** The innermost reason, of all that the library prints. */
function explained<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    const reasons = formatError(error).match(/(?<=\(\): ).+$/gm)
    throw reasons ? new Error(reasons.at(-1)) : error
  }
}

/** Of a dimension without coordinates. */
const NO_VARIABLE = 'This is a netCDF dimension but not a netCDF variable'

function describeVariable(
  found: Dataset,
  name: string,
  attributes: Attributes,
  isScale: boolean,
): DescribedVariable | undefined {
  const { metadata } = found
  const { shape, chunks, virtual_sources: others } = metadata
  if (!shape || textOf(attributes.NAME)?.startsWith(NO_VARIABLE)) return undefined
  const pixelType = pixelTypeOf({ ...metadata, signed: metadata.signed && !isUnsigned(attributes) })
  const fault = others?.length
    ? 'it is put together of other files'
    : pixelType === undefined && metadata.type !== STRING && 'its values are of a type that is not read'
  return {
    name,
    ...(fault && { fault }),
    dimensions: shape.length === 1 && isScale ? [name] : listDimensions(found, name, shape.length),
    shape,
    pixelType: fault ? undefined : pixelType,
    attributes,
    chunk: chunks ?? shape.map((size, at) => (at === shape.length - 1 ? size : 1)),
    hasTexts: metadata.type === STRING,
  }
}

const isUnsigned = (attributes: Attributes) => textOf(attributes._Unsigned)?.toLowerCase() === 'true'

function pixelTypeOf({ type, size, signed }: Metadata): PixelType | undefined {
  if (type === FLOAT) return size === 4 ? '32BF' : size === 8 ? '64BF' : undefined
  if (type !== INTEGER) return undefined
  if (size === 8) return '64BF'
  return size === 1 || size === 2 || size === 4
    ? `${(size * 8) as 8 | 16 | 32}B${signed ? 'SI' : 'UI'}`
    : undefined
}

function asPixels(values: unknown): Pixels {
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) return exactNumbers(values)
  if (ArrayBuffer.isView(values)) return values as Pixels
  // Without dimensions it is one.
  return typeof values === 'bigint' ? exactNumbers(BigInt64Array.of(values)) : Float64Array.of(Number(values))
}

/** The same bytes. */
function asType(pixels: Pixels, pixelType: PixelType): Pixels {
  const { buffer, byteOffset, length } = pixels
  return new PIXEL_TYPES[pixelType].PixelArray(buffer as ArrayBuffer, byteOffset, length)
}

/** Without scales, names that no variable has. */
function listDimensions(dataset: Dataset, name: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const [scale] = dataset.get_attached_scales(at)
    return scale?.replace(/^\//, '') ?? `dimension ${at + 1} of ${name}`
  })
}

/** Reads those of one member of a file after the other. */
function attributeReader() {
  let bytes = 0
  return (of: unknown): Attributes => {
    const attributes: Attributes = {}
    for (const [name, attribute] of Object.entries((of as Group | null)?.attrs ?? {})) {
      const { type, total_size: size } = attribute.metadata
      if (size > MOST_COORDINATES || (type !== INTEGER && type !== FLOAT && type !== STRING)) continue
      bytes += size
      if (bytes > MOST_ATTRIBUTE_BYTES) throw new Error('its attributes are too large')
      attributes[name] = attributeValue(explained(() => attribute.value))
    }
    return attributes
  }
}

function attributeValue(value: unknown): AttributeValue {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.join(' ')
  return Array.from(asPixels(value))
}

function readTexts(dataset: Dataset, shape: number[]): string[] {
  if (dataset.metadata.total_size > MOST_COORDINATES) throw new Error(`${dataset.path} has too many texts`)
  const texts = [dataset.value].flat().map(String)
  // Of NetCDF, rows of characters.
  const length = shape.length === 2 ? (shape[1] as number) : 1
  return Array.from({ length: texts.length / length }, (_, row) =>
    texts
      .slice(row * length, (row + 1) * length)
      .join('')
      .trim(),
  )
}

function read(file: File, { variable, start, count, as }: Asked & { what: 'read' }): Pixels {
  const box = start.map((from, at): [number, number] => [from, from + (count[at] as number)])
  const pixels = asPixels(explained(() => (file.get(variable) as Dataset).slice(box)))
  return as ? asType(pixels, as) : pixels
}

async function answer(asked: Asked): Promise<unknown> {
  if (asked.what === 'open') return open(asked.file, asked.path)
  if (asked.what === 'close') return close(asked.file)
  const { file } = files.get(asked.file) as { file: File }
  if (asked.what === 'read') return read(file, asked)
  const dataset = file.get(asked.variable) as Dataset
  return readTexts(dataset, dataset.metadata.shape as number[])
}

const say = (answered: Answered) => parentPort?.postMessage(answered)

parentPort?.on('message', (asked: Asked) =>
  answer(asked).then(
    (value) => say({ value }),
    // WebAssembly's own errors: it gave up, or ran into memory that is none.
    (error) => say({ reason: formatError(error), isLost: error?.name === 'RuntimeError' }),
  ),
)
