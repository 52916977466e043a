import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { GeoTiff, ref } from '#schemas/common.ts'
import { GeotiffParams } from '#schemas/map.ts'
import type { Products } from '#schemas/products/define.ts'
import { createMadeFiles, type MadeFile, type OpenMadeFile } from '#src/data/files/made-files.ts'
import {
  downloadBytesOf,
  type GeotiffLayer,
  isOffered,
  type LayerWindow,
  type WrittenGeotiff,
  writeGeotiff,
} from '#src/data/tiles/geotiff-writer.ts'
import { sampleTypeOf } from '#src/data/tiles/granule.ts'
import type { TileStores } from '#src/data/tiles/stores.ts'
import type { StoredWindow } from '#src/data/tiles/tile-queries.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { readPath } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { monthAndYear } from '#src/lib/dates.ts'
import { type ClientKey, createFairQueue, sharedWork } from '#src/lib/fair-queue.ts'
import { codeOf } from '#src/lib/promises.ts'
import { pixelTypeOf, storedNodata, withType } from '#src/raster/pixels.ts'
import { existing, type Finder, type OfLayer } from './finder.ts'
import type { MapSubject, Maps } from './maps.ts'
import type { MapLayer, MapRelease } from './queries.ts'

/** What a file is made of. */
interface LayerFile {
  code: string
  release: MapRelease
  layer: MapLayer
}

/**
 * Writes the pixels of a layer as they are stored, with what is known of them.
 *
 * @throws {ApiError} OVERLOADED where not all were there: they may be on their way to another store, or to a replica
 */
async function writeLayerFile(
  path: string,
  { stores, products }: { stores: TileStores; products: Products },
  { code, release, layer }: LayerFile,
  pause: () => Promise<void>,
): Promise<WrittenGeotiff> {
  const { coverage, band, pixelType } = layer
  const windows = stores[coverage.store].windows(coverage.id)[Symbol.asyncIterator]()
  const first = await windows.next()
  const stored = first.done ? undefined : first.value.bands[band - 1]
  const nodata = stored ? stored.nodata : storedNodata(pixelType, 0)
  const type = sampleTypeOf([{ pixelType: stored ? pixelTypeOf(stored.pixels) : pixelType, nodata }])

  let valid = 0
  async function* ofBand(): AsyncGenerator<LayerWindow> {
    for await (const { window, bands } of resumed(first, windows)) {
      await pause()
      const one = bands[band - 1]
      if (!one) continue
      for (const pixel of one.pixels) if (pixel !== nodata) valid++
      yield { window, pixels: withType(one.pixels, type) }
    }
  }
  const described = { ...describe(products, code, release, layer), type, nodata }
  const written = await writeGeotiff(path, described, ofBand(), pause)
  if (valid !== layer.validCount) throw overloaded()
  return written
}

/** What a reader has read of, from the beginning. */
async function* resumed(
  first: IteratorResult<StoredWindow>,
  rest: AsyncIterator<StoredWindow>,
): AsyncGenerator<StoredWindow> {
  if (first.done) return
  yield first.value
  yield* { [Symbol.asyncIterator]: () => rest }
}

function describe(
  products: Products,
  code: string,
  release: MapRelease,
  { coverage, number, input, scenario, unit, scale, offset }: MapLayer,
): Omit<GeotiffLayer, 'type' | 'nodata'> {
  const { product, countryCode, cropCode, forecastPeriod, synthetic, source, licence } = release
  const { title } = products.of(product).names
  const name = [input, scenario].filter((part) => part !== null).join(', ') || title
  const month = forecastPeriod === null ? '' : `, ${monthAndYear(forecastPeriod)}`
  const subject = [title, cropCode, countryCode].filter((part) => part !== null).join(', ')
  const madeUp = synthetic ? ' The values are synthetic: made by a formula, not by agronomists.' : ''
  return {
    grid: coverage,
    geographic: coverage.geographic,
    ...{ unit, scale, offset, name, licence },
    description: `${subject}${month}: ${name} (${unit}).${madeUp}`,
    facts: {
      RELEASE: code,
      LAYER: String(number),
      PRODUCT: product,
      COUNTRY: countryCode,
      ...(cropCode !== null && { CROP: cropCode }),
      ...(forecastPeriod !== null && { FORECAST_PERIOD: forecastPeriod.slice(0, 7) }),
      ...(input !== null && { INPUT: input }),
      ...(scenario !== null && { SCENARIO: scenario }),
      SYNTHETIC: synthetic ? 'YES' : 'NO',
      SOURCE: source,
      LICENCE: licence,
    },
  }
}

/** Files that may wait to be made: one is at a time, so that others have the rest of the machine. */
const MOST_WAITING = 16

/** How long a request waits for its file: whoever asks again finds it, or waits on. */
const PATIENCE_MS = 10_000

/** What the disk says where it takes no file. */
const DISK_FAILURES = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'EMFILE', 'EIO']

/** Layers as GeoTIFF. Each is made when it is asked for first, and kept for a while. */
interface Geotiffs {
  /** What a file is that was made before. */
  known(subject: NamedSubject): MadeFile | undefined
  /**
   * @throws {ReplacedMeanwhile} where the release has been deleted
   * @throws {ApiError} NOT_FOUND where the layer is too large for a file; OVERLOADED where too many wait, the file is not
   * made in time, the disk takes none, or too many slow readers hold files that had to make room
   */
  open(subject: NamedSubject, clientKey: ClientKey): Promise<OpenMadeFile>
}

/** A layer, and the code of its release. */
interface NamedSubject extends MapSubject {
  code: string
}

