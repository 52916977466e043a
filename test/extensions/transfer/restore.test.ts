// Runs on both databases: a copy is a restored dump of the one, and a folder of the other. What is restored of it is the same.
import { execFile } from 'node:child_process'
import { cp } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { App } from '#src/http/app.ts'
import { call } from '#test/setup/calls.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase, withDatabase } from '#test/setup/database.ts'
import { fieldOf, keepFields } from '#test/setup/fields.ts'
import { newFolder } from '#test/setup/folders.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { logIn, newPerson, register, tryLogIn } from '#test/setup/people.ts'
import { type Usage, useService, withService } from '#test/setup/used-service.ts'

const run = promisify(execFile)
const SECRET = { JWT_SECRET: 'a secret of both, of more than 32 bytes', WEBHOOK_ALLOW_PRIVATE: 'true' }

let database: TestDatabase
let copy: TestDatabase
let usage: Usage
/** Answers of before the deletion, by request. */
let before: Record<string, string>
let share: string
const SHARP = 'åssa@straße.example.org'
/** What has changed since the copy, of others. */
let changed: { email: string; id: string; key: string }
let taken: string

/** Dumps and restores as docs/operations.md says, or copies the folder of a stopped service. */
async function copyOf({ kind, environment }: TestDatabase): Promise<TestDatabase> {
  const made = await createTestDatabase('new', SECRET)
  if (kind === 'embedded') {
    await cp(environment.DATA_DIR as string, made.environment.DATA_DIR as string, { recursive: true })
    return made
  }
  const dump = join(await newFolder(), 'advisory.dump')
  await run('pg_dump', ['--format=custom', `--file=${dump}`, environment.DATABASE_URL as string])
  await run('pg_restore', ['--exit-on-error', `--dbname=${made.environment.DATABASE_URL}`, dump])
  return made
}

async function answersTo(app: App, token: string, paths: string[]): Promise<Record<string, string>> {
  const answers: Record<string, string> = {}
  for (const path of paths) {
    const by = { headers: { authorization: `Bearer ${token}` } }
    const { status, body } = await call(app, `GET ${path}`, { by })
    answers[path] = `${status} ${JSON.stringify(body)}`
  }
  return answers
}

const PATHS = [
  '/history/my',
  '/stats',
  '/user/profile',
  '/auth/keys',
  '/fields',
  '/fields/farm',
  '/subscriptions',
]

beforeAll(async () => {
  database = await createTestDatabase('demo', SECRET)
  await withService(database.config, async (app) => {
    usage = await useService(app)
    const { person } = usage
    const ask = (request: string, payload: object) => call(app, request, { by: person, payload })
    expect((await keepFields({ app, person }, 'farm', [fieldOf('a')])).status).toBe(200)
    const wanted = {
      product: 'yield',
      crop: 'wheat',
      country_code: 'eth',
      lat: 9.5,
      lng: 38.5,
      threshold: { kind: 'absolute', value: 1 },
      url: 'http://127.0.0.1:9/hook',
    }
    expect((await ask('POST /subscriptions', wanted)).status).toBe(201)
    share = (await ask(`POST /history/${usage.history[0]}/share`, {})).body.url
    expect(share).toMatch(/^http/)
    const paths = [...PATHS, ...usage.history.map((id) => `/history/${id}`), new URL(share).pathname]
    before = await answersTo(app, person.access_token, paths)
    expect(Object.values(before).filter((answer) => !answer.startsWith('200'))).toEqual([])

    const other = await logIn(app, await register(app))
    const { body } = await call(app, 'POST /auth/keys', { by: other, payload: { name: 'old' } })
    changed = { email: other.email, id: other.user.id, key: body.key }
    taken = await register(app)
  })
  if (database.kind === 'server') await changeAroundCopy()
  else copy = await copyOf(database)
  await withService(database.config, async (app) => {
    const { status } = await call(app, 'DELETE /user/profile', { by: usage.person })
    expect(status).toBe(200)
  })
})
afterAll(async () => {
  await database.drop()
  await copy.drop()
})

