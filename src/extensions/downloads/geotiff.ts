import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { ref } from '#schemas/common.ts'
import type { Products } from '#schemas/products/define.ts'
import { requireStore } from '#src/data/tiles/store.ts'
import { chooseSampleType } from '#src/data/tiles/tiff.ts'
import { ApiError, overloaded, ReplacedMeanwhile } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { clientKeyOf } from '#src/http/exchange.ts'
import { readPath } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import type { ClientKey } from '#src/lib/limiter.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { MapSubject } from '#src/maps/legends.ts'
import type { Maps } from '#src/maps/maps.ts'
import { type Layer, labelLayer, nameMonth } from '#src/maps/published.ts'
import { findPixelType, storedNodata, withType } from '#src/raster/pixels.ts'
import { type Downloads, documentFile, sendFile } from './downloads.ts'
import { type GeotiffLayer, isOffered, type LayerWindow, writeGeotiff } from './geotiff-writer.ts'
import type { OpenMadeFile, WrittenFile } from './made-files.ts'
import { GeoTiff, GeotiffParams } from './schemas.ts'

/** Writes the stored pixels of a layer. @throws {ApiError} OVERLOADED where some are missing: they may be on their way */
async function writeLayerFile(
  folder: string,
  { tiles: stores, products }: App,
  { release, layer }: MapSubject,
  pause: () => Promise<void>,
): Promise<WrittenFile> {
  const { coverage, band, pixelType } = layer
  const windows = requireStore(stores, coverage.store).windows(coverage.id)[Symbol.asyncIterator]()
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

/** Makes layers as GeoTIFF at the first request. */
function createGeotiffs(app: App, maps: Maps, downloads: Downloads) {
  return {
    /** A file that was made before. */
    facts: (subject: MapSubject) => downloads.facts(keyOf(subject)),
    /** @throws {ApiError} NOT_FOUND for a layer too large for a file, OVERLOADED for one that cannot be made now */
    async open(subject: MapSubject, clientKey: ClientKey): Promise<OpenMadeFile> {
      const { release, layer } = subject
      if (!isOffered(app.config, layer.coverage, layer.pixelType)) {
        const sentence = `Layer ${layer.number} of ${release.code} is too large for a file of this service.`
        throw new ApiError('NOT_FOUND', sentence)
      }
      return downloads.open(keyOf(subject), 'geotiff', clientKey, (folder, pause) =>
        maps.inSubject({ release: release.code, layer: layer.number }, (found) =>
          writeLayerFile(folder, app, found, pause),
        ),
      )
    },
  }
}

function keyOf({ release, layer }: MapSubject): string {
  return `geotiff ${release.code} ${layer.number}`
}

const TIFF = 'image/tiff'

/** The type with what the file is besides. */
const COG = `${TIFF}; application=geotiff; profile=cloud-optimized`

const GEOTIFF = `
All pixels of a layer in a file: a cloud-optimised GeoTIFF of one band with the values as they were loaded, in the CRS and on the grid that they came in; its nodata value, unit, scale and offset, source and licence are in it. Overviews have the means of squares of two by two pixels. Programs that ask for ranges of bytes (GDAL's \`/vsicurl/\`, QGIS, rasterio, geotiff.js) read of it what they show. A layer never changes, and neither does its file. The first one who asks waits until it is made; where that takes longer than ten seconds, or many wait, the answer is 503 with \`Retry-After\`, and it goes on being made.`

/** The layers of published releases as files, unless the service offers none. */
export function geotiffRoute(app: App, maps: Maps): void {
  if (!app.downloads) return
  const geotiffs = createGeotiffs(app, maps, app.downloads)
  app.addSchema(GeoTiff)

  app.get(
    '/releases/:release/layers/:layer(^\\d{1,9}).tif',
    {
      config: { public: true, caching: 'shared', takesOwnPermit: true },
      schema: {
        operationId: 'getGeotiff',
        summary: 'A layer of a release as a GeoTIFF',
        description: GEOTIFF.trim(),
        tags: ['catalog'],
        params: GeotiffParams,
        response: {
          ...documentFile(TIFF, ref(GeoTiff)),
          ...errorResponses('NOT_FOUND', 'RANGE_NOT_SATISFIABLE'),
        },
      },
      preValidation: readPath(GeotiffParams),
    },
    async (request: FastifyRequest<{ Params: Static<typeof GeotiffParams> }>, reply: FastifyReply) => {
      const subject = await maps.findSubject(request.exchange, request.params)
      const facts = geotiffs.facts(subject)
      if (facts && allowCaching(request.exchange, tagOf(facts))) return reply.code(304).send()
      const file = await geotiffs.open(subject, clientKeyOf(request))
      if (allowCaching(request.exchange, tagOf(file))) {
        file.close()
        return reply.code(304).send()
      }
      return sendFile(request.exchange, file, { name: fileNameOf(subject), type: COG, tag: tagOf(file) })
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
