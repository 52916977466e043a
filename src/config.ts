import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseEnv } from 'node:util'
import { envSchema } from 'env-schema'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { OperatorError } from './errors.ts'
import { findNearest, splitList } from './lib/names.ts'
import { isAddressOrRange, isHost } from './lib/network.ts'
import { formatError, readErrorCode } from './lib/promises.ts'
import { decodeText, TextError } from './lib/text.ts'

/** A variable with `_FILE` names the file of a setting. */
function withSecretsOfFiles(set: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  const files = names.flatMap((name) => {
    const file = set[`${name}_FILE`]
    if (file === undefined) return []
    if (set[name] !== undefined)
      throw new Error(`${name} and ${name}_FILE are both set: leave out one of them`)
    return [[name, secretIn(file, `${name}_FILE`)]]
  })
  return { ...set, ...Object.fromEntries(files) }
}

/** A part of a sentence follows its errors. */
function readText(file: string): string {
  try {
    return decodeText(readFileSync(file), { source: 'it' }).text
  } catch (error) {
    throw error instanceof TextError ? new Error(error.message.replace(/\.$/, '')) : error
  }
}

/** Without the end of the last line, which editors and `echo` write. */
function secretIn(file: string, variable: string): string {
  let text: string
  try {
    text = readText(file)
  } catch (error) {
    throw new Error(`${variable} cannot be read: ${formatError(error)}`)
  }
  const secret = text.replace(/(\r?\n)+$/, '')
  if (secret === '') throw new Error(`${variable} names a file with nothing in it: ${file}`)
  return secret
}

interface BrokenRule {
  instancePath: string
  keyword: string
  message: string
  params: { allowedValues?: string[] }
}

type Variables = Record<string, object>

function sentenceOf(
  { instancePath, keyword, message, params: { allowedValues } }: BrokenRule,
  variables: Variables,
): string {
  const name = instancePath.slice(1)
  const { examples } = { examples: [], ...variables[name] } as { examples: string[] }
  if (keyword === 'pattern' && examples.length > 0) return `${name} must look like ${examples.join(' or ')}`
  const values = allowedValues ? `: ${allowedValues.join(', ')}` : ''
  return `${name} ${message}${values}`
}

/** Segments need no escape, and are no steps up (`..`). */
export const BASE_PATH_PATTERN = '^(/(?!\\.{1,2}(/|$))[A-Za-z0-9._~-]+)*$'

const DatabaseUrl = Type.Optional(
  Type.String({ pattern: '^postgres(ql)?://', examples: ['postgres://user@host:5432/agro'] }),
)

