import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { dataOrReason } from './advisory.ts'
import { areaLevel } from './areas.ts'
import { defineAnswerCollection, defineItems, PointId } from './batch.ts'
import * as t from './common.ts'
import { DataValueSet, Dhis2Mapping } from './dhis2.ts'
import { defineGeoJson, MultiPolygon, Polygon, rectangle } from './geojson.ts'
import { PointRequest } from './point-request.ts'
import {
  AdminSelection,
  DistributionParameters,
  PolygonLocation,
  type PolygonName,
  type PolygonSchemas,
  withoutPlaces,
  withPlaces,
} from './polygon.ts'
import { componentOf, examplePlaceOf, ofSeasonless, type ProductContract } from './product.ts'
import { chooseMembers, PolygonQuantityFields, takesAll } from './quantities.ts'

const PolygonAnswerLines = t.textBody(
  'PolygonAnswerLines',
  'For each polygon or area one line, in their order: an item of the JSON answer.',
  '{"id":"field-1","location":{"name":"My field","lat":9.505,"lng":38.505,"type":"polygon","area_ha":121.4},"country_code":"eth","crop":"wheat","forecast_period":"July 2026","forecast_month":"2026-07","release":"yield-eth-wheat-2026-07-v1","synthetic":false,"yield_data":[{"scenario":"Normal","yield_kg_ha":4358,"min":4358,"max":4358,"stddev":0,"covered_percent":100,"probability":0.44}]}\n',
)

const FIGURES =
  'of each layer a column for each number, such as `rate_kg_ha Urea Normal`, `min Urea Normal`, `max Urea Normal`, `stddev Urea Normal`, `covered_percent Urea Normal` and `total_kg Urea Normal`, and where quantiles were asked for `quantile_0.5 Urea Normal` and `quantile_0.5_error Urea Normal`'

export function definePolygonsFormats(products: readonly ProductContract[]) {
  const seasons = ofSeasonless(products, (names) => ` (not for ${names})`)
  const table = t.textBody(
    'PolygonAnswerTable',
    `For each polygon or area one row, in their order: \`id\`, \`name\`, \`lat\`, \`lng\`, \`area_ha\`, \`country_code\`, \`crop\`, \`forecast_period\` and \`forecast_month\`${seasons}, \`release\`, \`synthetic\`, ${FIGURES}, then \`error\` and \`code\`. Texts that a spreadsheet would take for a formula have an apostrophe before them.`,
    'id,name,lat,lng,area_ha,country_code,crop,forecast_period,forecast_month,release,synthetic,yield_kg_ha Normal,min Normal,max Normal,stddev Normal,covered_percent Normal,error,code\r\nfield-1,My field,9.505,38.505,121.4,eth,wheat,July 2026,2026-07,yield-eth-wheat-2026-07-v1,false,4358,4358,4358,0,100,,\r\n',
  )
  const collection = defineAnswerCollection(
    {
      geometry: Type.Union([
        defineGeoJson([Polygon, MultiPolygon], 'As it was sent; of an area with fewer vertices, for a map.'),
        Type.Null({ description: 'The polygon was not valid, or took too long.' }),
      ]),
      properties: `\`name\`, \`lat\`, \`lng\`, \`area_ha\`, \`country_code\`, \`crop\`, \`forecast_period\` and \`forecast_month\`${seasons}, \`release\`, \`synthetic\`, and as the columns of a table ${FIGURES}, null where it has no value; \`error\` and \`code\` where there is none at all.`,
      features: 'One for each polygon or area, in their order.',
    },
    { $id: 'PolygonAnswerCollection' },
  )
  return { lines: PolygonAnswerLines, table, collection }
}

export const MOST_POLYGONS = 1000

const SQUARE = rectangle(38.5, 9.5, 38.51, 9.51)
const EXAMPLE_POLYGONS = {
  type: 'FeatureCollection',
  features: [{ type: 'Feature', id: 'field-1', geometry: SQUARE, properties: { name: 'My field' } }],
}

export const PolygonLabels = Type.Object({ id: t.optional(PointId) })

// Documentation only: code reads the Features one by one.
export const PolygonCollection = Type.Unsafe<Record<string, unknown>>({
  $id: 'PolygonCollection',
  ...t.documentedAs(
    Type.Object({ type: Type.Unknown() }),
    Type.Object(
      {
        type: Type.Literal('FeatureCollection'),
        features: Type.Array(
          Type.Object({
            type: Type.Literal('Feature'),
            id: t.optional(PointId),
            geometry: defineGeoJson([Polygon, MultiPolygon], 'The shape, of at most 10,000 vertices.'),
            properties: t.optional(
              Type.Object({
                // Files of others have what they like there.
                id: Type.Optional(Type.Unknown({ description: 'Names the polygon where `id` is left out.' })),
                name: Type.Optional(Type.Unknown({ description: 'Its label, where it is a text.' })),
              }),
            ),
          }),
          { minItems: 1, maxItems: MOST_POLYGONS },
        ),
      },
      {
        description: `A GeoJSON FeatureCollection of at most ${MOST_POLYGONS} polygons, in longitude and latitude (WGS 84). Heights are ignored, and so are properties that are not listed.`,
        examples: [EXAMPLE_POLYGONS],
      },
    ),
  ),
})

