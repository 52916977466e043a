import { expect, test } from 'vitest'
import type { LocationValidation } from '#schemas/location.ts'
import { findNearestCountries } from '#src/advice/location/queries.ts'
import { openService } from '#test/setup/open-service.ts'

/** What each product says, in the order yield, fertilizer, isfm, forage: true, or the reason why not. */
type Products = (true | string)[]

const ALL: Products = [true, true, true, true]
const OUTSIDE: Products = Array(4).fill('OUTSIDE_COUNTRY')
const FORAGE_ONLY: Products = [...Array(3).fill('CROP_NOT_AVAILABLE'), true]

const service = openService()

test.each<[string, object, boolean, string | null, string | null, Products]>([
  ['a field in Ethiopia', { lat: 9.5, lng: 38.5 }, true, 'eth', 'wheat', ALL],
  ['a crop in capitals', { lat: -1.95, lng: 30.06, crop: 'Potato ' }, true, 'rwa', 'potato', ALL],
  ['a crop that Rwanda lacks', { lat: -1.95, lng: 30.06, crop: 'wheat' }, true, 'rwa', 'wheat', FORAGE_ONLY],
  [
    'Rwanda, asked for as Ethiopia',
    { lat: -1.95, lng: 30.06, country_code: 'eth' },
    false,
    'rwa',
    'wheat',
    OUTSIDE,
  ],
  ['Uganda', { lat: 0.35, lng: 32.6 }, false, null, null, OUTSIDE],
  [
    'Uganda, asked for as Ethiopia',
    { lat: 0.35, lng: 32.6, country_code: 'eth' },
    false,
    null,
    'wheat',
    OUTSIDE,
  ],
])('/validate_location says what there is for %s', async (_, body, valid, country, crop, expected) => {
  const { status, body: answer } = await validate(body)
  expect(status).toBe(200)
  expect(answer).toMatchObject({ valid, country_code: country, crop })
  expect(tellProducts(answer)).toEqual(expected)
  expect(answer.admin.map(({ level }: { level: number }) => level)).toEqual(country === null ? [] : [1, 2, 3])
  expect(answer.nearest !== undefined).toBe(country === null)
})

test('/validate_location asks the database for a tile that is not in memory, though the areas are', async () => {
  const place = { lat: 7.5, lng: 36.5 }
  const availableAt = async (payload: object) => tellProducts((await validate(payload)).body)
  expect(await availableAt({ ...place, crop: 'potato' })).toEqual(FORAGE_ONLY)
  expect(await availableAt(place)).toEqual(ALL)
})

test('a point a metre outside a border is not inside for the database', async () => {
  // The border follows a parallel; the great circle between its ends passes 32 m beyond the point.
  const [lat, lng] = [7.995980375768658, 47.50868103346297]
  const nearest = { country_code: 'eth', country: 'Ethiopia', distance_km: 0.0321 }
  const places = [{ latitude: lat, longitude: lng }]
  expect(await findNearestCountries(service.database.reader, places)).toEqual([nearest])
  expect((await validate({ lat, lng })).body).toMatchObject({ valid: false, nearest })
})

test('/validate_location asks of a point in none whether it is swapped, where it would lie in the country', async () => {
  const hintAt = async (place: object) => (await validate(place)).body.hint
  const hint = 'With lat and lng swapped the point would lie in Rwanda: did you mean lng, lat?'
  expect(await hintAt({ lat: 30.06, lng: -1.95 })).toBe(hint)
  expect(await hintAt({ lat: 30.06, lng: -1.95, country_code: 'rwa' })).toBe(hint)
  expect(await hintAt({ lat: 30.06, lng: -1.95, country_code: 'ken' })).toBeUndefined()
  expect(await hintAt({ lat: 5, lng: -0.2 })).toBeUndefined()
  expect(await hintAt({ lat: 5, lng: -100 })).toBeUndefined()
  expect(await hintAt({ lat: -1.95, lng: 30.06, country_code: 'eth' })).toBeUndefined()
})

test('/validate_location reads the query, and the body outweighs it', async () => {
  const { body } = await validate({ lat: -1.95 }, '?lat=9.5&lng=30.06&country_code=rwa')
  expect(body).toMatchObject({ valid: true, country_code: 'rwa' })
})

test.each([
  [{}, 'lat is required; lng is required.'],
  [{ lat: 91, lng: 138 }, 'lat must be a number from -90 to 90.'],
  [{ lat: 9, lng: 38, country_code: 'uga' }, 'country_code must be one of eth, gha, ken, rwa.'],
])('/validate_location refuses %j', async (body, error) => {
  expect(await validate(body)).toMatchObject({ status: 400, body: { error, code: 'INVALID_PARAMETERS' } })
})

const validate = (payload: object, query = '') =>
  service.post(`/validate_location${query}`, { by: service.person, payload })

const tellProducts = ({ products }: LocationValidation): Products =>
  Object.values(products).map(({ available, reason }) => available || String(reason))