/** Makes the copy, with changes by commands before and after it. */
async function changeAroundCopy(): Promise<void> {
  await runAgro(database, 'users', 'promote', changed.email)
  await runAgro(database, 'users', 'create', SHARP, '--name', 'A')
  copy = await copyOf(database)
  // Somebody looks at the copy: its records get numbers that the database gives to other ones.
  for (const change of ['promote', 'demote', 'promote', 'demote']) await runAgro(copy, 'users', change, taken)
  await runAgro(database, 'users', 'demote', changed.email)
  await runAgro(database, 'users', 'delete', changed.email, '--yes')
  await runAgro(database, 'users', 'delete', taken, '--yes')
  await runAgro(database, 'users', 'delete', SHARP, '--yes')
  await withService(database.config, (app) => register(app, taken))
}

testOnServer(
  'an account that its owner deleted comes back only with --yes, after a sentence on who deleted it',
  async () => {
    const { code, stderr } = await restore(usage.person.email)
    expect([code, stderr.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, 'TIME')]).toEqual([
      1,
      `The owner deleted the account at TIME UTC, and may want to be forgotten: this restores ${usage.person.email}: there is no terminal to confirm it. Add --yes.\n`,
    ])
    expect((await restore(changed.email)).stderr).toMatch(
      /^The operator \S+ deleted the account at .* as its owner asked/,
    )
  },
)

test('a restored account has its ids, answers, fields, shares, keys and second factor, and no login', async () => {
  const { email, access_token, refresh_token, user } = usage.person
  const { code, stdout, stderr } = await restore(email.toUpperCase(), '--yes', '--json')
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toMatchObject({
    id: user.id,
    email,
    changed: false,
    rows: {
      app_user: 1,
      history_item: 6,
      advisory_feedback: 1,
      api_key: 1,
      field: 1,
      subscription: 1,
      history_share: 1,
    },
  })
  // Jobs that remove what is left of deleted accounts run in it.
  await withService(database.config, async (app) => {
    expect((await answersTo(app, access_token, ['/user/profile']))['/user/profile']).toMatch(/^401/)
    expect((await call(app, 'POST /auth/refresh', { payload: { refresh_token } })).status).toBe(401)
    expect((await tryLogIn(app, email, usage.person.password)).body.code).toBe('TWO_FACTOR_REQUIRED')
    const payload = { email, password: usage.person.password, recovery_code: usage.recoveryCodes[0] }
    const login = await call(app, 'POST /auth/login', { payload })
    expect(login.status).toBe(200)
    expect(await answersTo(app, login.body.access_token, Object.keys(before))).toEqual(before)
    expect(await answersTo(app, usage.key, ['/history/my'])).toEqual({ '/history/my': before['/history/my'] })
  })
  const { stdout: audited } = await runAgro(database, 'audit', '--user', email, '--kind', 'account_restored')
  expect(audited).toMatch(/account_restored user=\S+ operator=\S+ changed=false\n$/)
})

testOnServer(
  'what counts towards quotas and statistics is as it was, and all goes when it is deleted again',
  async () => {
    const count = `
    select (select items from history_size where user_id = $1) as items,
      (select sum(bytes)::integer from history_item where user_id = $1) - (select bytes from history_size where user_id = $1) as other,
      (select sum(advisories) from usage_of_all)::integer - (select sum(advisories) from user_usage)::integer as apart`
    await withDatabase(database, async ({ pool }) => {
      const { rows } = await pool.query(count, [usage.person.user.id])
      expect(rows).toEqual([{ items: 6, other: 0, apart: 0 }])
    })
    const { email } = usage.person
    const { stdout } = await runAgro(database, 'users', 'delete', email, '--yes', '--json')
    expect(JSON.parse(stdout).removed).toMatchObject({ accounts: 1, keys: 1, history: 6, feedback: 1 })
    expect((await restore(email, '--yes')).code).toBe(0)
    expect((await restore(email, '--yes')).stderr).toBe(
      `${email} has an account here: nothing is restored over it.\n`,
    )
  },
)

testOnServer(
  'rights that were taken away since the copy do not come back: no role, no key, no password',
  async () => {
    const { code, stdout } = await restore(changed.email, '--yes')
    expect(code).toBe(0)
    expect(stdout).toContain('it is a plain user without keys')
    await withService(database.config, async (app) => {
      expect((await answersTo(app, changed.key, ['/history/my']))['/history/my']).toMatch(/^401/)
      expect((await tryLogIn(app, changed.email, 'teff grows at dawn')).status).toBe(401)
    })
    expect((await runAgro(database, 'users', 'list')).stdout).toMatch(
      new RegExp(`${changed.email} +\\S+ +user `),
    )
  },
)

