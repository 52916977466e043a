import { randomUUID } from 'node:crypto'
import { hash } from 'argon2'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { issueToken } from '#src/accounts/account-mail.ts'
import { insertUser } from '#src/accounts/user-queries.ts'
import { call } from '#test/setup/calls.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { PASSWORD, tryLogIn } from '#test/setup/people.ts'
import { withOtherService } from './other-service.ts'

// Runs on a server alone: who waits, and for how long is the same on both.

const service = openApp({ template: 'empty' })
const writer = () => service.database.writer
let email: string

beforeEach(async () => {
  email = await newAccount()
  await writer().deleteFrom('auth_throttle').execute()
})

/** Of a version before: guesses at it take a thirtieth of the time. */
const WEAK = hash(PASSWORD, { memoryCost: 1024, timeCost: 1, parallelism: 1 })

async function newAccount(): Promise<string> {
  const account = { email: `${randomUUID()}@example.org`, name: 'Amina Bekele', organisation: null }
  await insertUser(writer(), { ...account, passwordHash: await WEAK })
  return account.email
}

async function fail(times: number, as = email, address = '127.0.0.1'): Promise<void> {
  for (let count = 0; count < times; count++) {
    expect((await tryLogIn(service.app, as, 'not the password', address)).status).toBe(401)
  }
}

/** As if everybody who has failed had done so this often. */
const setFailures = (failures: number) => writer().updateTable('auth_throttle').set({ failures }).execute()

const send = (url: string, payload: object, from?: string) => service.post(url, { payload, from })

describe('an account tried from one address', () => {
  test('waits after the sixth failure in any case of letters, twice as long after each further one, at most 15 minutes', async () => {
    await fail(3)
    await fail(2, ` ${email.toUpperCase()}`)
    expect(await delay()).toBe(0)
    for (const seconds of [1, 2, 4]) {
      await fail(1)
      expect(await delay()).toBe(seconds)
      await letPass(seconds)
    }
    await setFailures(14)
    for (const seconds of [512, 900, 900]) {
      await letPass(900)
      await fail(1)
      expect(await delay()).toBe(seconds)
    }
    const { status, headers, body } = await send('/auth/login', { email, password: PASSWORD })
    const wait = Number(headers['retry-after'])
    expect(wait).toBeLessThanOrEqual(900)
    expect(wait).toBeGreaterThan(870)
    const error = `Too many attempts; try again in ${wait} s.`
    expect([status, body]).toEqual([429, { error, code: 'TOO_MANY_REQUESTS' }])
  })

  test('waits no longer for asking, is let in as soon as the wait is over, and then or after an hour starts afresh', async () => {
    await failUntilBlocked()
    for (let count = 0; count < 3; count++) expect(await outcome()).toBe(429)
    expect(await delay()).toBe(64)
    await letPass(64)
    expect(await outcome()).toBe(200)
    await fail(5)
    expect(await outcome()).toBe(200)
    await failUntilBlocked()
    await letPass(3601)
    await fail(5)
    expect(await outcome()).toBe(200)
  })

  test('keeps out neither its owner at another address, nor another account there', async () => {
    const other = await newAccount()
    await failUntilBlocked()
    expect(await outcome()).toBe(429)
    expect(await outcome('192.0.2.7')).toBe(200)
    expect(await outcome('127.0.0.1', other)).toBe(200)
    expect((await service.get('/user/profile')).status).toBe(401)
  })

  test('waits though there is no such account', async () => {
    await failUntilBlocked('nobody@example.org')
    expect(await outcome('127.0.0.1', 'nobody@example.org')).toBe(429)
  })

  test('gets few guesses more when many are sent at once', async () => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => tryLogIn(service.app, email, 'not the password')),
    )
    const guesses = responses.filter(({ status }) => status === 401)
    // One more may be under way already; and the first delay is only a second.
    expect(guesses.length).toBeGreaterThanOrEqual(6)
    expect(guesses.length).toBeLessThanOrEqual(9)
  })
})

