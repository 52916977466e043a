import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createSecrets } from '#ops/messages/kannel.ts'
import { BATCH_LIMITS } from '#schemas/batch.ts'
import { MOST_POLYGONS } from '#schemas/polygons.ts'
import { MAX_VERTICES } from '#src/advice/polygon/geometry.ts'
import { listSettings, loadConfig } from '#src/config.ts'
import { isWhole } from '#src/data/rights.ts'
import { openApp } from '#test/setup/open-service.ts'

const textOf = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

const secrets = createSecrets()
const service = openApp({ settings: secrets })

/** The curl commands of a document, each with the answer that stands below it. */
function examplesOf(file: string) {
  const shown = textOf(file).matchAll(
    /```sh\n(curl (?:(?!```)[\s\S])*)\n```\n```(?:json|csv)\n([\s\S]*?)\n```/g,
  )
  return [...shown].map(([, command = '', answer = '']) => ({ file, command, answer }))
}

const EXAMPLES = { 'README.md': 2, 'docs/api.md': 2, 'docs/guide/integrators.md': 2 }

test('each document shows as many answers as are tried', () => {
  const counts = Object.keys(EXAMPLES).map((file) => [file, examplesOf(file).length])
  expect(Object.fromEntries(counts)).toEqual(EXAMPLES)
})

const examples = Object.keys(EXAMPLES).flatMap(examplesOf)

test.each(examples)('is answered as $file shows: $command', async ({ command, answer }) => {
  const url = /http:\/\/127\.0\.0\.1:3000([^\s']*)/.exec(command)?.[1] as string
  const payload = /(?:-d|--data-binary) \$?'([^']*)'/.exec(command)?.[1]?.replaceAll('\\n', '\n')
  const type = /-H 'Content-Type: ([^']*)'/.exec(command)?.[1]
  // Each request has its own, unless it brings one.
  const id = /"request_id":"([^"]*)"/.exec(answer)?.[1]
  const response = await service.ask(`${/-X POST/.test(command) ? 'POST' : 'GET'} ${url}`, {
    headers: { ...(type && { 'content-type': type }), ...(id && { 'x-request-id': id }) },
    ...(payload !== undefined && { payload }),
  })
  expect(response.text.trimEnd().replaceAll('\r\n', '\n')).toBe(answer)
})

test('the guide on text messages shows a conversation as it is', async () => {
  const [, conversation = ''] = textOf('docs/guide/messages.md').split('\n## ')
  const rows = [...conversation.matchAll(/^\| `(.+?)` \| (.*) \|$/gm)].map(([, message, reply]) => [
    message,
    reply,
  ])
  const said: typeof rows = []
  for (const [index, [text = '']] of rows.entries()) {
    const query = { secret: secrets.SMS_SECRET, from: '+251911000001', id: String(index), text }
    const { text: body } = await service.get('/messages/sms', { query })
    said.push([text, body])
  }
  expect(said.length).toBeGreaterThan(10)
  expect(said).toEqual(rows)
})

test('the guide has the limits that are kept', () => {
  const { BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES, HISTORY_USER_ITEMS, HISTORY_USER_MB } = loadConfig({})
  const limits = [
    ...textOf('docs/guide/integrators.md').matchAll(/^\| ([a-z].*?) \| (.*?) \| \d{3} `\w+` \|$/gm),
  ]
  const number = (value: number) => value.toLocaleString('en')
  const mebibytes = (bytes: number) => `${bytes / 1_048_576} MiB`
  expect(limits.map(([, , most]) => most).slice(0, 4)).toEqual([
    `${number(BATCH_LIMITS.anonymous)}; ${number(BATCH_LIMITS.withToken)} with a token`,
    number(MOST_POLYGONS),
    number(MAX_VERTICES),
    `${mebibytes(BODY_LIMIT_BYTES)}; with a token, many points or polygons ${mebibytes(BATCH_BODY_LIMIT_BYTES)}`,
  ])
  expect(textOf('docs/guide/integrators.md')).toContain(
    `| items in a history | ${number(HISTORY_USER_ITEMS)}, or ${HISTORY_USER_MB} MB |`,
  )
})

test('the page about privacy names every table that has data of people, and no other', async () => {
  const { rows } = await sql<{ name: string }>`
    with recursive personal (id) as (
      select distinct pg_class.oid
      from pg_class join pg_attribute on attrelid = pg_class.oid
      where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and ${isWhole}
        and (attname in ('user_id', 'user_agent', 'network', 'operator', 'subject', 'collection_id', 'sender') or attname like '%email%')
      union
      select conrelid from pg_constraint join personal on confrelid = personal.id where contype = 'f'
    )
    select relname as name from pg_class join personal on personal.id = oid`.execute(service.database.writer)
  const found = rows.map(({ name }) => name)
  const tables = textOf('docs/privacy.md').matchAll(/^\| [^|]+ \| ((?:`\w+`(?:, )?)+) \|/gm)
  const named = [...tables].flatMap(([, cell = '']) => [...cell.matchAll(/\w+/g)].map(String))
  expect(named.toSorted()).toEqual(found.toSorted())
})

test('the table of variables has every setting with its default', () => {
  const rows = [...textOf('docs/operations.md').matchAll(/^\| (`[A-Z].*?) \| (.*?) \|/gm)].map(
    ([, names, defaults]) => ({
      names,
      defaults,
    }),
  )
  const documented = rows.flatMap(({ names = '' }) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  const config = loadConfig({
    DATABASE_URL: 'postgres://x',
    DATABASE_DIRECT_URL: 'postgres://x',
    DATABASE_READ_URL: 'postgres://x',
    JWT_SECRET: 'x'.repeat(32),
    JWT_SECRET_PREVIOUS: 'x'.repeat(32),
    PUBLIC_URL: 'https://x',
    RATE_LIMIT: '600/min',
    METRICS_PORT: '9464',
    HISTORY_MONTHS: '12',
    HISTORY_TOTAL_MB: '10000',
    TILE_DISK_CACHE_DIR: '/x',
    S3_ENDPOINT: 'https://x',
    S3_ACCESS_KEY_ID: 'x',
    S3_SECRET_ACCESS_KEY: 'x',
    INGEST_S3_ENDPOINT: 'https://x',
    INGEST_S3_ACCESS_KEY_ID: 'x',
    INGEST_S3_SECRET_ACCESS_KEY: 'x',
    SMTP_URL: 'smtp://x',
    MAIL_FROM: 'x@example.org',
    PASSWORD_RESET_URL: 'https://x/{token}',
    BASEMAP_URL: 'https://x/{z}/{x}/{y}',
    BASEMAP_ATTRIBUTION: 'x',
    SENDER_KEY: 'x'.repeat(32),
    SIGNING_KEY: String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })),
    SMS_SECRET: 'x'.repeat(32),
    USSD_SECRET: 'x'.repeat(32),
    TELEGRAM_SECRET: 'x'.repeat(32),
    DRAFT_WORDS: '/x',
  })
  const settings = listSettings().filter((name) => name in config)
  expect(documented.toSorted()).toEqual(settings.toSorted())
  for (const { names = '', defaults = '' } of rows) {
    const values = [...names.matchAll(/`(\w+)`/g)].map(([, name]) =>
      String(config[name as keyof typeof config]),
    )
    const shown = [...defaults.matchAll(/`([^`]*)`/g)].map(([, value]) => value)
    if (/none|DATABASE_URL|DEMO_DATA|EXTENSIONS/.test(defaults + names)) continue
    expect(shown, names).toEqual(values)
  }
})
