import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { type Archive, isArchive, openArchive } from '../archive.ts'

/** Bytes that the archives of a release take while it is loaded. */
const MAX_BYTES = 4 * 2 ** 30

const RASTER = /\.tiff?$/i

/**
 * Rasters in zip archives: `ARCHIVE.zip/RASTER.tif`, or the archive alone where it has one. They are unpacked into the
 * folder for temporary files, with what lies beside them there, since rasters are not read from their beginning to
 * their end.
 */
export class Archives {
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
