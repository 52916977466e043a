import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { exampleMembers, HistoryId, type PointSchemas, releaseMembers } from './advisory.ts'
import { MAX_LEVEL } from './areas.ts'
import { COUNTRY_CODES, documentedAs, optional, ref, type WithoutNulls } from './common.ts'
import { DistributionMembers, DistributionParameters, HistogramBin, Quantile } from './distribution.ts'
import { Feature, FeatureCollection, geoJsonOf, MultiPolygon, Polygon } from './geojson.ts'
import { CountrySource, Ignored } from './ignored.ts'
import { PointRequest } from './point-request.ts'
import { LOCATION, PolygonLocation } from './polygon-location.ts'
import { componentOf, examplePlaceOf, type ProductContract } from './product.ts'
import { PolygonQuantityFields, type QuantityRequest } from './quantities.ts'
import { quantitiesOfAnswer, quantityFieldsOf } from './quantity-answers.ts'

export const PolygonGeometry = Type.Unsafe<Record<string, unknown>>({
  $id: 'PolygonGeometry',
  ...documentedAs(
    Type.Object({ type: Type.Unknown() }),
    geoJsonOf(
      [Polygon, MultiPolygon, Feature, FeatureCollection],
      'A GeoJSON Polygon or MultiPolygon, a Feature of one, or a FeatureCollection of one Feature, in longitude and latitude (WGS 84). At most 10,000 vertices. Edges are straight in longitude and latitude. Heights are ignored. A `crs` of another system is refused. The service repairs nothing: it refuses a shape that is open, crosses itself, has no area or has holes outside, and names the place.',
    ),
  ),
})

export const AdminSelection = Type.Object(
  {
    country_code: Type.String({
      minLength: 1,
      maxLength: 100,
      format: 'text',
      description: `The country, in any case: one of ${COUNTRY_CODES}.`,
      examples: ['eth'],
    }),
    code: Type.String({
      minLength: 1,
      maxLength: 100,
      format: 'text',
      description: 'The code of the area, as in `GET /admin`.',
      examples: ['ETH-01'],
    }),
    level: optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_LEVEL,
        description: 'Its level, 0 for the country. Where it is left out, the highest that has the code.',
      }),
    ),
  },
  { $id: 'AdminSelection', description: 'An administrative area.' },
)

const { crop, country_code, name, forecast_period, release } = PointRequest.properties

const Geometry = ref(PolygonGeometry)
const Area = ref(AdminSelection)

const Label = Type.Optional({
  ...name,
  description:
    'A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`.',
  examples: ['My farm'],
})

const Country = Type.Optional({
  ...country_code,
  description: `The country, in any case: one of ${COUNTRY_CODES}. With \`admin\` it is that of the area.`,
})

const FIELD = {
  type: 'Polygon',
  coordinates: [
    [
      [38.5, 9.5],
      [38.62, 9.5],
      [38.6, 9.58],
      [38.5, 9.6],
      [38.5, 9.5],
    ],
  ],
}

/**
 * What is asked of a polygon or of an area. The document says that it is one of the two; which is missing
 * is told by code.
 *
 * @param more what else is asked
 */
function requestSchema<More extends TProperties>(
  more: More,
  { $id, ...options }: { $id: string; description: string; examples: object[] },
) {
  const request = Type.Object({ geometry: optional(Geometry), admin: optional(Area), ...more }, { $id })
  return documentedAs(
    request,
    Type.Unsafe({
      oneOf: [Type.Object({ geometry: Geometry, ...more }), Type.Object({ admin: Area, ...more })],
      ...options,
    }),
  )
}

export const PolygonRequest = requestSchema(
  {
    crop,
    country_code: Country,
    name: Label,
    forecast_period,
    release,
    ...DistributionParameters,
    ...PolygonQuantityFields,
  },
  {
    $id: 'PolygonRequest',
    description:
      'A polygon or an administrative area, one of the two, and what to answer for. Fields that are not listed are ignored.',
    examples: [
      { geometry: FIELD, crop: 'wheat', country_code: 'eth', name: 'My farm' },
      { admin: { country_code: 'eth', code: 'ETH-01' }, crop: 'wheat' },
      { admin: { country_code: 'rwa', code: 'RWA-01' }, crop: 'potato' },
    ],
  },
)
export type PolygonRequest = WithoutNulls<Static<typeof PolygonRequest>>

