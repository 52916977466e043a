import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject } from 'typebox'
import { ref } from '#schemas/common.ts'
import {
  type defineHistoryQuery,
  HISTORY_DEFAULTS,
  HistoryCsv,
  HistoryFeature,
  HistoryFeatureCollection,
  ItemParams,
} from '#schemas/history.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError } from '#src/errors.ts'
import { type App, errorResponses, noContent } from '#src/http/app.ts'
import { requireCaller } from '#src/http/caller.ts'
import {
  attach,
  DISPOSITION,
  documentFile,
  documentFormats,
  FORMATS,
  type Format,
  JSON_FORMAT,
  NDJSON,
  negotiateFormat,
  sendPieces,
  writeItems,
  writeOneItem,
} from '#src/http/formats.ts'
import { cursorAfter, decodeCursor, readQuery } from '#src/http/parameters.ts'
import { createPause } from '#src/http/plugins/time-budget.ts'
import { DAY_MS } from '#src/lib/dates.ts'
import { createLimiter, EVERYBODY } from '#src/lib/limiter.ts'
import { UUID_PATTERN } from '#src/lib/uuid.ts'
import {
  createHistoryItems,
  findItemOutlines,
  formatItem,
  listPages,
  listSlices,
  PIECE_LENGTH,
} from './files.ts'
import {
  deleteHistoryItem,
  findHistoryItem,
  type HistoryFilter,
  type HistoryRow,
  listHistory,
  requireItem,
} from './queries.ts'

/** ISO times: `from` inclusive, `to` exclusive; null without a bound. */
interface Period {
  from: string | null
  to: string | null
}

const END_OF_YEARS = Date.UTC(9999, 11, 31)

/** A date is its midnight in UTC, or as the end the whole day. @throws {ApiError} INVALID_PARAMETERS */
function readPeriod(from: string | undefined, to: string | undefined): Period {
  const begin = from === undefined ? null : Date.parse(from)
  const end = to === undefined ? null : Date.parse(to) + (isDate(to) ? DAY_MS : 0)
  if (begin !== null && end !== null && (begin > end || (begin === end && isDate(to)))) {
    throw ApiError.invalid('from', 'must not be later than to')
  }
  return { from: isoTime(begin), to: isoTime(end) }
}

function isDate(text: string | undefined): boolean {
  return text?.length === 10
}

function isoTime(time: number | null): string | null {
  // Nothing was answered before 1970 or after 9999, and the notation of other years is not the same.
  return time === null ? null : new Date(Math.min(Math.max(time, 0), END_OF_YEARS)).toISOString()
}

/** The formats of the history, which has no NDJSON. */
const HISTORY_FORMATS = FORMATS.filter((format) => format !== NDJSON)

/** Sends a file in pieces. A late error cuts the connection, so that no part looks like the whole. */
async function sendFile(reply: FastifyReply, format: Format, pieces: AsyncGenerator<Buffer>) {
  const [first, second] = [await pieces.next(), await pieces.next()]
  nameFile(reply, format, 'history')
  return second.done ? reply.send(first.value) : sendPieces(reply, [first, second], pieces)
}

function nameFile(reply: FastifyReply, { mediaType }: Format, name: string): void {
  reply.type(`${mediaType}; charset=utf-8`)
  attach(reply, mediaType, name)
}

/** Exports of whole histories that may be under way in a process, and of one account. */
const EXPORTS_AT_ONCE = 20
const EXPORTS_OF_ACCOUNT = 2

/** How long a client may take nothing of its export; Node notices after up to twice as long. */
const STALLED_MS = 60_000

/** Limits the exports that are being sent: each holds a page in memory. @throws {ApiError} OVERLOADED */
function createExportAdmission() {
  const exports = createLimiter(
    { running: EXPORTS_AT_ONCE, runningEach: EXPORTS_OF_ACCOUNT, waiting: 0 },
    () => new ApiError('OVERLOADED', 'Too many exports of histories are under way; try again later.'),
  )
  return async (userId: string, response: ServerResponse) => {
    const release = await exports.enter({ ...EVERYBODY, caller: userId })
    // It may have gone while the caller was looked up.
    if (response.destroyed) release()
    else response.once('close', release)
    response.setTimeout(STALLED_MS, () => response.destroy())
  }
}

