import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { TSchema } from 'typebox'
import { ref } from '#schemas/common.ts'
import { LocationRemainder, LocationRequest, type LocationValidation } from '#schemas/location.ts'
import { asQuery } from '#schemas/point-request.ts'
import type { Tables } from '#src/database/tables.ts'
import { listCountryCodes } from '#src/domains/areas/queries.ts'
import { BODY_ERRORS, errorResponses, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { mergeQueryIntoBody } from '#src/http/parameters.ts'
import { wordKey } from '#src/lib/name-key.ts'
import { swapped } from '#src/lib/swapped.ts'
import { availabilityOf, nothingAvailable } from './offer.ts'
import { placeOf } from './place.ts'
import { areasAtPoint, cropNamed, nearestCountry, offerAtPoint } from './queries.ts'

const DESCRIPTION = `
In which country and administrative areas a point lies, and for which products there is a value there; where there is none, why. Ask it before the point endpoints, or to explain their answers.

A point on a border lies in the area of lowest code. A country code that does not match is not an error: \`valid\` is false then, and the answer says where the point lies instead.

Send the parameters as a JSON body, as query parameters, or both: they are merged field by field, and the body wins.`

/** @param validation the schema of the answer */
export function locationRoutes(app: App, validation: TSchema): void {
  const { list: products } = app.products
  const db = app.database.reader

  app.post(
    '/validate_location',
    {
      config: { scope: 'advisory' },
      schema: {
        operationId: 'validateLocation',
        summary: 'Where a point lies, and what is known there',
        description: DESCRIPTION.trim(),
        tags: ['places'],
        queryAlternative: asQuery(LocationRequest),
        body: ref(LocationRequest),
        bodyRemainder: ref(LocationRemainder),
        response: {
          200: { ...ref(validation), description: 'What is known about the point.' },
          ...errorResponses('UNAUTHORIZED', 'INSUFFICIENT_SCOPE', 'INVALID_PARAMETERS', ...BODY_ERRORS),
        },
      },
      preValidation: mergeQueryIntoBody(LocationRequest),
    },
    async ({ body }: FastifyRequest<{ Body: LocationRequest }>): Promise<LocationValidation> => {
      const { lat, lng } = body
      const wanted = body.country_code?.trim().toLowerCase()
      const wantedCrop = body.crop === undefined ? null : wordKey(body.crop)
      const place = placeOf(await areasAtPoint(db, lng, lat), wanted)
      const where = {
        country_code: place?.countryCode ?? null,
        country: place?.country ?? null,
        admin: place?.admin ?? [],
      }
      const nearest = place ? undefined : await nearestCountry(db, lng, lat)
      const hint = place ? undefined : await hintAt(db, lng, lat, wanted)
      const elsewhere = { ...(nearest && { nearest }), ...(hint && { hint }) }

      const countryCode = wanted ?? place?.countryCode
      if (countryCode === undefined) {
        return {
          valid: false,
          ...where,
          crop: wantedCrop && (await cropNamed(db, wantedCrop)),
          products: nothingAvailable(products),
          ...elsewhere,
        }
      }
      const offer = await offerAtPoint(db, products, countryCode, wantedCrop, lng, lat)
      if (!offer) throw unknownCountry('country_code', await listCountryCodes(db))
      const inside = place?.countryCode === countryCode
      const available = availabilityOf(products, offer, inside)
      // Where no boundaries are loaded that could tell, a value of the country's rasters does.
      const valid = offer.bounded ? inside : Object.values(available).some((product) => product.available)
      return { valid, ...where, crop: offer.crop, products: available, ...elsewhere }
    },
  )
}

/** What a point in no country may be meant to be, if longitude and latitude are swapped. */
async function hintAt(
  db: Kysely<Tables>,
  longitude: number,
  latitude: number,
  wantedCountry: string | undefined,
): Promise<string | undefined> {
  const meant = swapped({ longitude, latitude })
  const place = meant && placeOf(await areasAtPoint(db, meant.longitude, meant.latitude), wantedCountry)
  if (!place || (wantedCountry ?? place.countryCode) !== place.countryCode) return undefined
  return `With lat and lng swapped the point would lie in ${place.country}: did you mean lng, lat?`
}
