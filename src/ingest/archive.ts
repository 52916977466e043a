import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, sep } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl'
import { OperatorError } from '#src/errors.ts'
import { findNearest, nameKey } from '#src/lib/names.ts'
import { formatError } from '#src/lib/promises.ts'
import { refusePacked } from './other-formats.ts'
import { listRasters } from './readers.ts'

const MAX_ENTRIES = 10_000
/** A .shp cannot be much larger, and the boundaries of a country are not. */
const MAX_UNPACKED_BYTES = 2 ** 30

/** A zip archive that is never unpacked as a whole. */
export interface Archive {
  names: string[]
  /** Fails once there are more bytes than the archive says. */
  open(name: string): Promise<Readable>
  /** The size that the archive states. */
  sizeOf(name: string): number
  close(): void
}

export function isArchive(path: string): boolean {
  return /\.zip$/i.test(path)
}

/** The part of a path that is an archive. */
export async function archiveIn(path: string): Promise<string | undefined> {
  const parts = path.split(sep)
  for (const [index, part] of parts.entries()) {
    if (!isArchive(part)) continue
    const candidate = parts.slice(0, index + 1).join(sep)
    const status = await stat(candidate).catch(() => undefined)
    if (status?.isFile()) return candidate
  }
  return undefined
}

const LISTED = 10

/** @param named empty for the only raster @throws {OperatorError} with the nearest name, for one that is not there */
export async function rasterIn(names: string[], archivePath: string, named: string): Promise<string> {
  if (names.includes(named)) return named
  const rasters = await listRasters(names)
  if (rasters.includes(named)) return named
  const [only] = rasters
  if (named === '' && only !== undefined && rasters.length === 1) return only
  const files = names.filter((name) => !name.endsWith('/'))
  if (only === undefined) for (const name of files) refusePacked(`${archivePath}/${name}`)
  const some = only === undefined ? files : rasters
  const listed = some.slice(0, LISTED).join(', ') + (some.length > LISTED ? ' ...' : '')
  if (named === '' && only !== undefined) {
    throw new OperatorError(
      `${archivePath} has ${rasters.length} rasters; say which, behind a slash: ${listed}.`,
    )
  }
  const near = nearestName(named, some)
  const line = only === undefined && listed ? ': give one behind a slash, and its line of GDAL follows' : ''
  const step = near === undefined ? `; it has ${listed || 'no files'}${line}.` : `: is it ${near}?`
  throw new OperatorError(`${archivePath} has no ${named || 'GeoTIFF'}${step}`, { code: 'NOT_FOUND' })
}

/** Of files: the same but for case, accents and folders, or else almost the same. */
export function nearestName(name: string, others: string[]): string | undefined {
  const same = others.filter((other) => nameKey(basename(other)) === nameKey(basename(name)))
  return findNearest(name, same) ?? same[0] ?? findNearest(name, others)
}

/** A file that is packed alone with gzip, and not an archive of several. */
export function isGzipped(path: string): boolean {
  return /\.gz$/i.test(path) && !/\.tar\.gz$/i.test(path)
}

/** The bytes of a file that is packed with gzip, in pieces. */
export async function* gunzip(path: string, most = MAX_UNPACKED_BYTES): AsyncGenerator<Buffer> {
  const unpacked = createGunzip()
  pipeline(createReadStream(path), unpacked, () => {})
  let bytes = 0
  try {
    for await (const chunk of unpacked) {
      bytes += chunk.length
      if (bytes > most) throw new Error(`it has more than ${most} bytes, and no more are unpacked`)
      yield chunk
    }
  } catch (error) {
    throw new OperatorError(`${path} cannot be unpacked: ${formatError(error)}.`)
  }
}

/** What Finder adds: folders of its own, and metadata by the names of files. */
const OF_FINDER = /^__MACOSX\/|(?:^|\/)(?:\._[^/]*|\.DS_Store)$/

export async function openZipArchive(path: string, name: string): Promise<Archive> {
  const { size } = await stat(path)
  const zip = await fromRandomAccessReaderPromise(new FileReader(path), size, { autoClose: false }).catch(
    (error) => refuse(name, error),
  )
  try {
    const entries = await readEntries(zip, name)
    return {
      names: [...entries.keys()].filter((name) => !OF_FINDER.test(name)),
      open: (entry) => openEntry(zip, entries.get(entry) as Entry, name),
      sizeOf: (entry) => (entries.get(entry) as Entry).uncompressedSize,
      close: () => zip.close(),
    }
  } catch (error) {
    zip.close()
    throw error instanceof OperatorError ? error : refuse(name, error)
  }
}

/** yauzl's own reader fails when one of two streams of a file ends early. */
class FileReader extends RandomAccessReader {
  readonly #path: string

  constructor(path: string) {
    super()
    this.#path = path
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return createReadStream(this.#path, { start, end: end - 1 })
  }
}

async function readEntries(zip: ZipFile, name: string): Promise<Map<string, Entry>> {
  if (zip.entryCount > MAX_ENTRIES) {
    throw new OperatorError(`${name} has ${zip.entryCount} files; at most ${MAX_ENTRIES} are looked at.`)
  }
  const entries = new Map<string, Entry>()
  for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry)
  return entries
}

async function openEntry(zip: ZipFile, entry: Entry, name: string): Promise<Readable> {
  const { fileName, uncompressedSize, compressedSize } = entry
  if (uncompressedSize > MAX_UNPACKED_BYTES) {
    throw new OperatorError(
      `${name}/${fileName} has ${uncompressedSize} bytes, packed into ${compressedSize}; at most ${MAX_UNPACKED_BYTES} are unpacked.`,
    )
  }
  return zip.openReadStreamPromise(entry).catch((error) => refuse(name, error))
}

function refuse(name: string, error: unknown): never {
  throw new OperatorError(`${name} is not a complete zip archive: ${formatError(error)}.`)
}
