import { existsSync } from 'node:fs'
import { stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { tryMailServer } from '#src/accounts/mailer.ts'
import { answer, type CheckedDatabase, type Checks, error, note, ok, warning } from '#src/cli/findings.ts'
import { sizeText, someNames, spanText } from '#src/cli/table.ts'
import { type Config, listSettings, mistypedSettings } from '#src/config.ts'
import { openToOthers } from '#src/data/embedded/cluster.ts'
import { isDatabaseUnavailable } from '#src/data/failures.ts'
import { roleRights, schemaDefects, schemaState } from '#src/data/schema-state.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import * as queries from './queries.ts'

/** Checks without a database. */
export const SETTINGS_CHECKS: Checks<Config> = {
  'settings.configuration'(config) {
    const found = [
      ...mistypedSettings().map(({ name, meant }) =>
        warning(`${name} is no setting of the service.`, `Did you mean ${meant}?`),
      ),
      ...DOUBTS.filter(([isDoubtful]) => isDoubtful(config)).map(([, finding]) => finding),
    ]
    return found.length > 0 ? found : ok('The settings are valid, and none contradicts another.')
  },

  'secrets.jwt_secret'({ JWT_SECRET, JWT_SECRET_PREVIOUS: previous, DATABASE_URL }) {
    const first = judgeSecret(JWT_SECRET, DATABASE_URL !== undefined)
    if (previous === undefined) return first
    if (previous !== JWT_SECRET) {
      const sentence = 'JWT_SECRET_PREVIOUS is set: tokens that are signed with it are accepted.'
      return [first, note(sentence, 'Leave it out when every process has started with the new secret.')]
    }
    const sentence = 'JWT_SECRET_PREVIOUS is the same as JWT_SECRET: tokens of before the change are refused.'
    return [first, warning(sentence, 'Set it to the secret of before, or leave it out.')]
  },

  'secrets.database_password'({ DATABASE_URL: connectionString }) {
    if (connectionString === undefined) return []
    const { user, password } = new pg.Client({ connectionString })
    if (typeof password !== 'string' || password === '')
      return ok('The URL of the database has no password in it.')
    const isUsual = password === user || USUAL_PASSWORDS.includes(password.toLowerCase())
    if (!isUsual && password.length >= SHORT_PASSWORD)
      return ok('The password of the database is none of the usual ones.')
    const advice = 'Give the role another one: `alter role ... password ...`, and change DATABASE_URL.'
    return warning(
      `The password of the database is ${isUsual ? 'one that is tried first' : 'short'}.`,
      advice,
    )
  },

  'secrets.mail_encryption'({ SMTP_URL }) {
    if (SMTP_URL === undefined) return []
    const { protocol, hostname, searchParams } = new URL(SMTP_URL)
    if (protocol === 'smtps:' || searchParams.get('requireTLS') === 'true' || isOfThisMachine(hostname))
      return ok('Mails go to the mail server encrypted, or over this machine alone.')
    return warning(
      'Mails go to the mail server without encryption where it offers none, with the tokens in them.',
      'Add ?requireTLS=true to SMTP_URL, or use smtps://.',
    )
  },

  async 'secrets.files'({ DATA_DIR, DATABASE_URL }) {
    const files = listSettings()
      .filter((name) => name.endsWith('_FILE'))
      .map((name) => process.env[name] || (name === 'ENV_FILE' ? '.env' : ''))
    // A supervisor mounts these for the processes of one container, with its own modes.
    const ours = files.filter((path) => path !== '' && !/^(\/var)?\/run\//.test(path))
    const open = [
      ...(await listReadable(ours)),
      ...(DATABASE_URL === undefined ? await openToOthers(DATA_DIR) : []),
    ]
    if (open.length === 0) return ok('No file with secrets or data is open to other users of this machine.')
    return warning(
      `Other users of this machine may read ${someNames(open)}.`,
      'Close them: chmod 600 files and chmod 700 folders. The service does so with DATA_DIR where they are its own.',
    )
  },

  async 'mail.server'({ SMTP_URL }) {
    if (SMTP_URL === undefined) {
      const advice = 'Set SMTP_URL and MAIL_FROM, or help with `agro users reset`.'
      return note('No mail server is set: users cannot reset their passwords.', advice)
    }
    try {
      await tryMailServer(SMTP_URL)
      return ok('The mail server lets the service in.')
    } catch (caught) {
      const advice = 'Mails are given up after a minute: look at SMTP_URL and the network between.'
      return warning(`The mail server cannot be used: ${formatError(caught)}.`, advice)
    }
  },

  async 'disk.free'({ DATABASE_URL, DATA_DIR }) {
    if (DATABASE_URL !== undefined) return []
    const { bavail, blocks, bsize } = await statfs(findExisting(resolve(DATA_DIR)))
    const [free, all] = [bavail * bsize, blocks * bsize]
    // Large disks have room in a small share, small disks little in a large share.
    const isBelow = ({ bytes, part }: typeof LITTLE) => free < bytes && free < all * part
    const sentence = `${sizeText(free)} of ${sizeText(all)} are free for DATA_DIR.`
    const advice = 'Make room, or move DATA_DIR while the service is stopped.'
    if (isBelow(HARDLY_ANY)) return error(sentence, advice)
    return isBelow(LITTLE) ? warning(sentence, advice) : ok(sentence)
  },
}

/** The nearest folder above that is there; the root is. */
function findExisting(path: string): string {
  return existsSync(path) ? path : findExisting(dirname(path))
}

/** Settings that contradict each other. */
const DOUBTS: [isDoubtful: (config: Config) => boolean, finding: ReturnType<typeof warning>][] = [
  [
    ({ DATABASE_URL, DATABASE_READ_URL: read }) => read !== undefined && DATABASE_URL === undefined,
    warning(
      'DATABASE_READ_URL is set and DATABASE_URL is not: the embedded database is used, which has no replica.',
      'Set DATABASE_URL, or leave out DATABASE_READ_URL.',
    ),
  ],
  [
    ({ DATABASE_URL, DEMO_DATA }) => DATABASE_URL !== undefined && DEMO_DATA,
    note(
      'DEMO_DATA is true on a server: synthetic values are published while nothing real is.',
      'Set it to false where people might take them for advice.',
    ),
  ],
]

/** Texts that wait for a real secret. */
const PLACEHOLDER = /secret|change|default|example|passwor[dt]|replace/i

/** `openssl rand` gives over forty different characters in 48 bytes; typed texts have fewer. */
const FEW_CHARACTERS = 10

/** Attackers try these passwords first. */
const USUAL_PASSWORDS = ['postgres', 'password', 'agro', 'admin', 'secret', 'changeme']

/** In characters: shorter ones are found within hours. */
const SHORT_PASSWORD = 10

function judgeSecret(secret: string | undefined, isServer: boolean) {
  if (secret === undefined) {
    if (!isServer) return ok('The secret of tokens is in DATA_DIR.')
    const advice = 'Make one with `openssl rand -base64 48`.'
    return error('JWT_SECRET is not set: the service does not start.', advice)
  }
  const bytes = Buffer.byteLength(secret)
  if (!PLACEHOLDER.test(secret) && new Set(secret).size >= FEW_CHARACTERS)
    return ok(`JWT_SECRET has ${bytes} bytes.`)
  const advice =
    'Make one with `openssl rand -base64 48`, and change to it in the steps of docs/operations.md.'
  return warning(`JWT_SECRET has ${bytes} bytes, and looks like a typed text.`, advice)
}

function isOfThisMachine(host: string): boolean {
  return host === 'localhost' || host.startsWith('/') || /^127\.|^\[?::1\]?$/.test(host)
}

async function listReadable(paths: string[]): Promise<string[]> {
  // Windows uses access lists; modes say nothing there.
  if (process.platform === 'win32') return []
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)))
  // Devices and pipes, such as those of shells, cannot be read again.
  return paths.filter((_, index) => found[index]?.isFile() && (found[index].mode & 0o077) !== 0)
}