/** Settings of operators; the table of docs/operations.md says who needs each. */
const Operated = Type.Object({
  DATABASE_URL: DatabaseUrl,
  DATABASE_DIRECT_URL: DatabaseUrl,
  DATABASE_READ_URL: DatabaseUrl,
  DATABASE_POOL_SIZE: Type.Integer({ minimum: 1, maximum: 500, default: 10 }),
  RATE_LIMIT: Type.Optional(
    Type.String({ pattern: '^[1-9][0-9]{0,8}/(s|min|h)$', examples: ['600/min', '20/s'] }),
  ),
  MIGRATE_ON_START: Type.Boolean({ default: true }),
  DATA_DIR: Type.String({ minLength: 1, default: './data' }),
  WORKERS: Type.String({ pattern: '^(auto|[1-9][0-9]?)$', examples: ['auto', '4'], default: '1' }),
  HOST: Type.String({ minLength: 1, default: '127.0.0.1' }),
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 3000 }),
  METRICS_PORT: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535 })),
  METRICS_HOST: Type.String({ minLength: 1, default: '127.0.0.1' }),
  BASE_PATH: Type.String({ pattern: BASE_PATH_PATTERN, examples: ['/advisory'], default: '' }),
  PUBLIC_URL: Type.Optional(Type.String()),
  LOG_LEVEL: Type.Enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'], { default: 'warn' }),
  LOG_FORMAT: Type.Enum(['text', 'json'], { default: 'text' }),
  ACCESS_LOG: Type.Boolean({ default: false }),
  DEMO_DATA: Type.Optional(Type.Boolean()),
  EXTENSIONS: Type.String({ default: '' }),
  JWT_SECRET: Type.Optional(Type.String()),
  JWT_SECRET_PREVIOUS: Type.Optional(Type.String()),
  SMTP_URL: Type.Optional(
    Type.String({ pattern: '^smtps?://', examples: ['smtps://user@mail.example.org'] }),
  ),
  MAIL_FROM: Type.Optional(Type.String()),
  PASSWORD_RESET_URL: Type.Optional(Type.String()),
  /** `off`, `required`, or the URL of a page. */
  EMAIL_CONFIRMATION: Type.String({ default: 'off' }),
  TRUSTED_PROXIES: Type.String({ default: '' }),
  CORS_ORIGINS: Type.String({ default: '*' }),
  BASEMAP_URL: Type.Optional(Type.String()),
  BASEMAP_ATTRIBUTION: Type.Optional(Type.String()),
  TILE_CACHE_MB: Type.Integer({ minimum: 0, maximum: 65_536, default: 256 }),
  HISTORY_USER_MB: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 100 }),
  HISTORY_FULL: Type.Enum(['oldest', 'refuse'], { default: 'oldest' }),
  HISTORY_TOTAL_MB: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  HISTORY_MONTHS: Type.Optional(Type.Integer({ minimum: 1, maximum: 1200 })),
  AUDIT_MONTHS: Type.Integer({ minimum: 1, maximum: 120, default: 12 }),
  SHUTDOWN_DELAY_MS: Type.Integer({ minimum: 0, default: 0 }),
})

/** Bounds that serve every operator as they are: only tests and trials set them. */
const Bounds = Type.Object({
  READ_MAX_LAG_MS: Type.Integer({ minimum: 1000, maximum: 600_000, default: 5000 }),
  DATABASE_QUEUE_LIMIT: Type.Integer({ minimum: 1, default: 2000 }),
  ACCESS_TOKEN_MINUTES: Type.Integer({ minimum: 1, maximum: 1440, default: 15 }),
  RELEASE_MAX_AGE_MS: Type.Integer({ minimum: 0, maximum: 60_000, default: 2000 }),
  STATEMENT_TIMEOUT_MS: Type.Optional(Type.Integer({ minimum: 100 })),
  POLYGON_TIMEOUT_MS: Type.Integer({ minimum: 100, default: 5000 }),
  BODY_LIMIT_BYTES: Type.Integer({ minimum: 1024, default: 1_048_576 }),
  BATCH_BODY_LIMIT_BYTES: Type.Integer({ minimum: 1024, default: 8_388_608 }),
  MAX_CONNECTIONS: Type.Integer({ minimum: 1, default: 10_000 }),
  SLOW_CLIENT_MS: Type.Integer({ minimum: 100, default: 30_000 }),
  HISTORY_USER_ITEMS: Type.Integer({ minimum: 1, default: 250_000 }),
})

const Core = Type.Object({ ...Operated.properties, ...Bounds.properties })

type Settings = Static<typeof Core>

type OwnForms = 'DEMO_DATA' | 'WORKERS' | 'TRUSTED_PROXIES' | 'CORS_ORIGINS' | 'STATEMENT_TIMEOUT_MS'

/** A balancer asks another process; the embedded database has none, and on a busy machine each statement takes long. */
const STATEMENT_TIMEOUTS_MS = { server: 2500, embedded: 10_000 }

/** The settings and bounds of a process. An extension declares its own: `interface Config extends ...`. */
export interface Config extends Omit<Settings, OwnForms> {
  DEMO_DATA: boolean
  WORKERS: number
  /** How long a request waits for the database in all. */
  STATEMENT_TIMEOUT_MS: number
  /** Addresses and CIDR ranges; none is trusted when empty. */
  TRUSTED_PROXIES: string[]
  /** Origins such as `https://app.example.org`, or `*` alone. */
  CORS_ORIGINS: string[]
}

