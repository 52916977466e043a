import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'

/** A reference to a schema that has an `$id`, typed as what it refers to: a named OpenAPI component. */
export function ref<Schema extends TSchema>(schema: Schema) {
  const { $id } = schema as { $id?: string }
  if ($id === undefined) throw new TypeError('only a schema with an $id can be referred to')
  return Type.Unsafe<Static<Schema>>({ $ref: `${$id}#` })
}

/** An optional field of a body: null counts as left out, as the optionals of many languages write it. */
export function optional<Schema extends TSchema>(field: Schema) {
  const { type, [DOCUMENTED_AS]: documented } = field as { type?: string | string[]; documentedAs?: string }
  const nullable =
    type === undefined ? Type.Union([field, Type.Null()]) : { ...field, type: [type, 'null'].flat() }
  return Type.Optional(
    Type.Unsafe<Static<Schema> | null>(
      documented === undefined ? nullable : documentedAs(nullable, withNull(JSON.parse(documented))),
    ),
  )
}

function withNull({ anyOf, ...options }: { anyOf: TSchema[] }): TSchema {
  return Type.Union([...anyOf, Type.Null()], options)
}

function about(description: string | undefined, examples: unknown[]) {
  return { ...(description !== undefined && { description }), ...(examples.length > 0 && { examples }) }
}

export function string(description: string, ...examples: string[]) {
  return Type.String(about(description, examples))
}

export function number(description: string, ...examples: number[]) {
  return Type.Number(about(description, examples))
}

export function integer(description: string, ...examples: number[]) {
  return Type.Integer(about(description, examples))
}

export function boolean(description: string) {
  return Type.Boolean({ description })
}

export function count(description: string, ...examples: number[]) {
  return Type.Integer({ minimum: 0, ...about(description, examples) })
}

/** A share in percent. */
export function percent(description: string, ...examples: number[]) {
  return Type.Number({ minimum: 0, maximum: 100, ...about(description, examples) })
}

export function textBody($id: string, description: string, ...examples: string[]) {
  return Type.String({ $id, ...about(description, examples) })
}

/** A schema, or null as a second type. */
export function nullable<Schema extends TSchema>(
  schema: Schema,
  description: string,
  ...examples: unknown[]
) {
  const { type } = schema as { type?: string }
  return Type.Unsafe<Static<Schema> | null>({
    ...schema,
    type: [type, 'null'],
    ...about(description, examples),
  })
}

export function orNull<Schema extends TSchema>(schema: Schema, description?: string, ...examples: unknown[]) {
  return Type.Union([schema, Type.Null()], about(description, examples))
}

export const stringOrNull = (...of: About) => orNull(Type.String(), ...of)
export const numberOrNull = (...of: About) => orNull(Type.Number(), ...of)
export const integerOrNull = (...of: About) => orNull(Type.Integer(), ...of)

type About = [description: string, ...examples: unknown[]]

/** A text of a request, which is not empty. */
export function text(maxLength: number, description?: string, ...examples: string[]) {
  return Type.String({ minLength: 1, maxLength, format: 'text', ...about(description, examples) })
}

/** A request once its body is merged with the query, which leaves null members out. */
export type WithoutNulls<Request> = { [Field in keyof Request]: Exclude<Request[Field], null> }

/** The pattern of a parameter that may be empty. */
export function orEmpty(pattern: string): string {
  return `^$|${pattern}`
}

interface Parameter extends TSchema {
  type: string | string[]
  minLength?: number
  pattern?: string
  inQuery?: string
}

/** A schema that has this keyword is another one as a query parameter. */
export const IN_QUERY = 'inQuery'

/** A field that is written otherwise in a query, where there are no objects. */
export function inQuery<Schema extends TSchema>(field: Schema, parameter: object): Schema {
  return { ...field, [IN_QUERY]: JSON.stringify(parameter) }
}

/** A field as a query parameter: there is no null in a query, and an empty parameter counts as left out. */
export function asParameter(field: TSchema): TSchema {
  const { type, minLength: _, pattern, [IN_QUERY]: written, ...rest } = field as Parameter
  if (written !== undefined) return Type.Optional(JSON.parse(written))
  if (!Type.IsOptional(field)) return field
  const types = [type].flat().filter((name) => name !== 'null')
  return Type.Optional({
    ...rest,
    type: types.length === 1 ? types[0] : types,
    ...(pattern !== undefined && { pattern: orEmpty(pattern) }),
  })
}

