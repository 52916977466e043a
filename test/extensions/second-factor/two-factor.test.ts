import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import type { App } from '#src/http/app.ts'
import { endWaits } from '#test/accounts/mails.ts'
import { withOtherService } from '#test/accounts/other-service.ts'
import { recordsOf } from '#test/accounts/records.ts'
import { type Caller, call } from '#test/setup/calls.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { logIn, newPerson, PASSWORD, type Person } from '#test/setup/people.ts'
import { codeOfStep, stepAt } from '#test/setup/totp.ts'
import { bytesOf, turnOn } from '#test/setup/two-factor.ts'

// Runs on a server alone: what a code is worth is the same on both.

const service = openApp({ template: 'empty' })
const writer = () => service.database.writer
let person: Person

beforeEach(async () => {
  await endWaits(service.database)
  person = await newPerson(service.app)
})

async function send(url: string, payload: object, { by = person as Caller, app = service.app } = {}) {
  const { status, body } = await call(app, `POST ${url}`, { by, payload })
  return { status, code: body?.code, body }
}

const status = async (app: App = service.app) =>
  (await call(app, 'GET /auth/two-factor', { by: person })).body

const IN = [200, undefined]
const WRONG = [401, 'INVALID_CODE']
const NEEDED = [401, 'TWO_FACTOR_REQUIRED']

/** Another time at which no code was used yet. */
const forgetSteps = () => sql`update two_factor set last_step = 0`.execute(writer())

describe('a second factor', () => {
  test('is turned on with the password and a code, and off with both', async () => {
    expect(await status()).toEqual({ enabled: false, required: false, recovery_codes: 0 })
    expect(await send('/auth/two-factor', { password: 'a wrong one' })).toMatchObject({ status: 403 })
    const begun = await send('/auth/two-factor', { password: PASSWORD })
    expect(begun).toMatchObject({ status: 200, body: { secret: expect.stringMatching(/^[A-Z2-7]{32}$/) } })
    const uri = new URL(begun.body.uri)
    expect(decodeURIComponent(uri.pathname)).toMatch(new RegExp(`:${person.email}$`))
    expect(uri.searchParams.get('secret')).toBe(begun.body.secret)
    expect(await status()).toMatchObject({ enabled: false })
    expect(await tryIn({})).toEqual(IN)

    const secret = bytesOf(begun.body.secret)
    const totp = codeOfStep(secret, stepAt(Date.now()))
    expect(await send('/auth/two-factor/confirm', { totp: `${totp.slice(0, 3)} ${totp.slice(3)}` })).toEqual({
      status: 200,
      body: { recovery_codes: Array(10).fill(expect.stringMatching(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/)) },
    })
    expect(await status()).toEqual({ enabled: true, required: false, recovery_codes: 10 })
    expect(await tryIn({})).toEqual(NEEDED)

    const next = codeOfStep(secret, stepAt(Date.now()) + 1)
    const disable = (shown: object) => send('/auth/two-factor/disable', shown)
    const wrong = await disable({ password: 'a wrong one', totp: next })
    expect(wrong).toMatchObject({ status: 403, body: { error: 'The current password is wrong.' } })
    expect(await disable({ password: PASSWORD })).toMatchObject({ status: 403 })
    expect(await disable({ password: PASSWORD, totp: next })).toEqual({ status: 204 })
    expect(await status()).toEqual({ enabled: false, required: false, recovery_codes: 0 })
    expect(await tryIn({})).toEqual(IN)
  })

  test('is not confirmed by a wrong code, before it is begun, or twice; the newest beginning counts', async () => {
    const confirm = (totp: string) => send('/auth/two-factor/confirm', { totp })
    expect(await confirm('123456')).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    const begin = () => send('/auth/two-factor', { password: PASSWORD })
    const [first, second] = [await begin(), await begin()].map(({ body }) => bytesOf(body.secret))
    const now = stepAt(Date.now())
    expect(await confirm(codeOfStep(first as Buffer, now))).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect(await confirm(codeOfStep(second as Buffer, now))).toMatchObject({ status: 200 })
    expect(await confirm(codeOfStep(second as Buffer, now))).toMatchObject({ status: 404 })
    expect(await begin()).toMatchObject({ status: 409, code: 'TWO_FACTOR_ON' })
  })

  test('is turned on by nobody who tries codes', async () => {
    await send('/auth/two-factor', { password: PASSWORD })
    const statuses: number[] = []
    while (statuses.at(-1) !== 429 && statuses.length < 20) {
      statuses.push((await send('/auth/two-factor/confirm', { totp: '123456' })).status)
    }
    expect([statuses.length, new Set(statuses)]).toEqual([7, new Set([403, 429])])
  })

  test('ends the other sessions, which have shown the password alone, and is stored so that no codes come of it', async () => {
    const elsewhere = await logIn(service.app, person.email)
    const { secret, recoveryCodes } = await turnOn(service.app, person)
    const ask = async (by: Person) => (await service.get('/user/profile', { by })).status
    expect([await ask(elsewhere), await ask(person)]).toEqual([401, 200])
    const { rows } = await sql<{ all: string }>`
      select concat(
        (select string_agg(encode(secret, 'hex'), ' ') from two_factor),
        (select string_agg(encode(hash, 'escape'), ' ') from recovery_code)
      ) as all`.execute(writer())
    expect(rows[0]?.all).not.toContain(secret.toString('hex'))
    for (const code of recoveryCodes) expect(rows[0]?.all).not.toContain(code.replaceAll('-', ''))
  })
})

