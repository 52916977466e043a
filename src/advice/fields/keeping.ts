import type { FastifyReply, FastifyRequest } from 'fastify'
import { FIELD_LIMITS, FIELD_QUOTA, FieldId, MOST_FIELDS, type RefusedField } from '#schemas/fields.ts'
import { ApiError } from '#src/errors.ts'
import { ID_RULE, isNumberId, validationError } from '#src/http/parameters.ts'
import { requireCaller } from '#src/http/plugins/authentication.ts'
import { createClientSignal, renewTimeBudget, withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { isObject } from '#src/lib/json.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { readFeatureName, type Validator } from '../bodies.ts'
import type { Advisors } from '../polygon/advisors.ts'
import { readGeoJson, refuseInvalid } from '../polygon/geometry.ts'
import { measureOutline } from '../polygon/weighing.ts'
import {
  type CollectionRow,
  createDraft,
  dropDraft,
  type FieldQuota,
  insertFields,
  keepDraft,
  measureField,
  type NewField,
} from './queries.ts'
import type { SentFeature } from './reading.ts'

/** Fields of one statement. */
const PIECE = 500

/** Bytes of the shapes of one statement: fields of very many vertices come in smaller pieces. */
const PIECE_BYTES = 1_000_000

interface Keeping {
  request: FastifyRequest
  reply: FastifyReply
  /** Refuses a shape outside of all countries. */
  refuseElsewhere: Advisors['refuseElsewhere']
}

interface Kept {
  row: CollectionRow
  refused: number
  /** The first of the refused fields. */
  refusals: RefusedField[]
}

/**
 * Keeps the fields of an upload as a collection, in the place of the one of this name. The new one is not seen before it
 * is whole; an upload that fails, or is cut off, changes nothing.
 *
 * @throws {ApiError} TOO_MANY_FIELDS over the limit of a call or of the account; REQUEST_TIMEOUT after an hour without a
 * field; the error of the upload
 */
export async function keepFields(
  keeping: Keeping,
  collection: string,
  features: AsyncIterable<SentFeature>,
): Promise<Kept> {
  const { request, reply } = keeping
  const { inTurn, database } = request.server
  const db = database.writer
  const { id: userId } = requireCaller(request)
  const id = await inTurn(request, reply, () => createDraft(db, userId, collection))
  try {
    const { size, ...refused } = await addFields(keeping, id, features)
    renewTimeBudget(request)
    const row = await inTurn(request, reply, () => keepDraft(db, { id, userId, ...size }, FIELD_QUOTA))
    if (row === 'full') throw tooMany()
    if (row === 'gone') throw new ApiError('REQUEST_TIMEOUT')
    return { row, ...refused }
  } catch (error) {
    // Without a database the job removes it later.
    await dropDraft(db, id).catch(() => {})
    throw error
  } finally {
    request.server.jobs.wake('remove-fields')
  }
}

async function addFields(keeping: Keeping, id: number, features: AsyncIterable<SentFeature>) {
  const { request, reply } = keeping
  const { server } = request
  const signal = createClientSignal(reply)
  const pause = () => server.turns.next(clientKeyOf(request), signal)
  const read = createReader(keeping, pause)
  const size: FieldQuota = { fields: 0, bytes: 0 }
  const refusals: RefusedField[] = []
  let [rows, refused] = [0, 0]
  let [piece, pieceBytes]: [{ row: number; field: NewField; bytes: number }[], number] = [[], 0]

  function refuse(row: number, fieldId: string | undefined, { body }: ApiError): void {
    refused++
    const { error, code } = body
    if (refusals.length < FIELD_LIMITS.refusals)
      refusals.push({ row, ...(fieldId !== undefined && { id: fieldId }), error, code: code as string })
  }

  async function store(): Promise<void> {
    if (piece.length === 0) return
    const fields = piece.map(({ field }) => field)
    const work = () => insertFields(server.database.writer, id, fields)
    renewTimeBudget(request)
    const added = await server.goOnInTurn(request, reply, work)
    if (!added) throw new ApiError('REQUEST_TIMEOUT')
    for (const { row, field, bytes } of piece) {
      if (added.delete(field.id)) {
        size.fields++
        size.bytes += bytes
      } else
        refuse(
          row,
          field.id,
          ApiError.invalid('id', 'must be another one than those of the fields before it'),
        )
    }
    piece = []
    pieceBytes = 0
  }

  for await (const feature of features) {
    await pause()
    const row = ++rows
    if (rows > MOST_FIELDS || size.fields > FIELD_QUOTA.fields || size.bytes > FIELD_QUOTA.bytes)
      throw tooMany()
    const { fieldId, field, error } = await read(feature)
    if (error) refuse(row, fieldId, error)
    else {
      const bytes = measureField(field)
      piece.push({ row, field, bytes })
      pieceBytes += bytes
    }
    if (piece.length === PIECE || pieceBytes > PIECE_BYTES) await store()
  }
  await store()
  if (rows === 0) throw ApiError.invalid('features', 'must not be empty')
  if (size.fields === 0) {
    // A file of another kind empties no collection.
    throw ApiError.invalid(
      'features',
      `has no field that is valid; the first one: ${refusals[0]?.error.replace(/\.$/, '')}`,
    )
  }
  // Doubles are known a piece later.
  return { size, refused, refusals: refusals.sort((a, b) => a.row - b.row) }
}

type ReadField = { fieldId: string | undefined } & (
  | { field: NewField; error?: undefined }
  | { error: ApiError; field?: undefined }
)

/** Makes the reader of single features: a wrong one is no error of the others. */
function createReader({ request, reply, refuseElsewhere }: Keeping, pause: Pause) {
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
      await refuseElsewhere(polygons, null, (work) => withTimeout(request, reply, work))
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

function tooMany(): ApiError {
  return new ApiError(
    'TOO_MANY_FIELDS',
    `A call may have ${MOST_FIELDS} fields, and an account ${FIELD_QUOTA.fields} fields of ${FIELD_QUOTA.bytes} bytes in all: delete a collection, or send less.`,
  )
}
