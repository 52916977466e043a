import { type Static, type TSchema, Type } from 'typebox'
import { MAX_LEVEL } from '#schemas/areas.ts'
import * as t from '#schemas/common.ts'
import { PointRequest } from '#schemas/point-request.ts'
import { AdminSelection } from '#schemas/polygon.ts'
import type { ProductContract } from '#schemas/product.ts'
import { AREA_UNIT_NAMES } from '#schemas/quantities.ts'

/** Input of the agents' tools. Agents read all of it before they begin: it is short. */

const { crop, country_code, forecast_period, condition } = PointRequest.properties
const { level } = AdminSelection.properties

const lat = { ...t.Latitude, description: 'Decimal degrees; south is negative.' }
const lng = { ...t.Longitude, description: 'Decimal degrees; west is negative.' }

const OptionalLatitude = Type.Optional({ ...lat, description: 'Decimal degrees; with lng.' })
const OptionalLongitude = Type.Optional({ ...lng, description: 'Decimal degrees; with lat.' })

const Country = described(country_code, 'Code as in catalogue. Left out: where the place lies.')
const OfCountry = described(country_code, 'Code as in catalogue. Left out: all.')
const Crop = described(crop, 'As in catalogue. Left out: the first crop of the country.')
const Month = described(forecast_period, 'Of an older forecast, such as 2026-07. Left out: the newest.')
const Condition = described(condition, 'Of the field, or all. Left out: that of the place.')
const Level = described(level, `Administrative level: 0 is the country, then 1 to ${MAX_LEVEL}.`)

const AreaName = Type.Optional(t.text(100, 'Name or code of an administrative area.'))

/** An optional field of a request with another description. Who leaves out null before need not be told of it. */
function described<Schema extends TSchema>(field: Schema, description: string) {
  const [type] = [(field as { type?: string | string[] }).type].flat()
  return Type.Optional(Type.Unsafe<NonNullable<Static<Schema>>>({ ...field, type, description }))
}

const Product = (codes: readonly string[]) => t.oneOf(codes, 'What to advise on.')

export const WhereIsInput = Type.Object({
  lat: OptionalLatitude,
  lng: OptionalLongitude,
  name: AreaName,
  country_code: OfCountry,
})

export const PlaceInput = Type.Object({ lat, lng, country_code: Country, crop: Crop })

export function definePointInput(codes: readonly string[]) {
  return Type.Object({
    ...PlaceInput.properties,
    product: Type.Optional({ ...Product(codes), description: 'Left out: all products.' }),
    forecast_period: Month,
    condition: Condition,
  })
}
export function defineAreaInput(codes: readonly string[]) {
  return Type.Object({
    product: Product(codes),
    area: AreaName,
    level: Level,
    polygon: Type.Optional(
      t.object('GeoJSON (Multi)Polygon in place of area: [longitude, latitude], rings closed.', {
        type: Type.Unknown(),
      }),
    ),
    country_code: Country,
    crop: Crop,
    forecast_period: Month,
    condition: Condition,
  })
}

/** As queries of the endpoints write it. */
const QuantityText = (description: string) => t.text(1000, description)

export const QuantitiesInput = Type.Object({
  ...PlaceInput.properties,
  area: QuantityText(`Size of the field, in ${AREA_UNIT_NAMES.join(', ')}.`),
  bags: Type.Optional(QuantityText('Kilograms in a bag, by input.')),
  prices: Type.Optional(QuantityText('Currency, then per kg, or /bag.')),
  scenario: Type.Optional(t.text(100, 'Left out: all scenarios.')),
  condition: Condition,
})

export const CatalogueInput = Type.Object({ country_code: OfCountry })

export function defineReleasesInput(codes: readonly string[]) {
  return Type.Object({
    product: Type.Optional({ ...Product(codes), description: 'Left out: all.' }),
    country_code: OfCountry,
    crop: described(crop, 'Left out: all.'),
  })
}
export function listProductCodes(products: readonly ProductContract[]): string[] {
  return products.map(({ code }) => code)
}
