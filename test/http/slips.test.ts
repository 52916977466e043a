import { describe, expect, test } from 'vitest'
import { call, type Sent } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { rectangle } from '#test/setup/square.ts'

// What beginners send: each sentence says what was sent, and what to send.

const service = openService()

const AT = '/advisory/yield/point'
const JSON_BODY = { 'content-type': 'application/json' }
const KEY = 'agro_not-a-key-that-anybody-has'

const post = (
  path: string,
  payload: unknown,
  headers: Record<string, string> = JSON_BODY,
): [string, Sent] => [
  `POST ${path}`,
  { payload: typeof payload === 'string' ? payload : JSON.stringify(payload), headers },
]
const get = (path: string): [string, Sent] => [`GET ${path}`, {}]
const asPerson = (path: string, payload: object): [string, Sent] => [
  `POST ${path}`,
  { payload, by: service.person },
]

type Mistake = [name: string, request: () => [string, Sent], status: number, sentence: string]

const ask = async (request: () => [string, Sent]) => call(service.app, ...request())

describe('the mistakes of a first day', () => {
  test.each<Mistake>([
    ['nothing', () => post(AT, {}), 400, 'lat is required; lng is required.'],
    ['lon', () => post(AT, { lat: 9.5, lon: 38.5 }), 400, 'lng is required; you sent lon.'],
    [
      'latitude and longitude',
      () => get(`${AT}?latitude=9.5&longitude=38.5`),
      400,
      'lat is required; you sent latitude; lng is required; you sent longitude.',
    ],
    [
      'x and y',
      () => post(AT, { y: 9.5, x: 38.5 }),
      400,
      'lat is required; you sent y; lng is required; you sent x.',
    ],
    [
      'other capitals',
      () => get(`${AT}?Lat=9.5&LNG=38.5`),
      400,
      'lat is required; you sent Lat; lng is required; you sent LNG.',
    ],
    [
      'both swapped',
      () => post(AT, { lat: 138.5, lng: 9.5 }),
      400,
      'lat must be a number from -90 to 90 (did you mean lng, lat?).',
    ],
    [
      'a number as text',
      () => post(AT, { lat: '9.5', lng: 38.5 }),
      400,
      'lat must be a number from -90 to 90: send 9.5 without quotes.',
    ],
    [
      'a decimal comma',
      () => post(AT, { lat: '9,5', lng: 38.5 }),
      400,
      'lat must be a number from -90 to 90: write 9.5, with a point and without quotes.',
    ],
    [
      'a decimal comma in an address',
      () => get(`${AT}?lat=9.5&lng=38,5`),
      400,
      'lng must be a number from -180 to 180: write 38.5, with a point and without quotes.',
    ],
    [
      'a number with 1,000 spaces in it, which nobody advises about',
      () => post(AT, { lat: `9${' '.repeat(1000)}9`, lng: 38.5 }),
      400,
      'lat must be a number from -90 to 90.',
    ],
    [
      'a number with 1,000 spaces in an address',
      () => get(`${AT}?lat=9${'%20'.repeat(1000)}9&lng=38.5`),
      400,
      'lat must be a number from -90 to 90.',
    ],
    [
      'an object of 1,001 members',
      () => post(AT, Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`k${at}`, 1]))),
      400,
      'The body has an object with more than 1000 members.',
    ],
    [
      'single quotes',
      () => post(AT, "{'lat': 9.5, 'lng': 38.5}"),
      400,
      'The body is not valid JSON at line 1, column 2: write straight double quotes (").',
    ],
    [
      'a bracket that is missing',
      () => post(AT, '{\n  "lat": 9.5,\n  "lng": 38.5'),
      400,
      'The body is not valid JSON at line 3, column 14: close it with }.',
    ],
    [
      'a body without a header, as a form',
      () => post(AT, 'lat=9.5&lng=38.5', { 'content-type': 'application/x-www-form-urlencoded' }),
      415,
      "Send the body as application/json. You sent a form, as curl's -d does: send JSON with --json, or the same in the query.",
    ],
    [
      'a list',
      () => post(AT, [38.5, 9.5]),
      400,
      'The body must be a JSON object, such as {"lat": 9.5, "lng": 38.5}; you sent a list.',
    ],
    [
      'lists as points',
      () => post(`${AT}s`, { points: [[38.5, 9.5]] }),
      400,
      'points[0] must be an object, such as {"lat": 9.5, "lng": 38.5}; you sent a list.',
    ],
    [
      'WKT in place of GeoJSON',
      () => asPerson('/advisory/yield', { geometry: 'POLYGON((38.5 9.5, 38.6 9.5, 38.6 9.6, 38.5 9.5))' }),
      400,
      'geometry must be an object of GeoJSON, not WKT: send {"type":"Polygon","coordinates":[[[38.5,9.5],[38.6,9.5],[38.6,9.6],[38.5,9.5]]]}.',
    ],
    [
      'ten acres',
      () => post(AT, { lat: 9.5, lng: 38.5, area: 'ten acres' }),
      400,
      'area.unit must be one of ha, m2, are, acre, timad; you sent ten acres.',
    ],
    [
      'maize',
      () => post(AT, { lat: 9.5, lng: 38.5, crop: 'maize' }),
      400,
      'The crop is not available for Ethiopia; its crops are: wheat.',
    ],
    [
      'a name of a country',
      () => post(AT, { lat: 9.5, lng: 38.5, country_code: 'Ethiopia' }),
      400,
      'country_code must be one of eth, gha, ken, rwa.',
    ],
    [
      'the wrong country',
      () => post(AT, { lat: -1.95, lng: 30.06 }),
      404,
      'The point at latitude -1.95, longitude 30.06 lies in Rwanda, not in Ethiopia: send country_code=rwa and crop=potato.',
    ],
    [
      'no token for a field',
      () => post('/advisory/yield', { geometry: rectangle(38.5, 9.5, 38.6, 9.6) }),
      401,
      'This needs `Authorization: Bearer KEY`: POST /auth/login gives a token, POST /auth/keys a key.',
    ],
    [
      'a key without Bearer',
      () => post('/advisory/yield', {}, { ...JSON_BODY, authorization: KEY }),
      401,
      'Send `Authorization: Bearer KEY`: this request has Authorization, but without Bearer.',
    ],
    [
      'a key in X-API-Key',
      () => post('/advisory/yield', {}, { ...JSON_BODY, 'x-api-key': KEY }),
      401,
      'Send `Authorization: Bearer KEY`: this request has the header x-api-key, which is not read.',
    ],
    [
      'a key in the address',
      () => post(`/advisory/yield?api_key=${KEY}`, {}),
      401,
      'Send `Authorization: Bearer KEY`: this request has the parameter api_key, which is not read.',
    ],
    [
      'fertiliser',
      () => get('/fertiliser'),
      404,
      'Path not found: GET /fertiliser. Did you mean /advisory/fertilizer? See /docs.',
    ],
    [
      'capitals in a path',
      () => get('/Advisory/Yield/Point'),
      404,
      'Path not found: GET /Advisory/Yield/Point. Did you mean /advisory/yield/point? See /docs.',
    ],
  ])('%s', async (_name, request, status, sentence) => {
    const answer = await ask(request)
    expect([answer.status, answer.body.error]).toEqual([status, sentence])
    expect(answer.text).not.toContain(KEY)
  })
})

