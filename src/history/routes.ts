import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { type TObject, Type } from 'typebox'
import { ref } from '#schemas/common.ts'
import {
  HISTORY_DEFAULTS,
  HistoryCsv,
  HistoryFeature,
  HistoryFeatureCollection,
  type HistoryItem,
  type HistoryQuery,
} from '#schemas/history.ts'
import { queryOf } from '#schemas/point-request.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, BODY_ERRORS, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { attach, DISPOSITION, type FileType, negotiate } from '#src/http/formats.ts'
import { cursorAfter, placeOf, readQuery } from '#src/http/parameters.ts'
import { callerOf } from '#src/http/plugins/authentication.ts'
import { DAY_MS } from '#src/lib/dates.ts'
import { UUID_PATTERN } from '#src/lib/uuid.ts'
import { type ExportForm, featureForm, pagesOf, tableForm, writeExport } from './files.ts'
import {
  deleteHistoryItem,
  findHistoryItem,
  type HistoryFilter,
  type HistoryRow,
  listHistory,
} from './queries.ts'
import { isSynthetic, monthOf, type RecordedAnswer } from './recorded-answer.ts'

/** An item of the history as the API shows it. */
function itemOf(row: HistoryRow): HistoryItem {
  const answer = row.answer as RecordedAnswer
  const { location, forecast_period } = answer
  const month = monthOf(answer)
  const synthetic = isSynthetic(answer, row)
  return {
    id: row.id,
    created_at: row.created_at,
    kind: row.kind,
    product: row.product,
    country_code: row.country_code,
    crop: row.crop_code,
    releases: row.releases,
    ...(synthetic !== undefined && { synthetic }),
    location,
    ...(forecast_period !== undefined && { forecast_period }),
    ...(month !== undefined && { forecast_month: month }),
    request: row.request,
    answer: row.answer,
    feedback: row.feedback,
  }
}

/** A stretch of time: from `from` on, to before `to`; null for no bound. ISO 8601, to the millisecond. */
interface Period {
  from: string | null
  to: string | null
}

const END_OF_YEARS = Date.UTC(9999, 11, 31)

/**
 * The time between two parameters, each a date or a date and time: a date begins at midnight UTC, and as
 * the end it means the whole day.
 *
 * @throws {ApiError} INVALID_PARAMETERS where it would end before it begins
 */
function periodOf(from: string | undefined, to: string | undefined): Period {
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

/**
 * Sends a file in pieces. What fails before the second one is answered as an error; after that the connection
 * is cut, so that nobody takes a part for the whole.
 *
 * @param name without its ending
 */
async function sendFile(
  reply: FastifyReply,
  mediaType: FileType,
  name: string,
  pieces: AsyncGenerator<string>,
): Promise<FastifyReply> {
  const [first, second] = [await pieces.next(), await pieces.next()]
  asFile(reply, mediaType, name)
  if (reply.request.method === 'HEAD' && !second.done) {
    // Fastify would read a stream to its end, for nobody.
    await pieces.return(undefined)
    return reply.send(Readable.from([]))
  }
  return reply.send(second.done ? first.value : Readable.from(resumed([first.value, second.value], pieces)))
}

/** Says that an answer is a file, and which. */
function asFile(reply: FastifyReply, mediaType: FileType, name: string): void {
  reply.type(`${mediaType}; charset=utf-8`)
  attach(reply, mediaType, name)
}

/** Pieces from the beginning, some of which have been read. */
async function* resumed(read: string[], rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield* read
    yield* rest
  } finally {
    // The client may go away before the rest is asked for.
    await rest.return(undefined)
  }
}

/** Exports of whole histories that may be under way in a process, and of one account. */
const EXPORTS_AT_ONCE = 20
const EXPORTS_OF_ACCOUNT = 2

/** How long a client may take nothing of its export; Node notices after up to twice as long. */
const STALLED_MS = 60_000

/**
 * Makes what admits exports of whole histories until their answers have been sent: each holds a page in
 * memory, for as long as its client takes to read it.
 *
 * @returns throws an {@link ApiError} OVERLOADED where there are too many
 */
