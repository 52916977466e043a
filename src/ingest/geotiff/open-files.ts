import { createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, mkdtemp, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, extname, join, relative, sep } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { OperatorError } from '#src/errors.ts'
import { formatError, type Pauses, retry } from '#src/lib/promises.ts'
import { createDeadline } from '#src/lib/time-budget.ts'
import {
  type Archive,
  archiveIn,
  gunzip,
  isArchive,
  isGzipped,
  openZipArchive,
  RASTER,
  rasterIn,
} from '../archive.ts'
import { isAddress } from '../manifest.ts'
import { quoted, refuseUnreadable, stemOf, unquoted } from '../other-formats.ts'
import { openRaster, type RasterFile } from './file.ts'
import type { LayerFiles } from './layers.ts'

const MAX_REDIRECTS = 5
/** A broken connection resumes at its position, so often. */
const PAUSES_MS: Pauses = [0, 0, 0]

interface DownloadLimits {
  maxBytes: number
  /** Between two chunks. */
  silenceMs: number
  /** In all. */
  wholeMs: number
}

/** Retries cannot change these. */
const ABSENT = [401, 403, 404, 410]

/** Names, passwords and signatures in queries stay secret. */
function shown(address: URL): string {
  return `${address.origin}${address.pathname}`
}

/**
 * Resumes broken connections by ranges.
 *
 * @returns the bytes; undefined for a missing file
 */
export async function download(
  address: URL,
  target: string,
  limits: DownloadLimits,
): Promise<number | undefined> {
  const { wholeMs } = limits
  const deadline = createDeadline()
  deadline.setDue(wholeMs, () => new Error(`it takes more than ${wholeMs / 1000} s`))
  const file = await open(target, 'w')
  try {
    const state: Progress = { at: 0, tag: undefined }
    const isThere = await retry(
      () => fetchRest(address, file, state, limits, deadline.signal),
      PAUSES_MS,
      (error) => !(error instanceof OperatorError || deadline.signal.aborted),
    )
    return isThere ? state.at : undefined
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const { aborted, reason } = deadline.signal
    const failure = (aborted ? reason : error) as { cause?: unknown }
    const why = formatError(failure.cause ?? failure)
    throw new OperatorError(`${shown(address)} cannot be downloaded: ${why}.`)
  } finally {
    deadline.end()
    await file.close()
  }
}

interface Progress {
  at: number
  tag: string | undefined
}

async function fetchRest(
  address: URL,
  file: FileHandle,
  state: Progress,
  { silenceMs, maxBytes }: DownloadLimits,
  deadline: AbortSignal,
): Promise<boolean> {
  const silence = createDeadline(deadline)
  const wait = () => silence.setDue(silenceMs, () => new Error(`nothing came for ${silenceMs / 1000} s`))
  wait()
  try {
    const response = await follow(address, state, silence.signal)
    if (ABSENT.includes(response.status)) return false
    if (response.status !== 200 && response.status !== 206) throw new Error(`it answers ${response.status}`)
    const start = readStart(response)
    if (start !== state.at) {
      if (start !== 0) throw new Error('it answers with another part than was asked for')
      state.at = 0
      await file.truncate(0)
    }
    state.tag = response.headers.get('etag') ?? undefined
    for await (const chunk of response.body ?? []) {
      wait()
      if (state.at + chunk.length > maxBytes) {
        throw new OperatorError(`${shown(address)} has more than the ${maxBytes} bytes that are downloaded.`)
      }
      for (let written = 0; written < chunk.length; ) {
        const { bytesWritten } = await file.write(chunk, written, chunk.length - written, state.at)
        written += bytesWritten
        state.at += bytesWritten
      }
    }
    return true
  } finally {
    silence.end()
    silence.abort(undefined)
  }
}

/** The position of an answer in the file. */
function readStart({ status, headers }: Response): number {
  if (status === 200) return 0
  return Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1])
}