/** A request with one of some alternatives, each of some fields. Code checks that there is one; the document has the choice. */
export function withOneOf<Fields extends TProperties, More extends TProperties>(
  { $id, fields, alternatives }: { $id: string; fields: Fields; alternatives: (keyof Fields)[][] },
  more: More,
  options: { description: string; examples: object[] },
) {
  const optionals = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, optional(field)]))
  return documentedAs(
    component($id, { ...(optionals as Optionals<Fields>), ...more }),
    Type.Unsafe({
      oneOf: alternatives.map((names) => Type.Object({ ...pick(fields, names), ...more })),
      ...options,
    }),
  )
}

type Optionals<Fields extends TProperties> = {
  [Name in keyof Fields]: ReturnType<typeof optional<Fields[Name]>>
}

function pick<Fields extends TProperties>(fields: Fields, names: (keyof Fields)[]): TProperties {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name)))
}

/** A name that callers give to what they keep, as it stands in addresses. */
export const NAME_IN_PATH = '^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$'

export function oneOf<const Values extends readonly string[]>(values: Values, description: string) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], description })
}

/** An optional member with one of some values. */
export function choice<const Values extends readonly string[]>(values: Values, description: string) {
  return Type.Optional(oneOf(values, description))
}

/** An optional parameter of a query, with its default. */
export function withDefault<Schema extends TSchema>(schema: Schema, value: unknown) {
  return Type.Optional({ ...schema, default: value })
}

/** How many items a page has at most. */
export function pageLimit(maximum: number, byDefault: number, description: string) {
  return Type.Optional(Type.Integer({ minimum: 1, maximum, default: byDefault, description }))
}

export function filter(description: string, ...examples: string[]) {
  return Type.Optional(text(100, description, ...examples))
}

export const Cursor = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 1000,
    description: 'Where to go on: the `next_cursor` of the page before, with the same other parameters.',
  }),
)

export const NextCursor = orNull(
  Type.String(),
  'The `cursor` of the next page; null where this is the last one.',
  null,
)

/** A named object, which the document has as a component. */
export function component<Members extends TProperties>(
  $id: string,
  members: Members,
  ...examples: object[]
): TObject<Members>
export function component<Members extends TProperties>(
  $id: string,
  description: string,
  members: Members,
  ...examples: object[]
): TObject<Members>
export function component($id: string, ...parts: unknown[]): TObject {
  const description = typeof parts[0] === 'string' ? (parts.shift() as string) : undefined
  const [members, ...examples] = parts
  return Type.Object(members as TProperties, { $id, ...about(description, examples) })
}

export function object<Members extends TProperties>(description: string, members: Members) {
  return Type.Object(members, { description })
}

export function array<Item extends TSchema>(item: Item, description: string) {
  return Type.Array(ref(item), { description })
}

const NoCursor = Type.Unsafe<null>({ type: 'null', description: 'Always null: there are never more.' })

/** A list of one page. */
export function onePage<Item extends TSchema>(item: Item, description: string) {
  const { $id } = item as { $id?: string }
  return component(`${$id}List`, description, { items: Type.Array(ref(item)), next_cursor: NoCursor })
}

/** A page of a list. */
export function page<Item extends TSchema>(item: Item, $id: string, order: string, options: object = {}) {
  const items = array(item, order)
  return Type.Object({ items, next_cursor: NextCursor }, { $id, ...options })
}

export function extent(example: [west: number, south: number, east: number, north: number]) {
  return Type.Array(Type.Number(), {
    minItems: 4,
    maxItems: 4,
    description: 'West, south, east and north in decimal degrees.',
    examples: [example],
  })
}

/** A schema that has this keyword stands for another in the document. */
export const DOCUMENTED_AS = 'documentedAs'

/** Code checks the rest. The documented schema is a text: compilers of schemas would follow its references. */
export function documentedAs<Schema extends TSchema>(checked: Schema, documented: TSchema): Schema {
  return { ...checked, [DOCUMENTED_AS]: JSON.stringify(documented) }
}

