import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { GeoTiff, ref } from '#schemas/common.ts'
import { GeotiffParams } from '#schemas/map.ts'
import type { Products } from '#schemas/products/define.ts'
import { createMadeFiles, type OpenMadeFile, type WrittenFile } from '#src/data/files/made-files.ts'
import {
  downloadBytesOf,
  type GeotiffLayer,
  isOffered,
  type LayerWindow,
  writeGeotiff,
} from '#src/data/tiles/geotiff-writer.ts'
import { chooseSampleType } from '#src/data/tiles/granule.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { readPath } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { type ClientKey, createLimiter, sharedWork } from '#src/lib/limiter.ts'
import { readErrorCode } from '#src/lib/promises.ts'
import { TimeBudget } from '#src/lib/time-budget.ts'
import { type PublishedRelease, ReplacedMeanwhile } from '#src/lookup/releases.ts'
import { findPixelType, storedNodata, withType } from '#src/raster/pixels.ts'
import { type Layer, labelLayer, nameMonth } from '../published.ts'
import type { MapSubject } from './legends.ts'
import type { Maps } from './maps.ts'

/** Writes the stored pixels of a layer. @throws {ApiError} OVERLOADED where some are missing: they may be on their way */
async function writeLayerFile(
  folder: string,
  { tiles: stores, products }: App,
  { release, layer }: MapSubject,
  pause: () => Promise<void>,
): Promise<WrittenFile> {
  const { coverage, band, pixelType } = layer
  const windows = stores[coverage.store].windows(coverage.id)[Symbol.asyncIterator]()
  const first = await windows.next()
  // Another store has the tiles by now.
  if (first.done && layer.validCount > 0) throw new ReplacedMeanwhile()
  const stored = first.done ? undefined : first.value.bands[band - 1]
  const nodata = stored ? stored.nodata : storedNodata(pixelType, 0)
  const type = chooseSampleType([{ pixelType: stored ? findPixelType(stored.pixels) : pixelType, nodata }])

  let valid = 0
  async function* ofBand(): AsyncGenerator<LayerWindow> {
    for (let next = first; !next.done; next = await windows.next()) {
      const { window, bands } = next.value
      await pause()
      const one = bands[band - 1]
      if (!one) continue
      for (const pixel of one.pixels) if (pixel !== nodata) valid++
      yield { window, pixels: withType(one.pixels, type) }
    }
  }
  const described = { ...describeLayer(products, release, layer), type, nodata }
  const written = await writeGeotiff(folder, described, ofBand(), pause)
  if (valid === layer.validCount) return written
  await written.handle.close()
  throw overloaded()
}

function describeLayer(
  products: Products,
  { code, product, countryCode, cropCode, forecastPeriod, synthetic, source, licence }: PublishedRelease,
  layer: Layer,
): Omit<GeotiffLayer, 'type' | 'nodata'> {
  const { coverage, number, input, scenario, condition, role, unit, scale, offset } = layer
  const { title } = products.of(product).names
  const name = labelLayer(layer) || title
  const subject = [title, cropCode, countryCode].filter((part) => part !== null).join(', ')
  const warning = synthetic ? ' The values are synthetic: made by a formula, not by agronomists.' : ''
  return {
    grid: coverage,
    geographic: coverage.geographic,
    sampled: role === 'landscape',
    unit,
    scale,
    offset,
    name,
    licence,
    description: `${subject}${nameMonth(forecastPeriod)}: ${name} (${unit}).${warning}`,
    facts: {
      RELEASE: code,
      LAYER: String(number),
      PRODUCT: product,
      COUNTRY: countryCode,
      ...(cropCode !== null && { CROP: cropCode }),
      ...(forecastPeriod !== null && { FORECAST_PERIOD: forecastPeriod.slice(0, 7) }),
      ...(input !== null && { INPUT: input }),
      ...(scenario !== null && { SCENARIO: scenario }),
      ...(condition !== null && { CONDITION: condition }),
      ...(role !== undefined && { ROLE: role }),
      SYNTHETIC: synthetic ? 'YES' : 'NO',
      SOURCE: source,
      LICENCE: licence,
    },
  }
}

/** Files that may wait to be made: one is at a time, so that others have the rest of the machine. */
const MOST_WAITING = 16

/** How long a request waits for its file: the next request finds it, or waits on. */
const WAIT_MS = 10_000

/** The errors of a disk that takes no file. */
const DISK_FAILURES = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'EMFILE', 'EIO']

