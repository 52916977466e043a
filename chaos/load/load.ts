import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { ask, type Client, type Sent } from '#abuse/client.ts'
import type { Cleanup } from '#bench/cleanup.ts'
import { stopProcess } from '#bench/processes.ts'
import type { ReleaseStage } from '../fault.ts'
import { comparable } from './callers.ts'
import type { Account, Heard, Known, Ledger, Plan } from './plan.ts'

/** The load's process, which asks from `begin` until `stop`. */
export interface Load {
  begin(plan: Plan): void
  stop(): Promise<Heard>
}

export function startLoad(cleanup: Cleanup): Load {
  const child: ChildProcess = spawn(process.execPath, ['bin/run.mjs', 'chaos/load/process.ts'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
  })
  cleanup.add(() => stopProcess(child))
  return {
    begin: (plan) => void child.send(plan),
    stop: () =>
      new Promise((resolve, reject) => {
        const ended = () => reject(new Error('the load ended'))
        child.once('exit', ended)
        child.once('message', (heard: Heard) => {
          child.off('exit', ended)
          resolve(heard)
        })
        child.send('stop')
      }),
  }
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
  const client = await newcomer(service.port)
  const known: Plan['known'] = {
    point: SPOTS.map((spot) => knownOf('/advisory/yield/point', spot)),
    'point from the database': placesOf(COUNTRIES).map((place) => knownOf('/advisory/forage/point', place)),
    batch: [knownOf('/advisory/yield/points', { points: SPOTS.map((spot, id) => ({ ...spot, id })) })],
    polygon: [knownOf('/advisory/yield', { ...SERIES, geometry: FIELD })],
    catalog: [{ path: '/catalog', method: 'GET', answers: {} }],
  }
  const learn = async (list: Known[], published = '') => {
    for (const question of list) {
      const { status, body, headers } = await ask(client, sentOf(question))
      const release = headers['advisory-release'] ?? JSON.parse(body).release ?? published
      if (status === 200) question.answers[String(release)] = comparable(body)
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

/** What a new account asks. */
export async function planFor(port: number, known: Plan['known']): Promise<Plan> {
  const { email, password, token } = await newcomer(port)
  const visitor = await newcomer(port)
  const [spot] = known.point as [Known]
  const answers = await ask(client(port, token), { path: '/auth/keys', body: '{"name":"chaos"}' })
  const login = await ask(client(port), { path: '/auth/login', body: JSON.stringify({ email, password }) })
  const account: Account = { email, password, ...JSON.parse(login.body), key: JSON.parse(answers.body).key }
  const keptPoint = { path: spot.path, body: JSON.parse(spot.body as string), answers: spot.answers }
  return { port, account, visitor: { email: visitor.email, password: visitor.password }, known, keptPoint }
}

/** How much the service has acknowledged. */
export function acknowledgedIn({ kept, deleted, rated, registered, keys, endedKeys }: Ledger): number {
  return [kept, deleted, rated, registered, keys, endedKeys].reduce((sum, { length }) => sum + length, 0)
}

export function client(port: number, token?: string): Client {
  return { port, address: '127.3.0.1', token, email: '', password: '' }
}

async function newcomer(port: number): Promise<Client> {
  const account = { email: `${randomUUID()}@example.org`, password: randomUUID(), name: 'Chaos' }
  await ask(client(port), { path: '/auth/register', body: JSON.stringify(account) })
  const { status, body } = await ask(client(port), { path: '/auth/login', body: JSON.stringify(account) })
  if (status !== 200) throw new Error(`the login was answered ${status} ${body}`)
  return { ...client(port, JSON.parse(body).access_token), ...account }
}

const knownOf = (path: string, body: object): Known => ({
  path,
  method: 'POST',
  body: JSON.stringify(body),
  answers: {},
})

function sentOf({ path, method, body }: Known): Sent {
  return { path, method, ...(body !== undefined && { body }) }
}

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