/** Stand in descriptions for the codes and names of countries; the document is served with them filled in. */
export const COUNTRY_CODES = '{country codes}'
export const COUNTRY_NAMES = '{country names}'

/** A file: bytes, of which a schema says nothing. */
export const file = ($id: string, description: string) =>
  Type.Unsafe<Uint8Array>({ $id, type: 'string', format: 'binary', description })

export const Picture = file('Picture', 'An indexed PNG.')

/** Which error it is. The codes are those of the service's catalogue of errors. */
export const ErrorCode = Type.Unsafe<string>({ $ref: 'ErrorCode#' })

/** @param codes of all errors */
export function defineErrorCode(codes: readonly string[]): TSchema {
  return Type.Unsafe({
    $id: 'ErrorCode',
    ...oneOf(codes, 'The error, for programs. Codes are stable; later versions may add some.'),
  })
}

export const ErrorDetail = component(
  'ErrorDetail',
  'A mistake in a parameter; with a `code`, why a product has no value, or which limit.',
  {
    field: string('The parameter, as a dotted path; or the product.', 'lat'),
    message: Type.String({ examples: ['lat must be a number from -90 to 90'] }),
    allowed: Type.Optional(
      Type.Array(Type.String(), { description: 'The accepted values, where they can be listed.' }),
    ),
    code: Type.Optional(ErrorCode),
  },
)
export type ErrorDetail = Static<typeof ErrorDetail>

/** An `X-Request-Id` as the service makes them. */
export const EXAMPLE_REQUEST_ID = 'u3Vb0fJX2kQe-5k'

export const ErrorBody = component(
  'Error',
  'The body of every answer that is not a success.',
  {
    error: string('The error, as a sentence for people.'),
    code: ErrorCode,
    details: Type.Optional(Type.Array(ref(ErrorDetail))),
    did_you_mean: Type.Optional(
      // Areas that a place may mean, the best first.
      Type.Array(
        Type.Object({
          name: Type.String(),
          code: Type.String(),
          country_code: Type.String(),
          level: Type.Integer({ minimum: 0 }),
          within: nullable(Type.String(), 'Null for a country.'),
        }),
      ),
    ),
    request_id: string(
      'The `X-Request-Id` of the answer: with it the operator finds the request in the log.',
    ),
  },
  {
    error: 'lat must be a number from -90 to 90.',
    code: 'INVALID_PARAMETERS',
    details: [{ field: 'lat', message: 'lat must be a number from -90 to 90' }],
    request_id: EXAMPLE_REQUEST_ID,
  },
)
/** What an error says, also of a part of an answer; only the answer's own says for which request. */
export type ErrorBody = Omit<Static<typeof ErrorBody>, 'request_id'>

/** A time in an answer, in the one form that all of them have. */
export const Time = Type.String({
  format: 'date-time',
  description: 'In UTC, to the millisecond.',
  examples: ['2026-07-01T08:30:00.000Z'],
})

export const Latitude = Type.Number({
  minimum: -90,
  maximum: 90,
  description: 'Latitude in decimal degrees (WGS 84).',
  examples: [9.5],
})

export const Longitude = Type.Number({
  minimum: -180,
  maximum: 180,
  description: 'Longitude in decimal degrees (WGS 84).',
  examples: [38.5],
})

/** What an answer says of its country where the request left that out. */
export const CountrySource = Type.Optional(
  Type.Literal('place', {
    description:
      'Sent where the request left `country_code` out: the country is the one that the place lies in.',
  }),
)

export const IgnoredName = component(
  'IgnoredName',
  'A field or parameter that the operation does not know.',
  {
    name: string('As it was sent; long ones are cut off.', 'corp'),
    did_you_mean: Type.Optional(string('The name that was probably meant.', 'crop')),
  },
)

/** What an answer says of what it took no notice of. */
export const Ignored = Type.Optional(
  array(
    IgnoredName,
    'The fields and parameters that the operation does not know, ten at most; left out where there are none. `Prefer: handling=strict` has them refused.',
  ),
)

export const Extensions = Type.Array(Type.String(), { description: 'Those that are on.' })