/** Makes layers as GeoTIFF at the first request, and keeps them for a while. */
function createGeotiffs(app: App, maps: Maps) {
  const folder = tmpdir()
  const files = createMadeFiles(downloadBytesOf(app.config))
  const queue = createLimiter({ running: 1, waiting: MOST_WAITING }, overloaded)
  const closing = new AbortController()
  app.addHook('onClose', async () => {
    closing.abort()
    await files.close()
  })
  const pause = () => app.turns.next(sharedWork('geotiff'), closing.signal)

  async function write({ release, layer }: MapSubject): Promise<WrittenFile> {
    // The file before it counts by then.
    await setImmediate()
    if (files.isFull()) throw overloaded()
    return maps.inSubject({ release: release.code, layer: layer.number }, (subject) =>
      writeLayerFile(folder, app, subject, pause),
    )
  }

  async function make(subject: MapSubject, clientKey: ClientKey): Promise<void> {
    const making = files.make(keyOf(subject), () => queue.run(clientKey, () => write(subject)))
    try {
      // The making goes on.
      await new TimeBudget(WAIT_MS).wait(() => making, stillMaking)
    } catch (error) {
      if (closing.signal.aborted) throw overloaded()
      if (!DISK_FAILURES.includes(readErrorCode(error) ?? '')) throw error
      app.log.warn({ err: error }, 'a GeoTIFF cannot be written: see TMPDIR')
      throw overloaded()
    }
  }

  return {
    /** A file that was made before. */
    known: (subject: MapSubject) => files.known(keyOf(subject)),
    /** @throws {ApiError} NOT_FOUND for a layer too large for a file, OVERLOADED for one that cannot be made now */
    async open(subject: MapSubject, clientKey: ClientKey): Promise<OpenMadeFile> {
      const { release, layer } = subject
      if (!isOffered(app.config, layer.coverage, layer.pixelType)) {
        const sentence = `Layer ${layer.number} of ${release.code} is too large for a file of this service.`
        throw new ApiError('NOT_FOUND', sentence)
      }
      const stored = files.open(keyOf(subject))
      if (stored) return stored
      await make(subject, clientKey)
      const file = files.open(keyOf(subject))
      // Others have made room for theirs.
      if (!file) throw overloaded()
      return file
    },
  }
}

function stillMaking(): ApiError {
  return new ApiError('OVERLOADED', 'The file is being made; ask for it again in some seconds.')
}

function keyOf({ release, layer }: MapSubject): string {
  return `${release.code} ${layer.number}`
}

const RANGE = /^bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})$/i

/** The range of a Range header (RFC 9110, 14.2); null for the whole, `unsatisfiable` beyond the end. */
export function readByteRange(
  header: string | undefined,
  size: number,
): { first: number; last: number } | 'unsatisfiable' | null {
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

const TIFF = 'image/tiff'

/** The type with what the file is besides. */
const COG = `${TIFF}; application=geotiff; profile=cloud-optimized`

const GEOTIFF = `
All pixels of a layer in a file: a cloud-optimised GeoTIFF of one band with the values as they were loaded, in the CRS and on the grid that they came in; its nodata value, unit, scale and offset, source and licence are in it. Overviews have the means of squares of two by two pixels. Programs that ask for ranges of bytes (GDAL's \`/vsicurl/\`, QGIS, rasterio, geotiff.js) read of it what they show. A layer never changes, and neither does its file. The first one who asks waits until it is made; where that takes longer than ten seconds, or many wait, the answer is 503 with \`Retry-After\`, and it goes on being made.`

const HEADERS = {
  'Accept-Ranges': { type: 'string', description: '`bytes`: of the file there are ranges (RFC 9110, 14).' },
  'Content-Disposition': { type: 'string', description: 'The name of the file.' },
}

export function geotiffRoute(app: App, maps: Maps): void {
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
    async (request: FastifyRequest<{ Params: Static<typeof GeotiffParams> }>, reply: FastifyReply) => {
      const subject = await maps.findSubject(request, reply, request.params)
      const known = geotiffs.known(subject)
      if (known && allowCaching(request, reply, tagOf(known))) return reply.code(304).send()
      const file = await geotiffs.open(subject, clientKeyOf(request))
      if (allowCaching(request, reply, tagOf(file))) {
        file.close()
        return reply.code(304).send()
      }
      return send(request, reply, file, fileNameOf(subject))
    },
  )
}

/** Strong: it is that of the bytes, which another machine may compress otherwise. */
function tagOf({ checksum }: Pick<OpenMadeFile, 'checksum'>): string {
  return `"${checksum.slice(0, 32)}"`
}

/** Codes of releases have nothing else in them. */
function fileNameOf({ release, layer }: MapSubject): string {
  return `${release.code.replaceAll(/[^\w.-]/g, '-')}-${layer.number}.tif`
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  file: OpenMadeFile,
  name: string,
): Promise<FastifyReply> {
  const { bytes } = file
  const { range: asked, 'if-range': ifRange } = request.headers
  // A date in If-Range never allows a range: answers with ranges have none.
  const isCurrent = ifRange === undefined || String(ifRange).trim() === tagOf(file)
  const isAsked = request.method === 'GET' && isCurrent
  const range = readByteRange(isAsked ? asked : undefined, bytes)
  if (range === 'unsatisfiable') {
    file.close()
    const sentence = `The file has ${bytes} bytes, and none of those that Range names.`
    throw new ApiError('RANGE_NOT_SATISFIABLE', sentence).withHeader('content-range', `bytes */${bytes}`)
  }
  const { first, last } = range ?? { first: 0, last: bytes - 1 }
  reply.type(COG).headers({
    'accept-ranges': 'bytes',
    'content-length': last - first + 1,
    'content-disposition': `attachment; filename="${name}"`,
  })
  if (range) reply.code(206).header('content-range', `bytes ${first}-${last}/${bytes}`)
  if (request.method === 'HEAD') {
    file.close()
    // Fastify would read a stream to its end, unseen.
    return reply.send(Readable.from([]))
  }
  return reply.send(file.stream(first, last))
}
