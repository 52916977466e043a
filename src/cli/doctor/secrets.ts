import { stat } from 'node:fs/promises'
import pg from 'pg'
import type { Config } from '#src/config.ts'
import { openToOthers } from '#src/database/embedded/closed-folder.ts'
import type { Group } from './examination.ts'
import { error, type Finding, note, ok, someNames, warning } from './finding.ts'

/** What stands in the place of a secret until somebody makes one. */
const PLACEHOLDER = /secret|change|default|example|passwor[dt]|replace/i

/** `openssl rand` gives more than forty different characters in 48 bytes; what hands type has fewer. */
const FEW_CHARACTERS = 10

/** Passwords that whoever tries would try first. */
const USUAL_PASSWORDS = ['postgres', 'password', 'agro', 'admin', 'secret', 'changeme']

/** Secrets, and whether others could read them; what they are is never said. */
export const secrets: Group<Config> = {
  group: 'secrets',
  questions: {
    jwt_secret: ({ JWT_SECRET, JWT_SECRET_PREVIOUS, DATABASE_URL }) => [
      ...tokenSecret(JWT_SECRET, DATABASE_URL !== undefined),
      ...previousSecret(JWT_SECRET, JWT_SECRET_PREVIOUS),
    ],
    database_password: ({ DATABASE_URL }) =>
      DATABASE_URL === undefined ? [] : databasePassword(DATABASE_URL),
    mail_encryption: ({ SMTP_URL }) => (SMTP_URL === undefined ? [] : mailEncryption(new URL(SMTP_URL))),
    files: async ({ DATA_DIR, DATABASE_URL }) => {
      const open = [
        ...(await readableFiles(secretFiles())),
        ...(DATABASE_URL === undefined ? await openToOthers(DATA_DIR) : []),
      ]
      if (open.length === 0)
        return [ok('No file with secrets or data is open to other users of this machine.')]
      return [
        warning(
          `Other users of this machine may read ${someNames(open)}.`,
          'Close them: chmod 600 files and chmod 700 folders. The service does so with DATA_DIR where they are its own.',
        ),
      ]
    },
  },
}

function tokenSecret(secret: string | undefined, isServer: boolean): Finding[] {
  const advice =
    'Make one with `openssl rand -base64 48`, and change to it in the steps of docs/operations.md.'
  if (secret === undefined) {
    return isServer
      ? [
          error(
            'JWT_SECRET is not set: the service does not start.',
            'Make one with `openssl rand -base64 48`.',
          ),
        ]
      : [ok('The secret of tokens is kept in DATA_DIR.')]
  }
  const bytes = Buffer.byteLength(secret)
  if (PLACEHOLDER.test(secret) || new Set(secret).size < FEW_CHARACTERS) {
    return [warning(`JWT_SECRET has ${bytes} bytes, and looks like a typed text.`, advice)]
  }
  return [ok(`JWT_SECRET has ${bytes} bytes.`)]
}

function previousSecret(secret: string | undefined, previous: string | undefined): Finding[] {
  if (previous === undefined) return []
  if (previous === secret) {
    return [
      warning(
        'JWT_SECRET_PREVIOUS is the same as JWT_SECRET: tokens of before the change are refused.',
        'Set it to the secret of before, or leave it out.',
      ),
    ]
  }
  return [
    note(
      'JWT_SECRET_PREVIOUS is set: tokens that are signed with it are accepted.',
      'Leave it out when every process has started with the new secret.',
    ),
  ]
}

function databasePassword(url: string): Finding[] {
  const { user, password } = new pg.Client({ connectionString: url })
  if (typeof password !== 'string' || password === '')
    return [ok('The URL of the database has no password in it.')]
  if (password !== user && !USUAL_PASSWORDS.includes(password.toLowerCase())) {
    return [ok('The password of the database is none of the usual ones.')]
  }
  return [
    warning(
      'The password of the database is one that is tried first.',
      'Give the role another one: `alter role ... password ...`, and change DATABASE_URL.',
    ),
  ]
}

function mailEncryption({ protocol, hostname, searchParams }: URL): Finding[] {
  if (protocol === 'smtps:' || searchParams.get('requireTLS') === 'true' || isOfThisMachine(hostname)) {
    return [ok('Mails go to the mail server encrypted, or over this machine alone.')]
  }
  return [
    warning(
      'Mails go to the mail server without encryption where it offers none, with the tokens in them.',
      'Add ?requireTLS=true to SMTP_URL, or use smtps://.',
    ),
  ]
}

/** Whether what is sent to a host leaves this machine. */
export function isOfThisMachine(host: string): boolean {
  return host === 'localhost' || host.startsWith('/') || /^127\.|^\[?::1\]?$/.test(host)
}

/** The files that settings are read from. */
function secretFiles(): string[] {
  const named = Object.entries(process.env).flatMap(([name, path]) =>
    /^(DATABASE(_READ)?_URL|JWT_SECRET(_PREVIOUS)?|SMTP_URL)_FILE$/.test(name) && path ? [path] : [],
  )
  // What a supervisor mounts there is for the processes of one container, with the modes that it gives.
  const ours = named.filter((path) => !/^(\/var)?\/run\//.test(path))
  return [process.env.ENV_FILE || '.env', ...ours]
}

async function readableFiles(paths: string[]): Promise<string[]> {
  // Windows has lists of who may do what; these modes say nothing there.
  if (process.platform === 'win32') return []
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)))
  return paths.filter((_, index) => {
    const file = found[index]
    // Devices and pipes, such as those of shells, hold nothing that could be read again.
    return file?.isFile() && (file.mode & 0o077) !== 0
  })
}
