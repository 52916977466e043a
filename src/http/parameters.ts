import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { type TObject, type TSchema, Type } from 'typebox'
import { ApiError } from '#src/errors.ts'

/** A decimal number as people write it; no hexadecimal, no Infinity, no spaces. */
const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

interface Field {
  name: string
  numeric: boolean
  boolean: boolean
  list: boolean
  optional: boolean
}

/** Looks at a call as it was sent. */
type BeforeReading = (request: FastifyRequest, reply: FastifyReply) => void

/**
 * A hook that makes one request of the body and the query parameters: field by field, and the body
 * wins. An optional field is left out by null in the body and by nothing in the query. What comes out is
 * validated as the body. Parameters that the schema does not name are ignored.
 *
 * @param before what is done with both before they are merged
 */
export function mergeQueryIntoBody(schema: TObject, before?: BeforeReading) {
  const merge = queryMerger(schema)
  return (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction): void => {
    try {
      before?.(request, reply)
      merge(request)
      done()
    } catch (error) {
      done(error as ApiError)
    }
  }
}

/**
 * What the hook does, for hooks that do more.
 *
 * @throws {ApiError} INVALID_PARAMETERS, where the body is no object or a parameter comes twice
 */
export function queryMerger(schema: TObject): (request: FastifyRequest) => void {
  const fields = fieldsOf(schema)
  return (request) => {
    request.body = merged(fields, request.body, request.query as Record<string, string | string[]>)
  }
}

function merged(
  fields: Field[],
  body: unknown,
  query: Record<string, string | string[]>,
): Record<string, unknown> {
  if (body !== undefined && (body === null || typeof body !== 'object' || Array.isArray(body))) {
    throw ApiError.invalid('body', 'must be a JSON object')
  }
  const request: Record<string, unknown> = {}
  for (const field of fields) {
    const { name, optional } = field
    const sent = body && Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined
    const value = sent === undefined || (sent === null && optional) ? readValue(field, query[name]) : sent
    if (value !== undefined) request[name] = value
  }
  return request
}

/**
 * A hook that turns the numbers among the query parameters into numbers, for the validation to judge, and
 * takes out those that are empty and optional.
 *
 * @param before what is done with it before that
 */
export function readQuery(schema: TObject, before?: BeforeReading) {
  const read = readerOf(schema)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    before?.(request, reply)
    request.query = read(request.query as Sent)
  }
}

/** A hook that turns the numbers among the parameters of the path into numbers, for the validation to judge. */
export function readPath(schema: TObject) {
  const read = readerOf(schema)
  return async (request: FastifyRequest): Promise<void> => {
    request.params = read(request.params as Sent)
  }
}

/** Parameters as they are sent, by their names. */
type Sent = Record<string, string | string[]>

function readerOf(schema: TObject) {
  const fields = fieldsOf(schema)
  return (sent: Sent): Record<string, unknown> =>
    Object.fromEntries(
      fields
        .map((field) => [field.name, readValue(field, sent[field.name])])
        .filter(([, value]) => value !== undefined),
    )
}

function fieldsOf(schema: TObject): Field[] {
  return Object.entries(schema.properties).map(([name, property]) => ({
    name,
    numeric: isNumeric(property) || isNumeric((property as { items?: TSchema }).items),
    boolean: isOfType(property, 'boolean'),
    list: isOfType(property, 'array'),
    optional: Type.IsOptional(property),
  }))
}

function isNumeric(schema: TSchema | undefined): boolean {
  return isOfType(schema, 'number') || isOfType(schema, 'integer')
}

function isOfType(schema: TSchema | undefined, type: string): boolean {
  return [(schema as { type?: string | string[] } | undefined)?.type].flat().includes(type)
}

/**
 * A query parameter's value; undefined where it is left out. Numbers and booleans are read strictly; what is none
 * stays text, which the validation then refuses with the same message as text in a body.
 */
function readValue(
  { name, numeric, boolean, list, optional }: Field,
  value: string | string[] | undefined,
): number | string | boolean | (number | string)[] | undefined {
  if (value === undefined || (value === '' && optional)) return undefined
  if (list) return numeric ? listIn(value)?.map(readNumber) : listIn(value)
  if (Array.isArray(value)) throw ApiError.invalid(name, 'must be given once')
  if (boolean && (value === 'true' || value === 'false')) return value === 'true'
  return numeric ? readNumber(value) : value
}

/** A list that is given at once, separated by commas, or item by item; undefined where it is empty. */
function listIn(value: string | string[]): string[] | undefined {
  const items = [value].flat().flatMap((text) => text.split(',').map((item) => item.trim()))
  const named = items.filter((item) => item !== '')
  return named.length > 0 ? named : undefined
}

/** The number that a text is in decimal notation; what is not a number stays text. */
export function readNumber(text: string): number | string {
  const number = DECIMAL.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(number) ? number : text
}
