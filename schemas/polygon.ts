import { type Static, type TObject, type TProperties, type TSchema, type TString, Type } from 'typebox'
import { HistoryId, type PointSchemas } from './advisory.ts'
import { AdvisedArea, areaLevel, PlaceMember } from './areas.ts'
import { certaintyOfAnswer, certaintyOfEntry } from './certainty.ts'
import * as t from './common.ts'
import { defineGeoJson, Feature, FeatureCollection, MultiPolygon, Polygon } from './geojson.ts'
import { type AnswerOptions, answeredMembers, PointRequest } from './point-request.ts'
import { componentOf, describeRequest, examplePlaceOf, joinNames, type ProductContract } from './product.ts'
import { chooseMembers, PolygonQuantityFields, quantitiesOfAnswer, takesAll } from './quantities.ts'
import { exampleMembers, releaseMembers } from './release.ts'

const MOST_QUANTILES = 20
const MOST_BINS = 100

export const DistributionParameters = {
  quantiles: t.optional(
    Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
      maxItems: MOST_QUANTILES,
      uniqueItems: true,
      description: `Quantiles of the values to answer with, from 0 to 1, ${MOST_QUANTILES} at most; in the query several times, or separated by commas.`,
      examples: [[0.1, 0.5, 0.9]],
    }),
  ),
  histogram: t.optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_BINS,
      description: 'Answer with a histogram of so many bins, or classes.',
      examples: [10],
    }),
  ),
}

const Quantile = t.component(
  'Quantile',
  {
    quantile: t.number('Which one: 0.5 is the median.'),
    value: t.number(
      'The smallest value that, together with all smaller ones, has at least that part of the covered area: the inverse of the weighted distribution function (Hyndman and Fan, 1996, definition 1; `numpy.quantile` with `weights` and `method="inverted_cdf"`).',
    ),
    error: t.number(
      'How far the exact quantile can lie from the value, rounding aside: 0 where it is exact. A polygon with more than 4,096 tiles (16 x 16 pixels) inside is computed from the least and greatest values of some of them, and one with very many values to a small part of their range.',
    ),
  },
  { quantile: 0.5, value: 4402, error: 0 },
)

const HistogramBin = t.component(
  'HistogramBin',
  {
    from: Type.Number(),
    to: t.number(
      'Values from the one to below the other; of the last bin it is the largest one. Where there are no more different values than bins, each is a class of its own: both are the value.',
    ),
    percent: t.number('How much of the covered area has them.'),
    error: t.number('How far the exact percentage can lie from it, as for quantiles; 0 where it is exact.'),
  },
  { from: 4358, to: 4458, percent: 100, error: 0 },
)

const DistributionMembers = {
  quantiles: Type.Optional(t.array(Quantile, 'In the order in which they were asked for.')),
  histogram: Type.Optional(t.array(HistogramBin, 'From the smallest values to the largest.')),
}

const LOCATION = { name: 'My farm', lat: 9.54, lng: 38.555, type: 'polygon', area_ha: 11900.3126 }

export const PolygonLocation = t.component(
  'PolygonLocation',
  {
    name: t.string('The label of the request, or the name of the area.'),
    lat: t.number('With `lng`, a point inside.'),
    lng: Type.Number(),
    type: t.oneOf(['polygon'], 'The kind of place.'),
    area_ha: t.number(
      'Hectares, on the WGS 84 ellipsoid, to the square metre; small areas have three digits.',
    ),
    admin: Type.Optional(t.ref(AdvisedArea)),
  },
  LOCATION,
)

export const PolygonGeometry = Type.Unsafe<Record<string, unknown>>({
  $id: 'PolygonGeometry',
  ...t.documentedAs(
    Type.Object({ type: Type.Unknown() }),
    defineGeoJson(
      [Polygon, MultiPolygon, Feature, FeatureCollection],
      'A GeoJSON Polygon or MultiPolygon, a Feature of one, or a FeatureCollection of one Feature, in longitude and latitude (WGS 84). At most 10,000 vertices. Edges are straight in longitude and latitude. Heights are ignored. A `crs` of another system is refused. The service repairs nothing: it refuses a shape that is open, crosses itself, has no area or has holes outside, and names the place.',
    ),
  ),
})

export const AdminSelection = t.component('AdminSelection', 'An administrative area.', {
  country_code: t.text(100, `The country, in any case: one of ${t.COUNTRY_CODES}.`, 'eth'),
  code: t.text(100, 'The code of the area, as in `GET /admin`.', 'ETH-01'),
  level: t.optional(
    areaLevel('Its level, 0 for the country. Where it is left out, the highest that has the code.'),
  ),
})

const { crop, country_code, name, forecast_period, release, condition } = PointRequest.properties

const Label = Type.Optional({
  ...name,
  description:
    'A label for the place, given back in `location.name`. When left out, that of the Feature or of the administrative area, or `Polygon`.',
  examples: ['My farm'],
})

