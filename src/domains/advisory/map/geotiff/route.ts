import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { GeoTiff, ref } from '#schemas/common.ts'
import { GeotiffParams } from '#schemas/map.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { byteRangeOf, isRangeOf } from '#src/http/byte-ranges.ts'
import { readPath } from '#src/http/parameters.ts'
import { partyOf } from '#src/http/party.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import type { OpenMadeFile } from '#src/storage/made-files.ts'
import { existing, type Finder, type OfLayer } from '../finder.ts'
import type { Maps } from '../maps.ts'
import { createGeotiffs } from './geotiffs.ts'

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
      const file = await existing(published, () => geotiffs.open(named, partyOf(request)))
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
