import type { FastifySchemaValidationError } from 'fastify'
import type { BatchPoint, SentLabels } from '#schemas/batch-forms.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { ApiError } from '#src/errors.ts'
import { validationError } from '#src/http/validation.ts'
import { isObject } from '#src/lib/objects.ts'
import { isScalar, isShort } from './scalars.ts'
import type { SentPoints } from './sent.ts'

/** The longest id and name, in characters: the schema's limits, which count code points. */
const MOST_CHARACTERS = 200

/** What a refused point is told by. */
const LABELS = ['name', 'lat', 'lng'] as const

/** A point that cannot be asked about. The others of its call can. */
export class RefusedPoint {
  readonly id: string | number | undefined
  readonly reason: ErrorBody
  /** What was sent of it, as far as it can be given back. */
  readonly sent: SentLabels

  constructor(error: ApiError, [id, ...labels]: unknown[]) {
    this.reason = error.body
    this.id = isId(id) ? id : undefined
    this.sent = Object.fromEntries(
      LABELS.flatMap((name, index) => {
        const label = labels[index]
        return isScalar(label, MOST_CHARACTERS) && label !== null ? [[name, label]] : []
      }),
    )
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
 *
 * @param take takes what else the call wants of a point; the error where that is not there
 * @param note notes the names of an object that are not known
 */
export function readPoint(
  points: SentPoints,
  index: number,
  validate: Validator,
  take: (index: number) => ApiError | undefined,
  note: (named: object) => void,
): BatchPoint | RefusedPoint {
  const sent = points.at(index)
  const named = points.named(index, sent)
  if (isObject(named) && !(named instanceof ApiError)) note(named)
  const lacking = take(index)
  if (isObject(sent) && isPlainPoint(sent) && !lacking) return sent as BatchPoint
  const error = errorOf(sent, validate) ?? lacking
  if (error) return new RefusedPoint(error, points.membersOf(index, ['id', ...LABELS]))
  const { id, name, ...place } = sent as Record<string, unknown>
  return { ...place, id: id ?? undefined, name: name ?? undefined } as BatchPoint
}

function errorOf(sent: unknown, validate: Validator): ApiError | undefined {
  if (sent instanceof ApiError) return sent
  if (!isObject(sent)) return ApiError.invalid('point', 'must be an object')
  return validate(sent) ? undefined : validationError(validate.errors ?? [], sent)
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
    (name === undefined || isShort(name, MOST_CHARACTERS))
  )
}

function isId(id: unknown): id is string | number {
  return typeof id === 'number' ? Math.abs(id) <= Number.MAX_SAFE_INTEGER : isShort(id, MOST_CHARACTERS)
}
