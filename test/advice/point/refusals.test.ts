import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { FIELD, postPoint } from './ask.ts'

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

describe('bad input gets a 400 that names the field', () => {
  const BAD_LATITUDES = ['abc', '', ' 9', '0x10', 'Infinity', '1e400', '-90.001', '9,5', '9.5.1']
  test.each(BAD_LATITUDES)('?lat=%s', async (lat) => {
    const { status, body } = await postPoint(service.app, 'yield', {
      query: `?lat=${encodeURIComponent(lat)}&lng=138.5`,
    })
    expect(status).toBe(400)
    expect(body).toEqual({
      error: 'lat must be a number from -90 to 90.',
      code: 'INVALID_PARAMETERS',
      details: [{ field: 'lat', message: 'lat must be a number from -90 to 90' }],
      request_id: expect.any(String),
    })
  })

  const LATITUDE = { field: 'lat', message: 'lat must be a number from -90 to 90' }
  const NO_OBJECT = { field: 'body', message: 'the body must be a JSON object' }

  test.each([
    ...['"9.1"', 'null', '[9]', '1e400', '-90.5'].map(
      (lat) => [`{"lat": ${lat}, "lng": 138.5}`, 'INVALID_PARAMETERS', [LATITUDE]] as const,
    ),
    ...['[]', '"text"', '5', 'null', '[{"lat":9,"lng":38}]'].map(
      (body) => [body, 'INVALID_PARAMETERS', [NO_OBJECT]] as const,
    ),
    ...[
      '{"lat": 9.5,',
      'lat=9.5&lng=38.5',
      '{"lat": NaN, "lng": 38.5}',
      '{"__proto__": {"lat": 9}, "lat": 9.5, "lng": 38.5}',
      '{"constructor": {"prototype": {"lat": 1}}, "lat": 9.5, "lng": 38.5}',
    ].map((body) => [body, 'MALFORMED_JSON', undefined] as const),
  ])('the body %s, also beside a query that is right', async (payload, code, details) => {
    const response = await service.app.inject({
      method: 'POST',
      url: '/advisory/yield/point?lat=9.5',
      headers: { 'content-type': 'application/json' },
      payload,
    })
    expect(response.statusCode).toBe(400)
    expect(response.json()).toMatchObject({ code, ...(details && { details }) })
  })

  test('a parameter that is given twice', async () => {
    const { status, body } = await postPoint(service.app, 'yield', { query: '?lat=9.5&lat=9.5&lng=38.5' })
    expect(status).toBe(400)
    expect(body.details).toEqual([{ field: 'lat', message: 'lat must be given once' }])
  })

  test('missing coordinates are named together', async () => {
    for (const request of [{}, { body: {} }]) {
      const { status, body } = await postPoint(service.app, 'forage', request)
      expect(status).toBe(400)
      expect(body).toEqual({
        error: 'lat is required; lng is required.',
        code: 'INVALID_PARAMETERS',
        details: [
          { field: 'lat', message: 'lat is required' },
          { field: 'lng', message: 'lng is required' },
        ],
        request_id: expect.any(String),
      })
    }
  })

  test.each([
    [{ name: 'x'.repeat(201) }, 'name must be at most 200 characters long'],
    [{ name: 'a\0b' }, 'name must not contain NUL characters or unpaired surrogates'],
    [{ name: '\ud800' }, 'name must not contain NUL characters or unpaired surrogates'],
    [{ name: 5 }, 'name must be a string'],
    [{ crop: '' }, 'crop must not be empty'],
    [{ crop: 'a\0' }, 'crop must not contain NUL characters or unpaired surrogates'],
    [{ country_code: '\0' }, 'country_code must not contain NUL characters or unpaired surrogates'],
    [{ forecast_period: '0000-07' }, 'forecast_period must be a month such as 2026-07 or July 2026'],
    [{ crop: ['wheat'] }, 'crop must be a string'],
    [{ country_code: 7 }, 'country_code must be a string'],
    [{ forecast_period: '2026-13' }, 'forecast_period must be a month such as 2026-07 or July 2026'],
    [{ forecast_period: 'Juli 2026' }, 'forecast_period must be a month such as 2026-07 or July 2026'],
  ])('%j', async (fields, message) => {
    const { status, body } = await postPoint(service.app, 'yield', { body: { ...FIELD, ...fields } })
    expect(status).toBe(400)
    expect(body.error).toBe(`${message}.`)
    expect(body.details).toEqual([{ field: Object.keys(fields)[0], message }])
  })

  test('a name of 200 characters outside the basic plane is accepted and given back verbatim', async () => {
    const name = '🌾'.repeat(200)
    const { status, body } = await postPoint(service.app, 'yield', { body: { ...FIELD, name } })
    expect(status).toBe(200)
    expect(body.location.name).toBe(name)
  })

  test('an empty name and markup are given back verbatim', async () => {
    for (const name of ['', '<b>"\\\u2028', ' spaced ']) {
      expect((await postPoint(service.app, 'yield', { body: { ...FIELD, name } })).body.location.name).toBe(
        name,
      )
    }
  })
})

