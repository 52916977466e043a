import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { Latitude, Longitude, oneOf, ref } from './common.ts'

/** What a point request is taken to say where it says nothing. */
export const POINT_DEFAULTS = { crop: 'wheat', country_code: 'eth', name: 'Point' } as const

const Crop = Type.String({
  minLength: 1,
  maxLength: 100,
  format: 'text',
  default: POINT_DEFAULTS.crop,
  description: 'The crop, in any case. Which ones a country offers is in `GET /catalog`.',
  examples: ['wheat'],
})

const CountryCode = Type.String({
  minLength: 1,
  maxLength: 100,
  format: 'text',
  default: POINT_DEFAULTS.country_code,
  description: 'The country, in any case: one of `eth`, `rwa`, `ken`, `gha`.',
  examples: ['eth'],
})

const Name = Type.String({
  maxLength: 200,
  format: 'text',
  default: POINT_DEFAULTS.name,
  description: 'A label for the place, given back in `location.name`.',
  examples: ['Point'],
})

const ForecastPeriod = Type.String({
  format: 'month',
  description: 'The month of an older forecast, as `YYYY-MM`. The newest when left out.',
  examples: ['2026-07'],
})

export const PointRequest = Type.Object(
  {
    lat: Latitude,
    lng: Longitude,
    crop: Type.Optional(Crop),
    country_code: Type.Optional(CountryCode),
    name: Type.Optional(Name),
    forecast_period: Type.Optional(ForecastPeriod),
  },
  {
    $id: 'PointRequest',
    description: 'A point and what to answer for. Fields that are not listed are ignored.',
    examples: [{ lat: 9.5, lng: 38.5, crop: 'wheat', country_code: 'eth', name: 'My field' }],
  },
)
export type PointRequest = Static<typeof PointRequest>

export const ForagePointRequest = Type.Object(
  {
    lat: Latitude,
    lng: Longitude,
    country_code: Type.Optional(CountryCode),
    name: Type.Optional(Name),
  },
  {
    $id: 'ForagePointRequest',
    description: 'A point. Forage needs no crop; fields that are not listed are ignored.',
    examples: [{ lat: -1, lng: 36.5, country_code: 'ken', name: 'My pasture' }],
  },
)
export type ForagePointRequest = Static<typeof ForagePointRequest>

/**
 * The same fields as query parameters. None is required, since the body may have it, and none has an
 * example: a form that fills in both would hide that the body wins.
 */
export function asQuery(request: TObject): TSchema {
  const parameters = Object.entries(request.properties).map(([name, property]) => {
    const { examples: _, default: otherwise, description, ...rule } = property as Annotated
    const fallback = otherwise === undefined ? '' : ` \`${otherwise}\` when neither does.`
    return [
      name,
      Type.Optional({
        ...rule,
        description: `${description} Used where the body does not have it.${fallback}`,
      }),
    ]
  })
  return Type.Object(Object.fromEntries(parameters))
}

type Annotated = TSchema & { description?: string; default?: string; examples?: unknown[] }

export const Location = Type.Object(
  {
    name: Type.String({ description: 'The label of the request.' }),
    lat: Type.Number(),
    lng: Type.Number(),
    type: oneOf(['point', 'polygon'], 'What was asked about.'),
  },
  { $id: 'Location' },
)

const Scenario = Type.String({
  description: 'The season: `Above Normal`, `Normal`, `Below Normal`, `Dominant`, or another by its name.',
})

const Period = Type.String({ description: 'Month and year in English.', examples: ['July 2026'] })

/** What feedback is given to; see `schemas/history.ts`. */
export const HistoryId = Type.String({
  format: 'uuid',
  description: 'The id of this answer in the history of the caller. For callers with a valid token.',
})

export const YieldEntry = Type.Object(
  { scenario: Scenario, yield_kg_ha: Type.Number({ description: 'Kilograms per hectare.' }) },
  { $id: 'YieldEntry' },
)

export const FertilizerEntry = Type.Object(
  {
    fertilizer_type: Type.String({ description: 'For example `Urea` or `DAP`.' }),
    scenario: Scenario,
    rate_kg_ha: Type.Number({ description: 'Kilograms per hectare. 0 is a recommendation, too.' }),
  },
  { $id: 'FertilizerEntry' },
)

export const IsfmEntry = Type.Object(
  {
    isfm_type: Type.String({ description: 'For example `Compost` or `Vermicompost`.' }),
    scenario: Scenario,
    rate_tons_ha: Type.Number({ description: 'Metric tons per hectare.' }),
  },
  { $id: 'IsfmEntry' },
)

export const ForageEntry = Type.Object(
  {
    forage_variety: Type.String({ description: 'The species.' }),
    suitability_score: Type.Number({ description: 'Higher is more suitable.' }),
  },
  { $id: 'ForageEntry' },
)

export const YieldResponse = Type.Object(
  {
    location: ref(Location),
    forecast_period: Period,
    yield_data: Type.Array(ref(YieldEntry)),
    history_id: Type.Optional(HistoryId),
  },
  {
    $id: 'YieldResponse',
    examples: [
      {
        location: { name: 'My field', lat: 9.5, lng: 38.5, type: 'point' },
        forecast_period: 'July 2026',
        yield_data: [
          { scenario: 'Above Normal', yield_kg_ha: 2834 },
          { scenario: 'Normal', yield_kg_ha: 2464 },
        ],
      },
    ],
  },
)

export const FertilizerResponse = Type.Object(
  {
    location: ref(Location),
    forecast_period: Period,
    fertilizer_data: Type.Array(ref(FertilizerEntry)),
    history_id: Type.Optional(HistoryId),
  },
  {
    $id: 'FertilizerResponse',
    examples: [
      {
        location: { name: 'My field', lat: 9.5, lng: 38.5, type: 'point' },
        forecast_period: 'July 2026',
        fertilizer_data: [
          { fertilizer_type: 'DAP', scenario: 'Normal', rate_kg_ha: 89 },
          { fertilizer_type: 'Urea', scenario: 'Normal', rate_kg_ha: 150 },
        ],
      },
    ],
  },
)

export const IsfmResponse = Type.Object(
  {
    location: ref(Location),
    forecast_period: Period,
    isfm_data: Type.Array(ref(IsfmEntry)),
    history_id: Type.Optional(HistoryId),
  },
  {
    $id: 'IsfmResponse',
    examples: [
      {
        location: { name: 'My field', lat: 9.5, lng: 38.5, type: 'point' },
        forecast_period: 'July 2026',
        isfm_data: [{ isfm_type: 'Compost', scenario: 'Normal', rate_tons_ha: 6.4 }],
      },
    ],
  },
)

export const ForageResponse = Type.Object(
  {
    location: ref(Location),
    forage_data: Type.Array(ref(ForageEntry)),
    history_id: Type.Optional(HistoryId),
  },
  {
    $id: 'ForageResponse',
    examples: [
      {
        location: { name: 'My pasture', lat: -1, lng: 36.5, type: 'point' },
        forage_data: [{ forage_variety: 'Chloris gayana', suitability_score: 0.415 }],
      },
    ],
  },
)

export const ReleaseHeader = Type.String({
  description:
    'The release that the answer was computed from, as in `GET /catalog`; several are separated by commas. One that begins with `synthetic-` is demonstration data, made by a formula.',
})

export const advisorySchemas = [
  PointRequest,
  ForagePointRequest,
  Location,
  YieldEntry,
  FertilizerEntry,
  IsfmEntry,
  ForageEntry,
  YieldResponse,
  FertilizerResponse,
  IsfmResponse,
  ForageResponse,
]