testOnServer('each table with rows of an account is restored, or is left for a reason', async () => {
  const LEFT = [
    'session',
    'account_token',
    'idempotency_record',
    'audit_record',
    'account_removal',
    'history_size',
    'history_removal',
    'history_item_going',
    'advisory_history',
  ]
  const { stdout } = await runAgro(database, 'users', 'delete', usage.person.email, '--yes', '--json')
  expect(JSON.parse(stdout).removed.accounts).toBe(1)
  const restored = Object.keys(JSON.parse((await restore(usage.person.email, '--yes', '--json')).stdout).rows)
  await withDatabase(database, async ({ pool }) => {
    const { rows } = await pool.query<{ name: string }>(`
      select relname as name from pg_attribute join pg_class on pg_class.oid = attrelid
      where attname = 'user_id' and relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v')
        and not relispartition`)
    const known = new Set([...LEFT, ...restored])
    expect(rows.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([])
  })
})

testOnServer(
  'an address is found in any case and form; one of another person with the same key is named, and not restored',
  async () => {
    const written = SHARP.replace('åssa', 'ÅSSA').normalize('NFD')
    const others = [SHARP.toUpperCase(), SHARP.replace('ß', 'ss')]
    for (const other of others) {
      expect((await restore(other, '--yes')).stderr).toBe(
        `The copy has no account ${other}; it has ${SHARP}.\n`,
      )
    }
    const found = await restore(written, '--yes', '--json')
    expect([found.code, found.stderr, JSON.parse(found.stdout).email]).toEqual([0, '', SHARP])
  },
)

const waysTo = (url: string) => {
  const other = url.includes('127.0.0.1') ? ['127.0.0.1', 'localhost'] : ['localhost', '127.0.0.1']
  return [url, url.replace(...(other as [string, string])), `${url}?application_name=x`]
}

testOnServer('a URL that cannot be read is named as what it was given as', async () => {
  const { code, stderr } = await runAgro(
    database,
    ...['users', 'restore', SHARP, '--from', 'postgres://agro:a/b@127.0.0.1/copy', '--yes'],
  )
  expect([code, stderr]).toEqual([
    1,
    '--from cannot be read: percent-encode its password (/ is %2F, ? is %3F, # is %23, @ is %40, % is %25).\n',
  ])
})

test('the own database of the service is no copy, in whatever way it is written', async () => {
  const { environment } = database
  const { DATABASE_URL, DATA_DIR } = environment
  const ways = DATABASE_URL
    ? waysTo(DATABASE_URL)
    : [`${DATA_DIR}`, `${DATA_DIR}/../${basename(`${DATA_DIR}`)}/`]
  for (const way of ways) {
    const { code, stderr } = await runAgro(database, 'users', 'restore', SHARP, '--from', way, '--yes')
    expect([code, stderr]).toEqual([
      1,
      '--from is the database of this service: name a copy, such as a restored backup.\n',
    ])
  }
})

testOnServer('what cannot be restored is refused with a reason, and leaves nothing', async () => {
  expect((await restore(taken, '--yes')).stderr).toBe(
    `${taken} has an account here: nothing is restored over it.\n`,
  )
  expect((await restore('none@example.org', '--yes')).stderr).toBe(
    'The copy has no account none@example.org.\n',
  )
  const nowhere = await runAgro(
    database,
    'users',
    'restore',
    taken,
    '--from',
    await newFolder(),
    '--yes',
    '--json',
  )
  expect([nowhere.code, JSON.parse(nowhere.stdout).code]).toEqual([1, 'NOT_FOUND'])
  const { email } = await withService(copy.config, newPerson)
  await withDatabase(copy, ({ pool }) =>
    pool.query("update applied_script set name = '0000_x.sql' where name = '0047_certainty.sql'"),
  )
  const older = await restore(email, '--yes', '--json')
  expect([older.code, JSON.parse(older.stdout)]).toEqual([
    1,
    {
      code: 'SCHEMA',
      error: expect.stringMatching(
        /^This is about the copy: The schema of the database is older .* `agro migrate`/,
      ),
    },
  ])
})

const from = ({ environment: { DATABASE_URL, DATA_DIR } }: TestDatabase) =>
  DATABASE_URL ?? (DATA_DIR as string)

const restore = (email: string, ...more: string[]) =>
  runAgro(database, 'users', 'restore', email, '--from', from(copy), ...more)