const Country = Type.Optional({
  ...country_code,
  description: `The country, in any case: one of ${t.COUNTRY_CODES}. With \`admin\` it is that of the area.`,
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

/** A member of requests that names a polygon, or several: it may stand where GeoJSON or an area does. */
export interface PolygonName {
  member: string
  schema: TString
  /** What it is: in the document beside its name and after others, and in a sentence. */
  documented: string
  listed: string
  means: string
}

const PLACES = { geometry: t.ref(PolygonGeometry), admin: t.ref(AdminSelection) }

/** A request with one of the places, or a member that names another. */
export function withPlaces<Places extends TProperties, More extends TProperties>(
  { $id, places, listed }: { $id: string; places: Places; listed: string[] },
  others: readonly PolygonName[],
  more: More,
  { description, examples }: { description: string; examples: object[] },
) {
  const named = Object.fromEntries(others.map(({ member, schema }) => [member, schema])) as object as Places
  const fields = { ...places, ...named }
  const all = [...listed, ...others.map((other) => other.listed)]
  const count = { 2: 'two', 3: 'three' }[all.length] ?? all.length
  return t.withOneOf({ $id, fields, alternatives: Object.keys(fields).map((name) => [name]) }, more, {
    description: `${joinNames(all, ' or')}, one of the ${count}${description}`,
    examples,
  })
}

const defineMembers = ({ members }: AnswerOptions) => ({
  crop,
  country_code: Country,
  name: Label,
  forecast_period,
  release,
  condition,
  ...(Object.fromEntries(
    members.flatMap(({ name, of, field }) => (of === 'products' ? [[name, t.optional(field)]] : [])),
  ) as object),
  ...DistributionParameters,
  ...PolygonQuantityFields,
})

const LISTED = ['A polygon', 'an administrative area']

function fullRequest(options: AnswerOptions, others: readonly PolygonName[]) {
  const base = { $id: 'PolygonRequest', places: PLACES, listed: LISTED }
  return withPlaces(base, others, defineMembers(options), {
    description: ', and what to answer for. Fields that are not listed are ignored.',
    examples: [
      { geometry: FIELD, crop: 'wheat', country_code: 'eth', name: 'My farm' },
      { admin: { country_code: 'eth', code: 'ETH-01' }, crop: 'wheat' },
      { admin: { country_code: 'rwa', code: 'RWA-01' }, crop: 'potato' },
    ],
  })
}
export type PolygonRequest = t.WithoutNulls<Static<ReturnType<typeof fullRequest>>>

/** The names of all parameters: requests of other products have some of them. */
export const polygonParameters = (options: AnswerOptions) => Object.keys(fullRequest(options, []).properties)

export function withoutPlaces(request: TObject, others: readonly PolygonName[]): TObject {
  const places = ['geometry', 'polygons', 'admin', 'dhis2', ...others.map(({ member }) => member)]
  return Type.Object(
    Object.fromEntries(Object.entries(request.properties).filter(([name]) => !places.includes(name))),
  )
}

const Statistics = {
  min: t.number('The smallest value of the pixels that the polygon overlaps.'),
  max: t.number('The largest of them. Pixels that it only touches do not count.'),
  stddev: t.number('The standard deviation of the population, each pixel weighed by its area inside.'),
  covered_percent: t.percent('How much of the polygon’s area has values.'),
}

const HISTORY_ID = '0199b0a4-5f0e-7c5b-9d55-3d0d6b1f2a77'

export type PolygonSchemas<Product extends ProductContract = ProductContract> = ReturnType<
  typeof definePolygonSchemas<Product>
>[number]

/** @param others members that name a polygon */
export function definePolygonSchemas<Product extends ProductContract>(
  points: readonly PointSchemas<Product>[],
  others: readonly PolygonName[],
) {
  let full: TObject | undefined
  return points.map((point) => {
    const { product, options } = point
    const entry = defineEntry(point)
    full ??= fullRequest(options, others)
    const request = takesAll(product) ? full : defineRequest(product, options, others)
    const parameters = withoutPlaces(request, others)
    return { product, options, request, parameters, entry, response: defineResponse(point, entry) }
  })
}

function defineRequest(
  product: ProductContract,
  options: AnswerOptions,
  others: readonly PolygonName[],
): TObject {
  const { name, country_code, area } = examplePlaceOf(product)
  const base = { $id: `${componentOf(product)}PolygonRequest`, places: PLACES, listed: LISTED }
  return withPlaces(base, others, chooseMembers(product, defineMembers(options)), {
    description: `. ${describeRequest(product)}.`,
    examples: [{ geometry: FIELD, country_code: 'eth', name }, { admin: { country_code, code: area } }],
  })
}

/** The entry of a point's answer, where the value is a mean, with what else there is to say of an area. */
function defineEntry({ product, entry }: PointSchemas): TObject {
  const { total } = product
  const { quantity, probability: _p, range: _r, scenario_of: _s, ...point } = entry.properties
  return t.component(
    `Polygon${componentOf(product)}Entry`,
    'A layer in a polygon; the value is the mean, weighed by area.',
    {
      ...point,
      ...Statistics,
      ...(total && { [total.key]: t.number(total.description) }),
      ...DistributionMembers,
      ...certaintyOfEntry(product),
      // Members are sent in this order, which is also that in which answers are stored.
      ...(quantity && { quantity }),
    },
  )
}

function defineResponse({ product, expected, options }: PointSchemas, entry: TObject): TObject {
  const { entries, examples } = product
  return Type.Object(
    {
      location: t.ref(PolygonLocation),
      ...releaseMembers(product),
      country_source: t.CountrySource,
      [entries]: Type.Array(t.ref(entry)),
      ...certaintyOfAnswer(product, expected),
      ...answeredMembers(options, 'products'),
      ...quantitiesOfAnswer(product),
      place: PlaceMember,
      history_id: Type.Optional(HistoryId),
      ignored: t.Ignored,
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

export function listPolygonComponents(schemas: readonly PolygonSchemas[]): TSchema[] {
  return [
    ...new Set(schemas.map(({ request }) => request)),
    PolygonLocation,
    Quantile,
    HistogramBin,
    ...schemas.map(({ entry }) => entry),
    ...schemas.map(({ response }) => response),
  ]
}