/** An ingest may fill a disk below LITTLE, any work one below HARDLY_ANY. */
const LITTLE = { bytes: 1e9, part: 0.1 }
const HARDLY_ANY = { bytes: 100e6, part: 0.02 }

/** Then nothing can be said of what the schema holds. */
export const NO_SCHEMA = 'The database has no schema of the service.'

/** Checks of any database, before those of a server. */
export const SCHEMA_CHECKS: Checks<CheckedDatabase> = {
  'versions.postgresql': answer(queries.findVersions, ({ text, number }) => {
    const sentence = `The database is ${text.split(/ on |,/)[0]}.`
    if (number >= POSTGRESQL * 10_000) return ok(sentence)
    return error(sentence, `The service needs PostgreSQL ${POSTGRESQL} or later.`)
  }),

  'versions.extensions': answer(queries.listExtensions, (found) => [
    ...EXTENSIONS.filter((wanted) => !found.some(({ name }) => name === wanted)).map((name) =>
      error(`The extension ${name} is missing.`, `Have a superuser say \`create extension ${name}\`.`),
    ),
    ...found.map(({ name, installed }) => {
      const sentence = `The extension ${name} is ${installed}.`
      const [major = 0, minor = 0] = installed.split('.').map(Number)
      if (major < POSTGIS[0] || (major === POSTGIS[0] && minor < POSTGIS[1]))
        return error(sentence, `The service needs ${POSTGIS.join('.')} or later.`)
      return ok(sentence)
    }),
  ]),

  'schema.migrations': answer(schemaState, ({ applied, pending, newer, breaking, changed, noWayBack }) => {
    if (applied.length === 0) {
      const advice = 'Apply the migrations: start the service, or say `agro migrate`.'
      return error(NO_SCHEMA, advice)
    }
    if (breaking.length > 0) {
      const sentence = `The schema is newer than this version, which cannot go on with ${someNames(breaking)}.`
      return error(sentence, 'Upgrade the service and agro.')
    }
    if (changed.length > 0) {
      const sentence = `Migrations were changed after they were applied: ${someNames(changed)}.`
      return error(sentence, 'Put the files back as they are in the release of the service.')
    }
    if (pending.length > 0) {
      const sentence = `The schema is older than this version: ${someNames(pending.map(({ name }) => name))} ${pending.length === 1 ? 'is' : 'are'} not applied.`
      const advice = 'Apply the migrations: start the service of this version, or say `agro migrate`.'
      return warning(sentence, advice)
    }
    if (newer.length > 0) {
      const sentence = `The schema is newer than this version, which goes on with it: it has ${someNames(newer)}.`
      return note(sentence, 'Upgrade the rest of this version.')
    }
    const sentence = `The schema is up to date: ${applied.at(-1)} is the last of ${applied.length} migrations.`
    return ok(`${sentence} There is no way back to a version without ${noWayBack.at(-1)}.`)
  }),

  async 'schema.objects'({ ask }) {
    const { applied } = await ask(schemaState)
    if (applied.length === 0) return []
    const { missing, disabled } = await ask(schemaDefects)
    if (missing.length + disabled.length === 0) return ok('All tables and functions are there.')
    const advice = 'It was changed by hand or interrupted: undo the change, or create it again.'
    const dropped = 'They were dropped by hand: restore a backup.'
    return [
      ...(missing.length > 0 ? [error(`These are missing: ${someNames(missing)}.`, dropped)] : []),
      ...disabled.map((defect) => warning(`The ${defect}.`, advice)),
    ]
  },

  'schema.rights': answer(roleRights, ({ role, superuser, owner, unreadable, unwritable }, { kind }) => {
    if (kind === 'embedded') return ok('The embedded database has one role, which may do everything.')
    if (unreadable.length > 0)
      return error(`The role ${role} may not read ${someNames(unreadable)}.`, 'Grant select on them to it.')
    if (unwritable.length > 0) {
      const sentence = `The role ${role} may not write to ${someNames(unwritable)}.`
      return warning(sentence, 'Grant insert on them to it.')
    }
    if (superuser) {
      const sentence = `The role ${role} is a superuser, and may do everything on the server.`
      return warning(sentence, 'Take a role of its own; docker/database.sh makes one.')
    }
    if (!owner) return note(`The role ${role} does not own all tables: it cannot migrate the schema.`)
    return ok(`The role ${role} has the rights that it needs, and is no superuser.`)
  }),
}

