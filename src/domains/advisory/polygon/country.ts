import { ApiError } from '#src/errors.ts'

/** A request about polygons, or about administrative areas. */
interface Body {
  admin?: { country_code: string } | undefined
  country_code?: string | undefined
}

const SENTENCES = {
  geometry: 'Send either geometry, a GeoJSON polygon, or admin, an administrative area.',
  polygons: 'Send either polygons, a GeoJSON FeatureCollection, or admin, the areas of a level.',
}

/**
 * Refuses a request that is about nothing, or about two things.
 *
 * @param field that has the polygons
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function refuseUnlessOne(field: keyof typeof SENTENCES, body: object): void {
  const { [field]: polygons, admin } = body as Record<string, unknown>
  if ((polygons === undefined) !== (admin === undefined)) return
  throw new ApiError('INVALID_PARAMETERS', SENTENCES[field], [
    { field, message: `exactly one of ${field} and admin must be sent` },
  ])
}

/**
 * The country that a request is about: with areas it is that of the areas.
 *
 * @throws {ApiError} INVALID_PARAMETERS where there are two
 */
export function countryOf({ admin, country_code }: Body): string | undefined {
  if (!admin) return country_code
  const normal = (code: string) => code.trim().toLowerCase()
  if (country_code !== undefined && normal(country_code) !== normal(admin.country_code)) {
    throw ApiError.invalid('country_code', 'must be the same as admin.country_code, or left out')
  }
  return admin.country_code
}
