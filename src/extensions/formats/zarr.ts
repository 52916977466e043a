import { open, readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { type InputType, unzip, type ZlibOptions } from 'node:zlib'
import type { DataType, Readable, Array as ZarrArray } from 'zarrita'
import { COMPRESSIONS } from '#src/ingest/geotiff/compression.ts'
import { formatError } from '#src/lib/promises.ts'
import type { Pixels, PixelType } from '#src/raster/pixels.ts'
import {
  type AttributeValue,
  type Container,
  exactNumbers,
  MOST_COORDINATES,
  MOST_VARIABLES,
  type Variable,
} from './container.ts'

type Library = typeof import('zarrita')

const PIXEL_TYPES: Partial<Record<DataType, PixelType>> = {
  int8: '8BSI',
  uint8: '8BUI',
  int16: '16BSI',
  uint16: '16BUI',
  int32: '32BSI',
  uint32: '32BUI',
  float32: '32BF',
  float64: '64BF',
  int64: '64BF',
  uint64: '64BF',
}

const MOST_METADATA_BYTES = 2 ** 20
/** A chunk, or a shard of several. */
const MOST_FILE_BYTES = 256 * 2 ** 20
const DEEPEST = 8

/** A folder of Zarr, version 2 or 3. */
export async function openZarr(path: string): Promise<Container> {
  const library = await loadLibrary()
  const found = await findArrays(path)
  const names = found.map(({ name }) => name)
  const root = library.root(createStore(path))
  const variables: Variable[] = []
  for (const { name, metadata } of found) {
    const shown = name || basename(path, '.zarr')
    const location = root.resolve(name.split('/').map(encodeURIComponent).join('/'))
    const open = metadata.node_type === undefined ? library.open.v2 : library.open.v3
    const opening = open(location, { kind: 'array' })
    variables.push(
      await opening.then(
        (array) => openVariable(library, array, metadata, shown, names),
        (error) => unreadVariable(shown, metadata, formatError(error)),
      ),
    )
  }
  const third = await readJson(join(path, 'zarr.json'))
  return {
    isNetcdf: false,
    driver: 'ZARR',
    attribute: attributesOf(third?.attributes ?? (await readJson(join(path, '.zattrs')))),
    variables,
    bytes: await bytesIn(path),
    close: async () => {},
  }
}

interface Metadata {
  compressor?: { id?: unknown } | null
  filters?: { id?: unknown }[] | null
  codecs?: { name?: unknown }[]
  node_type?: string
  shape?: unknown
  fill_value?: unknown
  dimension_names?: unknown
  attributes?: Record<string, unknown>
}

/** Of version 2, with the attributes that lie beside. Their names end with those of folders. */
async function findArrays(
  path: string,
  group = '',
  depth = 0,
): Promise<{ name: string; metadata: Metadata }[]> {
  const folder = join(path, group)
  const second = await readJson(join(folder, '.zarray'))
  const third = second ? undefined : await readJson(join(folder, 'zarr.json'))
  if (second) {
    const attributes = await readJson(join(folder, '.zattrs'))
    return [{ name: group, metadata: { ...second, attributes: attributes ?? {} } as Metadata }]
  }
  if (third?.node_type === 'array') return [{ name: group, metadata: third }]
  if (depth === DEEPEST) return []
  const found: { name: string; metadata: Metadata }[] = []
  const folders = (await readdir(folder, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  for (const { name } of folders.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    found.push(...(await findArrays(path, group === '' ? name : `${group}/${name}`, depth + 1)))
    if (found.length > MOST_VARIABLES) throw new Error(`it has over ${MOST_VARIABLES} arrays`)
  }
  return found
}

async function readJson(path: string): Promise<Metadata | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isFile()) return undefined
  if (found.size > MOST_METADATA_BYTES) throw new Error(`${basename(path)} has ${found.size} bytes`)
  // Some writers have NaN as it is.
  const text = (await readFile(path, 'utf8')).replaceAll(
    /(?<=[:[,]\s*)(-?Infinity|NaN)(?=\s*[,\]}])/g,
    '"$1"',
  )
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null) throw new Error(`${basename(path)} has no members`)
  return value
}

async function bytesIn(path: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(path, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  }
  return bytes
}