describe('what there is no answer to gets a reason', () => {
  test('an unknown country is 400 and lists the countries', async () => {
    for (const country_code of ['xyz', 'e', "'; drop table release; --"]) {
      const { status, body } = await postPoint(service.app, 'yield', { body: { ...FIELD, country_code } })
      expect(status).toBe(400)
      expect(body).toEqual({
        error: 'country_code must be one of eth, gha, ken, rwa.',
        code: 'INVALID_PARAMETERS',
        details: [
          {
            field: 'country_code',
            message: 'country_code must be one of eth, gha, ken, rwa',
            allowed: ['eth', 'gha', 'ken', 'rwa'],
          },
        ],
        request_id: expect.any(String),
      })
    }
  })

  test.each([
    ['eth', 'potato', 'The crop is not available for Ethiopia; its crops are: wheat.', ['wheat']],
    [
      'rwa',
      undefined,
      'The crop is not available for Rwanda; its crops are: potato. The point lies in Ethiopia: send country_code=eth.',
      ['potato'],
    ],
    [
      'ken',
      'wheat',
      'The crop is not available for Kenya; it has forage only. The point lies in Ethiopia: send country_code=eth.',
      [],
    ],
    [
      'gha',
      'maize',
      'The crop is not available for Ghana; it has forage only. The point lies in Ethiopia: send country_code=eth and crop=wheat.',
      [],
    ],
  ])(
    'a crop that the country does not offer is 400 and names those it does: %s %s',
    async (country_code, crop, error, allowed) => {
      const { status, body } = await postPoint(service.app, 'fertilizer', {
        body: { ...FIELD, country_code, crop },
      })
      expect(status).toBe(400)
      expect(body.code).toBe('CROP_NOT_AVAILABLE')
      expect(body.error).toBe(error)
      expect(body.details[0].allowed).toEqual(allowed)
    },
  )

  test.each([
    ['eth', 38.5, 9.5, 'lies outside Ethiopia'],
    ['rwa', 30.06, -1.95, 'lies outside Rwanda'],
  ])('of a point that lies in %s the other way round: %d, %d', async (country_code, lat, lng, where) => {
    for (let turn = 0; turn < 2; turn++) {
      const { status, body } = await postPoint(service.app, 'forage', { body: { lat, lng, country_code } })
      expect(status).toBe(404)
      expect(body).toEqual({
        error: `The point at latitude ${lat}, longitude ${lng} ${where}. With lat and lng swapped it would lie there: did you mean lng, lat?`,
        code: 'OUTSIDE_COUNTRY',
        request_id: expect.any(String),
      })
    }
  })

  test('of a point that lies in another country, the other way round or not, names that alone', async () => {
    const sentenceOf = async (lat: number, lng: number) =>
      (await postPoint(service.app, 'forage', { body: { lat, lng, country_code: 'gha' } })).body.error
    expect(await sentenceOf(38.5, 9.5)).toBe('The point at latitude 38.5, longitude 9.5 lies outside Ghana.')
    expect(await sentenceOf(9.5, 38.5)).toBe(
      'The point at latitude 9.5, longitude 38.5 lies in Ethiopia, not in Ghana: send country_code=eth.',
    )
  })

  test.each([
    [138.5, 9.5, true],
    [-180, 90, true],
    [181, 9.5, false],
    [95, 95, false],
  ])('of a latitude that may be the longitude asks so: %d, %d', async (lat, lng, hinted) => {
    const message = `lat must be a number from -90 to 90${hinted ? ' (did you mean lng, lat?)' : ''}`
    const details = [{ field: 'lat', message }]
    for (const sent of [{ body: { lat, lng } }, { query: `?lat=${lat}&lng=${lng}` }]) {
      const { status, body } = await postPoint(service.app, 'yield', sent)
      expect([status, body.error, body.details]).toEqual([400, `${message}.`, details])
    }
    const get = await service.app.inject(`/advisory/yield/point?lat=${lat}&lng=${lng}`)
    expect(get.json().details).toEqual(details)
    const batch = await service.app.inject({
      method: 'POST',
      url: '/advisory/yield/points',
      payload: { points: [{ lat, lng }] },
    })
    expect(batch.json().items[0].details).toEqual(details)
  })

  test.each([
    [-1, 36.5, 'lies in Kenya, not in Ethiopia'],
    [-1.95, 30.06, 'lies in Rwanda, not in Ethiopia: send country_code=rwa and crop=potato'],
    [7.5, -1.5, 'lies in Ghana, not in Ethiopia'],
    [0, 0, 'lies outside Ethiopia'],
    [48.85, 2.35, 'lies outside Ethiopia'],
  ])('a point outside the country is 404 and says where it lies: %d, %d', async (lat, lng, where) => {
    const { status, body } = await postPoint(service.app, 'yield', { body: { lat, lng } })
    expect(status).toBe(404)
    expect(body).toEqual({
      error: `The point at latitude ${lat}, longitude ${lng} ${where}.`,
      code: 'OUTSIDE_COUNTRY',
      request_id: expect.any(String),
    })
    const [, works] = where.split(': send ')
    if (works === undefined) return
    const query = `?${works.replace(' and ', '&')}`
    expect((await postPoint(service.app, 'yield', { query, body: { lat, lng } })).status).toBe(200)
  })
})
