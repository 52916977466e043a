import { tmpdir } from 'node:os'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { codeOf } from '#src/lib/caught.ts'
import { type Party, sharedWork } from '#src/lib/fair-line.ts'
import { createFairQueue } from '#src/lib/fair-queue.ts'
import { createMadeFiles, type MadeFile, type OpenMadeFile } from '#src/storage/made-files.ts'
import { downloadBytesOf, isOffered } from '#src/tiles/geotiff/offered.ts'
import type { MapSubject, Maps } from '../maps.ts'
import { type LayerFile, writeLayerFile } from './layer-file.ts'

/** Files that may wait to be made: one is at a time, so that others have the rest of the machine. */
const MOST_WAITING = 16

/** How long a request waits for its file: whoever asks again finds it, or waits on. */
const PATIENCE_MS = 10_000

/** What the disk says where it takes no file. */
const DISK_FAILURES = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'EMFILE', 'EIO']

/** Layers as GeoTIFF. Each is made when it is asked for first, and kept for a while. */
export interface Geotiffs {
  /** What a file is that was made before. */
  known(subject: NamedSubject): MadeFile | undefined
  /**
   * @throws {ReplacedMeanwhile} where the release has been deleted
   * @throws {ApiError} NOT_FOUND where the layer is too large for a file; OVERLOADED where too many wait, the file is not
   * made in time, the disk takes none, or too many slow readers hold files that had to make room
   */
  open(subject: NamedSubject, party: Party): Promise<OpenMadeFile>
}

/** A layer, and the code of its release. */
export interface NamedSubject extends MapSubject {
  code: string
}

export function createGeotiffs(app: App, maps: Maps): Geotiffs {
  const files = createMadeFiles(app.config.DOWNLOAD_CACHE_DIR || tmpdir(), downloadBytesOf(app.config))
  const queue = createFairQueue({ running: 1, waiting: MOST_WAITING }, overloaded)
  const closing = new AbortController()
  app.addHook('onClose', async () => {
    closing.abort()
    await files.close()
  })

  /** As it is now: its tiles may have been moved to another store. */
  async function find({ code, releaseId, layer: { number } }: NamedSubject): Promise<LayerFile> {
    const release = await maps.release(releaseId)
    const layer = release.layers.find((other) => other.number === number) as LayerFile['layer']
    return { code, release, layer }
  }

  const pause = () => app.turns.next(sharedWork('geotiff'), closing.signal)

  async function write(path: string, subject: NamedSubject): Promise<MadeFile> {
    // The file before it counts by then.
    await setImmediate()
    if (files.isFull()) throw overloaded()
    return writeLayerFile(path, { stores: app.tiles, products: app.products }, await find(subject), pause)
  }

  async function make(subject: NamedSubject, party: Party): Promise<void> {
    const making = files.make(keyOf(subject), (path) => queue.run(party, () => write(path, subject)))
    try {
      await inPatience(making)
    } catch (error) {
      if (closing.signal.aborted) throw overloaded()
      if (!DISK_FAILURES.includes(codeOf(error) ?? '')) throw error
      app.log.warn({ err: error }, 'a GeoTIFF cannot be written: see DOWNLOAD_CACHE_DIR')
      throw overloaded()
    }
  }

  return {
    known: (subject) => files.known(keyOf(subject)),
    async open(subject, party) {
      const { coverage, pixelType } = subject.layer
      if (!isOffered(app.config, coverage, pixelType)) throw tooLarge(subject)
      const kept = await files.open(keyOf(subject))
      if (kept) return kept
      await make(subject, party)
      const file = await files.open(keyOf(subject))
      // Others have made room for theirs.
      if (!file) throw overloaded()
      return file
    },
  }
}

function keyOf({ code, layer }: NamedSubject): string {
  return `${code} ${layer.number}`
}

/** @throws {ApiError} OVERLOADED where it takes too long; it goes on */
async function inPatience(making: Promise<void>): Promise<void> {
  const done = new AbortController()
  const late = async () => {
    await setTimeout(PATIENCE_MS, undefined, { signal: done.signal, ref: false }).catch(() => {})
    if (!done.signal.aborted) {
      throw new ApiError('OVERLOADED', 'The file is being made; ask for it again in some seconds.')
    }
  }
  await Promise.race([making, late()]).finally(() => done.abort())
}

function tooLarge({ code, layer: { number } }: NamedSubject): ApiError {
  return new ApiError('NOT_FOUND', `Layer ${number} of ${code} is too large for a file of this service.`)
}
