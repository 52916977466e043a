import { pipeline, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import { ref } from '#schemas/common.ts'
import type { LayerName } from '#schemas/map.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import {
  type Downloads,
  describeSent,
  documentFile,
  sendFile,
  sendNothing,
  writePieces,
} from '#src/extensions/downloads/downloads.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { readPath, readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { allowedCodings } from '#src/http/request.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Maps } from '#src/maps/maps.ts'
import { describeFormat, type PreparedPack, preparePack } from './pack.ts'
import {
  type PackFormat,
  PackPage,
  PackParams,
  PackParquet,
  PackQuery,
  PackTable,
  PackTiles,
  PackTilesQuery,
} from './schemas.ts'

interface PackDocument {
  operationId: string
  summary: string
  description: string
  query: TObject
  schema: TSchema
}

const COMMON = `
Of each product and crop it has the release that answers where a request names none. An area that is too large is refused, with the codes of the areas right below. The first one who asks waits until the file is made; where that takes longer than ten seconds, or many wait, the answer is 503 with \`Retry-After\`, and it goes on being made. Its \`ETag\` changes with the releases and the boundaries: \`HEAD\` says whether there is a newer one, and makes nothing.`

const TABLE = `
A row for each pixel that the area covers, also in part, at most 50,000. Its values are those of the service there. The grid is the one that covers most of the area; of equal ones, the finest. \`name\` and \`label\` are for lists of ODK; then come the position, the codes and names of the area and of those above it, and for each product and crop the columns that batches have, behind the names of both: \`yield_wheat_yield_kg_ha_Normal\`. Names have \`_\` for what XPath does not take. \`release_yield_wheat\` has the code of the release, and \`forecast_month_\`, \`valid_until_\` and \`synthetic_\` what else a form should show. \`grid_lat\`, \`grid_lng\`, \`pixel_lat\` and \`pixel_lng\` have the corner of the grid and the size of its pixels in degrees, the same in each row; they are empty for a grid in another system.`

const DOCUMENTS: Record<PackFormat, PackDocument> = {
  html: {
    operationId: 'getPackPage',
    summary: 'An area in one file: a page that works without a network',
    description:
      'A page that answers each place of the area as the service does, without a network: map, search, quantities and reasons are in it. It has at most 2 MB. It says when it was made, so that its tag is weak and it has no ranges.',
    query: PackQuery,
    schema: PackPage,
  },
  csv: {
    operationId: 'getPackTable',
    summary: 'An area in one file: CSV, also for ODK',
    description: TABLE,
    query: PackQuery,
    schema: PackTable,
  },
  parquet: {
    operationId: 'getPackParquet',
    summary: 'An area in one file: GeoParquet',
    description: `${TABLE} Their places are points in WGS 84, in the column \`geometry\`.`,
    query: PackQuery,
    schema: PackParquet,
  },
  mbtiles: {
    operationId: 'getPackTiles',
    summary: 'An area in one file: a map as MBTiles',
    description:
      'The tiles of a layer that meet the rectangle around the area, as the service draws them; by default of the normal season of the first product. Attribution, licence, `synthetic` and legend are in the table `metadata`.',
    query: PackTilesQuery,
    schema: PackTiles,
  },
}

/** Any of the queries. */
interface Query {
  level?: number
  release?: string
  layer?: LayerName
}

type PackRequest = FastifyRequest<{ Params: Static<typeof PackParams>; Querystring: Query }>

interface PackOptions {
  lookup: Lookup
  maps: Maps
  downloads: Downloads
}

/** Texts are compressed once, and stored so: a table has 20 MB, which take a second. Ranges are of uncompressed bytes. */
function acceptsGzip({ headers }: FastifyRequest, mediaType: string): boolean {
  const accept = headers['accept-encoding']
  if (!mediaType.startsWith('text/') || headers.range !== undefined || accept === undefined) return false
  return allowedCodings(accept, ['gzip']).length > 0
}

function gzipped(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  // Reading throws its errors.
  return pipeline(Readable.from(pieces), createGzip(), () => {})
}

function packRoute(app: App, format: PackFormat, { lookup, maps, downloads }: PackOptions): void {
  const { query, schema, description, ...document } = DOCUMENTS[format]
  const maker = { app, lookup, maps }
  const { mediaType, hasRanges } = describeFormat(format)

  app.get(
    `/packs/:country/:area.${format}`,
    {
      config: { public: true, caching: 'shared', takesOwnPermit: true, onlyReads: true },
      schema: {
        ...document,
        description: `${description.trim()}\n\n${COMMON.trim()}`,
        tags: ['catalog'],
        params: PackParams,
        querystring: toQuerySchema(query),
        response: {
          ...documentFile(mediaType, ref(schema), hasRanges),
          ...errorResponses(
            'INVALID_PARAMETERS',
            'UNKNOWN_AREA',
            'NO_RELEASE',
            'NO_DATA',
            'TOO_MANY_POINTS',
            ...(hasRanges ? (['RANGE_NOT_SATISFIABLE'] as const) : []),
          ),
        },
      },
      preValidation: [readPath(PackParams), readQuery(query)],
    },
    async (request: PackRequest) => {
      const { exchange, params, query } = request
      const { country, area, level = null, ...layer } = { ...params, ...query }
      const snapshot = await exchange.wait(lookup.current)
      const wish = { format, ...layer, area: { countryCode: country.trim(), code: area.trim(), level } }
      const pack = await exchange.withDatabasePermit(() => preparePack(maker, snapshot, wish))
      return sendPack(downloads, pack, acceptsGzip(request, mediaType), exchange)
    },
  )
}

/** Sends a pack, which the first request makes, or 304 where the client has it. HEAD makes none. */
async function sendPack(
  downloads: Downloads,
  { tag, isDated, fileName: name, type, pieces }: PreparedPack,
  isGzipped: boolean,
  exchange: Exchange,
) {
  const { request, reply } = exchange
  const key = `pack ${tag}${isGzipped ? ' gzip' : ''}`
  const open = () =>
    downloads.open(key, 'packs', exchange.clientKey, (folder, pause) =>
      writePieces(folder, isGzipped ? gzipped(pieces(pause)) : pieces(pause)),
    )
  const known = downloads.facts(key)
  const isHead = request.method === 'HEAD'
  // Made before the answer has a tag: errors of its making have none.
  const made = known || isHead ? undefined : await open()
  const isCurrent = allowCaching(exchange, tag)
  const hasOneForm = !isDated && !isGzipped
  if (!hasOneForm && reply.hasHeader('etag')) reply.header('etag', `W/${tag}`)
  if (isCurrent) {
    made?.close()
    return reply.code(304).send()
  }
  if (isGzipped) reply.header('content-encoding', 'gzip')
  const sent = { name, type, tag: hasOneForm ? tag : null }
  if (!isHead) return sendFile(exchange, made ?? (await open()), sent)
  describeSent(reply, sent, known?.bytes)
  return sendNothing(reply)
}

/** Areas in one file each, for use without a network. */
export async function packs(app: App, { lookup, maps }: Omit<PackOptions, 'downloads'>): Promise<void> {
  const { downloads } = app
  if (!downloads) return
  for (const schema of [PackPage, PackTable, PackParquet, PackTiles]) app.addSchema(schema)
  for (const format of Object.keys(DOCUMENTS) as PackFormat[]) {
    packRoute(app, format, { lookup, maps, downloads })
  }
}