describe('an address', () => {
  test('waits after 100 failures at different accounts, a minute at most', async () => {
    await fail(1, 'one@example.org')
    await setFailures(99)
    await fail(1, 'two@example.org')
    expect(await delay()).toBe(0)
    await fail(1, 'three@example.org')
    expect(await delay()).toBe(1)
    await letPass(1)
    await setFailures(110)
    await fail(1, 'four@example.org')
    expect(await delay()).toBe(60)

    expect(await outcome()).toBe(429)
    const registration = { email: 'late@example.org', password: PASSWORD, name: 'Late' }
    expect((await send('/auth/register', registration)).status).toBe(429)
    expect(await outcome('192.0.2.8')).toBe(200)
    await letPass(60)
    expect(await outcome()).toBe(200)
  })

  test('with many made-up tokens waits with further ones, and logs in all the same', async () => {
    const made = async () => (await send('/auth/refresh', { refresh_token: 'x'.repeat(43) })).status
    expect(await made()).toBe(401)
    await setFailures(105)
    expect([await made(), await made()]).toEqual([401, 429])
    expect((await send('/auth/confirm', { token: 'x' })).status).toBe(429)
    const { status, body } = await send('/auth/login', { email, password: PASSWORD })
    expect(status).toBe(200)
    // A token that is valid nobody guesses.
    const { refresh_token } = body
    expect((await send('/auth/refresh', { refresh_token })).status).toBe(200)
  })
})

test.each([
  ['/56', (network: number) => `2001:db8:1:${network.toString(16)}::1`, 20],
  ['/48', (network: number) => `2001:db8:1:${network.toString(16)}00::1`, 80],
])(
  'guesses at an account from the many networks of one %s are counted together',
  async (_, address, free) => {
    await fail(1, email, address(1))
    await setFailures(free - 1)
    await fail(1, email, address(2))
    expect(await delay()).toBe(0)
    await fail(1, email, address(3))
    expect(await delay()).toBe(1)
    expect(await outcome('2001:db8:2::1')).toBe(200)
  },
)

describe('an account that is guessed at from everywhere', () => {
  /** As if there had been a hundred guesses in the last hour, from as many addresses. */
  async function guessedAt(): Promise<void> {
    await fail(1, email, '198.51.100.1')
    await setFailures(100)
    await fail(1, email, '198.51.100.2')
  }

  test('is slowed down, whether or not there is one, and its owner gets in with the right password', async () => {
    for (const [as, status] of [
      [email, 200],
      ['nobody-at-all@example.org', 401],
    ] as const) {
      email = as
      await guessedAt()
      const began = performance.now()
      expect(await outcome('192.0.2.9')).toBe(status)
      expect(performance.now() - began).toBeGreaterThanOrEqual(1000)
    }
  })

  function countWaiting(): number {
    const samples = service.app.metrics.readers().get('agro_queue_waiting') ?? []
    const waiting = samples.flatMap((read) => read()).find(({ labels }) => labels?.queue === 'passwords')
    return Number(waiting?.value)
  }

  /**
   * What guesses from elsewhere and something of the owner's end with, in the order in which they end. Two guesses at
   * a time pause for a second; some wait still when the owner comes.
   */
  async function besideGuesses(own: () => Promise<{ status: number }>): Promise<string[]> {
    const finished: string[] = []
    const guesses = [3, 4, 5, 6, 7, 8].map(async (host) => {
      await fail(1, email, `198.51.100.${host}`)
      finished.push('guess')
    })
    await vi.waitFor(() => expect(countWaiting()).toBeGreaterThanOrEqual(2), { ...PATIENCE, interval: 10 })
    const owner = own().then(({ status }) => finished.push(`owner ${status}`))
    await Promise.all([...guesses, owner])
    return finished
  }

  const OWNERS = '192.0.2.1'

  test.each<[string, () => Promise<unknown>]>([
    [
      'a session was begun, though it has ended',
      async () => {
        const login = { email, password: PASSWORD }
        const by = (await send('/auth/login', login, OWNERS)).body.access_token
        expect((await service.post('/auth/logout', { by })).status).toBe(204)
      },
    ],
    [
      'a new password was chosen with a token, which did not wait either',
      async () => {
        const { token } = (await issueToken(writer(), email, 'password_reset', 1)) ?? {}
        await guessedAt()
        const reset = () => send('/auth/password/reset', { token, password: PASSWORD }, OWNERS)
        expect((await besideGuesses(reset)).slice(0, -2)).toContain('owner 204')
        await writer().deleteFrom('auth_throttle').execute()
      },
    ],
  ])('does not keep its owner waiting where %s', async (_, be) => {
    await be()
    await guessedAt()
    const ends = await besideGuesses(() => send('/auth/login', { email, password: PASSWORD }, OWNERS))
    expect(ends.slice(0, -2)).toContain('owner 200')
  })
})