describe('a login with a second factor', () => {
  test('takes a code of the app once, also where it is sent twice at the same time', async () => {
    const { secret } = await turnOn(service.app, person)
    await forgetSteps()
    const totp = codeOfStep(secret, stepAt(Date.now()))
    const answers = await Promise.all([tryIn({ totp }), tryIn({ totp })])
    expect(answers.sort()).toEqual([IN, WRONG])
    expect(await tryIn({ totp: codeOfStep(secret, stepAt(Date.now()) - 1) })).toEqual(WRONG)
  })

  test('takes each recovery code once, however it is typed', async () => {
    const { recoveryCodes } = await turnOn(service.app, person)
    const [code, other] = recoveryCodes as [string, string]
    const typed = ` ${code.toUpperCase().replaceAll('-', ' ')}`
    expect(await tryIn({ recovery_code: typed })).toEqual(IN)
    expect(await tryIn({ recovery_code: code })).toEqual(WRONG)
    expect(await status()).toMatchObject({ recovery_codes: 9 })
    expect(await tryIn({ recovery_code: other })).toEqual(IN)
  })

  test('tells nothing of it before the password is right', async () => {
    const { recoveryCodes } = await turnOn(service.app, person)
    const shown = { recovery_code: recoveryCodes[0] }
    expect(await tryIn(shown, { password: 'a wrong one' })).toEqual([401, 'INVALID_CREDENTIALS'])
    expect(await tryIn({}, { password: 'a wrong one' })).toEqual([401, 'INVALID_CREDENTIALS'])
    expect(await tryIn(shown)).toEqual(IN)
  })

  test('of an account without one ignores what is shown', async () => {
    expect(await tryIn({ totp: '123456', recovery_code: 'x' })).toEqual(IN)
    expect(await tryIn({ totp: null, recovery_code: null })).toEqual(IN)
  })

  test('lets nobody try many codes, from however many networks; its owner has the recovery codes', async () => {
    const { secret, recoveryCodes } = await turnOn(service.app, person)
    const right = Number(codeOfStep(secret, stepAt(Date.now())))
    const totp = String((right + 500_000) % 1_000_000).padStart(6, '0')
    const tries = Array.from({ length: 14 }, (_, n) => tryIn({ totp }, { from: `198.51.100.${n}` }))
    const answers = (await Promise.all(tries)).map(([, code]) => code)
    const compared = answers.filter((code) => code === 'INVALID_CODE').length
    expect(compared).toBeGreaterThanOrEqual(6)
    // Six at once, and one more after 1, 3, 7 ... seconds, on however busy a machine.
    expect(compared).toBeLessThanOrEqual(12)
    expect(new Set(answers)).toEqual(new Set(['INVALID_CODE', 'TOO_MANY_REQUESTS']))
    expect(await tryIn({ recovery_code: recoveryCodes[0] })).toEqual(IN)
  })

  test('is recorded, and so is whoever knows the password alone', async () => {
    const { recoveryCodes } = await turnOn(service.app, person)
    await tryIn({})
    await tryIn({ recovery_code: 'x' })
    await tryIn({ recovery_code: recoveryCodes[0] })
    const records = (await recordsOf(service.database, person.user.id)).slice(2)
    expect(records.map(({ kind, detail }) => [kind, detail])).toEqual([
      ['two_factor_on', null],
      ['code_asked', null],
      ['code_refused', { reason: 'wrong recovery code' }],
      ['recovery_code_used', null],
      ['login', null],
    ])
    expect(JSON.stringify(records)).not.toContain(recoveryCodes[0])
  })
})

