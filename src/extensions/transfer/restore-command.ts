import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { Option } from 'commander'
import { hashPassword } from '#src/accounts/credentials.ts'
import { emailKey, removePiece, storedEmail } from '#src/accounts/user-queries.ts'
import { command, onDatabase, withDatabase, YES_OPTION } from '#src/cli/command.ts'
import { timeText } from '#src/cli/table.ts'
import { type Consent, confirm, type Output, pathNamed, whileShown } from '#src/cli/terminal.ts'
import { type Config, loadConfig } from '#src/config.ts'
import { listRecords } from '#src/data/audit-queries.ts'
import { refuseOlderSchema } from '#src/data/schema-state.ts'
import type { Db } from '#src/data/tables.ts'
import { doAlone } from '#src/data/work-lock.ts'
import { OperatorError } from '#src/errors.ts'
import { formatError } from '#src/lib/promises.ts'
import { findCopiedAccount, restoreAccount } from './restore-queries.ts'

const SERVER = /^postgres(ql)?:/

/** The settings of a copy: a server's URL, or the folder of an embedded database, which is there already. */
function configOfCopy(from: string): Config {
  const { DATABASE_URL, DATA_DIR } = loadConfig()
  const folder = pathNamed(from)
  if (SERVER.test(from)) return configOfServer(from)
  if (!existsSync(join(folder, 'postgres'))) {
    const sentence = `${from} is no folder of an embedded database, and no URL such as postgres://...`
    throw new OperatorError(sentence, { code: 'NOT_FOUND' })
  }
  if (!DATABASE_URL && existsSync(DATA_DIR) && realpathSync(folder) === realpathSync(DATA_DIR))
    throw new OperatorError(NO_COPY)
  return loadConfig({ DATA_DIR: folder })
}

function configOfServer(from: string): Config {
  try {
    return loadConfig({ DATABASE_URL: from })
  } catch (error) {
    const [, fault] = /: DATABASE_URL (.*)$/s.exec(formatError(error)) ?? []
    throw fault === undefined ? error : new OperatorError(`--from ${fault}`, { code: 'SETTINGS' })
  }
}

// An address may have a password.
const NO_COPY = '--from is the database of this service: name a copy, such as a restored backup.'

/** An address says little: a lock is of one database, by whatever name it is reached. */
async function refuseOwnDatabase(db: Db, copy: Db): Promise<void> {
  const lock = randomInt(2 ** 31)
  const isOther = await doAlone(db, lock, () => doAlone(copy, lock, async () => true))
  if (!isOther) throw new OperatorError(NO_COPY)
}

/** The beginning of a sentence. A person who asked to be forgotten must not come back by mistake. */
async function tellDeletion(db: Db, userId: string): Promise<string> {
  const filter = { userId, kind: 'account_deleted', since: undefined } as const
  for await (const { at, operator } of listRecords(db, filter)) {
    const when = `deleted the account at ${timeText(new Date(at))} UTC`
    return operator === null
      ? `The owner ${when}, and may want to be forgotten`
      : `The operator ${operator} ${when}, maybe as its owner asked`
  }
  return 'No record says who deleted the account, and when'
}

/** `agro users restore`. */
export const restoreCommand = command({
  usage: 'restore <email>',
  description:
    'Restore a deleted account with all that belonged to it, from a copy of the database with the same schema: a restored backup. Its owner logs in anew.',
  options: [
    new Option(
      '--from <copy>',
      'URL of the copy on a server, or the folder of an embedded one',
    ).makeOptionMandatory(),
    YES_OPTION,
  ],
  examples: [
    'agro users restore amina@example.org --from postgres://postgres@127.0.0.1/agro_copy',
    'agro users restore amina@example.org --from /srv/backups/data-2026-11-28 --yes',
  ],
  async run({ from, ...consent }: Output & Consent & { from: string }, email: string) {
    const copied = configOfCopy(from)
    return withDatabase(({ writer }) =>
      onDatabase(async ({ writer: copy }) => {
        await refuseOwnDatabase(writer, copy)
        await refuseOlderSchema(copy).catch((error) => {
          throw error instanceof OperatorError
            ? new OperatorError(`This is about the copy: ${error.message}`, { code: error.code })
            : error
        })
        const account = await findCopiedAccount(copy, emailKey(email))
        // Different people may have one key: see `emailKey`.
        if (account?.email.toLowerCase() !== storedEmail(email).toLowerCase()) {
          const other = account ? `; it has ${account.email}` : ''
          throw new OperatorError(`The copy has no account ${email}${other}.`, { code: 'NOT_FOUND' })
        }
        await confirm(`${await tellDeletion(writer, account.id)}: this restores ${account.email}`, consent)
        // The running service removes leftovers, and the embedded database has none now.
        while (await removePiece(writer));
        const lockedHash = await hashPassword(randomBytes(32).toString('base64url'))
        const restoring = restoreAccount(writer, copy, account, lockedHash)
        const { changed, rows } = await whileShown(`restoring ${email}`, restoring)
        const counts = Object.entries(rows).map(([table, count]) => `${table} ${count}`)
        const login = changed
          ? `Its role, password, keys or second factor have changed since the copy: it is a plain user without keys, and \`agro users reset ${account.email}\` makes a token for a password.`
          : 'Its owner logs in with the password of the copy.'
        const { id } = account
        return [
          { id, email: account.email, changed, rows },
          `${account.email} is restored: ${counts.join(', ')}. ${login}`,
        ]
      }, copied),
    )
  },
})
