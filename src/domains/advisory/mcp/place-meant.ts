import type { LocationValidation } from '#schemas/location.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import { ApiError } from '#src/errors.ts'
import type { AdviceDesk, Asker } from '../lookup/advice-desk.ts'

/** What a tool is asked of a point. */
type Asked = Pick<PointRequest, 'lat' | 'lng' | 'country_code' | 'crop' | 'forecast_period'>

/** The same, of a country. */
type Placed = Asked & { country_code: string }

/**
 * Fills in the country that a point lies in, and its first crop, where a request leaves them out.
 *
 * @throws {ApiError} OUTSIDE_COUNTRY where it lies in none of ours
 */
export async function placeMeant(desk: AdviceDesk, asked: Asked, by: Asker): Promise<Placed> {
  const { country_code: country, crop } = asked
  if (country !== undefined && crop !== undefined) return { ...asked, country_code: country }
  return placeFrom(asked, await desk.whereIs(asked, by))
}

/**
 * The same, where it is known where the point lies.
 *
 * @throws {ApiError} OUTSIDE_COUNTRY where it lies in none of ours
 */
export function placeFrom(asked: Asked, found: LocationValidation): Placed {
  const { lat, lng, country_code: country, crop } = asked
  const code = country ?? found.country_code
  if (code === null) throw nowhere(lat, lng, found)
  const offered = crop ?? found.crop
  return { ...asked, country_code: code, ...(offered !== null && { crop: offered }) }
}

function nowhere(lat: number, lng: number, { nearest, hint }: LocationValidation): ApiError {
  const near = nearest && ` The nearest is ${nearest.country}, ${nearest.distance_km} km away.`
  return new ApiError(
    'OUTSIDE_COUNTRY',
    `The point at latitude ${lat}, longitude ${lng} lies in none of the countries that there is advice for.${near ?? ''}${hint ? ` ${hint}` : ''}`,
  )
}
