import { setTimeout } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { findLimit } from '#src/accounts/user-queries.ts'
import { readFeatureName, type Validator } from '#src/advice/bodies.ts'
import type { Advisors } from '#src/advice/polygon/advisors.ts'
import { readGeoJson, refuseInvalid } from '#src/advice/polygon/geometry.ts'
import { measureOutline } from '#src/advice/polygon/weighing.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { requireCaller } from '#src/http/caller.ts'
import { ID_RULE, isNumberId, validationError } from '#src/http/parameters.ts'
import { createPause } from '#src/http/plugins/time-budget.ts'
import { isObject } from '#src/lib/json.ts'
import type { Pause } from '#src/lib/limiter.ts'
import {
  type CollectionRow,
  createDraft,
  dropDraft,
  insertFields,
  keepDraft,
  measureField,
  type NewField,
} from './queries.ts'
import type { SentFeature } from './reading.ts'
import { FIELD_LIMITS, FIELD_QUOTA, FieldId, MOST_FIELDS, type RefusedField } from './schemas.ts'

/** Fields of one statement. */
const PIECE = 500

/** Bytes of the fields of one statement: large fields come in smaller pieces. */
const PIECE_BYTES = 256_000

/** Until what was replaced is removed. */
const PAUSE_MS = 1000

interface Keeping {
  request: FastifyRequest
  advisors: Advisors
}

interface StoredUpload {
  row: CollectionRow
  refused: number
  /** The first of the refused fields. */
  refusals: RefusedField[]
}

/**
 * Stores the fields of an upload as a collection, which replaces the one of this name once it is whole. An upload that
 * fails, or is cut off, changes nothing.
 *
 * @throws {ApiError} TOO_MANY_FIELDS over the limit of a call or of the account; OVERLOADED where what it has replaced is
 * not removed yet; REQUEST_TIMEOUT after an hour without a field; the error of the upload
 */
export async function keepFields(
  keeping: Keeping,
  collection: string,
  features: AsyncIterable<SentFeature>,
): Promise<StoredUpload> {
  const { request } = keeping
  const { config, database, jobs } = request.server
  const db = database.writer
  const { id: userId } = requireCaller(request)
  const id = await request.exchange.withDatabasePermit(() => createDraft(db, userId, collection))
  const draft = { id, userId }
  try {
    const refused = await addFields(keeping, draft, features)
    request.exchange.renewDeadline()
    const row = await request.exchange.withDatabasePermit(() => keepDraft(db, draft, FIELD_QUOTA, config))
    if (typeof row === 'string') throw explain(row, request.server)
    return { row, ...refused }
  } catch (error) {
    // Without a database the job removes it later.
    await request.exchange.wait(() => dropDraft(db, id)).catch(() => {})
    throw error
  } finally {
    jobs.wake('remove-fields')
  }
}

