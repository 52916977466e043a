import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { Latitude, Longitude, oneOf } from './common.ts'
import { PointRequest } from './point-request.ts'
import { AdminSelection } from './polygon.ts'
import type { ProductContract } from './product.ts'
import { AREA_UNIT_NAMES } from './quantities.ts'

/** What the tools of agents take and answer. Agents read all of it before they begin: it is short. */

const { crop, country_code, forecast_period } = PointRequest.properties
const { level } = AdminSelection.properties

const lat = { ...Latitude, description: 'Decimal degrees; south is negative.' }
const lng = { ...Longitude, description: 'Decimal degrees; west is negative.' }

const OptionalLatitude = Type.Optional({ ...lat, description: 'Decimal degrees; with lng.' })
const OptionalLongitude = Type.Optional({ ...lng, description: 'Decimal degrees; with lat.' })

const Country = described(country_code, 'Code as in catalogue. Left out: where the place lies.')
const OfCountry = described(country_code, 'Code as in catalogue. Left out: all.')
const Crop = described(crop, 'As in catalogue. Left out: the first crop of the country.')
const Month = described(forecast_period, 'Of an older forecast, such as 2026-07. Left out: the newest.')
const Level = described(level, 'Administrative level: 0 is the country, then 1 to 3.')

const AreaName = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 100,
    format: 'text',
    description: 'Name or code of an administrative area.',
  }),
)

/** An optional field of a request with another description. Who leaves out null before need not be told of it. */
function described<Schema extends TSchema>(field: Schema, description: string) {
  const [type] = [(field as { type?: string | string[] }).type].flat()
  return Type.Optional(Type.Unsafe<NonNullable<Static<Schema>>>({ ...field, type, description }))
}

const Product = (codes: readonly string[]) => oneOf(codes, 'What to advise on.')

export const WhereIsInput = Type.Object({
  lat: OptionalLatitude,
  lng: OptionalLongitude,
  name: AreaName,
  country_code: OfCountry,
})
export type WhereIsInput = Static<typeof WhereIsInput>

export const PlaceInput = Type.Object({ lat, lng, country_code: Country, crop: Crop })
export type PlaceInput = Static<typeof PlaceInput>

export function pointInputOf(codes: readonly string[]) {
  return Type.Object({
    ...PlaceInput.properties,
    product: Type.Optional({ ...Product(codes), description: 'Left out: all products.' }),
    forecast_period: Month,
  })
}
export type PointInput = Static<ReturnType<typeof pointInputOf>>

export function areaInputOf(codes: readonly string[]) {
  return Type.Object({
    product: Product(codes),
    area: AreaName,
    level: Level,
    polygon: Type.Optional(
      Type.Object(
        { type: Type.Unknown() },
        {
          description: 'GeoJSON (Multi)Polygon in place of area: [longitude, latitude], rings closed.',
        },
      ),
    ),
    country_code: Country,
    crop: Crop,
    forecast_period: Month,
  })
}
export type AreaInput = Static<ReturnType<typeof areaInputOf>>

/** As queries of the endpoints write it. */
const QuantityText = (description: string) =>
  Type.String({ minLength: 1, maxLength: 1000, format: 'text', description })

export const QuantitiesInput = Type.Object({
  ...PlaceInput.properties,
  area: QuantityText(`Size of the field, in ${AREA_UNIT_NAMES.join(', ')}.`),
  bags: Type.Optional(QuantityText('Kilograms in a bag, by input.')),
  prices: Type.Optional(QuantityText('Currency, then per kg, or /bag.')),
  scenario: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, format: 'text', description: 'Left out: all scenarios.' }),
  ),
})
export type QuantitiesInput = Static<typeof QuantitiesInput>

export const CatalogueInput = Type.Object({ country_code: OfCountry })
export type CatalogueInput = Static<typeof CatalogueInput>

export function releasesInputOf(codes: readonly string[]) {
  return Type.Object({
    product: Type.Optional({ ...Product(codes), description: 'Left out: all.' }),
    country_code: OfCountry,
    crop: described(crop, 'Left out: all.'),
  })
}
export type ReleasesInput = Static<ReturnType<typeof releasesInputOf>>

const OptionalText = Type.Optional(Type.String())
const TextOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'] })
const Row = Type.Array(Type.Unknown())

