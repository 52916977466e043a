import type { FastifyRequest } from 'fastify'
import type { PlaceSource } from '#src/advice/polygons/sources.ts'
import { requireFound } from '#src/errors.ts'
import { requireCaller } from '#src/http/caller.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { requireScopes } from '#src/http/plugins/authentication.ts'
import type { Rings } from '#src/raster/rings.ts'
import { regionsOf } from './pages.ts'
import { type CollectionRow, type Field, findCollection, findField } from './queries.ts'
import { type CollectionParams, SavedField, SavedFields } from './schemas.ts'

/** A request that names a collection in its path. */
export type CollectionRequest<Query = unknown> = FastifyRequest<{
  Params: CollectionParams
  Querystring: Query
}>

/** A key sees fields as it sees the history. */
export const OWN_FIELDS = { scope: 'history', caching: 'never' } as const

/** Advice on them takes what advice on others takes, too. */
export const ADVICE_ON_FIELDS = { ...OWN_FIELDS, scope: ['advisory', 'history'] } as const

/** Fields are the caller's own, as its history is. @throws {ApiError} INSUFFICIENT_SCOPE for a key without it */
function requireOwner(request: FastifyRequest): string {
  const caller = requireCaller(request)
  requireScopes(caller, [OWN_FIELDS.scope])
  return caller.id
}

/** A collection of the caller. @throws {ApiError} NOT_FOUND, or INSUFFICIENT_SCOPE */
export async function requireCollection(exchange: Exchange, name: string): Promise<CollectionRow> {
  const { request } = exchange
  const { server } = request
  const find = async () => findCollection(server.database.writer, requireOwner(request), name)
  const found = await exchange.withDatabasePermit(find)
  return requireFound(found, 'You have no collection of fields with this name.')
}

/** @param field the collection, a slash, and the id of the field @throws {ApiError} NOT_FOUND, or INSUFFICIENT_SCOPE */
async function requireField(exchange: Exchange, field: string): Promise<Field & { polygons: Rings[] }> {
  const { request } = exchange
  const { server } = request
  const [collection = '', ...id] = field.split('/')
  const place = { collection, id: id.join('/') }
  const find = async () => findField(server.database.writer, requireOwner(request), place)
  const found = await exchange.withDatabasePermit(find)
  return requireFound(found, 'You have no field with this id in a collection of this name.')
}

/** A collection, a slash, and the id of a field. */
const FIELD = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}\/\S/

/** Fields that requests name in place of a shape. */
export const savedFields: PlaceSource = {
  one: {
    member: 'field',
    schema: SavedField,
    documented: '`field` (one of `/fields`)',
    listed: 'a saved field',
    means: 'a saved field',
    isLike: (text) => FIELD.test(text),
    find: requireField,
  },
  many: {
    member: 'fields',
    schema: SavedFields,
    documented: '`fields`, a collection of `/fields`',
    listed: 'saved fields',
    means: 'a saved collection',
    find: async (exchange, name) => regionsOf(await requireCollection(exchange, name)),
  },
}
