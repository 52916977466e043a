import type { Config } from '#src/config.ts'
import type { App } from '#src/http/app.ts'
import { startApp } from './app.ts'
import { call } from './calls.ts'
import { newPerson, type Person } from './people.ts'
import { rectangle } from './square.ts'
import { codeOfStep, stepAt } from './totp.ts'
import { turnOn } from './two-factor.ts'

/** What somebody who has used a service for a while has there, and in hand. */
export interface Usage {
  person: Person
  /** What the authenticator app has, and the codes on paper. */
  secret: Buffer
  recoveryCodes: string[]
  /** A key that was made, and the ids of what is in the history. */
  key: string
  history: string[]
}

const PRODUCTS = ['yield', 'fertilizer', 'isfm', 'forage']

/** Around it there are values of the demo, and borders. */
const PLACES = [
  { country_code: 'eth', crop: 'wheat', lat: 9.5, lng: 38.5 },
  { country_code: 'rwa', crop: 'potato', lat: -1.95, lng: 30.06 },
]

/** What is hard to write down. */
const COMMENT = 'a "quote", a \\backslash, (brackets), {braces},\nlines\u2028of all kinds\tand ጤፍ 🌾'

const squareAt = ({ lat, lng }: (typeof PLACES)[number]) => rectangle(lng, lat, lng + 0.01, lat + 0.01)

/** Asks with an id of the request that the answers of two services have in common. */
const send = (app: App, request: string, token: string, payload?: object) =>
  call(app, request, { payload, headers: { authorization: `Bearer ${token}`, 'x-request-id': 'the-same' } })

/** Starts the service on a database for some work, and stops it. */
export async function withService<Result>(
  config: Config,
  work: (app: App) => Promise<Result>,
): Promise<Result> {
  const { app, close } = await startApp(config)
  return work(app).finally(close)
}

/** Registers somebody who asks for advice of each kind, says what came of it, makes a key and turns on a second factor. */
export async function useService(app: App): Promise<Usage> {
  const person = await newPerson(app)
  const ask = async (url: string, payload: object) => {
    const { status, text, body } = await send(app, `POST ${url}`, person.access_token, payload)
    if (status >= 300) throw new Error(text)
    return body
  }
  const history: string[] = []
  for (const place of PLACES) {
    history.push((await ask('/advisory/yield/point', { ...place, name: COMMENT })).history_id)
    history.push((await ask('/advisory/point', place)).history_id)
    const { crop, country_code } = place
    history.push((await ask('/advisory/isfm', { geometry: squareAt(place), crop, country_code })).history_id)
  }
  await ask('/advisory/fertilizer/points', { points: [PLACES[0]] })
  await ask(`/history/${history[0]}/feedback`, {
    rating: 4,
    comment: COMMENT,
    observed: { yield_kg_ha: 3100.1, harvested_on: '2024-02-29' },
  })
  const { key } = await ask('/auth/keys', { name: COMMENT.slice(0, 20), scopes: ['history'] })
  return { person, key, history, ...(await turnOn(app, person)) }
}

/** Answers by what was asked, each with its status. */
export type Answers = Record<string, string>

/**
 * What a service answers: the catalogue, areas and points to anybody, polygons and places; and to the somebody what
 * is kept. What each answer makes anew is left out.
 *
 * @param count how many points are asked for, by turns of all products
 */
export async function answersOf(app: App, { person, key, history }: Usage, count: number): Promise<Answers> {
  const answers: Answers = {}
  async function ask(request: string, payload?: object, token = person.access_token) {
    const { status, text } = await send(app, request, token, payload)
    const body = text.replaceAll(/"history_id":"[^"]*"/g, '"history_id":"new"')
    answers[`${request} ${payload ? JSON.stringify(payload) : ''}`] = `${status} ${body}`
  }

  for (const id of history) await ask(`GET /history/${id}`)
  for (const path of ['/history/my?limit=2', '/history/my?kind=polygon', '/stats', '/user/profile']) {
    await ask(`GET ${path}`)
  }
  for (const path of ['/auth/keys', '/auth/sessions', '/auth/two-factor', '/catalog'])
    await ask(`GET ${path}`)
  await ask('GET /history/my', undefined, key)
  for (const { country_code } of PLACES) {
    for (const level of [0, 1, 2]) await ask(`GET /admin?country_code=${country_code}&level=${level}`)
  }
  for (const product of PRODUCTS) {
    for (const place of PLACES) {
      const { crop, country_code } = place
      await ask(`POST /advisory/${product}`, { geometry: squareAt(place), crop, country_code })
    }
  }
  for (let index = 0; index < count; index++) {
    const { lat, lng, ...place } = PLACES[index % PLACES.length] as (typeof PLACES)[number]
    // A spiral outwards, from the middle of a country to beyond its borders.
    const [angle, distance] = [index * 2.4, 4 * Math.sqrt(index / count)]
    const point = { lat: lat + distance * Math.sin(angle), lng: lng + distance * Math.cos(angle) }
    const path = index % 5 < 4 ? `/advisory/${PRODUCTS[index % 5]}/point` : '/validate_location'
    await ask(`POST ${path}`, { ...place, ...point }, index % 5 < 4 ? '' : undefined)
  }
  return answers
}

/** Logs in with the password and the second factor: first by the app, then by a code on paper. */
export async function logInTwice(app: App, { person, secret, recoveryCodes }: Usage): Promise<number[]> {
  const { email, password } = person
  const totp = codeOfStep(secret, stepAt(Date.now()) + 1)
  const attempts = [{}, { totp }, { recovery_code: recoveryCodes[0] }]
  const statuses: number[] = []
  for (const shown of attempts) {
    const payload = { email, password, ...shown }
    statuses.push((await call(app, 'POST /auth/login', { payload })).status)
  }
  return statuses
}