/** Keys are paths below the folder. */
function createStore(folder: string): Readable {
  const pathOf = (key: string) => {
    const path = join(folder, decodeURIComponent(key))
    if (!path.startsWith(folder + sep)) throw new Error(`${key} would lie elsewhere`)
    return path
  }
  const openIfThere = (key: string) =>
    open(pathOf(key)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw error
    })
  return {
    async get(key) {
      const file = await openIfThere(key)
      try {
        const size = (await file?.stat())?.size ?? 0
        if (size > MOST_FILE_BYTES)
          throw new Error(`${basename(key)} has ${size} bytes, of ${MOST_FILE_BYTES} at most`)
        return file && new Uint8Array(await file.readFile())
      } finally {
        await file?.close()
      }
    },
    async getRange(key, range) {
      const file = await openIfThere(key)
      if (!file) return undefined
      try {
        const { size } = await file.stat()
        const [from, length] =
          'suffixLength' in range
            ? [Math.max(0, size - range.suffixLength), range.suffixLength]
            : [range.offset, range.length]
        const bytes = new Uint8Array(Math.max(0, Math.min(length, size - from, MOST_FILE_BYTES)))
        await file.read(bytes, 0, bytes.length, from)
        return bytes
      } finally {
        await file.close()
      }
    },
  }
}

function openVariable(
  library: Library,
  array: ZarrArray<DataType, Readable>,
  metadata: Metadata,
  name: string,
  names: string[],
): Variable {
  refuseShortChunks(array)
  const attributes = metadata.attributes ?? {}
  const given = metadata.dimension_names ?? attributes._ARRAY_DIMENSIONS
  const fault = findUnknownCodec(library, metadata)
  const isSecond = metadata.node_type === undefined
  return {
    name,
    dimensions: array.shape.map((_, at) => {
      const dimension = Array.isArray(given) ? given[at] : undefined
      return typeof dimension === 'string'
        ? nearest(dimension, name, names)
        : `dimension ${at + 1} of ${name}`
    }),
    shape: array.shape,
    pixelType: fault ? undefined : PIXEL_TYPES[array.dtype],
    fault,
    attribute: attributesOf(attributes),
    chunk: array.chunks,
    fill: readFill(metadata.fill_value, isSecond),
    async read(start, count) {
      const box = start.map((from, at) => library.slice(from, from + (count[at] as number)))
      const { data, stride } = await library.get(array, box)
      const isWide = data instanceof BigInt64Array || data instanceof BigUint64Array
      return rowByRow(isWide ? exactNumbers(data) : (data as Pixels), count, stride)
    },
    async readTexts() {
      if (array.shape.some((size) => size > MOST_COORDINATES)) throw new Error(`${name} has too many texts`)
      const { data } = await library.get(array)
      return Array.from(data as Iterable<unknown>, String)
    },
  }
}

/** Of a type that the library does not read, or without a shape. */
function unreadVariable(name: string, { shape, attributes }: Metadata, fault: string): Variable {
  const sizes = Array.isArray(shape) ? shape.map(Number) : []
  const read = () => Promise.reject(new Error(fault))
  return {
    ...{ name, fault, dimensions: [], shape: sizes, pixelType: undefined, chunk: sizes, read },
    attribute: attributesOf(attributes),
  }
}

/** The library finds it out when it reads pixels. */
function findUnknownCodec(
  { registry }: Library,
  { compressor, filters, codecs }: Metadata,
): string | undefined {
  const ofSecond = [...(filters ?? []), ...(compressor ? [compressor] : [])].map(
    ({ id }) => `numcodecs.${id}`,
  )
  const names = codecs?.map(({ name }) => String(name)) ?? ofSecond
  const unknown = names.find((name) => name !== 'sharding_indexed' && !registry.has(name))
  return unknown && `it is packed with ${unknown.replace('numcodecs.', '')}`
}

/** Arrays that are stored by columns are read so. */
function rowByRow(pixels: Pixels, count: readonly number[], stride: readonly number[]): Pixels {
  const [width = 1, height = 1] = [count.at(-1), count.at(-2)]
  const [across = 1, down = width] = [stride.at(-1), stride.at(-2)]
  if (width === 1 || (across === 1 && (height === 1 || down === width))) return pixels
  const rows = pixels.slice()
  for (let at = 0; at < rows.length; at++) {
    rows[at] = pixels[Math.floor(at / width) * down + (at % width) * across] as number
  }
  return rows
}

/** The library would read what is not there as zeros. */
function refuseShortChunks(array: ZarrArray<DataType, Readable>): void {
  const getChunk = array.getChunk.bind(array)
  array.getChunk = async (...of) => {
    const chunk = await getChunk(...of)
    const count = chunk.shape.reduce((product, size) => product * size, 1)
    if (chunk.data.length !== count)
      throw new Error(`a chunk of it has ${chunk.data.length} of its ${count} values`)
    return chunk
  }
}

