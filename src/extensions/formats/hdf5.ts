import { stat } from 'node:fs/promises'
import type { Dataset, File, Metadata } from 'h5wasm'
import { formatError } from '#src/lib/promises.ts'
import { PIXEL_TYPES, type Pixels, type PixelType } from '#src/raster/pixels.ts'
import {
  type AttributeValue,
  type Container,
  exactNumbers,
  MOST_COORDINATES,
  MOST_VARIABLES,
  textOf,
  type Variable,
} from './container.ts'

/** Classes of HDF5. */
const INTEGER = 0
const FLOAT = 1
const STRING = 3

/** While one is open the library opens no others: a file may name them, and it would read each byte of theirs. */
const opened = new Set<string>()

async function loadLibrary() {
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

/** NetCDF 4 and HDF5. The library reads windows by chunks, and waits for the disk. */
export async function openHdf5(path: string): Promise<Container> {
  const library = await loadLibrary()
  const { size } = await stat(path)
  opened.add(path)
  let file: File | undefined
  const close = async () => {
    opened.delete(path)
    if (file) explained(() => file?.close())
  }
  try {
    const opening = explained(() => new library.File(path, 'r'))
    file = opening
    const names = explained(() => opening.paths())
    if (names.length > MOST_VARIABLES) throw new Error(`it has over ${MOST_VARIABLES} members`)
    const isNetcdf = '_NCProperties' in opening.attrs || names.some((name) => isScale(opening, name))
    const variables = names.flatMap((name) => openVariable(library.Dataset, opening, name) ?? [])
    const driver = isNetcdf ? 'NETCDF' : 'HDF5'
    const attribute = (name: string) => readAttribute(opening, name)
    return { isNetcdf, driver, attribute, variables, bytes: size, close }
  } catch (error) {
    await close()
    throw error
  }
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

function isScale(file: File, name: string): boolean {
  return readAttribute(file.get(name), 'CLASS') === 'DIMENSION_SCALE'
}

/** Of a dimension without coordinates. */
const NO_VARIABLE = 'This is a netCDF dimension but not a netCDF variable'

function openVariable(Kind: typeof Dataset, file: File, name: string): Variable | undefined {
  const found = file.get(name)
  if (!(found instanceof Kind)) return undefined
  const { metadata } = found
  const { shape, chunks, virtual_sources: others } = metadata
  if (!shape) return undefined
  if (textOf(readAttribute(found, 'NAME'))?.startsWith(NO_VARIABLE)) return undefined
  const isUnsigned = textOf(readAttribute(found, '_Unsigned'))?.toLowerCase() === 'true'
  const pixelType = pixelTypeOf({ ...metadata, signed: metadata.signed && !isUnsigned })
  const fault = others?.length
    ? 'it is put together of other files'
    : pixelType === undefined && metadata.type !== STRING && 'its values are of a type that is not read'
  return {
    name,
    ...(fault && { fault }),
    dimensions: listDimensions(file, found, name, shape.length),
    shape,
    pixelType: fault ? undefined : pixelType,
    attribute: (attribute) => readAttribute(found, attribute),
    chunk: chunks ?? shape.map((size, at) => (at === shape.length - 1 ? size : 1)),
    async read(start, count) {
      const box = start.map((from, at): [number, number] => [from, from + (count[at] as number)])
      const pixels = asPixels(explained(() => found.slice(box)))
      return isUnsigned && pixelType ? asType(pixels, pixelType) : pixels
    },
    ...(metadata.type === STRING && { readTexts: async () => readTexts(found, shape) }),
  }
}

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

/** A variable that is a scale has itself. Without scales, names that no variable has. */
function listDimensions(file: File, dataset: Dataset, name: string, count: number): string[] {
  if (count === 1 && isScale(file, name)) return [name]
  return Array.from({ length: count }, (_, at) => {
    const [scale] = dataset.get_attached_scales(at)
    return scale?.replace(/^\//, '') ?? `dimension ${at + 1} of ${name}`
  })
}

function readAttribute(of: unknown, name: string): AttributeValue | undefined {
  const attribute = (of as Dataset | null)?.attrs?.[name]
  if (!attribute || attribute.metadata.total_size > MOST_COORDINATES) return undefined
  const { type } = attribute.metadata
  if (type !== INTEGER && type !== FLOAT && type !== STRING) return undefined
  const { value } = attribute
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
