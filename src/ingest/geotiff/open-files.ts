import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/promises.ts'
import { type Archive, isArchive, openArchive } from '../archive.ts'
import { download, shown } from '../download.ts'
import { isAddress } from '../manifest-file.ts'
import { openRaster, type RasterFile } from './file.ts'
import type { LayerFiles } from './layers.ts'

/** Files of a release. Where their strips and tiles are is kept of each of them while it is loaded. */
const MAX_FILES = 256

/** The files of a release, each of which is open once, however many layers are in it. */
export class OpenFiles {
  readonly #files = new Map<string, RasterFile>()
  readonly #groups = new Map<string, LayerFiles>()
  readonly #addresses = new Addresses()
  readonly #archives = new Archives()

  /**
   * The files of a layer; layers of the same files get the same object.
   *
   * @throws {OperatorError} when one cannot be used, or there are too many of them
   */
  async of([first, ...others]: readonly [string, ...string[]]): Promise<LayerFiles> {
    const key = JSON.stringify([first, ...others])
    const known = this.#groups.get(key)
    if (known) return known
    const group: [RasterFile, ...RasterFile[]] = [await this.#open(first)]
    for (const path of others) group.push(await this.#open(path))
    this.#groups.set(key, group)
    return group
  }

  async #open(path: string): Promise<RasterFile> {
    const known = this.#files.get(path)
    if (known) return known
    if (this.#files.size === MAX_FILES) {
      throw new OperatorError(
        `The release is in more than ${MAX_FILES} files: put some together with gdalbuildvrt and gdal_translate.`,
      )
    }
    const local = await this.#archives.pathOf(await this.#addresses.pathOf(path))
    const file = await openRaster(local)
    this.#files.set(path, file)
    return file
  }

  async close(): Promise<void> {
    for (const file of this.#files.values()) await file.close()
    await this.#archives.close()
    await this.#addresses.close()
  }
}

/** What may lie beside a raster, by what its address ends with in the place of the raster's ending, or behind it. */
const BESIDE = { instead: ['.tfw', '.tifw', '.wld', '.prj', '.aux', '.tab'], behind: ['.aux.xml', '.msk'] }

/** Bytes that the addresses of a release take while it is loaded, and so many its archives. */
const MAX_BYTES = 4 * 2 ** 30
const PATIENCE = { silenceMs: 30_000, wholeMs: 3_600_000 }

/** Rasters at https addresses, which are downloaded while their release is loaded, with what lies beside them. */
class Addresses {
  readonly #folders: string[] = []
  #bytes = 0

  /**
   * Where a file can be read: at its own path, unless that is an address.
   *
   * @throws {OperatorError} when it cannot be downloaded
   */
  async pathOf(path: string): Promise<string> {
    if (!isAddress(path)) return path
    const address = addressOf(path)
    const name = nameIn(address)
    const temporary = await mkdtemp(join(tmpdir(), 'agro-'))
    this.#folders.push(temporary)
    const folder = join(temporary, address.hostname)
    await mkdir(folder)
    const target = join(folder, name)
    if (!(await this.#download(address, target))) {
      throw new OperatorError(`${shown(address)} is not there, or may not be read.`, { code: 'NOT_FOUND' })
    }
    if (isArchive(name)) return target
    for (const { pathname, file } of namesBeside(address.pathname, target)) {
      const beside = new URL(address)
      beside.pathname = pathname
      if (!(await this.#download(beside, file))) await rm(file)
    }
    return target
  }

  /** @returns whether there is anything */
  async #download(address: URL, target: string): Promise<boolean> {
    const bytes = await download(address, target, { ...PATIENCE, maxBytes: MAX_BYTES - this.#bytes })
    this.#bytes += bytes ?? 0
    return bytes !== undefined
  }

  /** Removes what was downloaded. */
  async close(): Promise<void> {
    for (const folder of this.#folders) await rm(folder, { recursive: true, force: true })
  }
}

function addressOf(path: string): URL {
  const address = URL.canParse(path) ? new URL(path) : undefined
  if (address?.protocol !== 'https:') {
    throw new OperatorError(
      `${address ? shown(address) : 'An address'} is not read: rasters are at https addresses.`,
    )
  }
  if (address.username || address.password) {
    throw new OperatorError(
      `${shown(address)} is given with a name or a password, which manifests do not keep secret: download it first.`,
    )
  }
  return address
}

function nameIn({ pathname }: URL): string {
  return basename(pathname).replaceAll(/[^\w.-]/g, '_') || 'raster.tif'
}

function namesBeside(pathname: string, target: string): { pathname: string; file: string }[] {
  const ending = extname(pathname)
  // Old Windows systems write all names in capitals.
  const instead =
    ending !== '' && ending === ending.toUpperCase()
      ? BESIDE.instead.flatMap((end) => [end, end.toUpperCase()])
      : BESIDE.instead
  const stemOf = (path: string) => path.slice(0, path.length - extname(path).length)
  return [
    ...BESIDE.behind.map((end) => ({ pathname: pathname + end, file: target + end })),
    ...instead.map((end) => ({ pathname: stemOf(pathname) + end, file: stemOf(target) + end })),
  ]
}

const RASTER = /\.tiff?$/i

/**
 * Rasters in zip archives: `ARCHIVE.zip/RASTER.tif`, or the archive alone where it has one. They are unpacked into the
 * folder for temporary files, with what lies beside them there, since rasters are not read from their beginning to
 * their end.
 */
class Archives {
  /** Where archives are unpacked to. */
  readonly #folders = new Map<string, string>()
  readonly #unpacked = new Set<string>()
  #bytes = 0

  /**
   * Where a file can be read: at its own path, unless that leads into an archive.
   *
   * @throws {OperatorError} when there is no such raster in the archive, or it cannot be unpacked
   */
  async pathOf(path: string): Promise<string> {
    const archivePath = await archiveIn(path)
    if (archivePath === undefined) return path
    const archive = await openArchive(archivePath, archivePath)
    try {
      const raster = rasterIn(archive, archivePath, path.slice(archivePath.length + 1))
      const folder = await this.#folderOf(archivePath)
      const stem = raster.replace(RASTER, '.')
      for (const name of archive.names) if (name.startsWith(stem)) await this.#unpack(archive, name, folder)
      return join(folder, raster)
    } catch (error) {
      if (error instanceof OperatorError) throw error
      throw new OperatorError(`${archivePath} cannot be unpacked: ${messageOf(error)}.`)
    } finally {
      archive.close()
    }
  }

  /** Removes what was unpacked. */
  async close(): Promise<void> {
    for (const folder of this.#folders.values()) await rm(dirname(folder), { recursive: true, force: true })
  }

  /** A folder with the name of the archive, so that sentences about its files name it. */
  async #folderOf(archivePath: string): Promise<string> {
    const known = this.#folders.get(archivePath)
    if (known) return known
    const folder = join(await mkdtemp(join(tmpdir(), 'agro-')), basename(archivePath))
    this.#folders.set(archivePath, folder)
    return folder
  }

  async #unpack(archive: Archive, name: string, folder: string): Promise<void> {
    const target = join(folder, name)
    if (!target.startsWith(folder + sep)) throw new Error(`${name} would lie elsewhere`)
    // It may be open already, under the name of its archive alone.
    if (this.#unpacked.has(target)) return
    this.#unpacked.add(target)
    await mkdir(dirname(target), { recursive: true })
    await pipeline(await archive.open(name), (bytes) => this.#counted(bytes), createWriteStream(target))
  }

  async *#counted(bytes: Readable): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      this.#bytes += chunk.length
      if (this.#bytes > MAX_BYTES) throw new Error(`more than ${MAX_BYTES} bytes in all`)
      yield chunk
    }
  }
}

/** The part of a path that is an archive; undefined where none is. */
async function archiveIn(path: string): Promise<string | undefined> {
  const parts = path.split(sep)
  for (const [index, part] of parts.entries()) {
    if (!isArchive(part)) continue
    const candidate = parts.slice(0, index + 1).join(sep)
    const isFile = await stat(candidate).then(
      (status) => status.isFile(),
      () => false,
    )
    if (isFile) return candidate
  }
  return undefined
}

/** Rasters that a refusal lists. */
const LISTED = 10

/** @param named what is meant, or nothing for the only one */
function rasterIn({ names }: Archive, archivePath: string, named: string): string {
  if (names.includes(named)) return named
  const rasters = names.filter((name) => RASTER.test(name))
  const [only] = rasters
  if (named === '' && only !== undefined && rasters.length === 1) return only
  const listed = rasters.slice(0, LISTED).join(', ') + (rasters.length > LISTED ? ' ...' : '')
  if (named === '' && only !== undefined) {
    throw new OperatorError(
      `${archivePath} has ${rasters.length} rasters; say which, behind a slash: ${listed}.`,
    )
  }
  throw new OperatorError(`${archivePath} has no ${named || 'GeoTIFF'}; it has ${listed || 'no rasters'}.`)
}
