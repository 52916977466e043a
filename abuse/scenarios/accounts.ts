import { randomBytes, randomUUID } from 'node:crypto'
import { median } from '#bench/bench.ts'
import { ask } from '#bench/load/client.ts'
import { flood } from '../attacks.ts'
import type { Scenario } from '../scenario.ts'

export const logins: Scenario = {
  name: 'logins',
  attacker: 'logs in to an own account with the right password over 100 connections',
  victims: ['login', 'history'],
  async begin({ newcomer }) {
    const attacker = await newcomer()
    const { email, password } = attacker
    return flood([attacker], 100, () => ({ path: '/auth/login', body: { email, password } }))
  },
}

export const refreshTokens: Scenario = {
  name: 'refresh-tokens',
  attacker: 'sends 105 made-up refresh tokens, from an address at which somebody else then logs in',
  victims: ['login'],
  async begin({ newcomer }) {
    const neighbour = await newcomer()
    const madeUp = () => ({ refresh_token: randomBytes(32).toString('base64url') })
    for (let count = 0; count < 105; count++) await ask(neighbour, { path: '/auth/refresh', body: madeUp() })
    const { email, password } = neighbour
    const { status } = await ask(neighbour, { path: '/auth/login', body: { email, password } })
    return {
      stop: async () => [
        {
          what: 'logins from that address that are refused',
          value: status === 200 ? 0 : 1,
          unit: '',
          limit: 0,
        },
      ],
    }
  },
}

export const madeUpTokens: Scenario = {
  name: 'made-up-tokens',
  attacker: 'sends another made-up key with each request over 100 connections',
  victims: ['kept point', 'history'],
  async begin({ newcomer }) {
    const attacker = { ...(await newcomer()), token: undefined }
    return flood([attacker], 100, () => ({
      method: 'GET',
      path: '/history/my',
      headers: { authorization: `Bearer agro_${randomBytes(32).toString('base64url')}` },
    }))
  },
}

/** So many registrations of each sort. */
const PAIRS = 15
/** Noise of a machine that does other things, too. */
const MOST_DIFFERENT = 1.25

export const registrationTiming: Scenario = {
  name: 'registration-timing',
  attacker: 'registers e-mails with and without an account by turns, and compares the times',
  victims: ['login'],
  async begin({ newcomer }) {
    const taken = await newcomer()
    const times = { taken: [] as number[], free: [] as number[] }
    for (let pair = 0; pair < PAIRS; pair++) {
      for (const sort of ['taken', 'free'] as const) {
        const email = sort === 'taken' ? taken.email : `${randomUUID()}@example.org`
        const body = { email, password: randomUUID(), name: 'x' }
        const attacker = { ...taken, token: undefined, address: `127.9.${pair}.${sort === 'taken' ? 1 : 2}` }
        const { ms } = await ask(attacker, { path: '/auth/register', body })
        times[sort].push(ms)
      }
    }
    const [one, other] = [median(times.taken), median(times.free)]
    return {
      stop: async () => [
        {
          what: 'times that the slower sort takes the time of the other',
          value: Math.max(one, other) / Math.min(one, other),
          unit: '',
          limit: MOST_DIFFERENT,
        },
      ],
    }
  },
}