async function addFields(
  keeping: Keeping,
  draft: { id: number; userId: string },
  features: AsyncIterable<SentFeature>,
) {
  const { request } = keeping
  const { server } = request
  const pause = createPause(request.exchange)
  const read = createReader(keeping, pause)
  const refusals: RefusedField[] = []
  let [rows, refused, stored] = [0, 0, 0]
  let [piece, pieceBytes]: [{ row: number; field: NewField }[], number] = [[], 0]

  function refuse(row: number, fieldId: string | undefined, { body }: ApiError): void {
    refused++
    const { error, code } = body
    if (refusals.length < FIELD_LIMITS.refusals)
      refusals.push({ row, ...(fieldId !== undefined && { id: fieldId }), error, code: code as string })
  }

  async function insert(): Promise<Set<string>> {
    const fields = piece.map(({ field }) => field)
    const work = () => insertFields(server.database.writer, draft, fields, FIELD_QUOTA)
    const due = performance.now() + server.config.SLOW_CLIENT_MS
    for (;;) {
      request.exchange.renewDeadline()
      const added = await request.server.goOnWithPermit(request.exchange, work)
      if (typeof added !== 'string') return added
      if (added !== 'busy' || performance.now() > due) throw explain(added, server)
      server.jobs.wake('remove-fields')
      await setTimeout(PAUSE_MS)
    }
  }

  async function store(): Promise<void> {
    if (piece.length === 0) return
    const added = await insert()
    stored += added.size
    for (const { row, field } of piece) {
      if (added.delete(field.id)) continue
      const rule = 'must be another one than those of the fields before it'
      refuse(row, field.id, ApiError.invalid('id', rule))
    }
    piece = []
    pieceBytes = 0
  }

  for await (const feature of features) {
    await pause()
    const row = ++rows
    if (rows > MOST_FIELDS) throw new ApiError(findLimit('TOO_MANY_FIELDS', server.config).code)
    const { fieldId, field, error } = await read(feature)
    if (error) refuse(row, fieldId, error)
    else {
      piece.push({ row, field })
      pieceBytes += measureField(field)
    }
    if (piece.length === PIECE || pieceBytes > PIECE_BYTES) await store()
  }
  await store()
  if (rows === 0) throw ApiError.invalid('features', 'must not be empty')
  if (stored === 0) {
    // A file of another kind empties no collection.
    throw ApiError.invalid(
      'features',
      `has no field that is valid; the first one: ${refusals[0]?.error.replace(/\.$/, '')}`,
    )
  }
  // Doubles are known a piece later.
  return { refused, refusals: refusals.sort((a, b) => a.row - b.row) }
}

type ReadField = { fieldId: string | undefined } & (
  | { field: NewField; error?: undefined }
  | { error: ApiError; field?: undefined }
)

/** Makes the reader of single features: a wrong one is no error of the others. */
function createReader({ request, advisors }: Keeping, pause: Pause) {
  const isId = request.compileValidationSchema(FieldId) as Validator

  return async ({ value: feature, properties: text }: SentFeature): Promise<ReadField> => {
    let fieldId: string | undefined
    try {
      if (feature instanceof ApiError) throw feature
      if (!isObject(feature) || feature.type !== 'Feature') throw ApiError.invalid('type', 'must be Feature')
      fieldId = readId(feature)
      const properties = readProperties(feature, text)
      const { geometry } = feature
      if (geometry instanceof ApiError) throw geometry
      const { polygons } = readGeoJson({ value: feature, at: '' })
      await refuseInvalid(polygons, pause)
      await advisors.refuseElsewhere((step) => request.exchange.wait(step), polygons, null)
      const name = readFeatureName(feature, request) ?? null
      return { fieldId, field: { id: fieldId, name, properties, ...measureOutline(polygons), polygons } }
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) return { fieldId, error }
      throw error
    }
  }

  function readId(feature: Record<string, unknown>): string {
    const { id = null, properties } = feature
    const own = id ?? (isObject(properties) ? properties.id : undefined) ?? undefined
    if (own === undefined) throw ApiError.invalid('id', 'is required')
    if (typeof own !== 'string' && !isNumberId(own)) throw ApiError.invalid('id', ID_RULE)
    const text = String(own)
    if (!isId({ id: text })) throw validationError(isId.errors ?? [], { id: text })
    return text
  }
}

/** @param sent their text, for the digits of numbers */
function readProperties({ properties = null }: Record<string, unknown>, sent?: string): string | null {
  if (properties === null) return null
  if (!isObject(properties)) throw ApiError.invalid('properties', 'must be an object or null')
  const text = sent ?? JSON.stringify(properties)
  if (text.length <= FIELD_LIMITS.properties) return text
  throw ApiError.invalid('properties', `must have at most ${FIELD_LIMITS.properties} characters as JSON`)
}

function explain(refusal: 'full' | 'gone' | 'busy', { config }: App): ApiError {
  if (refusal === 'gone') return new ApiError('REQUEST_TIMEOUT')
  if (refusal === 'full') return findLimit('TOO_MANY_FIELDS', config).refuse()
  return new ApiError(
    'OVERLOADED',
    'Replaced, deleted and arriving collections of yours fill the disk that an account may have: send it again in a minute, when they are removed.',
  ).withHeader('retry-after', '60')
}
