import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { listSettings, loadConfig, loadEnvironmentFile, mistypedSettings } from '#src/config.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { newFolder } from './setup/folders.ts'

const ROOT = resolve(import.meta.dirname, '..')

interface Compose {
  services: Record<
    string,
    {
      image: string
      build?: string
      environment?: Record<string, string | number>
      secrets?: string[]
      logging?: { options: Record<string, string> }
    }
  >
  secrets: Record<string, { file: string }>
}

const text = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8')
const compose: Compose = parse(text, { merge: true })

/** The operator's own, which no setting names and no script makes. */
const OWN = 'certificate'

/** Named by .env, with the profile that it belongs to. */
const CHOSEN = { DATABASE_READ_URL_FILE: '/run/secrets/database_read_url' }

/** As compose fills in a text: `${NAME}`, and `${NAME:-what is taken where .env has none}`. */
function filledIn(value: string | number, settings: Record<string, string> = {}): string {
  return String(value).replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name, other = '') => settings[name] || other)
}

test('each container is given the secrets that its settings name, and no others', () => {
  for (const { environment = {}, secrets = [] } of Object.values(compose.services)) {
    if (secrets.includes(OWN)) continue
    const chosen = 'ENV_FILE' in environment ? CHOSEN : {}
    const named = Object.entries({ ...environment, ...chosen }).filter(([name]) => name.endsWith('_FILE'))
    const files = named.map(([, file]) => file)
    expect(files.sort()).toEqual(secrets.map((name) => `/run/secrets/${name}`).sort())
  }
})

/** The files of the secrets. */
const FILES = Object.entries(compose.secrets)
  .filter(([name]) => name !== OWN)
  .map(([, { file }]) => filledIn(file))

test('the script makes the files of the compose file, for the containers to read and for nobody to look for', async () => {
  const folder = await newFolder()
  await makeSecrets(folder)
  const made = await secretsIn(folder)
  const files = new Set([...FILES, './secrets/service_database_url', './secrets/settings'])
  files.delete('./.env')
  expect(await readlink(join(folder, '.env'))).toBe('secrets/settings')
  expect(Object.keys(made).map((name) => `./secrets/${name}`)).toEqual([...files].sort())
  const { database_url, service_database_url, database_read_url, settings, ...passwords } = made
  expect(settings).toMatch(/^#.*\n$/)
  const service = passwords.service_password?.trim()
  expect(database_url).toBe(`postgres://agro:${passwords.database_password?.trim()}@database:5432/agro\n`)
  expect(service_database_url).toBe(`postgres://agro_service:${service}@database:5432/agro\n`)
  expect(database_read_url).toBe(`postgres://agro_service:${service}@replica:5432/agro\n`)
  const random = Object.values(passwords)
  expect(random).toEqual(random.map(() => expect.stringMatching(/^[0-9a-f]{64}\n$/)))
  expect(new Set(random).size).toBe(random.length)
  const modeOf = async (path: string) => ((await stat(join(folder, path))).mode & 0o777).toString(8)
  expect(await modeOf('secrets')).toBe('700')
  for (const file of files) expect(await modeOf(file)).toBe('644')
})

test('the script leaves the secrets that are there as they are', async () => {
  const folder = await newFolder()
  await makeSecrets(folder)
  await writeFile(join(folder, 'secrets/jwt_secret'), 'one that was in use before\n')
  const before = await secretsIn(folder)
  await makeSecrets(folder)
  expect(await secretsIn(folder)).toEqual(before)
})

test('the script keeps the settings that are there where nobody else of the machine comes', async () => {
  const folder = await newFolder()
  await writeFile(join(folder, '.env'), 'WORKERS=auto\n', { mode: 0o600 })
  await makeSecrets(folder)
  await makeSecrets(folder)
  expect((await secretsIn(folder)).settings).toBe('WORKERS=auto\n')
  expect(await readlink(join(folder, '.env'))).toBe('secrets/settings')
})

const PEM = String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }))

const isNeeded = (name: string) => EXTENSIONS.some(({ needs }) => needs?.includes(name))