const AreasSelection = t.component(
  'AreasSelection',
  'All administrative areas of a level, or those of them within another one.',
  {
    country_code: AdminSelection.properties.country_code,
    level: areaLevel('The level of the areas, 0 for the country.', 1),
    parent: t.optional(t.text(100, 'Only areas within this one: the code of an area of any level above.')),
  },
)

const { crop, country_code, forecast_period, release, condition } = PointRequest.properties
const Country = Type.Optional({
  ...country_code,
  description: `${(country_code as { description?: string }).description} With \`admin\` it is that of the areas.`,
})

function requestSchema<More extends TProperties>(
  $id: string,
  others: readonly PolygonName[],
  more: More,
  examples: object[],
) {
  const places = { polygons: t.ref(PolygonCollection), admin: t.ref(AreasSelection) }
  const listed = ['Polygons', 'the administrative areas of a level']
  return withPlaces({ $id, places, listed }, others, more, {
    description: ', and what to answer for. Fields that are not listed are ignored.',
    examples,
  })
}

function listMembers(formats: readonly string[]) {
  return {
    crop,
    country_code: Country,
    forecast_period,
    release,
    condition,
    ...DistributionParameters,
    ...PolygonQuantityFields,
    format: t.optional(t.oneOf([...formats], 'The format of the answer. It wins over `Accept`.')),
    dhis2: t.optional(t.ref(Dhis2Mapping)),
  }
}

function fullRequest(formats: readonly string[], others: readonly PolygonName[]) {
  return requestSchema('PolygonsRequest', others, listMembers(formats), [
    { admin: { country_code: 'eth', level: 1 }, crop: 'wheat' },
    { polygons: EXAMPLE_POLYGONS, crop: 'wheat', country_code: 'eth' },
  ])
}
export type PolygonsRequest = t.WithoutNulls<Static<ReturnType<typeof fullRequest>>>

/** The names of all parameters: requests of other products have some of them. */
export const POLYGONS_PARAMETERS = Object.keys(fullRequest([], []).properties)

export type PolygonsSchemas<Product extends ProductContract = ProductContract> = ReturnType<
  typeof definePolygonsSchemas<Product>
>[number]

/** @param formats the names of the formats of answers @param others members that name polygons */
export function definePolygonsSchemas<Product extends ProductContract>(
  polygons: readonly PolygonSchemas<Product>[],
  formats: readonly string[],
  others: readonly PolygonName[],
) {
  const full = fullRequest(formats, others)
  return polygons.map((polygon) => {
    const { product } = polygon
    const item = defineItem(polygon)
    const $id = `${componentOf(product)}PolygonsResponse`
    const response = defineItems(product, item, 'One for each polygon or area, in their order.', $id)
    const request = takesAll(product) ? full : defineRequest(product, formats, others)
    return { product, request, parameters: withoutPlaces(request, others), item, response }
  })
}

function defineRequest(
  product: ProductContract,
  formats: readonly string[],
  others: readonly PolygonName[],
): TObject {
  const { country_code } = examplePlaceOf(product)
  const members = chooseMembers(product, listMembers(formats))
  return requestSchema(`${componentOf(product)}PolygonsRequest`, others, members, [
    { admin: { country_code, level: 1 } },
  ])
}

function defineItem(polygon: PolygonSchemas): TObject {
  const { code, entries } = polygon.product
  const [answer] = (polygon.response as { examples?: { history_id?: unknown }[] }).examples ?? []
  const { history_id: _, ...example } = answer ?? {}
  const members = {
    id: PointId,
    sent: t.object('Of a polygon that is not valid: its name, if it has one.', {
      name: Type.Optional(Type.String()),
    }),
    location: t.ref(PolygonLocation),
    ...dataOrReason(polygon),
  }
  return t.component(
    `Polygon${componentOf(polygon.product)}Item`,
    `The answer of \`POST /advisory/${code}\` with the polygon's \`id\` or the area's code. Without a value \`${entries}\` is null, with \`error\` and \`code\`; other failures have these alone.`,
    Type.Partial(Type.Object(members)).properties,
    { id: 'field-1', ...example },
  )
}

export function listPolygonsComponents(
  schemas: readonly PolygonsSchemas[],
  forms: ReturnType<typeof definePolygonsFormats>,
): TSchema[] {
  return [
    PolygonCollection,
    AreasSelection,
    Dhis2Mapping,
    ...new Set(schemas.map(({ request }) => request)),
    ...schemas.map(({ item }) => item),
    ...schemas.map(({ response }) => response),
    forms.lines,
    forms.table,
    forms.collection,
    DataValueSet,
  ]
}