/** What is asked beside the place, or the places. */
export function parametersOf(request: TObject): TObject {
  const { geometry: _, polygons: __, admin: ___, dhis2: ____, ...parameters } = request.properties
  return Type.Object(parameters)
}

/** What products without seasons are asked. */
export type PlainPolygonRequest = Pick<
  PolygonRequest,
  'geometry' | 'admin' | 'country_code' | 'name' | 'release' | 'quantiles' | 'histogram'
> &
  QuantityRequest

const Statistics = {
  min: Type.Number({ description: 'The smallest value of the pixels that the polygon overlaps.' }),
  max: Type.Number({ description: 'The largest of them. Pixels that it only touches do not count.' }),
  stddev: Type.Number({
    description: 'The standard deviation of the population, each pixel weighed by its area inside.',
  }),
  covered_percent: Type.Number({
    minimum: 0,
    maximum: 100,
    description: 'How much of the polygon’s area has values.',
  }),
}

const HISTORY_ID = '0199b0a4-5f0e-7c5b-9d55-3d0d6b1f2a77'

/** What the operation of a product for polygons is made of. */
export interface PolygonSchemas<Product extends ProductContract = ProductContract> {
  product: Product
  request: TObject
  entry: TObject
  response: TObject
}

export function polygonSchemasOf<Product extends ProductContract>(
  point: PointSchemas<Product>,
): PolygonSchemas<Product> {
  const { product } = point
  const entry = entryOf(point)
  return { product, request: requestOf(product), entry, response: responseOf(product, entry) }
}

function requestOf(product: ProductContract): TObject {
  if (product.seasonal) return PolygonRequest
  const component = componentOf(product)
  const { name, country_code, area } = examplePlaceOf(product)
  return requestSchema(
    {
      country_code: Country,
      name: Label,
      release,
      ...DistributionParameters,
      ...quantityFieldsOf(product),
    },
    {
      $id: `${component}PolygonRequest`,
      description: `A polygon or an administrative area, one of the two. ${component} needs no crop; fields that are not listed are ignored.`,
      examples: [{ geometry: FIELD, country_code: 'eth', name }, { admin: { country_code, code: area } }],
    },
  )
}

/** The entry of a point's answer, where the value is a mean, with what else there is to say of an area. */
function entryOf({ product, entry }: PointSchemas): TObject {
  const { total } = product
  const { quantity, ...point } = entry.properties
  return Type.Object(
    {
      ...point,
      ...Statistics,
      ...(total && { [total.key]: Type.Number({ description: total.description }) }),
      ...DistributionMembers,
      // Members are sent in this order, which is also that in which answers are kept.
      ...(quantity && { quantity }),
    },
    {
      $id: `Polygon${componentOf(product)}Entry`,
      description: 'A layer in a polygon; the value is the mean, weighed by area.',
    },
  )
}

function responseOf(product: ProductContract, entry: TObject): TObject {
  const { entries, examples } = product
  return Type.Object(
    {
      location: ref(PolygonLocation),
      ...releaseMembers(product),
      country_source: CountrySource,
      [entries]: Type.Array(ref(entry)),
      ...quantitiesOfAnswer(product),
      history_id: Type.Optional(HistoryId),
      ignored: Ignored,
    },
    {
      $id: `Polygon${componentOf(product)}Response`,
      ...(examples.polygon && {
        examples: [
          {
            location: LOCATION,
            ...exampleMembers(product),
            [entries]: examples.polygon,
            history_id: HISTORY_ID,
          },
        ],
      }),
    },
  )
}

/** The components of the polygon endpoints, in the order of the document. */
export function polygonComponentsOf(schemas: readonly PolygonSchemas[]): TSchema[] {
  return [
    ...new Set([PolygonRequest, ...schemas.map(({ request }) => request)]),
    PolygonLocation,
    Quantile,
    HistogramBin,
    ...schemas.map(({ entry }) => entry),
    ...schemas.map(({ response }) => response),
  ]
}
