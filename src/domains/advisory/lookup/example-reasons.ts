import { POINT_DEFAULTS } from '#schemas/point-request.ts'
import { examplePlaceOf, type ProductContract } from '#schemas/product.ts'
import type { DocumentedError } from '#src/errors.ts'
import { type Place, sayNoData, sayNotPublished, sayOutside } from './sentences.ts'

/** What documents say that an operation of a product answers where it has no value. */
export function exampleReasonsOf(product: ProductContract, what: Place): DocumentedError[] {
  const { lat, lng, country, elsewhere } = examplePlaceOf(product)
  const outside = { latitude: elsewhere.lat, longitude: elsewhere.lng }
  return [
    exampleNoRelease(product),
    ['OUTSIDE_COUNTRY', sayOutside(outside, what, country, elsewhere.country)],
    ['NO_DATA', sayNoData(product.names.values, { latitude: lat, longitude: lng }, what)],
  ]
}

/** The same where nothing is published at all. */
export function exampleNoRelease(product: ProductContract): DocumentedError {
  const { country } = examplePlaceOf(product)
  const { values } = product.names
  const sentence = product.seasonal
    ? sayNotPublished({ values, crop: POINT_DEFAULTS.crop, country }, '2020-01', ['2026-07'])
    : sayNotPublished({ values, crop: null, country }, null, [])
  return ['NO_RELEASE', sentence]
}