/** The oldest tested versions. */
const POSTGRESQL = 15
const POSTGIS = [3, 3] as const
const EXTENSIONS = ['postgis', 'postgis_raster']

/** Shares of the server's connections beyond which other clients may find none. */
const CROWDED = 0.8
const FULL = 0.95

/** SQLSTATEs of a disk or a tablespace without room, and of a right that a role lacks. */
const DISK_FULL = '53100'
const MAY_NOT = '42501'

/** Checks of a database server and its replica. */
export const SERVER_CHECKS: Checks<CheckedDatabase> = {
  async 'database.changes'({ ask, change }) {
    const { readOnly, recovering } = await ask(queries.findChanges)
    const lost = 'takes no changes: points are answered, histories are lost, and logins are refused.'
    if (recovering)
      return error(
        `The server of DATABASE_URL is a replica, and ${lost}`,
        'Name the primary in DATABASE_URL.',
      )
    if (readOnly) {
      const advice =
        'See whether its disk is full, since hosts set default_transaction_read_only then; after that, reset it where it was set: `alter database`, `alter role` or `alter system`.'
      return error(`The database is read-only, and ${lost}`, advice)
    }
    const full: string[] = []
    for (const { name } of await ask(queries.listTablespaces)) {
      try {
        await change((trx) => queries.fillTemporarily(trx, name))
      } catch (caught) {
        if (readErrorCode(caught) === DISK_FULL) full.push(name)
        else if (readErrorCode(caught) !== MAY_NOT) throw caught
      }
    }
    if (full.length === 0) return ok('The database takes changes, and has room for them.')
    const sentence = `The tablespace ${someNames(full)} has no room: histories are lost, and loads fail.`
    return error(
      sentence,
      'Make room on its disk. After a load that failed, `vacuum raster_tile, tile_summary` gives its room back.',
    )
  },

  'connections.used': answer(queries.countConnections, ({ most, clients }, { config }) => {
    const used = clients.reduce((sum, client) => sum + client.connections, 0)
    const names = clients.map(({ application, connections: count }) => `${application} ${count}`)
    const sentence = `${used} of ${most} connections are used: ${someNames(names)}.`
    const advice = 'Raise max_connections, pool with PgBouncer, or lower DATABASE_POOL_SIZE.'
    if (used > most * FULL) return error(sentence, advice)
    if (used > most * CROWDED) return warning(sentence, advice)
    if (config.DATABASE_POOL_SIZE <= most) return ok(sentence)
    const need = `A process of the service takes up to ${config.DATABASE_POOL_SIZE} of ${most} connections.`
    return warning(need, advice)
  }),

  async 'connections.encryption'({ ask, config }) {
    const { host } = new pg.Client({ connectionString: config.DATABASE_URL })
    const found = await ask(queries.findEncryption)
    if (found?.ssl) {
      if (new URL(config.DATABASE_URL as string).searchParams.get('sslmode') !== 'no-verify')
        return ok(`The connection to the database is encrypted (${found.version}).`)
      const sentence =
        'The connection to the database is encrypted, and any server is believed (sslmode=no-verify).'
      return warning(sentence, 'Set sslmode=verify-full and sslrootcert.')
    }
    if (isOfThisMachine(host)) return ok('The connection to the database does not leave this machine.')
    const sentence = `The connection to the database on ${host} is not encrypted.`
    // A name without dots belongs to a container network.
    return host.includes('.')
      ? warning(sentence, 'Add ?sslmode=verify-full to DATABASE_URL.')
      : note(sentence, 'Add ?sslmode=verify-full to DATABASE_URL where others share the network.')
  },

  async 'replica.lag'({ config, ask, askReplica }) {
    if (config.DATABASE_READ_URL === undefined) return []
    const { position } = await ask(queries.findWritten)
    const look = () => askReplica(queries.findReplay(position))
    try {
      let replay = await look()
      for (let attempt = 1; attempt < ATTEMPTS && replay.behind > 0 && !replay.paused; attempt++) {
        await sleep(PAUSE_MS)
        replay = await look()
      }
      return judgeReplay(replay, config)
    } catch (caught) {
      if (!isDatabaseUnavailable(caught)) throw caught
      const sentence = `The replica of DATABASE_READ_URL cannot be asked, so that its reads are the primary's: ${formatError(caught) || readErrorCode(caught)}.`
      return warning(sentence, 'Start it, or leave out DATABASE_READ_URL.')
    }
  },
}

/** A healthy replica has the newest writes within two seconds. */
const ATTEMPTS = 10
const PAUSE_MS = 200

function judgeReplay({ recovering, paused, behind, seconds }: queries.Replay, config: Config) {
  if (!recovering)
    return note('DATABASE_READ_URL names no replica, but a server that writes.', 'Is it the same database?')
  if (paused) {
    const sentence = 'The replica has paused: later writes are read from the primary.'
    return warning(sentence, 'Say `select pg_wal_replay_resume()` there.')
  }
  // A replica without lag may have seen its last transaction hours ago.
  if (behind === 0) return ok('The replica has all that the database has written.')
  const lag = seconds === null ? '' : `, ${spanText(seconds)}`
  const sentence = `The replica is ${sizeText(behind)}${lag} behind`
  if (seconds !== null && seconds * 1000 <= config.READ_MAX_LAG_MS) return ok(`${sentence}.`)
  const advice = 'Look at its load and at the network between.'
  return warning(`${sentence}, too far: its reads are the primary's.`, advice)
}