/** What .env may have, each with another value than the default. */
const VALUES: Record<string, string> = {
  DATABASE_DIRECT_URL: 'postgres://agro:direct%2Fpassword@db:5432/agro',
  DATABASE_READ_URL: 'postgres://agro:read-password@replica:5432/agro',
  DATABASE_POOL_SIZE: '24',
  RATE_LIMIT: '600/min',
  MIGRATE_ON_START: 'false',
  EXTENSIONS: `-${EXTENSIONS.find(({ name, settings }) => !settings && !isNeeded(name))?.name}`,
  DATA_DIR: '/app/data/other',
  WORKERS: '4',
  BASE_PATH: '/agro',
  PUBLIC_URL: 'https://advisory.example.org/agro',
  LOG_LEVEL: 'debug',
  LOG_FORMAT: 'json',
  ACCESS_LOG: 'true',
  DEMO_DATA: 'true',
  JWT_SECRET_PREVIOUS: 'the one of before, # with $signs, of 32 bytes',
  SMTP_URL: 'smtp://user:mail-password@mail.example.org:587?requireTLS=true',
  MAIL_FROM: 'Advisory <noreply@example.org>',
  PASSWORD_RESET_URL: 'https://app.example.org/reset#token={token}',
  EMAIL_CONFIRMATION: 'required',
  TRUSTED_PROXIES: '172.16.0.0/12,::1',
  CORS_ORIGINS: 'https://app.example.org',
  BASEMAP_URL: 'https://tiles.example.org/{z}/{x}/{y}.png',
  BASEMAP_ATTRIBUTION: '(c) OpenStreetMap "contributors"',
  TILE_STORE: 's3://bucket/prefix',
  TILE_DISK_CACHE_DIR: '/tmp/tiles',
  TILE_DISK_CACHE_MB: '2048',
  S3_ENDPOINT: 'https://s3.eu-central-1.amazonaws.com',
  S3_REGION: 'eu-central-1',
  S3_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  S3_SECRET_ACCESS_KEY: 'the-secret/of+a-bucket',
  TILE_CACHE_MB: '512',
  DOWNLOAD_CACHE_MB: '128',
  HISTORY_USER_MB: '50',
  HISTORY_FULL: 'refuse',
  HISTORY_TOTAL_MB: '10000',
  HISTORY_MONTHS: '12',
  ADMIN_2FA: 'true',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  DRAFT_WORDS: '/app/data/words.yaml',
  INGEST_HOSTS: 'data.example.org,s3://rasters',
  INGEST_ALLOW_PRIVATE: 'true',
  INGEST_S3_ENDPOINT: 'https://s3.eu-central-1.amazonaws.com',
  INGEST_S3_REGION: 'eu-central-1',
  INGEST_S3_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  INGEST_S3_SECRET_ACCESS_KEY: 'another-secret/of+a-bucket',
  AUDIT_MONTHS: '24',
  SHUTDOWN_DELAY_MS: '4000',
  SIGNING_KEY: PEM,
  SENDER_KEY: 'what numbers of senders are hashed with',
  SMS_SECRET: 's'.repeat(32),
  SMS_PARAMETERS: 'msisdn,body,ref',
  USSD_SECRET: 'u'.repeat(32),
  TELEGRAM_SECRET: 't'.repeat(32),
  MESSAGES_A_DAY: '20',
}

/** Without those of extensions that are not there. */
const SETTABLE = Object.fromEntries(Object.entries(VALUES).filter(([name]) => listSettings().includes(name)))

/** What the container itself is about, and the secrets that each installation has. */
const SET_BY_COMPOSE = {
  ...{ HOST: '0.0.0.0', PORT: 3000, METRICS_HOST: '0.0.0.0', METRICS_PORT: 9464 },
  ...{
    DATABASE_URL: 'postgres://agro:made@database:5432/agro',
    JWT_SECRET: 'made by docker/secrets.sh, as it were',
  },
}

const asLine = ([name, value]: [string, string]) => `${name}=${/['"#$\n]/.test(value) ? `'${value}'` : value}`