describe('and their neighbours', () => {
  test.each<Mistake>([
    ['part in the query', () => post(`${AT}?lat=9.5&long=38.5`, {}), 400, 'lng is required; you sent long.'],
    [
      'an object around both',
      () => post(AT, { location: { lat: 9.5, lng: 38.5 } }),
      400,
      'lat is required; you sent location: send lat and lng as a number each; lng is required; you sent location: send lat and lng as a number each.',
    ],
    [
      'a compass letter',
      () => get(`${AT}?lat=1.95S&lng=30.06&country_code=rwa&crop=potato`),
      400,
      'lat must be a number from -90 to 90: send -1.95.',
    ],
    [
      'both in one',
      () => get(`${AT}?lat=9.5,38.5&lng=38.5`),
      400,
      'lat must be a number from -90 to 90: send lat and lng as a number each.',
    ],
    [
      'WKT of a point',
      () => post(AT, { lat: 'POINT(38.5 9.5)', lng: 38.5 }),
      400,
      'lat must be a number from -90 to 90: send lat 9.5 and lng 38.5.',
    ],
    [
      'a decimal comma without quotes',
      () => post(AT, '{"lat": 9,5, "lng": 38.5}'),
      400,
      'The body is not valid JSON at line 1, column 11: write decimals with a point, as in 9.5.',
    ],
    [
      'a comma at the end',
      () => post(AT, '{"lat": 9.5, "lng": 38.5,}'),
      400,
      'The body is not valid JSON at line 1, column 26: take the comma before } out.',
    ],
    [
      'names without quotes',
      () => post(AT, '{lat: 9.5, lng: 38.5}'),
      400,
      'The body is not valid JSON at line 1, column 2: write the name in double quotes.',
    ],
    [
      'a body that is a list of points',
      () => post(`${AT}s`, [{ lat: 9.5, lng: 38.5 }]),
      400,
      'The body must be a JSON object, such as {"points": [{"lat": 9.5, "lng": 38.5}]}; you sent a list.',
    ],
    [
      'x and y as columns',
      () => post(`${AT}s`, 'id,y,x\n1,9.5,38.5\n', { 'content-type': 'text/csv' }),
      400,
      'The first line must name the columns, lat and lng among them. It names y and x.',
    ],
    [
      'GeoJSON as text',
      () => asPerson('/advisory/yield', { geometry: JSON.stringify(rectangle(38.5, 9.5, 38.6, 9.6)) }),
      400,
      'geometry must be an object: send it without quotes around it.',
    ],
    [
      'bare positions as a geometry',
      () => asPerson('/advisory/yield', { geometry: [[38.5, 9.5]] }),
      400,
      'geometry must be an object; you sent a list.',
    ],
    [
      'mail',
      () => post('/auth/login', { mail: 'a@b.example', password: 'x' }),
      400,
      'email is required; you sent mail.',
    ],
    [
      'a plural',
      () => get('/advisory/yields/point'),
      404,
      'Path not found: GET /advisory/yields/point. Did you mean /advisory/yield/point? See /docs.',
    ],
    [
      'a version in the path',
      () => get('/v1/advisory/yield/point'),
      404,
      'Path not found: GET /v1/advisory/yield/point. Did you mean /advisory/yield/point? See /docs.',
    ],
    [
      'nothing of the service',
      () => get('/wp-login.php'),
      404,
      'Path not found: GET /wp-login.php. See /docs.',
    ],
  ])('%s', async (_name, request, status, sentence) => {
    const answer = await ask(request)
    expect([answer.status, answer.body.error]).toEqual([status, sentence])
  })

  test('one point of many says its own', async () => {
    const points = [[38.5, 9.5], { lat: 9.5, lon: 38.5 }, { lat: '9.5', lng: 38.5 }, { lat: 9.5, lng: 38.5 }]
    const { status, body } = await ask(() => post(`${AT}s`, { points }))
    expect(status).toBe(200)
    expect(body.items.map(({ error }: { error?: string }) => error)).toEqual([
      'The point must be an object, such as {"lat": 9.5, "lng": 38.5}; you sent a list.',
      'lng is required; you sent lon.',
      'lat must be a number from -90 to 90: send 9.5 without quotes.',
      undefined,
    ])
    const lines = `{"lat":9.5,"lon":38.5}\n{'lat':9.5}\n`
    const { text } = await ask(() => post(`${AT}s`, lines, { 'content-type': 'application/x-ndjson' }))
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).error),
    ).toEqual([
      'lng is required; you sent lon.',
      'The line is not valid JSON at column 2: write straight double quotes (").',
    ])
  })

  test('JSON that curl sends as a form is read', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const { status, body } = await ask(() => post(AT, { lat: 9.5, lng: 38.5 }, form))
    expect([status, body.location.lng]).toEqual([200, 38.5])
    const many = await ask(() => post(`${AT}s`, { points: [{ lat: 9.5, lng: 38.5 }] }, form))
    expect([many.status, many.body.items.length]).toEqual([200, 1])
  })
})
