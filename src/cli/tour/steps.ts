import type { Answer, Call } from './calls.ts'

/** What answers have given, for the calls that come after. */
export interface Known {
  email: string
  password: string
  token?: string
  etag?: string
}

/** A call of the tour, and what it is there to show. */
export interface Step {
  title: string
  call(known: Known): Call
  /** The status that the story goes on with. */
  status: number
  /** What to see in the answer. */
  meaning: string
  learn?(answer: Answer): Partial<Known>
}

const FIELD = {
  type: 'Polygon',
  coordinates: [
    [
      [38.5, 9.5],
      [38.51, 9.5],
      [38.51, 9.51],
      [38.5, 9.5],
    ],
  ],
}

const YIELD_AT_POINT = '/advisory/yield/point?lat=9.5&lng=38.5&crop=wheat&country_code=eth'

/** What everybody may ask. */
export const OPEN_STEPS: readonly Step[] = [
  {
    title: 'What is published?',
    call: () => ({ method: 'GET', path: '/catalog' }),
    status: 200,
    meaning:
      'The catalog lists countries, crops, products and releases, and says what their words mean. A release is one dataset, which never changes.',
  },
  {
    title: 'What will wheat yield here?',
    call: () => ({ method: 'GET', path: YIELD_AT_POINT }),
    status: 200,
    meaning:
      'The answer names the release that it comes from, the month that it is for, and a value for each scenario of the season. Where synthetic is true, a formula has made the numbers: they are not advice.',
    learn: ({ headers }) => ({ etag: headers.get('etag') ?? undefined }),
  },
  {
    title: 'Is what I have still right?',
    call: ({ etag = '""' }) => ({ method: 'GET', path: YIELD_AT_POINT, headers: { 'If-None-Match': etag } }),
    status: 304,
    meaning:
      'It is: 304 has no body. The tag is that of the answer before, and stays the same for as long as the same release answers, so browsers and caches need not ask twice.',
  },
  {
    title: 'Everything for one place, in one call',
    call: () => ({
      method: 'POST',
      path: '/advisory/point',
      body: { lat: -1.95, lng: 30.06, crop: 'potato', country_code: 'rwa', name: 'My farm' },
    }),
    status: 200,
    meaning:
      'Yield, fertilizer, organic inputs and forage, each with its data or the reason why there are none. Parameters go in a body, in the query, or in both.',
  },
  {
    title: 'A place that lies elsewhere',
    call: () => ({ method: 'POST', path: '/advisory/yield/point?lat=-1&lng=36.5' }),
    status: 404,
    meaning:
      'Errors have a sentence for people, a code for programs and an id that the log has, too. No answer is ever taken from a neighbouring pixel, and no missing value is a 0.',
  },
  {
    title: 'Many points, as a table',
    call: () => ({
      method: 'POST',
      path: '/advisory/fertilizer/points?crop=potato&country_code=rwa',
      headers: { Accept: 'text/csv' },
      body: {
        points: [
          { id: 'A1', lat: -1.95, lng: 30.06 },
          { id: 'A2', lat: -2.3, lng: 29.7 },
          { id: 'A3', lat: 9.5, lng: 38.5 },
        ],
      },
    }),
    status: 200,
    meaning:
      'A row for each point, in their order and all by one release; what is wrong with one is said in its row. JSON, NDJSON and GeoJSON work as well, up to 1,000 points, and 20,000 with a token.',
  },
]

/** What takes an account, which the first of them makes and the last one deletes. */
export const ACCOUNT_STEPS: readonly Step[] = [
  {
    title: 'An account',
    call: ({ email, password }) => ({
      method: 'POST',
      path: '/auth/register',
      body: { email, password, name: 'Visitor of the tour' },
    }),
    status: 201,
    meaning: 'Fields, areas and a history of your own need an account. The tour deletes this one at its end.',
  },
  {
    title: 'A token',
    call: ({ email, password }) => ({ method: 'POST', path: '/auth/login', body: { email, password } }),
    status: 200,
    meaning:
      'The access token is valid for some minutes, and the refresh token gets a new one. Servers take a key instead: POST /auth/keys. From here on, $TOKEN stands for the access token.',
    learn: ({ json }) => ({ token: (json as { access_token?: string }).access_token }),
  },
  {
    title: 'How much fertilizer for a field?',
    call: ({ token }) => ({ method: 'POST', path: '/advisory/fertilizer', token, body: { geometry: FIELD } }),
    status: 200,
    meaning:
      'For a polygon there are the mean, the spread and the total. A pixel counts by the part of it that lies inside, so that a field smaller than a pixel has an answer.',
  },
  {
    title: 'All districts of a country',
    call: ({ token }) => ({
      method: 'POST',
      path: '/advisory/isfm/polygons',
      token,
      headers: { Accept: 'text/csv' },
      body: { admin: { country_code: 'rwa', level: 1 }, crop: 'potato' },
    }),
    status: 200,
    meaning:
      'One call for all areas of a level, or for a thousand fields of your own, streamed as they are computed.',
  },
  {
    title: 'What was I told?',
    call: ({ token }) => ({ method: 'GET', path: '/history/my?limit=1', token }),
    status: 200,
    meaning:
      'What is answered with a token is kept for its owner, as it was, whatever is published later; feedback says how it turned out.',
  },
  {
    title: 'And away with it',
    call: ({ token }) => ({ method: 'DELETE', path: '/user/profile', token }),
    status: 200,
    meaning: 'The account is gone with its history, its tokens and its keys.',
    learn: () => ({ token: undefined }),
  },
]