function createGeotiffs(app: App, maps: Maps): Geotiffs {
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

  async function make(subject: NamedSubject, clientKey: ClientKey): Promise<void> {
    const making = files.make(keyOf(subject), (path) => queue.run(clientKey, () => write(path, subject)))
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
    async open(subject, clientKey) {
      const { coverage, pixelType } = subject.layer
      if (!isOffered(app.config, coverage, pixelType)) throw tooLarge(subject)
      const kept = await files.open(keyOf(subject))
      if (kept) return kept
      await make(subject, clientKey)
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

/** Bytes of an answer, with the last. */
interface ByteRange {
  first: number
  last: number
}

const RANGE = /^bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})$/i

/**
 * The one range that a Range header asks for (RFC 9110, 14.2).
 *
 * @param size of the whole, which is not empty
 * @returns null where the whole is the answer: nothing is asked for, several ranges are, or what is asked for is no range
 * of bytes; `unsatisfiable` where nothing lies there
 */
export function byteRangeOf(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = RANGE.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return null
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 }
  }
  if (last !== '' && Number(last) < Number(first)) return null
  if (Number(first) >= size) return 'unsatisfiable'
  return { first: Number(first), last: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

/**
 * Whether a range may be answered with: not where an If-Range header names something else than what there is. A date
 * never does: answers with ranges have none.
 */
export function isRangeOf(ifRange: string | undefined, tag: string): boolean {
  return ifRange === undefined || ifRange.trim() === tag
}

const TIFF = 'image/tiff'

/** The type with what the file is besides. */
const COG = `${TIFF}; application=geotiff; profile=cloud-optimized`

const GEOTIFF = `
All pixels of a layer in a file: a cloud-optimised GeoTIFF of one band with the values as they were loaded, in the CRS and on the grid that they came in; its nodata value, unit, scale and offset, source and licence are in it. Overviews have the means of squares of two by two pixels. Programs that ask for ranges of bytes (GDAL's \`/vsicurl/\`, QGIS, rasterio, geotiff.js) read of it what they show. A layer never changes, and neither does its file. The first one who asks waits until it is made; where that takes longer than ten seconds, or many wait, the answer is 503 with \`Retry-After\`, and it goes on being made.`

const HEADERS = {
  'Accept-Ranges': { type: 'string', description: '`bytes`: of the file there are ranges (RFC 9110, 14).' },
  'Content-Disposition': { type: 'string', description: 'The name of the file.' },
}

export function geotiffRoute(app: App, find: Finder, maps: Maps): void {
  const geotiffs = createGeotiffs(app, maps)

  app.get(
    '/releases/:release/layers/:layer(^\\d{1,9}).tif',
    {
      config: { public: true, caching: 'shared', ownTurns: true },
      schema: {
        operationId: 'getGeotiff',
        summary: 'A layer of a release as a GeoTIFF',
        description: GEOTIFF.trim(),
        tags: ['catalog'],
        params: GeotiffParams,
        response: {
          200: {
            description: 'The file.',
            headers: HEADERS,
            content: { [TIFF]: { schema: ref(GeoTiff) } },
          },
          206: {
            description: 'The bytes of it that `Range` names. Of several ranges, the file is the answer.',
            headers: {
              ...HEADERS,
              'Content-Range': { type: 'string', description: 'Which bytes of how many.' },
            },
            content: { [TIFF]: { schema: ref(GeoTiff) } },
          },
          304: { type: 'null', description: 'The file is the one that `If-None-Match` names.' },
          ...errorResponses('NOT_FOUND', 'RANGE_NOT_SATISFIABLE'),
        },
      },
      preValidation: readPath(GeotiffParams),
    },
    async (request: OfLayer, reply) => {
      const { published, subject } = await find.subject(request, reply, request.params)
      const named = { ...subject, code: published.code }
      const known = geotiffs.known(named)
      if (known && allowCaching(request, reply, tagOf(known))) return reply.code(304).send()
      const file = await existing(published, () => geotiffs.open(named, clientKeyOf(request)))
      if (allowCaching(request, reply, tagOf(file))) {
        await file.handle.close()
        return reply.code(304).send()
      }
      return send(request, reply, file)
    },
  )
}

/** Strong: it is that of the bytes, which another machine may compress otherwise. */
function tagOf({ checksum }: Pick<OpenMadeFile, 'checksum'>): string {
  return `"${checksum.slice(0, 32)}"`
}

/** Codes of releases have nothing else in them. */
function fileNameOf({ params: { release, layer } }: OfLayer): string {
  return `${release.replaceAll(/[^\w.-]/g, '-')}-${layer}.tif`
}

/** Sends a file, or the bytes of it that are asked for. */
async function send(request: OfLayer, reply: FastifyReply, file: OpenMadeFile): Promise<FastifyReply> {
  const { bytes, handle } = file
  const { range: asked, 'if-range': ifRange } = request.headers
  const isAsked = request.method === 'GET' && isRangeOf(ifRange as string | undefined, tagOf(file))
  const range = byteRangeOf(isAsked ? asked : undefined, bytes)
  if (range === 'unsatisfiable') {
    await handle.close()
    const sentence = `The file has ${bytes} bytes, and none of those that Range names.`
    throw new ApiError('RANGE_NOT_SATISFIABLE', sentence).withHeader('content-range', `bytes */${bytes}`)
  }
  const { first, last } = range ?? { first: 0, last: bytes - 1 }
  reply.type(COG).headers({
    'accept-ranges': 'bytes',
    'content-length': last - first + 1,
    'content-disposition': `attachment; filename="${fileNameOf(request)}"`,
  })
  if (range) reply.code(206).header('content-range', `bytes ${first}-${last}/${bytes}`)
  if (request.method === 'HEAD') {
    await handle.close()
    // Fastify would read a stream to its end, for nobody.
    return reply.send(Readable.from([]))
  }
  return reply.send(handle.createReadStream({ start: first, end: last }))
}
