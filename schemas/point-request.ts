import { type Static, type TObject, type TSchema, Type } from 'typebox'
import {
  asParameter,
  COUNTRY_CODES,
  Latitude,
  Longitude,
  oneOf,
  optional,
  type WithoutNulls,
} from './common.ts'
import { MONTH_PATTERN } from './month.ts'
import { QuantityFields } from './quantities.ts'
import { ShortTextFields } from './short-text.ts'

/**
 * What a point request is taken to say where it says nothing. Descriptions tell it: generators of clients
 * take what has a `default` for what is always sent.
 */
export const POINT_DEFAULTS = { crop: 'wheat', country_code: 'eth', name: 'Point' } as const

const Crop = Type.String({
  minLength: 1,
  maxLength: 100,
  format: 'text',
  description: `The crop, in any case. Which ones a country offers is in \`GET /catalog\`. When left out, \`${POINT_DEFAULTS.crop}\`, or the one of the country that the place lies in, where that is answered for.`,
  examples: ['wheat'],
})

const CountryCode = Type.String({
  minLength: 1,
  maxLength: 100,
  format: 'text',
  description: `The country, in any case: one of ${COUNTRY_CODES}. When left out, \`${POINT_DEFAULTS.country_code}\`; for all products at a point, many points and polygons the one that the place lies in.`,
  examples: ['eth'],
})

const Name = Type.String({
  maxLength: 200,
  format: 'text',
  description: `A label for the place, given back in \`location.name\`. \`${POINT_DEFAULTS.name}\` when left out.`,
  examples: ['Point'],
})

const ForecastPeriod = Type.String({
  maxLength: 40,
  pattern: MONTH_PATTERN,
  description:
    'The month of an older forecast: `2026-07`, or with its English name in any case, as answers write it: `July 2026` or `Jul 2026`. The newest when left out.',
})

const Release = Type.String({
  minLength: 1,
  maxLength: 300,
  format: 'text',
  description:
    'The code of a release, as in answers: it alone answers, also after its replacement. Its country, crop and month apply, and may be left out. Where all products answer, one of each may be named, separated by commas as in `Advisory-Release`; other products have no answer then.',
})

const Provenance = Type.Boolean({
  description:
    'Whether the answer also says which pixels its values were read from, and whose they are: `provenance`. So does `Prefer: return=provenance`.',
})

export const PointRequest = Type.Object(
  {
    lat: Latitude,
    lng: Longitude,
    crop: optional(Crop),
    country_code: optional(CountryCode),
    name: optional(Name),
    forecast_period: optional(ForecastPeriod),
    release: optional(Release),
    provenance: optional(Provenance),
    ...QuantityFields,
    ...ShortTextFields,
  },
  {
    $id: 'PointRequest',
    description:
      'A point and what to answer for. Fields that are not listed are ignored, and named in `ignored`.',
    examples: [{ lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth', name: 'My field' }],
  },
)
export type PointRequest = WithoutNulls<Static<typeof PointRequest>>

/** A request that says as well in which form it is to be answered, for whoever can send nothing but an address. */
export function withFormat(request: TObject): TObject {
  const format = oneOf(['json', 'csv'], 'The format of the answer, by default JSON.')
  return Type.Object({ ...request.properties, format: optional(format) })
}

/** The fields of a request as the parameters of a query. */
export function queryOf(request: TObject): TObject {
  const parameters = Object.entries(request.properties).map(([name, field]) => [name, asParameter(field)])
  return Type.Object(Object.fromEntries(parameters))
}

/**
 * The same where they may also be in the body. None is required, since the body may have it, and none has an
 * example: a form that fills in both would hide that the body wins.
 *
 * @param documented the parameters that the document lists; all others are taken as well
 */
export function asQuery(request: TObject, documented = Object.keys(request.properties)): TSchema {
  const parameters = Object.entries(queryOf(request).properties)
    .filter(([name]) => documented.includes(name))
    .map(([name, { examples: _, ...rule }]: [string, Annotated]) => [name, Type.Optional(rule)])
  return Type.Object(Object.fromEntries(parameters))
}

/** The parameters of a point that the interface names. */
export const PLAIN_PARAMETERS = ['lat', 'lng', 'crop', 'country_code', 'name']

/**
 * What may be left for the body where the query has the rest. Nothing of it is required, so that a gateway that
 * knows the document alone lets it through; a client that sends all in the body is told by the request itself.
 */
export function asRemainder(request: TObject, $id: string): TObject {
  return Type.Object(Type.Partial(request).properties, {
    $id,
    description: 'Some fields of a request, where the query has the others.',
  })
}

type Annotated = TSchema & { description?: string; examples?: unknown[] }

export const PointRemainder = asRemainder(PointRequest, 'PointRemainder')