describe('a session of an account with a second factor', () => {
  const giveAgain = async (shown: object) => {
    const { status, body } = await send('/auth/reauthenticate', { password: PASSWORD, ...shown })
    return [status, body?.error]
  }
  const isFresh = async () => (await send('/auth/keys', { name: 'x' })).status === 201
  const letTimePass = () =>
    sql`update session set authenticated_at = now() - interval '1 hour'`.execute(writer())

  test('is made fresh by the password and a code, and not by the password alone', async () => {
    const { secret } = await turnOn(service.app, person)
    await letTimePass()
    await forgetSteps()
    const totp = codeOfStep(secret, stepAt(Date.now()))
    const needed = 'The account has a second factor: send totp or recovery_code as well.'
    expect(await giveAgain({})).toEqual([403, needed])
    const wrong = 'The code is wrong, or has been used: wait for the next one.'
    expect(await giveAgain({ recovery_code: 'x' })).toEqual([403, wrong])
    expect(await isFresh()).toBe(false)
    expect(await giveAgain({ totp })).toEqual([204, undefined])
    expect(await isFresh()).toBe(true)
  })

  test.each([
    ['not made fresh by a new password', true],
    ['made fresh by one where the account has no second factor', false],
  ])('is %s', async (_, withFactor) => {
    if (withFactor) await turnOn(service.app, person)
    await letTimePass()
    const change = { current_password: PASSWORD, new_password: 'and is cut before the rain' }
    expect((await send('/auth/password', change)).status).toBe(204)
    expect(await isFresh()).toBe(!withFactor)
  })
})

describe('another JWT_SECRET', () => {
  const [FIRST, SECOND] = ['a'.repeat(32), 'b'.repeat(32)]
  const shownNow = async (secret: Buffer) => {
    await forgetSteps()
    return { totp: codeOfStep(secret, stepAt(Date.now())) }
  }

  test('seals all secrets anew while it knows the previous one, which can go then', async () => {
    let secret: Buffer = Buffer.alloc(0)
    await withOtherService(service, { JWT_SECRET: FIRST }, async (app) => {
      person = await newPerson(app)
      secret = (await turnOn(app, person)).secret
    })
    const both = { JWT_SECRET: SECOND, JWT_SECRET_PREVIOUS: FIRST, LOG_LEVEL: 'warn' }
    await withOtherService(service, both, async (app, log) => {
      expect(await tryIn(await shownNow(secret), { app })).toEqual(IN)
      await expect.poll(() => log.join(''), PATIENCE).toContain('sealed with the new JWT_SECRET')
    })
    await withOtherService(service, { JWT_SECRET: SECOND }, async (app) => {
      expect(await tryIn(await shownNow(secret), { app })).toEqual(IN)
    })
  })

  test('without the previous one takes no codes of apps, and says why in the log; recovery codes work', async () => {
    const { secret, recoveryCodes } = await turnOn(service.app, person)
    await withOtherService(service, { JWT_SECRET: SECOND, LOG_LEVEL: 'error' }, async (app, log) => {
      expect(await tryIn(await shownNow(secret), { app })).toEqual(WRONG)
      expect(log.join('')).toContain('a second factor cannot be read: JWT_SECRET is not what it was')
      expect(await tryIn({ recovery_code: recoveryCodes[0] }, { app })).toEqual(IN)
    })
  })
})

describe('ADMIN_2FA', () => {
  const promote = () => sql`update app_user set role = 'admin' where id = ${person.user.id}`.execute(writer())
  const allStats = async (app: App, by: Caller = person) => {
    const { status, body } = await call(app, 'GET /stats?scope=all', { by })
    return [status, body.code]
  }

  test('makes an admin without a second factor an ordinary user, who can set one up', async () => {
    await promote()
    service.app.forgetCallers(() => true)
    const asked = { name: 'x', scopes: ['history', 'admin'] }
    const { key } = (await send('/auth/keys', asked)).body
    await withOtherService(service, { ADMIN_2FA: 'true' }, async (app) => {
      const SETUP = [403, 'TWO_FACTOR_SETUP_REQUIRED']
      expect([await allStats(app), await allStats(app, key)]).toEqual([SETUP, SETUP])
      const refused = await send('/auth/keys', asked, { app })
      expect([refused.status, refused.code]).toEqual(SETUP)
      expect((await call(app, 'GET /stats', { by: person })).status).toBe(200)
      expect(await status(app)).toMatchObject({ enabled: false, required: true })
      await turnOn(app, person)
      expect([await allStats(app), await allStats(app, key)]).toEqual([IN, IN])
    })
  })

  test('is off where nothing is said, and tells ordinary users nothing', async () => {
    await withOtherService(service, { ADMIN_2FA: 'true' }, async (app) => {
      expect(await allStats(app)).toEqual([403, 'FORBIDDEN'])
      expect(await status(app)).toMatchObject({ required: false })
    })
    await promote()
    service.app.forgetCallers(() => true)
    expect(await allStats(service.app)).toEqual(IN)
  })
})

/** Logs in with the password and what is shown besides. */
async function tryIn(shown: object, { app = service.app, from = '127.0.0.1', password = PASSWORD } = {}) {
  const payload = { email: person.email, password, ...shown }
  const { status, body } = await call(app, 'POST /auth/login', { payload, from })
  return [status, body.code]
}
