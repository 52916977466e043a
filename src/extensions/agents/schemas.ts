import { type Static, type TSchema, Type } from 'typebox'
import { MAX_LEVEL } from '#schemas/areas.ts'
import * as t from '#schemas/common.ts'
import { PointRequest } from '#schemas/point-request.ts'
import { AdminSelection } from '#schemas/polygon.ts'
import { type ProductContract, productSchema } from '#schemas/product.ts'
import { AREA_UNIT_NAMES } from '#schemas/quantities.ts'

const { lat, lng, crop, country_code, forecast_period, condition } = PointRequest.properties

/** A field of an operation, optional and in fewer words. Clients may send null, and need not be told of it. */
function brief<Schema extends TSchema>(field: Schema, description: string) {
  const [type] = [(field as { type?: string | string[] }).type].flat()
  return Type.Optional(Type.Unsafe<NonNullable<Static<Schema>>>({ ...field, type, description }))
}

const AreaName = t.text(100, 'Name or code of an administrative area.')
const OfCountry = brief(country_code, 'Code as in catalogue. Left out: all.')
const Season = {
  forecast_period: brief(forecast_period, 'Of an older forecast, such as 2026-07. Left out: the newest.'),
  condition: brief(condition, 'Of the field, or all. Left out: that of the place.'),
}
const Where = {
  country_code: brief(country_code, 'Code as in catalogue. Left out: where the place lies.'),
  crop: brief(crop, 'As in catalogue. Left out: the first crop of the country.'),
}
const Place = {
  lat: { ...lat, description: 'Decimal degrees; south is negative.' },
  lng: { ...lng, description: 'Decimal degrees; west is negative.' },
  ...Where,
}
const Polygon = t.object('GeoJSON (Multi)Polygon in place of area: [longitude, latitude], rings closed.', {
  type: Type.Unknown(),
})

/** What each tool takes: fields of operations. Agents read all of it before they begin, so it is short. */
export function defineInputs(products: readonly ProductContract[]) {
  const Product = (description: string) => productSchema(products, description)
  return {
    catalogue: Type.Object({ country_code: OfCountry }),
    where_is: Type.Object({
      lat: brief(lat, 'Decimal degrees; with lng.'),
      lng: brief(lng, 'Decimal degrees; with lat.'),
      name: Type.Optional(AreaName),
      country_code: OfCountry,
    }),
    advise_point: Type.Object({
      ...Place,
      product: Type.Optional(Product('Left out: all products.')),
      ...Season,
    }),
    advise_area: Type.Object({
      product: Product('What to advise on.'),
      area: Type.Optional(AreaName),
      level: brief(
        AdminSelection.properties.level,
        `Administrative level: 0 is the country, then 1 to ${MAX_LEVEL}.`,
      ),
      polygon: Type.Optional(Polygon),
      ...Where,
      ...Season,
    }),
    // As queries of the endpoints write them.
    quantities: Type.Object({
      ...Place,
      area: t.text(1000, `Size of the field, in ${AREA_UNIT_NAMES.join(', ')}.`),
      bags: Type.Optional(t.text(1000, 'Kilograms in a bag, by input.')),
      prices: Type.Optional(t.text(1000, 'Currency, then per kg, or /bag.')),
      scenario: Type.Optional(t.text(100, 'Left out: all scenarios.')),
      condition: Season.condition,
    }),
    explain_no_data: Type.Object(Place),
    releases: Type.Object({
      product: Type.Optional(Product('Left out: all.')),
      country_code: OfCountry,
      crop: brief(crop, 'Left out: all.'),
    }),
  }
}

type Inputs = ReturnType<typeof defineInputs>
export type ToolName = keyof Inputs
export type Input<Name extends ToolName> = Static<Inputs[Name]>