/** What settings know of an extension. */
export interface SettingsOwner {
  name: string
  /** Other extensions that it cannot be without. */
  needs?: readonly string[]
  settings?: OwnSettings
  /** Pages for people on how the service is asked, below the base path: errors, other pages and crawlers lead there. */
  documentation?: { path: string }
}

export interface OwnSettings {
  /** For operators. */
  operated?: Record<string, TSchema>
  /** Bounds that serve every operator as they are. */
  bounds?: Record<string, TSchema>
  /** Names of settings with a key in them. */
  secrets?: readonly string[]
  /** Not asked where the extension is off. @throws {Error} with a sentence without its full stop */
  refuse?(config: Config): void
}

const owners: SettingsOwner[] = []

/** Of all settings, made once: the library compiles each schema that it has not seen, which takes 20 ms. */
let known: TObject | undefined

/** Adds the settings of an extension, once in a process. */
export function addSettings(owner: SettingsOwner): void {
  owners.push(owner)
  known = undefined
}

const LESS = /^-([a-z][a-z0-9-]*)$/

/** Their names, in the order of the list. @throws {Error} for a name that is unknown, or that another one needs */
export function listExtensionsThatAreOn({ EXTENSIONS = '' }: { EXTENSIONS?: string | undefined }): string[] {
  const names = owners.map(({ name }) => name)
  const off = splitList(EXTENSIONS).map((item) => {
    const [, name = item] = LESS.exec(item) ?? []
    if (!names.includes(name)) throw new Error(`EXTENSIONS names ${name}, and there are ${names.join(', ')}`)
    if (name === item) throw new Error(`EXTENSIONS lists those that are off: write -${name}, or leave it out`)
    return name
  })
  const on = owners.filter(({ name }) => !off.includes(name))
  for (const { name, needs = [] } of on) {
    const missing = needs.find((other) => off.includes(other))
    if (missing) throw new Error(`EXTENSIONS has -${missing}, which ${name} needs: write -${name} too`)
  }
  return on.map(({ name }) => name)
}

/** Where people read how the service is asked, below the base path; undefined where no extension that is on shows it. */
export function findDocumentation(config: Pick<Config, 'EXTENSIONS'>): string | undefined {
  const on = listExtensionsThatAreOn(config)
  return owners.find(({ name, documentation }) => documentation && on.includes(name))?.documentation?.path
}

/** HS256 is as strong as its key, up to the 32 bytes of its hash. */
export const MINIMUM_SECRET_BYTES = 32

/** Adds variables of `.env` or of the file in ENV_FILE. Those of the environment win, as with compose. */
export function loadEnvironmentFile(): void {
  const file = process.env.ENV_FILE || '.env'
  try {
    // systemd takes a semicolon for a comment, too.
    const lines = readText(file)
      .replaceAll(/\r\n?/g, '\n')
      .replaceAll(/^[ \t]*;.*/gm, '')
    refuseOtherLines(lines)
    for (const [name, value] of Object.entries(parseEnv(lines))) process.env[name] ??= value
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT' && !process.env.ENV_FILE) return
    throw new OperatorError(`The settings cannot be read from ${file}: ${formatError(error)}.`, {
      code: 'SETTINGS',
    })
  }
}