function createExportAdmission(): (userId: string, response: ServerResponse) => void {
  const ofAccount = new Map<string, number>()
  let underWay = 0

  function count(userId: string, change: 1 | -1): void {
    const exports = (ofAccount.get(userId) ?? 0) + change
    if (exports === 0) ofAccount.delete(userId)
    else ofAccount.set(userId, exports)
    underWay += change
  }

  return (userId, response) => {
    const own = ofAccount.get(userId) ?? 0
    if (own >= EXPORTS_OF_ACCOUNT || underWay >= EXPORTS_AT_ONCE) {
      throw new ApiError('OVERLOADED', 'Too many exports of histories are under way; try again later.')
    }
    count(userId, 1)
    const leave = () => count(userId, -1)
    // It may have gone while the caller was looked up.
    if (response.destroyed) leave()
    else response.once('close', leave)
    response.setTimeout(STALLED_MS, () => response.destroy())
  }
}

const JSON_TYPE = 'application/json'
const GEOJSON = 'application/geo+json'
const CSV = 'text/csv'

const MEDIA_TYPES = [JSON_TYPE, CSV, GEOJSON] as const

const LIST_DESCRIPTION = `
Advisories of the caller, the newest first: points with a token, polygons and areas. They stay until you delete them or the limits of the service (number, age) remove them. New releases do not change them.

\`Accept: text/csv\` and \`Accept: application/geo+json\` give the same page as a file. Its next page is in \`next_cursor\` and in the \`Link\` header; each page of CSV has a header line of its own. With \`all=true\` the file has all pages and one header line. It is streamed: if the service fails midway, the connection is cut, and a file is whole when its transfer ends properly. An account may have two such exports under way; more are answered 503 \`OVERLOADED\`.

For map programs \`kind=point\` or \`kind=polygon\` makes a GeoJSON file of one type of geometry.`

/** A page in the answer ends early where its requests and answers become this large. */
const PAGE_BYTES = 8_000_000

/** Pages of an export, which wait in memory until the client has read them, are smaller. */
const EXPORT_PAGE = { limit: 100, bytes: 1_000_000 }

const ItemParams = Type.Object({ id: Type.String({ description: 'The id of the item.' }) })

/** What the routes are asked and what they answer, which depends on the products. */
interface HistorySchemas {
  query: TObject
  item: TObject
  list: TObject
}

/** The form of a file; with GeoJSON, `kind` is what all its items are of. */
type FormOf = (mediaType: FileType, kind: HistoryFilter['kind']) => ExportForm

export function historyRoutes(app: App, schemas: HistorySchemas): void {
  const { list: products } = app.products
  // Whoever was given an id finds it here at once: a replica may be behind.
  const db = app.database.writer
  const formOf: FormOf = (mediaType, kind) =>
    mediaType === CSV ? tableForm(products) : featureForm(db, products, kind)
  app.route(listRoute(app, formOf, schemas))
  app.route(itemRoute(db, formOf, schemas))
  app.route(deleteRoute(db))
}

function listRoute({ database, inTurn }: App, formOf: FormOf, { query, list }: HistorySchemas) {
  const admit = createExportAdmission()
  return {
    method: 'GET',
    url: '/my',
    config: { scope: 'history', caching: 'never', ownTurns: true },
    schema: {
      operationId: 'listHistory',
      summary: 'List your history',
      description: LIST_DESCRIPTION.trim(),
      tags: ['history'],
      querystring: queryOf(query),
      response: {
        200: {
          description: 'A page of the history.',
          headers: {
            Link: { type: 'string', description: 'The next page, where there is one (`rel="next"`).' },
            'Content-Disposition': DISPOSITION,
          },
          content: {
            [JSON_TYPE]: { schema: ref(list) },
            [CSV]: { schema: ref(HistoryCsv) },
            [GEOJSON]: { schema: ref(HistoryFeatureCollection) },
          },
        },
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'INVALID_PARAMETERS', 'NOT_ACCEPTABLE'),
      },
    },
    preValidation: readQuery(query),
    handler: async (request: FastifyRequest<{ Querystring: HistoryQuery }>, reply: FastifyReply) => {
      const mediaType = negotiate(request, reply, MEDIA_TYPES)
      const { limit = HISTORY_DEFAULTS.limit, cursor, all } = request.query
      const { filter, filters } = filterOf(request)
      // A page has a turn of its own, and the outlines of some items, too: a client may take long to read them.
      const readPage = (page: HistoryFilter) =>
        inTurn(request, reply, () => listHistory(database.writer, page))
      const inTurns = (form: ExportForm): ExportForm => ({
        ...form,
        textsOf: (rows) => inTurn(request, reply, () => form.textsOf(rows)),
      })
      if (all === 'true') {
        if (mediaType === JSON_TYPE)
          throw ApiError.invalid('all', 'is for CSV and GeoJSON: ask for them by Accept')
        if (cursor !== undefined) throw ApiError.invalid('cursor', 'must be left out where all is true')
        admit(filter.userId, reply.raw)
        const pages = pagesOf(readPage, { ...filter, ...EXPORT_PAGE })
        const form = inTurns(formOf(mediaType, filter.kind))
        return sendFile(reply, mediaType, 'history', writeExport(form, pages, null))
      }
      const rows = await readPage({
        ...filter,
        after: cursor === undefined ? null : itemAt(cursor, filters),
        limit,
        bytes: PAGE_BYTES,
      })
      const last = rows.at(-1)
      const next = last?.more ? cursorAfter(`${last.created_us} ${last.id}`, filters) : null
      if (next !== null) reply.header('link', `<${nextPage(request, next)}>; rel="next"`)

      if (mediaType === JSON_TYPE) return { items: rows.map(itemOf), next_cursor: next }
      const form = inTurns(formOf(mediaType, filter.kind))
      return sendFile(reply, mediaType, 'history', writeExport(form, [rows], next))
    },
  } as const
}

