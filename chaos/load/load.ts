import { setTimeout } from 'node:timers/promises'
import type { Cleanup } from '#bench/cleanup.ts'
import { startChild } from '#bench/load/child.ts'
import { ask, type Client, join, makeKey } from '#bench/load/client.ts'
import type { ReleaseStage } from '../fault.ts'
import { comparable } from './callers.ts'
import type { Account, Heard, Known, Ledger, Plan } from './plan.ts'

/** The load's process, which asks from `begin` until `stop`. */
export interface Load {
  begin(plan: Plan): void
  stop(): Promise<Heard>
}

export function startLoad(cleanup: Cleanup): Load {
  const child = startChild<Plan | 'stop', Heard>(cleanup, 'chaos/load/process.ts')
  return { begin: child.tell, stop: () => child.ask('stop') }
}

/** Longer than a release answers that is not published any more. */
const SETTLE_MS = 2500

const SERIES = { crop: 'wheat', country_code: 'eth' }
const SPOTS = [9.1, 9.3, 9.5, 9.7].flatMap((lat) => [38.5, 38.7].map((lng) => ({ ...SERIES, lat, lng })))
const FIELD = { type: 'Polygon', coordinates: [rectangle(38.5, 9.5, 38.7, 9.6)] }
const COUNTRIES = { eth: [4, 14, 34, 46], ken: [-4, 4, 34, 41], gha: [5, 11, -3, 1], rwa: [-3, -1, 29, 31] }

function rectangle(west: number, south: number, east: number, north: number): number[][] {
  return [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
}

/** What is asked for answers: a service, and which of two releases answers where there are two. */
interface Learnt {
  service: { port: number }
  releases?: ReleaseStage
}

/** Asks the service, while nothing happens to it, for everything whose answers have to stay as they are. */
export async function learnAnswers({ service, releases }: Learnt): Promise<Plan['known']> {
  const member = await join(client(service.port))
  const known: Plan['known'] = {
    point: SPOTS.map((spot) => knownOf('/advisory/yield/point', spot)),
    'point from the database': placesOf(COUNTRIES).map((place) => knownOf('/advisory/forage/point', place)),
    batch: [knownOf('/advisory/yield/points', { points: SPOTS.map((spot, id) => ({ ...spot, id })) })],
    polygon: [knownOf('/advisory/yield', { ...SERIES, geometry: FIELD })],
    catalog: [{ path: '/catalog', method: 'GET', answers: {} }],
  }
  const learn = async (list: Known[], published = '') => {
    for (const question of list) {
      const { answers, ...sent } = question
      const { status, body, headers } = await ask(member, sent)
      const release = headers['advisory-release'] ?? JSON.parse(body).release ?? published
      if (status === 200) answers[String(release)] = comparable(body)
    }
  }
  await learn(Object.values(known).flat(), releases?.first)
  if (releases) {
    await releases.publish(releases.second)
    await setTimeout(SETTLE_MS)
    await learn([...known.point, ...known.batch, ...known.polygon, ...known.catalog], releases.second)
    await releases.publish(releases.first)
    await setTimeout(SETTLE_MS)
  }
  for (const what of ['point', 'point from the database'] as const) {
    known[what] = known[what].filter(({ answers }) => Object.keys(answers).length > 0)
  }
  return known
}

/** The codes of the districts of Ethiopia. */
export async function listDistricts(port: number): Promise<string[]> {
  const path = '/ogc/collections/areas-eth-2/items?limit=1000&max-allowable-offset=0.5'
  const { body } = await ask(client(port), { method: 'GET', path })
  return JSON.parse(body).features.map(({ id }: { id: string }) => id)
}

/** What a new account asks. */
export async function planFor(port: number, known: Plan['known']): Promise<Plan> {
  const { email, password, token, refreshToken } = await join(client(port))
  const visitor = await join(client(port))
  const [spot] = known.point as [Known]
  const key = await makeKey(client(port, token))
  const account: Account = { email, password, access_token: token, refresh_token: refreshToken, key }
  const keptPoint = { path: spot.path, body: JSON.parse(spot.body as string), answers: spot.answers }
  return { port, account, visitor: { email: visitor.email, password: visitor.password }, known, keptPoint }
}

/** How much the service has acknowledged. */
export function acknowledgedIn({ kept, deleted, rated, registered, keys, endedKeys }: Ledger): number {
  return [kept, deleted, rated, registered, keys, endedKeys].reduce((sum, { length }) => sum + length, 0)
}

export function client(port: number, token?: string): Client {
  return { port, address: '127.3.0.1', token }
}

const knownOf = (path: string, body: object): Known => ({
  path,
  method: 'POST',
  body: JSON.stringify(body),
  answers: {},
})

/** Places a third of a degree apart, each in a tile that others are not in. */
function placesOf(countries: Record<string, number[]>): object[] {
  return Object.entries(countries).flatMap(([country_code, [south, north, west, east]]) => {
    const places = []
    for (let lat = south as number; lat < (north as number); lat += 0.8) {
      for (let lng = west as number; lng < (east as number); lng += 0.8) {
        places.push({ country_code, lat: Number(lat.toFixed(2)), lng: Number(lng.toFixed(2)) })
      }
    }
    return places
  })
}
