import type { FastifySchemaValidationError } from 'fastify'
import type { BatchPoint } from '#schemas/batch-forms.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { ApiError } from '#src/errors.ts'

import { validationError } from '#src/http/validation.ts'

/** The longest id and name, in characters: the schema's limits, which count code points. */
const MOST_CHARACTERS = 200

/** A point that cannot be asked about. The others of its call can. */
export class RefusedPoint {
  readonly id: string | number | undefined
  readonly reason: ErrorBody

  constructor(error: ApiError, id?: unknown) {
    this.reason = error.body
    this.id = isId(id) ? id : undefined
  }
}

/** A compiled schema: its errors are those of the last call. */
export interface Validator {
  (value: unknown): unknown
  errors?: FastifySchemaValidationError[] | null
}

/**
 * A point as it was sent, judged as the point endpoints judge theirs. Most points are found right by a
 * few comparisons; only what is not goes to the schema's validator, which knows what to say. An id or a name
 * that is null is left out.
 */
export function readPoint(sent: unknown, validate: Validator): BatchPoint | RefusedPoint {
  if (sent instanceof RefusedPoint) return sent
  if (!isObject(sent)) return new RefusedPoint(ApiError.invalid('point', 'must be an object'))
  if (isPlainPoint(sent)) return sent as BatchPoint
  if (validate(sent)) return { ...sent, id: sent.id ?? undefined, name: sent.name ?? undefined } as BatchPoint
  return new RefusedPoint(validationError(validate.errors ?? [], sent), sent.id)
}

/** Whether a point is right beyond doubt. A long text may be right all the same. */
function isPlainPoint({ id, lat, lng, name }: Record<string, unknown>): boolean {
  return (
    typeof lat === 'number' &&
    lat >= -90 &&
    lat <= 90 &&
    typeof lng === 'number' &&
    lng >= -180 &&
    lng <= 180 &&
    (id === undefined || isId(id)) &&
    (name === undefined || isText(name))
  )
}

function isId(id: unknown): id is string | number {
  return typeof id === 'number' ? Math.abs(id) <= Number.MAX_SAFE_INTEGER : isText(id)
}

function isText(text: unknown): boolean {
  return (
    typeof text === 'string' && text.length <= MOST_CHARACTERS && !text.includes('\0') && text.isWellFormed()
  )
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
