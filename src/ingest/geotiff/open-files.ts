import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { OperatorError } from '#src/errors.ts'
import { formatError } from '#src/lib/promises.ts'
import { type Archive, archiveIn, gunzip, isGzipped, openZipArchive, rasterIn } from '../archive.ts'
import { isAddress } from '../manifest.ts'
import { quoted, refuseUnreadable, shownAddress, stemOf, unquoted } from '../other-formats.ts'
import { isWithin, loadReaders, type RasterFile } from '../readers.ts'
import { openRaster } from './file.ts'
import type { LayerFiles } from './layers.ts'

/** What sentences print for a shell, with the words of `quoted`. */
const GDAL_LINE =
  /(gdal_translate -co \S+|gdalinfo) ((?:'[^']*'|\\'|[^' ])+)(?: ((?:'[^']*'|\\'|[^' ])+)(?= makes))?/g

/** Their block offsets stay in memory during a load. */
const MAX_FILES = 256

interface FileOfOperator {
  path: string
  name: string
  /** Of a raster in an archive. */
  inside: string | undefined
}

/**
 * Opens each file once, for all its layers. Rasters at addresses are copied, and those in zip archives
 * (`ARCHIVE.zip/RASTER.tif`, or the archive of a single one) unpacked, since rasters need random access; both with the
 * files beside them. So are those that are packed with gzip (`RASTER.tif.gz`).
 */
export class OpenFiles {
  readonly #files = new Map<string, RasterFile>()
  readonly #sources = new Map<RasterFile, FileOfOperator>()
  readonly #groups = new Map<string, LayerFiles>()
  /** Temporary, by address or archive. */
  readonly #folders = new Map<string, string>()
  readonly #entries = new Set<string>()
  #copiedBytes = 0
  #unpackedBytes = 0

  async of([first, ...others]: readonly [string, ...string[]]): Promise<LayerFiles> {
    const key = JSON.stringify([first, ...others])
    const stored = this.#groups.get(key)
    if (stored) return stored
    const group: [RasterFile, ...RasterFile[]] = [await this.#open(first)]
    for (const path of others) group.push(await this.#open(path))
    this.#groups.set(key, group)
    return group
  }

  async #open(path: string): Promise<RasterFile> {
    const stored = this.#files.get(path)
    if (stored) return stored
    if (this.#files.size === MAX_FILES) {
      throw new OperatorError(
        `The release is in more than ${MAX_FILES} files: put some together with gdalbuildvrt and gdal_translate.`,
      )
    }
    const local = isAddress(path) ? await this.#copied(path) : path
    const file = await openRaster(await this.#unpacked(local))
    this.#files.set(path, file)
    const archive = await archiveIn(local)
    this.#sources.set(file, {
      path: archive ?? local,
      name: isAddress(path) ? shownAddress(path) : basename(archive ?? local),
      inside: archive && relative(this.#folders.get(archive) as string, file.path),
    })
    return file
  }

  sourceOf(file: RasterFile): FileOfOperator {
    return this.#sources.get(file) as FileOfOperator
  }

  /** @returns the path itself of a file that is not packed */
  async #unpacked(path: string): Promise<string> {
    const archivePath = await archiveIn(path)
    if (archivePath !== undefined) return this.#inArchive(archivePath, path)
    if (!isGzipped(path)) return path
    await stat(path).catch((error) => refuseUnreadable(path, error))
    const target = join(await this.#folderOf(path, basename(path)), basename(stemOf(path)))
    await pipeline(gunzip(path, MAX_BYTES), (bytes) => this.#counted(bytes), createWriteStream(target))
    return target
  }

  async close(): Promise<void> {
    for (const file of this.#files.values()) await file.close()
    for (const folder of this.#folders.values()) await rm(dirname(folder), { recursive: true, force: true })
  }

  /** A text with what the manifest names instead of temporary files. GDAL writes neither into these nor beside them. */
  shown(text: string): string {
    const lines = text.replace(GDAL_LINE, (line, command, from, made) => {
      const path = this.#named(unquoted(from), true).replace(/(?<=^\/vsigzip\/.*\.gz)\/[^/]+$/i, '')
      const target = made ? ` ${quoted(basename(unquoted(made)))}` : ''
      return path === unquoted(from) ? line : `${command} ${quoted(path)}${target}`
    })
    return this.#named(lines)
  }

  #named(text: string, inGdal = false): string {
    return [...this.#folders].reduceRight((before, [source, folder]) => {
      const from = isAddress(source) ? dirname(shownAddress(source)) : source
      const store = isAddress(source) ? '/vsicurl/' : isGzipped(source) ? '/vsigzip/' : '/vsizip/'
      const path = inGdal ? `${store}${from}`.replace('/vsicurl/s3://', '/vsis3/') : from
      return before.replaceAll(folder, () => path)
    }, text)
  }

  /** @throws the error, without temporary files */
  explain(error: unknown): never {
    if (error instanceof OperatorError) error.message = this.shown(error.message)
    throw error
  }

  async #folderOf(source: string, name: string): Promise<string> {
    const stored = this.#folders.get(source)
    if (stored) return stored
    const folder = join(await mkdtemp(join(tmpdir(), 'agro-')), name)
    this.#folders.set(source, folder)
    await mkdir(folder)
    return folder
  }

  async #copied(path: string): Promise<string> {
    const [reader] = await loadReaders()
    if (!reader || !URL.canParse(path)) {
      throw new OperatorError(`${shownAddress(path)} is not read: rasters are at https addresses.`)
    }
    const address = new URL(path)
    const folder = await this.#folderOf(path, address.hostname)
    const copy = await reader.copy(address, folder, MAX_BYTES - this.#copiedBytes)
    this.#copiedBytes += copy.bytes
    return copy.path
  }

  async #inArchive(archivePath: string, path: string): Promise<string> {
    const archive = await openZipArchive(archivePath, archivePath)
    try {
      const raster = await rasterIn(archive.names, archivePath, path.slice(archivePath.length + 1))
      const folder = await this.#folderOf(archivePath, basename(archivePath))
      const stem = `${stemOf(raster)}.`
      for (const name of archive.names) {
        if (!name.endsWith('/') && (name.startsWith(stem) || isWithin(name, raster)))
          await this.#unpack(archive, name, folder)
      }
      return join(folder, raster)
    } catch (error) {
      if (error instanceof OperatorError) throw error
      throw new OperatorError(`${archivePath} cannot be unpacked: ${formatError(error)}.`)
    } finally {
      archive.close()
    }
  }

  async #unpack(archive: Archive, name: string, folder: string): Promise<void> {
    const target = join(folder, name)
    if (!target.startsWith(folder + sep)) throw new Error(`${name} would lie elsewhere`)
    // Another layer may have opened it, by the archive's name.
    if (this.#entries.has(target)) return
    this.#entries.add(target)
    await mkdir(dirname(target), { recursive: true })
    await pipeline(await archive.open(name), (bytes) => this.#counted(bytes), createWriteStream(target))
  }

  async *#counted(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      this.#unpackedBytes += chunk.length
      if (this.#unpackedBytes > MAX_BYTES)
        throw new OperatorError(`The files have more than ${MAX_BYTES} bytes in all once they are unpacked.`)
      yield chunk
    }
  }
}

/** Copied, and again unpacked. */
const MAX_BYTES = 4 * 2 ** 30