/** The path of an array in the same group, or the next one above. */
function nearest(dimension: string, name: string, names: string[]): string {
  for (let group = name; group.includes('/'); ) {
    group = group.slice(0, group.lastIndexOf('/'))
    if (names.includes(`${group}/${dimension}`)) return `${group}/${dimension}`
  }
  return dimension
}

/** Of xarray, a Float64 in Base64. */
const BASE64_NUMBER = /^[A-Za-z0-9+/]{11}=$/

function attributesOf(attributes: object = {}): Variable['attribute'] {
  return (name) => {
    const value = (attributes as Record<string, unknown>)[name]
    return name === '_FillValue' && typeof value === 'string' && BASE64_NUMBER.test(value)
      ? [Buffer.from(value, 'base64').readDoubleLE()]
      : readAttribute(value)
  }
}

function readAttribute(value: unknown): AttributeValue | undefined {
  if (typeof value === 'number') return [value]
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.every((one) => typeof one === 'number') ? value : undefined
  // Of a CRS by GDAL.
  const { wkt } = (value ?? {}) as { wkt?: unknown }
  return typeof wkt === 'string' ? wkt : undefined
}

/** Version 3 has one of each array: 0 is no sign there that pixels are missing. */
function readFill(value: unknown, isSecond: boolean): number | undefined {
  const fill = typeof value === 'number' || typeof value === 'string' ? Number(value) : Number.NaN
  return Number.isNaN(fill) || (fill === 0 && !isSecond) ? undefined : fill
}

let library: Promise<Library> | undefined

/** With codecs that end at the size of a chunk. */
function loadLibrary(): Promise<Library> {
  library ??= import('zarrita').then((found) => {
    bindCodecs(found.registry)
    return found
  })
  return library
}

type Registry = Library['registry']
type Entry = Awaited<ReturnType<NonNullable<ReturnType<Registry['get']>>>>
type ChunkMeta = Parameters<Entry['fromConfig']>[1]

const unzipBuffer = promisify<InputType, ZlibOptions, Buffer>(unzip)
const ZSTD = 50000

/** Where the sizes of unpacked bytes stand. */
const SIZES: Record<string, number> = { blosc: 4, lz4: 0 }

function bindCodecs(registry: Registry): void {
  for (const [name, load] of registry) {
    const kind = name.replace('numcodecs.', '')
    const at = SIZES[kind]
    if (kind === 'gzip' || kind === 'zlib') {
      registry.set(name, async () =>
        decoding((bytes, most) => unzipBuffer(bytes, { maxOutputLength: Math.max(most, 1) })),
      )
    } else if (kind === 'zstd') {
      const { undo } = COMPRESSIONS.get(ZSTD) as { undo: (...of: [Uint8Array, number, number]) => unknown }
      registry.set(name, async () => decoding(async (bytes, most) => undo(bytes, most, most) as Uint8Array))
    } else if (at !== undefined) {
      registry.set(name, async () => {
        const entry = await load()
        return {
          ...entry,
          fromConfig: (config, meta) => {
            const codec = entry.fromConfig(config, meta)
            const decode = async (bytes: Uint8Array) => {
              const says = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readUInt32LE(at)
              if (says > bytesOfChunk(meta))
                throw new Error(`a chunk of it holds ${says} bytes, of ${bytesOfChunk(meta)}`)
              return codec.decode(bytes as never) as unknown as Uint8Array
            }
            return {
              ...codec,
              kind: 'bytes_to_bytes',
              encode: codec.encode.bind(codec),
              decode,
            } as typeof codec
          },
        }
      })
    }
  }
}

/** Some codecs add a few bytes. */
const SPARE_BYTES = 1024

function bytesOfChunk({ shape }: ChunkMeta): number {
  return shape.reduce((product, size) => product * size, 8) + SPARE_BYTES
}

function decoding(decode: (bytes: Uint8Array, most: number) => Promise<Uint8Array>): Entry {
  const fromConfig = (_config: unknown, meta: ChunkMeta) => ({
    kind: 'bytes_to_bytes',
    encode: () => Promise.reject(new Error('nothing is written')),
    // Aligned, as typed arrays need it.
    decode: async (bytes: Uint8Array) => Uint8Array.from(await decode(bytes, bytesOfChunk(meta))),
  })
  return { kind: 'bytes_to_bytes', fromConfig } as unknown as Entry
}