const LIST_DESCRIPTION = `
Advisories of the caller, the newest first: points with a token, polygons and areas. They stay until you delete them or the limits of the service (number, age) remove them. New releases do not change them.

\`Accept: text/csv\` and \`Accept: application/geo+json\` give the same page as a file. Its next page is in \`next_cursor\` and in the \`Link\` header; each page of CSV has a header line of its own. With \`all=true\` the file has all pages and one header line. It is streamed: if the service fails midway, the connection is cut, and a file is whole when its transfer ends properly. An account may have two such exports under way; more are answered 503 \`OVERLOADED\`.

For map programs \`kind=point\` or \`kind=polygon\` makes a GeoJSON file of one type of geometry.`

/** A page in the answer ends early where its requests and answers become this large. */
const PAGE_BYTES = 8_000_000

/** Pages of an export, which wait in memory until the client has read them, are smaller. */
const EXPORT_PAGE = { limit: 100, bytes: 1_000_000 }

export type ItemRequest<Body = unknown> = FastifyRequest<{ Params: Static<typeof ItemParams>; Body: Body }>

interface HistorySchemas {
  query: TObject
  item: TObject
  list: TObject
}

export function historyRoutes(app: App, schemas: HistorySchemas): void {
  // A new item is readable at once here; a replica may be behind.
  const db = app.database.writer
  app.route(listRoute(app, schemas))
  app.route(itemRoute(app, schemas))
  app.route(deleteRoute(db))
}

function listRoute({ database, products }: App, { query, list }: HistorySchemas) {
  const admit = createExportAdmission()
  const db = database.writer
  return {
    method: 'GET',
    url: '/my',
    config: { scope: 'history', caching: 'never', takesOwnPermit: true },
    schema: {
      operationId: 'listHistory',
      summary: 'List your history',
      description: LIST_DESCRIPTION.trim(),
      tags: ['history'],
      querystring: toQuerySchema(query),
      response: {
        200: {
          description: 'A page of the history.',
          headers: {
            Link: { type: 'string', description: 'The next page, where there is one (`rel="next"`).' },
            'Content-Disposition': DISPOSITION,
          },
          content: documentFormats(HISTORY_FORMATS, {
            json: ref(list),
            csv: ref(HistoryCsv),
            geojson: ref(HistoryFeatureCollection),
          }),
        },
        ...errorResponses('INVALID_PARAMETERS', 'NOT_ACCEPTABLE'),
      },
    },
    preValidation: readQuery(query),
    handler: async (request: ListCall, reply: FastifyReply) => {
      const { exchange } = request
      const format = negotiateFormat(exchange, HISTORY_FORMATS)
      const { limit = HISTORY_DEFAULTS.limit, cursor, all } = request.query
      const { filter, filters } = readFilter(request)
      // Each page and the outlines of each slice queue by themselves: a client may read slowly.
      const readPage = (page: HistoryFilter) => exchange.withDatabasePermit(() => listHistory(db, page))
      const outlines = (rows: HistoryRow[]) => exchange.withDatabasePermit(() => findItemOutlines(db, rows))
      const sendPages = (pages: AsyncIterable<HistoryRow[]> | HistoryRow[][], next: string | null) => {
        const writer = format.write(createHistoryItems(products.list, filter.kind, next))
        const slices = listSlices(pages, format.hasShapes ? outlines : undefined)
        const writing = { pause: createPause(exchange), pieceLength: PIECE_LENGTH }
        return sendFile(reply, format, writeItems(writer, slices, writing))
      }
      if (all === 'true') {
        refuseExport(format, cursor)
        await admit(filter.userId, reply.raw)
        return sendPages(listPages(readPage, { ...filter, ...EXPORT_PAGE }), null)
      }
      const rows = await readPage({
        ...filter,
        after: cursor === undefined ? null : (decodeCursor(cursor, filters, ITEM)[0] as string),
        limit,
        bytes: PAGE_BYTES,
      })
      const last = rows.at(-1)
      const next = last?.more ? cursorAfter(last.id, filters) : null
      if (next !== null) reply.header('link', `<${nextPage(request, next)}>; rel="next"`)
      if (format !== JSON_FORMAT) return sendPages([rows], next)
      return { items: rows.map(formatItem), next_cursor: next }
    },
  } as const
}