/** What has members that need no schema: agents read them, and every agent would read the schema first. */
const Anything = { additionalProperties: true }

/** What every answer says of where its data are from. */
const Sources = Type.Array(Type.Object({}, Anything), { description: 'Name source and licence.' })

const LeftOut = Type.Optional(Type.Integer())

const Release: TProperties = {
  release: OptionalText,
  forecast_month: OptionalText,
  synthetic: Type.Optional(Type.Boolean()),
  stale: Type.Optional(Type.Boolean()),
}

const Why: TProperties = {
  code: OptionalText,
  error: OptionalText,
}

const Areas = Type.Array(
  Type.Object({ level: Type.Integer(), code: Type.String(), name: Type.String() }, Anything),
)

const Nearest = Type.Optional(Type.Object({}, Anything))

const answered = (properties: TProperties) => Type.Object({ ...properties, left_out: LeftOut })

export const WhereIsOutput = answered({
  country_code: Type.Optional(TextOrNull),
  country: Type.Optional(TextOrNull),
  areas: Areas,
  did_you_mean: Type.Optional(Type.Array(Type.Object({}, Anything))),
  crop: Type.Optional(TextOrNull),
  available: Type.Optional(Type.Object({}, { ...Anything, description: 'By product: true, or why not.' })),
  nearest: Nearest,
  hint: OptionalText,
  sources: Sources,
})

export const PointOutput = answered({
  lat: Type.Number(),
  lng: Type.Number(),
  country_code: Type.String(),
  crop: Type.Optional(TextOrNull),
  products: Type.Array(
    Type.Object({
      product: Type.String(),
      unit: OptionalText,
      values: Type.Optional(
        Type.Object(
          {},
          {
            ...Anything,
            description: 'By input or species, if any, then by scenario. 0 is a value.',
          },
        ),
      ),
      ...Release,
      ...Why,
    }),
  ),
  sources: Sources,
})

export const AreaOutput = answered({
  location: Type.Object({ lat: Type.Number(), lng: Type.Number(), area_ha: Type.Number() }, Anything),
  country_code: Type.String(),
  crop: Type.Optional(TextOrNull),
  product: Type.String(),
  unit: Type.String(),
  ...Release,
  columns: Type.Array(Type.String()),
  rows: Type.Array(Row, { description: 'Means weighed by area; min and max are of pixels.' }),
  sources: Sources,
})

export const QuantitiesOutput = answered({
  lat: Type.Number(),
  lng: Type.Number(),
  country_code: Type.String(),
  crop: Type.Optional(TextOrNull),
  area_ha: Type.Number(),
  currency: OptionalText,
  columns: Type.Array(Type.String()),
  rows: Type.Array(Row, { description: 'bags are whole ones, rounded up.' }),
  costs: Type.Optional(Type.Array(Row)),
  synthetic: Type.Optional(Type.Boolean()),
  sources: Sources,
})

export const CatalogueOutput = answered({
  countries: Type.Array(
    Type.Object({
      country_code: Type.String(),
      name: Type.String(),
      crops: Type.Array(Type.String()),
      published: Type.Array(Type.String(), { description: 'Newest release of each product and crop.' }),
    }),
  ),
  products: Type.Array(Type.Object({ product: Type.String(), title: Type.String(), unit: Type.String() })),
  sources: Sources,
})

export const ReleasesOutput = answered({
  releases: Type.Array(
    Type.Object({
      ...Release,
      product: Type.String(),
      country_code: Type.String(),
      crop: TextOrNull,
      inputs: Type.Array(Type.String()),
      scenarios: Type.Array(Type.String()),
    }),
  ),
  sources: Sources,
})

export const ExplainOutput = answered({
  country_code: TextOrNull,
  crop: TextOrNull,
  available: Type.Array(Type.Object({ product: Type.String(), release: Type.String() })),
  reasons: Type.Array(
    Type.Object({
      products: Type.Array(Type.String()),
      code: Type.String(),
      error: Type.String(),
      mend: OptionalText,
    }),
  ),
  nearest: Nearest,
  hint: OptionalText,
  sources: Sources,
})

/** The codes of products, in their order. */
export function codesOfProducts(products: readonly ProductContract[]): string[] {
  return products.map(({ code }) => code)
}