/** A weak tag names no bytes: the file begins anew. */
async function follow(address: URL, { at, tag }: Progress, signal: AbortSignal): Promise<Response> {
  const resumes = at > 0 && tag !== undefined && !tag.startsWith('W/')
  const headers = {
    'accept-encoding': 'identity',
    ...(resumes && { range: `bytes=${at}-`, 'if-range': tag }),
  }
  let current = address
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(current, { headers, signal, redirect: 'manual' })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body?.cancel()
    current = new URL(location, current)
    if (current.protocol !== 'https:') {
      throw new OperatorError(`${shown(address)} leads to ${shown(current)}, which is not https.`)
    }
  }
  throw new OperatorError(`${shown(address)} leads elsewhere more than ${MAX_REDIRECTS} times.`)
}

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
 * Opens each file once, for all its layers. Rasters at https addresses are downloaded, and those in zip archives
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
  #downloadedBytes = 0
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
    const local = isAddress(path) ? await this.#downloaded(path) : path
    const file = await openRaster(await this.#unpacked(local))
    this.#files.set(path, file)
    const archive = await archiveIn(local)
    this.#sources.set(file, {
      path: archive ?? local,
      name: basename(isAddress(path) ? new URL(path).pathname : (archive ?? local)),
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
      const from = isAddress(source) ? dirname(shown(new URL(source))) : source
      const store = isAddress(source) ? '/vsicurl/' : isGzipped(source) ? '/vsigzip/' : '/vsizip/'
      return before.replaceAll(folder, () => `${inGdal ? store : ''}${from}`)
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

  async #downloaded(path: string): Promise<string> {
    const address = readAddress(path)
    const name = basename(address.pathname).replaceAll(/[^\w.-]/g, '_') || 'raster.tif'
    const target = join(await this.#folderOf(path, address.hostname), name)
    if (!(await this.#download(address, target))) {
      throw new OperatorError(`${shown(address)} is not there, or may not be read.`, { code: 'NOT_FOUND' })
    }
    if (isArchive(name) || isGzipped(name)) return target
    for (const { pathname, file } of namesBeside(address.pathname, target)) {
      const beside = new URL(address)
      beside.pathname = pathname
      if (!(await this.#download(beside, file))) await rm(file)
    }
    return target
  }

  /** @returns false for a missing file */
  async #download(address: URL, target: string): Promise<boolean> {
    const limits = { ...TIMEOUTS, maxBytes: MAX_BYTES - this.#downloadedBytes }
    const bytes = await download(address, target, limits)
    this.#downloadedBytes += bytes ?? 0
    return bytes !== undefined
  }

  async #inArchive(archivePath: string, path: string): Promise<string> {
    const archive = await openZipArchive(archivePath, archivePath)
    try {
      const raster = rasterIn(archive.names, archivePath, path.slice(archivePath.length + 1))
      const folder = await this.#folderOf(archivePath, basename(archivePath))
      const stem = raster.replace(RASTER, '.')
      for (const name of archive.names) if (name.startsWith(stem)) await this.#unpack(archive, name, folder)
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

/** By the ending that replaces the raster's, or follows it. */
const BESIDE = { instead: ['.tfw', '.tifw', '.wld', '.prj', '.aux', '.tab'], behind: ['.aux.xml', '.msk'] }

/** Downloaded, and again unpacked. */
const MAX_BYTES = 4 * 2 ** 30
const TIMEOUTS = { silenceMs: 30_000, wholeMs: 3_600_000 }

function readAddress(path: string): URL {
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

function namesBeside(pathname: string, target: string): { pathname: string; file: string }[] {
  const ending = extname(pathname)
  // Old Windows systems use capitals.
  const instead =
    ending !== '' && ending === ending.toUpperCase()
      ? BESIDE.instead.flatMap((end) => [end, end.toUpperCase()])
      : BESIDE.instead
  return [
    ...BESIDE.behind.map((end) => ({ pathname: pathname + end, file: target + end })),
    ...instead.map((end) => ({ pathname: stemOf(pathname) + end, file: stemOf(target) + end })),
  ]
}
