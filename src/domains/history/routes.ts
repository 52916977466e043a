import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { type TObject, Type } from 'typebox'
import { ref } from '#schemas/common.ts'
import {
  HISTORY_DEFAULTS,
  HistoryCsv,
  HistoryFeature,
  HistoryFeatureCollection,
  type HistoryQuery,
} from '#schemas/history.ts'
import type { Tables } from '#src/database/tables.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { attach, DISPOSITION, type FileType } from '#src/http/attachment.ts'
import { cursorAfter, placeOf } from '#src/http/cursor.ts'
import { negotiate } from '#src/http/negotiation.ts'
import { readQuery } from '#src/http/parameters.ts'
import { callerOf } from '#src/http/plugins/authentication.ts'
import { UUID_PATTERN } from '#src/lib/uuid.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { csvOf, featureOf, itemOf } from './answer.ts'
import { periodOf } from './period.ts'
import { deleteHistoryItem, findHistoryItem, type HistoryRow, listHistory } from './queries.ts'

const JSON_TYPE = 'application/json'
const GEOJSON = 'application/geo+json'
const CSV = 'text/csv'

const MEDIA_TYPES = [JSON_TYPE, CSV, GEOJSON] as const

const LIST_DESCRIPTION = `
The advisories that the caller was given, the newest first: calls of the point endpoints with a token, and advice for polygons and areas. They stay until their owner deletes them, and never change when something new is published.

\`Accept: text/csv\` and \`Accept: application/geo+json\` give the same page as a file. Its next page is in \`next_cursor\` and in the \`Link\` header; each page of CSV has a header line of its own.`

const ItemParams = Type.Object({ id: Type.String({ description: 'The id of the item.' }) })

/** What the routes are asked and what they answer, which depends on the products. */
interface HistorySchemas {
  query: TObject
  item: TObject
  list: TObject
}

export function historyRoutes(app: App, schemas: HistorySchemas): void {
  const { list: products } = app.products
  // Whoever was given an id finds it here at once: a replica may be behind.
  const db = app.database.writer
  app.route(listRoute(db, products, schemas))
  app.route(itemRoute(db, products, schemas))
  app.route(deleteRoute(db))
}

function listRoute(
  db: Kysely<Tables>,
  products: readonly ProductDefinition[],
  { query, list }: HistorySchemas,
) {
  return {
    method: 'GET',
    url: '/my',
    config: { scope: 'history', caching: 'never' },
    schema: {
      operationId: 'listHistory',
      summary: 'The own history',
      description: LIST_DESCRIPTION.trim(),
      tags: ['history'],
      querystring: query,
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
      const { limit = HISTORY_DEFAULTS.limit, cursor, product = null, country_code, from, to } = request.query
      const countryCode = country_code?.trim().toLowerCase() ?? null
      const period = periodOf(from, to)
      const filters = [product, countryCode, period.from, period.to]
      const rows = await listHistory(db, {
        userId: callerOf(request).id,
        product,
        countryCode,
        ...period,
        after: cursor === undefined ? null : itemAt(cursor, filters),
        limit,
      })
      const last = rows.at(-1)
      const next = last?.more ? cursorAfter(`${last.created_us} ${last.id}`, filters) : null
      if (next !== null) reply.header('link', `<${nextPage(request.url, next)}>; rel="next"`)

      if (mediaType === JSON_TYPE) return { items: rows.map(itemOf), next_cursor: next }
      asFile(reply, mediaType, 'history')
      if (mediaType === CSV) return csvOf(products, rows)
      return { type: 'FeatureCollection' as const, features: rows.map(featureOf), next_cursor: next }
    },
  } as const
}

function itemRoute(db: Kysely<Tables>, products: readonly ProductDefinition[], { item }: HistorySchemas) {
  return {
    method: 'GET',
    url: '/:id',
    config: { scope: 'history', caching: 'never' },
    schema: {
      operationId: 'getHistoryItem',
      summary: 'An item of the own history',
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
      asFile(reply, mediaType, `history-${row.id}`)
      return mediaType === CSV ? csvOf(products, [row]) : featureOf(row)
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
      summary: 'Delete an item of the own history',
      description: 'Deletes it with its feedback. It stays in the counts of `GET /stats`.',
      tags: ['history'],
      params: ItemParams,
      response: {
        204: { type: 'null', description: 'The item is deleted.' },
        ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'NOT_FOUND'),
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

/** The item that a page begins after: microseconds since 1970, and its id. */
const ITEM = new RegExp(`^(\\d{1,16}) (${UUID_PATTERN})$`)

function itemAt(cursor: string, filters: readonly unknown[]): { createdAt: number; id: string } {
  const [, createdAt, id] = placeOf(cursor, filters, ITEM) as string[]
  return { createdAt: Number(createdAt), id: id as string }
}

/** The URL of the page after the one that was asked for. */
function nextPage(url: string, cursor: string): string {
  const [path, query] = url.split('?') as [string, string?]
  const parameters = new URLSearchParams(query)
  parameters.set('cursor', cursor)
  return `${path}?${parameters}`
}

/** Sends what follows as a file. */
function asFile(reply: FastifyReply, mediaType: FileType, name: string): void {
  reply.type(mediaType === CSV ? `${CSV}; charset=utf-8` : mediaType)
  attach(reply, mediaType, name)
}