/** Starts reading settings as a container of compose does: of the image, of `environment`, and of the secrets' files. */
async function settingsIn(service: string, env: Record<string, string>, given: Record<string, string> = {}) {
  const folder = await newFolder()
  const { environment = {}, secrets = [] } = compose.services[service] ?? {}
  const contents: Record<string, string> = {
    settings: Object.entries(env).map(asLine).join('\n'),
    database_url: SET_BY_COMPOSE.DATABASE_URL,
    owner_database_url: SET_BY_COMPOSE.DATABASE_URL,
    jwt_secret: SET_BY_COMPOSE.JWT_SECRET,
  }
  for (const name of secrets) await writeFile(join(folder, name), contents[name] ?? name)
  const image = /^ENV (.*)$/m.exec(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'))?.[1] ?? ''
  const ofImage = Object.fromEntries(image.split(' ').map((pair) => pair.split('=')))
  const values = Object.entries(environment).map(([name, value]) => [
    name,
    filledIn(value, { ...env, ...given }),
  ])
  const visible: Record<string, string> = { ...ofImage, ...Object.fromEntries(values) }
  const seen = Object.entries(visible).map(([name, value]) => [name, value.replace('/run/secrets', folder)])
  vi.stubGlobal('process', { ...process, env: Object.fromEntries(seen) })
  try {
    loadEnvironmentFile()
    return { visible, config: loadConfig(process.env) as unknown as Record<string, unknown> }
  } finally {
    vi.unstubAllGlobals()
  }
}

test('each setting can be in .env or is set by compose, and none is forgotten', () => {
  const known = listSettings().filter((name) => !name.endsWith('_FILE'))
  expect(known.filter((name) => !(name in SETTABLE) && !(name in SET_BY_COMPOSE))).toEqual([])
})

const ours = Object.entries(compose.services).filter(([, { build }]) => build !== undefined)

test.each(ours.map(([name]) => name))(
  'each setting of .env reaches the container %s, and no secret is a variable of it',
  async (service) => {
    const { config: without } = await settingsIn(service, {})
    const { visible, config } = await settingsIn(service, SETTABLE)
    for (const [name, value] of Object.entries(SETTABLE)) {
      expect(String(config[name]), name).toBe(value)
      expect(String(without[name]), `${name} has another value by default`).not.toBe(value)
    }
    const { DATABASE_URL, JWT_SECRET, ...ofContainer } = SET_BY_COMPOSE
    expect(config).toMatchObject({ DATABASE_URL, JWT_SECRET, HOST: ofContainer.HOST, PORT: ofContainer.PORT })
    const shown = JSON.stringify(visible)
    const secrets = listSettings()
      .filter((name) => name.endsWith('_FILE') && name !== 'ENV_FILE')
      .map((name) => name.slice(0, -5))
    for (const name of secrets) {
      const secret = { ...SETTABLE, DATABASE_URL, JWT_SECRET }[name] as string
      expect(secret, `${name} is tried`).toMatch(/\S/)
      expect(shown.includes(JSON.stringify(secret).slice(1, -1)), `${name} is seen from outside`).toBe(false)
    }
  },
)

test('what a shell sets for one start wins over .env', async () => {
  const { config } = await settingsIn('api', { DEMO_DATA: 'false' }, { DEMO_DATA: 'true' })
  expect(config.DEMO_DATA).toBe(true)
})

test('what .env has for compose itself is taken for no mistyped setting', () => {
  const names = [...new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name as string))]
  expect(names.length).toBeGreaterThan(5)
  expect(
    mistypedSettings(Object.fromEntries([...names, 'COMPOSE_PROFILES'].map((name) => [name, 'x']))),
  ).toEqual([])
})

test('logs end, images have a version, and PostgreSQL has PostGIS at hand', () => {
  for (const { image, build, logging } of Object.values(compose.services)) {
    expect(logging?.options).toMatchObject({ 'max-size': '10m', 'max-file': '5' })
    // No tag of this image names an exact version.
    if (!build && !/postgis/.test(image)) expect(image).toMatch(/:v?\d+\.\d+\.\d+$/)
  }
  for (const service of ['database', 'replica']) {
    const { command = [] } = compose.services[service] as { command?: string[] }
    expect(command.map((part) => filledIn(part))).toEqual(
      expect.arrayContaining([
        '-cshared_preload_libraries=postgis-3,postgis_raster-3',
        '-cshared_buffers=512MB',
      ]),
    )
  }
})

const run = promisify(execFile)

function makeSecrets(folder: string) {
  return run('sh', [join(ROOT, 'docker/secrets.sh')], { cwd: folder })
}

async function secretsIn(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(join(folder, 'secrets'))).sort()
  const texts = await Promise.all(names.map((name) => readFile(join(folder, 'secrets', name), 'utf8')))
  return Object.fromEntries(names.map((name, index) => [name, texts[index] as string]))
}