const ASSIGNMENT = /^[ \t]*(?:export +)?([\w.-]+)[ \t]*=[ \t]*(.*?)[ \t]*$/
/** Spaces that are no separators, and signs without a width. */
const UNSEEN = /[^\S \t]|\p{Cf}/u
/** What follows a sign `#` is a comment, also where no space is before it. */
const CUT_VALUE = /^(?!["'`])[^#]*[^\s#]#/
const OTHER_QUOTE = /^[\u00ab\u2018-\u201f]/

/** A line that is passed over would start the service with another database than its operator has in mind. */
function refuseOtherLines(text: string): void {
  const names = listSettings()
  const lines = text.split('\n')
  const seen = new Map<string, { line: number; value: string }>()
  for (let at = 0; at < lines.length; at++) {
    const line = at + 1
    const refuse = (why: string): never => {
      // Values may be secrets.
      throw new Error(`line ${line} ${why}`)
    }
    const written = lines[at] as string
    if (/^[ \t]*(#|$)/.test(written)) continue
    const [, name = '', value = ''] = ASSIGNMENT.exec(written) ?? []
    const own = names.includes(name)
    const word = /[A-Za-z]\w*_\w+|PORT|HOST|WORKERS/.exec(written)?.[0].toUpperCase() ?? ''
    const step = `write ${names.includes(word) ? word : 'NAME'}=value`
    if (UNSEEN.test(written.split('=')[0] as string))
      refuse(`has a sign in its name that is not seen: ${step}`)
    if (name === '') refuse(`is no setting: ${step}`)
    if (!own && names.includes(name.toUpperCase()))
      refuse(`has ${name}: settings are in capitals, so ${step}`)
    if (OTHER_QUOTE.test(value))
      refuse('has a value in signs that are no quotation marks here: write "value"')
    if (UNSEEN.test(value.charAt(0)) || UNSEEN.test(value.slice(-1)))
      refuse(`has a sign at an end of its value that is not seen: ${step}`)
    const quote = /^["'`]/.exec(value)?.[0]
    // A value in quotation marks may have several lines.
    if (quote && !value.includes(quote, 1)) {
      const end = lines.findIndex((other, index) => index > at && other.includes(quote))
      if (end === -1) refuse(`begins a value with ${quote}, which no line ends`)
      at = end
    } else if (own && CUT_VALUE.test(value))
      refuse('has a # within its value, which would end it: write "value", or a space before a comment')
    if (!own) continue
    const read = parseEnv(lines.slice(line - 1, at + 1).join('\n'))[name] ?? value
    const first = seen.get(name)
    if (first && first.value !== read) refuse(`has ${name}, as line ${first.line} has with another value`)
    seen.set(name, { line, value: read })
  }
}

/** Demo data are the default of the embedded database alone: `npm start` shows no empty service. */
export function loadConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  try {
    // An empty variable is how compose files and shells say "not set".
    const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
    const data = withSecretsOfFiles(set, listSecrets())
    const settings = envSchema<Settings>({ schema: environmentSchema(), data, env: false })
    refuseOtherDatabase(settings, environment)
    for (const name of ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'DATABASE_READ_URL', 'SMTP_URL'] as const) {
      refuseOtherUrl(name, settings[name])
    }
    for (const name of ['JWT_SECRET', 'JWT_SECRET_PREVIOUS'] as const) {
      refuseShortSecret(name, settings[name])
    }
    refuseIncompleteMail(settings)
    refuseOtherPublicUrl(settings)
    refuseUrlWithoutToken('PASSWORD_RESET_URL', settings.PASSWORD_RESET_URL)
    if (!['off', 'required'].includes(settings.EMAIL_CONFIRMATION)) {
      refuseUrlWithoutToken('EMAIL_CONFIRMATION', settings.EMAIL_CONFIRMATION, 'off, required or ')
    }
    refuseIncompleteBasemap(settings)
    const kind = settings.DATABASE_URL === undefined ? 'embedded' : 'server'
    const config = {
      ...settings,
      DEMO_DATA: settings.DEMO_DATA ?? kind === 'embedded',
      STATEMENT_TIMEOUT_MS: settings.STATEMENT_TIMEOUT_MS ?? STATEMENT_TIMEOUTS_MS[kind],
      WORKERS: workersOf(settings),
      TRUSTED_PROXIES: splitList(settings.TRUSTED_PROXIES).map(addressOrRange),
      CORS_ORIGINS: splitList(settings.CORS_ORIGINS).map(originOrAll),
      // With those of extensions.
    } as Config
    const on = listExtensionsThatAreOn(config)
    for (const { name, settings: own } of owners) {
      if (on.includes(name)) own?.refuse?.(config)
      else refuseSettings(name, own, data)
    }
    return config
  } catch (error) {
    const { errors } = error as { errors?: BrokenRule[] }
    const broken = errors?.map((rule) => sentenceOf(rule, environmentSchema().properties)).join('; ')
    throw new OperatorError(`The configuration is not valid: ${broken ?? formatError(error)}.`, {
      code: 'SETTINGS',
    })
  }
}

/** A setting without effect may be one that somebody relies on. */
function refuseSettings(extension: string, own: OwnSettings | undefined, set: NodeJS.ProcessEnv): void {
  const useless = Object.keys(own?.operated ?? {}).find((name) => set[name] !== undefined)
  if (!useless) return
  throw new Error(`${useless} has no effect with EXTENSIONS=-${extension}: leave out one of them`)
}

/** Settings with a password or a key in them. Each may be in a file, which its name with `_FILE` names. */
const SECRETS = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_READ_URL',
  'JWT_SECRET',
  'JWT_SECRET_PREVIOUS',
  'SMTP_URL',
]

const listSecrets = () => [...SECRETS, ...owners.flatMap(({ settings }) => settings?.secrets ?? [])]

function environmentSchema(): TObject {
  const own = owners.map(({ settings }) => ({ ...settings?.operated, ...settings?.bounds }))
  known ??= Type.Object(Object.assign({}, Core.properties, ...own))
  return known
}

/** The names of all settings of operators. */
export function listSettings(): string[] {
  return [
    ...Object.keys(Operated.properties),
    ...owners.flatMap(({ settings }) => Object.keys(settings?.operated ?? {})),
    ...listSecrets().map((name) => `${name}_FILE`),
    'ENV_FILE',
  ]
}

/** The variables that are no settings, and the settings whose names are nearly theirs. */
export function mistypedSettings(environment = process.env): { name: string; meant: string }[] {
  const names = listSettings()
  return Object.entries(environment).flatMap(([name, value]) => {
    const meant = value === '' || names.includes(name) ? undefined : findNearest(name.toUpperCase(), names)
    // Signs that are not seen are shown, such as a byte order mark.
    const shown = name.replace(/[^!-~]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
    return meant === undefined ? [] : [{ name: shown, meant }]
  })
}

/** The embedded database is for operators who name none. */
function refuseOtherDatabase({ DATABASE_URL }: Settings, environment: NodeJS.ProcessEnv): void {
  if (DATABASE_URL !== undefined) return
  const mistyped = mistypedSettings(environment).find(({ meant }) => /^DATABASE_URL(_FILE)?$/.test(meant))
  if (mistyped) throw new Error(`${mistyped.name} is no setting: write ${mistyped.meant}, or remove it`)
}

/** An authority, one database, and parameters. */
const URL_PARTS = /^[^/?#]*(\/[^@?#]*)?(\?([\w.-]+([=&][^#]*)?)?)?$/

/** Parts of a password would be taken for a host, and be logged. */
function refuseOtherUrl(name: string, url: string | undefined): void {
  if (url === undefined) return
  const rest = url.slice(url.indexOf('://') + 3)
  try {
    // A lone % is read as it is, and other signs are UTF-8.
    decodeURIComponent(rest.replace(/%(?![0-9a-f]{2})/gi, '%25'))
    // A socket's address has no host.
    if (URL.canParse(url.replace('@/', '@localhost/')) && URL_PARTS.test(rest)) return
  } catch {}
  throw new Error(
    `${name} cannot be read: percent-encode its password (/ is %2F, ? is %3F, # is %23, @ is %40, % is %25)`,
  )
}

/** @throws {Error} for a secret that could be guessed */
export function refuseShortSecret(name: string, secret: string | undefined): void {
  if (secret === undefined || Buffer.byteLength(secret) >= MINIMUM_SECRET_BYTES) return
  throw new Error(
    `${name} must be at least ${MINIMUM_SECRET_BYTES} bytes long; \`openssl rand -base64 48\` makes one`,
  )
}

/** One mailbox, with a name or without. */
const SENDER = /^([^<>",;:\r\n]*<[^\s<>@",;:]+@[^\s<>@",;:]+>|[^\s<>@",;:]+@[^\s<>@",;:]+)$/

function refuseIncompleteMail({ SMTP_URL, MAIL_FROM, EMAIL_CONFIRMATION }: Settings): void {
  if (EMAIL_CONFIRMATION !== 'off' && SMTP_URL === undefined) {
    throw new Error('EMAIL_CONFIRMATION needs SMTP_URL, which the mails go through')
  }
  if (SMTP_URL !== undefined && MAIL_FROM === undefined) {
    throw new Error('SMTP_URL needs MAIL_FROM, the sender such as Advisory <noreply@example.org>')
  }
  if (MAIL_FROM !== undefined && !SENDER.test(MAIL_FROM)) {
    throw new Error(
      'MAIL_FROM must be one sender such as noreply@example.org or Advisory <noreply@example.org>',
    )
  }
}

const PUBLIC_URL_PARTS = new RegExp(`^https?://([^/]+)(${BASE_PATH_PATTERN.slice(1, -1)})$`)

function refuseOtherPublicUrl({ PUBLIC_URL, BASE_PATH }: Settings): void {
  if (PUBLIC_URL === undefined) return
  const [, host = '', path = ''] = PUBLIC_URL_PARTS.exec(PUBLIC_URL) ?? []
  if (!isHost(host) || host.includes("'")) {
    throw new Error(
      'PUBLIC_URL must be an address such as https://advisory.example/agro, without a slash at its end',
    )
  }
  if (!path.endsWith(BASE_PATH)) throw new Error(`PUBLIC_URL must end with BASE_PATH, which is ${BASE_PATH}`)
}

/** In the URL of a page, for the token of a mail. */
export const TOKEN_PLACE = '{token}'

function refuseUrlWithoutToken(name: string, url: string | undefined, others = ''): void {
  if (url === undefined) return
  if (/^https?:\/\//.test(url) && URL.canParse(url) && url.includes(TOKEN_PLACE)) return
  throw new Error(`${name} must be ${others}a URL such as https://app.example.org/page#token=${TOKEN_PLACE}`)
}

/** The host goes into the policy of pages as it is. */
const TILES = /^https?:\/\/[A-Za-z0-9.:[\]-]+\/\S+$/

function refuseIncompleteBasemap({ BASEMAP_URL, BASEMAP_ATTRIBUTION }: Settings): void {
  if (BASEMAP_URL === undefined) return
  const isTemplate = ['{z}', '{x}', '{y}'].every((part) => BASEMAP_URL.includes(part))
  if (!isTemplate || !TILES.test(BASEMAP_URL) || !URL.canParse(BASEMAP_URL)) {
    throw new Error('BASEMAP_URL must be a URL of tiles such as https://tiles.example.org/{z}/{x}/{y}.png')
  }
  if (BASEMAP_ATTRIBUTION === undefined) {
    throw new Error('BASEMAP_URL needs BASEMAP_ATTRIBUTION, the text that the source of the tiles asks for')
  }
}

function workersOf({ WORKERS, DATABASE_URL }: Settings): number {
  const workers = WORKERS === 'auto' ? availableParallelism() : Number(WORKERS)
  if (workers === 1 || DATABASE_URL !== undefined) return workers
  throw new Error(
    `WORKERS=${WORKERS} needs DATABASE_URL: the embedded database belongs to one process, so WORKERS must be 1 with it`,
  )
}

/** A trusted proxy can claim any address, so a range of all addresses is a mistake. */
function addressOrRange(item: string): string {
  if (isAddressOrRange(item)) return item
  throw new Error(
    `TRUSTED_PROXIES must list addresses or ranges such as 10.0.0.0/8, and "${item}" is neither`,
  )
}

function originOrAll(item: string): string {
  if (item === '*' || (URL.canParse(item) && new URL(item).origin === item)) return item
  throw new Error(`CORS_ORIGINS must be * or list origins such as https://app.example.org, not "${item}"`)
}