function itemRoute({ database, products }: App, { item }: HistorySchemas) {
  const db = database.writer
  return {
    method: 'GET',
    url: '/:id',
    config: { scope: 'history', caching: 'never' },
    schema: {
      operationId: 'getHistoryItem',
      summary: 'Get an item of your history',
      description:
        'An advisory as it was given. `Accept: text/csv` and `Accept: application/geo+json` give it as a file.',
      tags: ['history'],
      params: ItemParams,
      response: {
        200: documentFile('The item.', HISTORY_FORMATS, {
          json: ref(item),
          csv: ref(HistoryCsv),
          geojson: ref(HistoryFeature),
        }),
        ...errorResponses('NOT_FOUND', 'NOT_ACCEPTABLE'),
      },
    },
    handler: async (request: ItemRequest, reply: FastifyReply) => {
      const format = negotiateFormat(request.exchange, HISTORY_FORMATS)
      const row = requireItem(await findHistoryItem(db, requireCaller(request).id, request.params.id))
      if (format === JSON_FORMAT) return formatItem(row)
      const [outline] = format.hasShapes ? await findItemOutlines(db, [row]) : []
      nameFile(reply, format, `history-${row.id}`)
      return writeOneItem(format, createHistoryItems(products.list, null, null), { row, outline })
    },
  } as const
}

function deleteRoute(db: Db) {
  return {
    method: 'DELETE',
    url: '/:id',
    config: { scope: 'history', caching: 'never' },
    schema: {
      operationId: 'deleteHistoryItem',
      summary: 'Delete an item of your history',
      description: 'Deletes it with its feedback. It stays in the counts of `GET /stats`.',
      tags: ['history'],
      params: ItemParams,
      response: noContent('The item is deleted.', 'NOT_FOUND'),
    },
    handler: async (request: ItemRequest, reply: FastifyReply) => {
      requireItem(await deleteHistoryItem(db, requireCaller(request).id, request.params.id))
      return reply.code(204).send()
    },
  } as const
}

function refuseExport(format: Format, cursor: string | undefined): void {
  if (format === JSON_FORMAT) throw ApiError.invalid('all', 'is for CSV and GeoJSON: ask for them by Accept')
  if (cursor !== undefined) throw ApiError.invalid('cursor', 'must be left out where all is true')
}

type ListCall = FastifyRequest<{ Querystring: Static<ReturnType<typeof defineHistoryQuery>> }>

/** The filter of a request, also as cursors have it. */
function readFilter(request: ListCall) {
  const { product = null, kind = null, country_code, from, to } = request.query
  const countryCode = country_code?.trim().toLowerCase() ?? null
  const period = readPeriod(from, to)
  return {
    filter: { userId: requireCaller(request).id, product, kind, countryCode, ...period },
    filters: [product, kind, countryCode, period.from, period.to],
  }
}

/** The id of the item before a page. */
const ITEM = new RegExp(`^${UUID_PATTERN}$`)

function nextPage({ url, basePath, server }: FastifyRequest, cursor: string): string {
  const [path, query] = url.split('?') as [string, string?]
  const parameters = new URLSearchParams(query)
  parameters.set('cursor', cursor)
  return `${basePath}${path.slice(server.config.BASE_PATH.length)}?${parameters}`
}