function itemRoute(db: Kysely<Tables>, formOf: FormOf, { item }: HistorySchemas) {
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
        200: {
          description: 'The item.',
          headers: { 'Content-Disposition': DISPOSITION },
          content: {
            [JSON_TYPE]: { schema: ref(item) },
            [CSV]: { schema: ref(HistoryCsv) },
            [GEOJSON]: { schema: ref(HistoryFeature) },
          },
        },
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'NOT_FOUND', 'NOT_ACCEPTABLE'),
      },
    },
    handler: async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      const mediaType = negotiate(request, reply, MEDIA_TYPES)
      const row = existing(await findHistoryItem(db, callerOf(request).id, request.params.id))
      if (mediaType === JSON_TYPE) return itemOf(row)
      const form = formOf(mediaType, null)
      const [text] = (await form.textsOf([row])) as [string]
      asFile(reply, mediaType, `history-${row.id}`)
      return mediaType === CSV ? form.opening + text : text
    },
  } as const
}

function deleteRoute(db: Kysely<Tables>) {
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
      response: {
        204: { type: 'null', description: 'The item is deleted.' },
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'NOT_FOUND', ...BODY_ERRORS),
      },
    },
    handler: async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply) => {
      existing((await deleteHistoryItem(db, callerOf(request).id, request.params.id)) || undefined)
      return reply.code(204).send()
    },
  } as const
}

/** What is somebody else's does not exist, as little as what never was. */
function existing<Found extends HistoryRow | true>(found: Found | undefined): Found {
  if (found !== undefined) return found
  throw new ApiError('NOT_FOUND', 'There is nothing with this id in your history.')
}

/** What of the history is asked for, and the same as a cursor holds it. */
function filterOf(request: FastifyRequest<{ Querystring: HistoryQuery }>) {
  const { product = null, kind = null, country_code, from, to } = request.query
  const countryCode = country_code?.trim().toLowerCase() ?? null
  const period = periodOf(from, to)
  return {
    filter: { userId: callerOf(request).id, product, kind, countryCode, ...period },
    filters: [product, kind, countryCode, period.from, period.to],
  }
}

/** The item that a page begins after: microseconds since 1970, and its id. */
const ITEM = new RegExp(`^(\\d{1,16}) (${UUID_PATTERN})$`)

function itemAt(cursor: string, filters: readonly unknown[]): { createdAt: number; id: string } {
  const [, createdAt, id] = placeOf(cursor, filters, ITEM) as string[]
  return { createdAt: Number(createdAt), id: id as string }
}

/** The URL of the page after the one that was asked for. */
function nextPage({ url, basePath, server }: FastifyRequest, cursor: string): string {
  const [path, query] = url.split('?') as [string, string?]
  const parameters = new URLSearchParams(query)
  parameters.set('cursor', cursor)
  return `${basePath}${path.slice(server.config.BASE_PATH.length)}?${parameters}`
}
