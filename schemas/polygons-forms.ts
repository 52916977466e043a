import { type TSchema, Type } from 'typebox'
import { sharedMembers } from './advisory.ts'
import { PointId } from './batch-forms.ts'
import { geoJsonOf, MultiPolygon, Polygon } from './geojson.ts'
import { Ignored } from './ignored.ts'
import { ofSeasonless, type ProductContract } from './product.ts'

/** The forms of answers that are the same for all products. */
export interface PolygonsForms {
  lines: TSchema
  table: TSchema
  collection: TSchema
}

export function polygonsFormsOf(products: readonly ProductContract[]): PolygonsForms {
  const seasons = ofSeasonless(products, (names) => ` (not for ${names})`)
  return { lines: PolygonAnswerLines, table: answerTable(seasons), collection: answerCollection(seasons) }
}

const PolygonAnswerLines = Type.String({
  $id: 'PolygonAnswerLines',
  description: 'For each polygon or area one line, in their order: an item of the JSON answer.',
  examples: [
    '{"id":"field-1","location":{"name":"My field","lat":9.505,"lng":38.505,"type":"polygon","area_ha":121.4},"country_code":"eth","crop":"wheat","forecast_period":"July 2026","forecast_month":"2026-07","release":"yield-eth-wheat-2026-07-v1","synthetic":false,"yield_data":[{"scenario":"Normal","yield_kg_ha":3694,"min":3610,"max":3731,"stddev":31.2,"covered_percent":100}]}\n',
  ],
})

const FIGURES =
  'of each layer a column for each number, such as `rate_kg_ha Urea Normal`, `min Urea Normal`, `max Urea Normal`, `stddev Urea Normal`, `covered_percent Urea Normal` and `total_kg Urea Normal`, and where quantiles were asked for `quantile_0.5 Urea Normal` and `quantile_0.5_error Urea Normal`'

/** @param seasons for which products the answer has no month */
function answerTable(seasons: string): TSchema {
  return Type.String({
    $id: 'PolygonAnswerTable',
    description: `For each polygon or area one row, in their order: \`id\`, \`name\`, \`lat\`, \`lng\`, \`area_ha\`, \`country_code\`, \`crop\`, \`forecast_period\` and \`forecast_month\`${seasons}, \`release\`, \`synthetic\`, ${FIGURES}, then \`error\` and \`code\`. Texts that a spreadsheet would take for a formula have an apostrophe before them.`,
    examples: [
      'id,name,lat,lng,area_ha,country_code,crop,forecast_period,forecast_month,release,synthetic,yield_kg_ha Normal,min Normal,max Normal,stddev Normal,covered_percent Normal,error,code\r\nfield-1,My field,9.505,38.505,121.4,eth,wheat,July 2026,2026-07,yield-eth-wheat-2026-07-v1,false,3694,3610,3731,31.2,100,,\r\n',
    ],
  })
}

/** @param seasons for which products the answer has no month */
function answerCollection(seasons: string): TSchema {
  return Type.Object(
    {
      type: Type.Literal('FeatureCollection'),
      ...sharedMembers({ seasonal: true }),
      ignored: Ignored,
      features: Type.Array(
        Type.Object({
          type: Type.Literal('Feature'),
          id: Type.Optional(PointId),
          geometry: Type.Union([
            geoJsonOf([Polygon, MultiPolygon], 'As it was sent; of an area with fewer vertices, for a map.'),
            Type.Null({ description: 'The polygon was not valid, or took too long.' }),
          ]),
          properties: Type.Record(
            Type.String(),
            Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
            {
              description: `\`name\`, \`lat\`, \`lng\`, \`area_ha\`, \`country_code\`, \`crop\`, \`forecast_period\` and \`forecast_month\`${seasons}, \`release\`, \`synthetic\`, and as the columns of a table ${FIGURES}, null where it has no value; \`error\` and \`code\` where there is none at all.`,
            },
          ),
        }),
        { description: 'One for each polygon or area, in their order.' },
      ),
    },
    { $id: 'PolygonAnswerCollection' },
  )
}
