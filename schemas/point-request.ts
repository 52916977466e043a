import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import * as t from './common.ts'
import { QuantityFields } from './quantities.ts'

const MONTHS = Array.from({ length: 12 }, (_, month) =>
  new Date(Date.UTC(2000, month)).toLocaleString('en', { month: 'long', timeZone: 'UTC' }),
)

/** So many letters distinguish the months. */
const SHORT_MONTH = 3

const names = MONTHS.map((name) => {
  const [start, end] = [name.slice(0, SHORT_MONTH), name.slice(SHORT_MONTH)].map(inAnyCase)
  return end ? `${start}(?:${end})?` : start
})

/** How a month is written, `2026-07`, `July 2026` or `Jul 2026`, in the regular expressions of JSON Schema. */
export const MONTH_PATTERN = `^\\s*(?:(?!0000)\\d{4}-(?:0[1-9]|1[0-2])|(?:${names.join('|')})\\s+(?!0000)\\d{4})\\s*$`

/** These know no flags, and letters of either case have to be listed. */
function inAnyCase(letters: string): string {
  return [...letters].map((letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`).join('')
}

/** Descriptions have the defaults: generators of clients always send a field that has a `default`. */
export const POINT_DEFAULTS = { crop: 'wheat', country_code: 'eth', name: 'Point' } as const

const Crop = t.text(
  100,
  `The crop, in any case; \`GET /catalog\` lists those of a country. By default \`${POINT_DEFAULTS.crop}\`, or the crop of the place's country.`,
  'wheat',
)

const CountryCode = t.text(
  100,
  `The country, in any case: one of ${t.COUNTRY_CODES}. By default \`${POINT_DEFAULTS.country_code}\`; for all products, many points and polygons, the country of the place.`,
  'eth',
)

const Name = Type.String({
  maxLength: 200,
  format: 'text',
  description: `A label for the place, for \`location.name\`. By default \`${POINT_DEFAULTS.name}\`.`,
  examples: ['Point'],
})

const ForecastPeriod = Type.String({
  maxLength: 40,
  pattern: MONTH_PATTERN,
  description:
    'The month of an older forecast, such as `2026-07`, `July 2026` or `jul 2026`. By default the newest.',
})

const Release = t.text(
  300,
  'The code of a release, as in answers: it alone answers, also after its replacement. Its country, crop and month apply, and may be left out. For all products: a code of each, separated by commas as in `Advisory-Release`; others have no answer then.',
)

export const Condition = t.text(
  100,
  'The condition of the field, by name or title as in `GET /releases/{release}`. `all` adds what the answer would be under each (`by_condition`). By default that of the place, where a raster has it, or the default of the release; in an area a mixture, pixel by pixel.',
  'foot slope',
)

/** A format of answers for one place that is a text, in the schemas. */
export interface TextFormat {
  /** In `format`. */
  name: string
  mediaType: `text/${string}`
  /** Of the text. */
  schema: TSchema
  headers: Record<string, object>
  /** What it adds to requests for points. */
  fields: TProperties
  /** What it adds to the queries of points and places. */
  parameters: TProperties
}

const defineRequest = <Fields extends TProperties>(fields: Fields) =>
  t.component(
    'PointRequest',
    'A point and what to answer for. Fields that are not listed are ignored, and named in `ignored`.',
    fields,
    { lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth', name: 'My field' },
  )

const Fields = {
  lat: t.Latitude,
  lng: t.Longitude,
  crop: t.optional(Crop),
  country_code: t.optional(CountryCode),
  name: t.optional(Name),
  forecast_period: t.optional(ForecastPeriod),
  release: t.optional(Release),
  condition: t.optional(Condition),
}

export const PointRequest = defineRequest({ ...Fields, ...QuantityFields })
/** With the fields of members that are in the core. */
export interface PointRequest extends t.WithoutNulls<Static<typeof PointRequest>> {
  provenance?: boolean
}

/** A member of answers that requests may ask for, in the schemas. */
export interface MemberSchemas {
  /** Of the answer, and of the request. */
  name: keyof PointRequest
  /** Of a single point alone, or of each product, also in an area. */
  of: 'pixels' | 'products'
  /** Of the request: a boolean. */
  field: TSchema
  /** Of the answer. */
  schema: TSchema
  components: readonly TSchema[]
  /** Whether it may be another one tomorrow for the same release. */
  changes?: boolean
}

/** What extensions add to requests for points, and to their answers. A field is declared in `PointRequest`, too. */
interface AddedSchemas {
  members: readonly MemberSchemas[]
  formats: readonly TextFormat[]
}

/** What requests for advice may ask for beside values. */
export interface AnswerOptions extends AddedSchemas {
  /** `PointRequest` with the fields of all additions. */
  request: TObject
}

export function defineAnswerOptions<Added extends AddedSchemas>(added: Added): Added & AnswerOptions {
  const members = added.members.map(({ name, field }) => [name, t.optional(field)])
  const first = { ...Fields, ...Object.fromEntries(members) }
  const last = added.formats.map(({ fields }) => fields)
  return { ...added, request: defineRequest({ ...first, ...QuantityFields, ...Object.assign({}, ...last) }) }
}

/** The names of members. */
export function memberNames({ members }: Pick<AnswerOptions, 'members'>, of: MemberSchemas['of']): string[] {
  return members.flatMap((member) => (member.of === of ? [member.name] : []))
}

/** Their schemas in an answer. */
export function answeredMembers({ members }: AnswerOptions, ...of: MemberSchemas['of'][]): TProperties {
  const own = members.filter((member) => of.includes(member.of))
  return Object.fromEntries(own.map(({ name, schema }) => [name, Type.Optional(schema)]))
}

export const NOTHING_ADDED: AnswerOptions = { members: [], formats: [], request: PointRequest }

/** A request with the format of the answer, for clients that send an address alone. */
export function withFormat(
  request: TObject,
  own: readonly string[],
  formats: readonly TextFormat[],
): TObject {
  const names = [...own, ...formats.map(({ name }) => name)]
  const format = t.oneOf(names, 'The format of the answer; by default what `Accept` prefers, or JSON.')
  const parameters = formats.map(({ parameters }) => parameters)
  return Type.Object({
    ...request.properties,
    format: t.optional(format),
    ...Object.assign({}, ...parameters),
  })
}

export function toQuerySchema<Request extends TObject>(request: Request): Request {
  const parameters = Object.entries(request.properties).map(([name, field]) => [name, t.asParameter(field)])
  return Type.Object(Object.fromEntries(parameters)) as unknown as Request
}

/**
 * The same beside a body: none is required, and none has an example, as the body wins over a filled form.
 *
 * @param documented the parameters that the document lists; all others are taken as well
 */
export function asQuery(request: TObject, documented = Object.keys(request.properties)): TObject {
  const parameters = Object.entries(toQuerySchema(request).properties)
    .filter(([name]) => documented.includes(name))
    .map(([name, { examples: _, ...rule }]: [string, Annotated]) => [name, Type.Optional(rule)])
  return Type.Object(Object.fromEntries(parameters))
}

/** The parameters of a point that the interface names. */
export const PLAIN_PARAMETERS = ['lat', 'lng', 'crop', 'country_code', 'name']

type Annotated = TSchema & { description?: string; examples?: unknown[] }
