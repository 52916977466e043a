import type { FastifyRequest } from 'fastify'
import { type TObject, Type } from 'typebox'
import { ApiError } from '#src/errors.ts'

/** A decimal number as people write it; no hexadecimal, no Infinity, no spaces. */
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

/**
 * A hook that makes one request of the body and the query parameters: field by field, and the body
 * wins. What comes out is validated as the body. Parameters that the schema does not name are ignored.
 *
 * Numbers of the query are read strictly. What is not a number stays text, which the validation then
 * refuses with the same message as text in a body.
 */
export function mergeQueryIntoBody(schema: TObject) {
  const fields = Object.entries(schema.properties).map(([name, property]) => ({
    name,
    numeric: Type.IsNumber(property),
  }))
  return async (request: FastifyRequest): Promise<void> => {
    const { body } = request
    if (body !== undefined && (body === null || typeof body !== 'object' || Array.isArray(body))) {
      const message = 'the body must be a JSON object'
      throw new ApiError('INVALID_PARAMETERS', 'The body must be a JSON object.', [
        { field: 'body', message },
      ])
    }
    const query = request.query as Record<string, string | string[]>
    const merged: Record<string, unknown> = {}
    for (const { name, numeric } of fields) {
      if (body && Object.hasOwn(body, name)) {
        merged[name] = (body as Record<string, unknown>)[name]
      } else if (query[name] !== undefined) {
        merged[name] = numeric ? numberOf(name, query[name]) : once(name, query[name])
      }
    }
    request.body = merged
  }
}

function numberOf(name: string, value: string | string[]): number | string {
  const text = once(name, value)
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : text
}

function once(name: string, value: string | string[]): string {
  if (!Array.isArray(value)) return value
  const message = `${name} must be given once`
  throw new ApiError('INVALID_PARAMETERS', `${message}.`, [{ field: name, message }])
}
