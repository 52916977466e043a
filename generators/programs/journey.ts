/** What each client is made to do. It throws where an answer is not what it should be. */
export const BASE_URL = process.env.BASE_URL ?? 'http://127.0.0.1:3000'

/** Somebody whom nothing else depends on. */
export const ACCOUNT = {
  email: `generators-${process.pid}-${Date.now()}@example.org`,
  password: 'teff grows at dawn',
  name: 'Amina Bekele',
}

export const POINT = { lat: 9.5, lng: 38.5 }

export const FIELD = [
  [
    [38.5, 9.5],
    [38.62, 9.5],
    [38.6, 9.58],
    [38.5, 9.5],
  ],
]

export const FEEDBACK = { rating: 4, comment: 'The harvest came close to it.' }

/** The answers of a journey, as far as they are the same whatever product is asked about. */
export interface Journey {
  tokenType: string
  scenarios: string[]
  hectares: number
  ids: unknown[]
  kinds: string[]
  rating: number
}

export function check(journey: Journey): void {
  const { hectares, ...exact } = journey
  const expected: Omit<Journey, 'hectares'> = {
    tokenType: 'Bearer',
    scenarios: ['Above Normal', 'Normal', 'Below Normal', 'Dominant'],
    ids: ['A1', 2],
    kinds: ['polygon', 'point'],
    rating: 4,
  }
  const [is, should] = [exact, expected].map((value) => JSON.stringify(value, Object.keys(expected).sort()))
  if (is !== should) throw new Error(`${is} is not ${should}`)
  if (!(hectares > 1000)) throw new Error(`the field has ${hectares} ha`)
  console.log('login, point, polygon, batch, history and feedback: as expected')
}
