import { type Static, Type } from 'typebox'
import { AdminReference } from './areas.ts'
import * as t from './common.ts'
import type { ProductContract } from './product.ts'

export const LocationRequest = t.component(
  'LocationRequest',
  'A point to look at. Fields that are not listed are ignored.',
  {
    lat: t.Latitude,
    lng: t.Longitude,
    country_code: t.optional(
      t.text(
        100,
        `The country that the point should lie in, in any case: one of ${t.COUNTRY_CODES}. The one it lies in when left out.`,
        'rwa',
      ),
    ),
    crop: t.optional(
      t.text(
        100,
        'The crop that the products are wanted for. The first one of the country when left out.',
        'potato',
      ),
    ),
  },
  { lat: -1.95, lng: 30.06, country_code: 'rwa' },
)
export type LocationRequest = t.WithoutNulls<Static<typeof LocationRequest>>

export const UNAVAILABLE_REASONS = ['CROP_NOT_AVAILABLE', 'NO_RELEASE', 'OUTSIDE_COUNTRY', 'NO_DATA'] as const

export const ProductAvailability = t.component('ProductAvailability', {
  available: t.boolean('Whether the point endpoint of the product has a value there.'),
  reason: t.choice(
    UNAVAILABLE_REASONS,
    'Why not: the code of the error that the point endpoint would answer with.',
  ),
})
export type ProductAvailability = Static<typeof ProductAvailability>

export function defineLocationSchemas(products: readonly ProductContract[]) {
  const validation = t.component(
    'LocationValidation',
    {
      valid: t.boolean(
        'Whether the point lies in the country that was asked for, or else in any that the service answers for.',
      ),
      country_code: t.orNull(
        t.string('The country of the point; null outside of all countries of the service.'),
      ),
      country: t.orNull(t.string('Its name.')),
      admin: t.array(
        AdminReference,
        'The areas that it lies in, from level 1 down. A lake may be in a district and in no sector.',
      ),
      crop: t.orNull(t.string('The crop that the products were looked up for.')),
      products: t.object(
        'Of the country that was asked for, or else the one that the point lies in.',
        Object.fromEntries(products.map(({ code }) => [code, t.ref(ProductAvailability)])),
      ),
      nearest: Type.Optional(
        t.object('The nearest country, where the point lies in none.', {
          country_code: Type.String(),
          country: Type.String(),
          distance_km: t.number('To its border.'),
        }),
      ),
      hint: Type.Optional(
        t.string(
          'Where the point lies in no country, and would with `lat` and `lng` swapped: that it would.',
        ),
      ),
    },
    {
      valid: true,
      country_code: 'rwa',
      country: 'Rwanda',
      admin: [
        { level: 1, code: 'RWA-01', name: 'City of Kigali' },
        { level: 2, code: 'RWA-01-01', name: 'Nyarugenge' },
      ],
      crop: 'potato',
      products: makeExample(products),
    },
  )
  const components = [AdminReference, LocationRequest, ProductAvailability, validation]
  return { validation, components }
}

/** Something is published of all products but the last one with seasons. */
function makeExample(products: readonly ProductContract[]): Record<string, ProductAvailability> {
  const missing = products.findLast(({ seasonal }) => seasonal)
  return Object.fromEntries(
    products.map((product) => [
      product.code,
      product === missing ? { available: false, reason: 'NO_RELEASE' } : { available: true },
    ]),
  )
}

export type LocationValidation = Static<ReturnType<typeof defineLocationSchemas>['validation']>