test('neither addresses nor e-mails can be read from the table', async () => {
  await fail(1)
  const rows = await writer().selectFrom('auth_throttle').selectAll().execute()
  expect(rows.map(({ subject }) => subject.length)).toEqual([32, 32, 32])
})

test('100 logins at once with the right password of one account, from as many addresses, turn nobody else away', async () => {
  const others = await Promise.all(Array.from({ length: 6 }, newAccount))
  const crowd = Array.from({ length: 100 }, (_, index) =>
    tryLogIn(service.app, email, PASSWORD, `198.51.${index}.1`),
  )
  const statuses = others.map((other, index) => outcome(`192.0.2.${index}`, other))
  expect(await Promise.all(statuses)).toEqual([200, 200, 200, 200, 200, 200])
  const ofCrowd = await Promise.all(crowd)
  const letIn = ofCrowd.filter(({ status }) => status === 200)
  const turnedAway = ofCrowd.filter(({ status }) => status === 503)
  expect(letIn.length).toBeGreaterThanOrEqual(60)
  expect(turnedAway.length).toBeGreaterThan(0)
  expect(letIn.length + turnedAway.length).toBe(100)
  for (const { headers, text } of turnedAway) {
    expect([headers['retry-after'], JSON.parse(text).code]).toEqual(['1', 'OVERLOADED'])
  }
})

test('behind trusted proxies an address is the one that the last of them names', async () => {
  const cases: [proxy: string, forwarded: (guess: number) => string, seconds: number][] = [
    ['10.9.1.1', () => '198.51.100.1', 1],
    ['10.9.1.1', (guess) => `198.51.100.${guess}`, 0],
    // Whoever is not trusted cannot escape by making up addresses.
    ['203.0.113.5', (guess) => `192.0.2.${guess}`, 1],
    ['10.9.1.1', (guess) => `1.1.1.${guess}, 203.0.113.5`, 1],
    ['10.9.1.1', (guess) => `198.51.100.1:${guess}, 10.9.2.2:${guess}`, 1],
    // Addresses that are none are one.
    ['10.9.1.1', (guess) => `made-up-${guess}`, 1],
  ]
  await withOtherService(service, { TRUSTED_PROXIES: '10.9.0.0/16, ::1' }, async (app) => {
    for (const [from, forwarded, seconds] of cases) {
      await writer().deleteFrom('auth_throttle').execute()
      for (const guess of [1, 2]) {
        const headers = { 'x-forwarded-for': forwarded(guess) }
        const payload = { email, password: 'wrong' }
        await call(app, 'POST /auth/login', { payload, from, headers })
        if (guess === 1) await setFailures(5)
      }
      expect(await delay(), forwarded(1)).toBe(seconds)
    }
  })
})

async function outcome(address = '127.0.0.1', as = email): Promise<number> {
  return (await tryLogIn(service.app, as, PASSWORD, address)).status
}

/** The clock is the database's: what happened is made to have happened earlier. */
async function letPass(seconds: number): Promise<void> {
  await sql`
    update auth_throttle set
      first_failure_at = first_failure_at - make_interval(secs => ${seconds}),
      last_failure_at = last_failure_at - make_interval(secs => ${seconds}),
      blocked_until = blocked_until - make_interval(secs => ${seconds})`.execute(writer())
}

/** The longest delay in seconds that somebody has been given. */
async function delay(): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select max(extract(epoch from blocked_until - last_failure_at))::float8 as seconds
    from auth_throttle`.execute(writer())
  return rows[0]?.seconds as number
}

/** Fails until there is a delay that is long enough not to be over before the test is. */
async function failUntilBlocked(as = email): Promise<void> {
  await fail(1, as)
  await setFailures(11)
  await fail(1, as)
  expect(await delay()).toBe(64)
}
