import { randomBytes } from 'node:crypto'
import { Ajv } from 'ajv'
import { Command, Option } from 'commander'
import type { Transaction } from 'kysely'
import { RegisterRequest } from '#schemas/auth.ts'
import { ROLES, type Role } from '#schemas/user.ts'
import { issueToken, usageOf } from '#src/accounts/account-mail.ts'
import { hashPassword, refuseGuessable } from '#src/accounts/credentials.ts'
import { deleteTwoFactor } from '#src/accounts/queries.ts'
import {
  deleteUser,
  findCredentials,
  insertUser,
  listUsers,
  type NewUser,
  noAccount,
  setRole,
} from '#src/accounts/user-queries.ts'
import { type Config, loadConfig } from '#src/config.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, OperatorError } from '#src/errors.ts'
import { AJV_OPTIONS, validationError } from '#src/http/validation.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { whileShown } from './progress.ts'
import { table } from './table.ts'
import {
  type Consent,
  confirm,
  JSON_OPTION,
  type Output,
  print,
  readPassword,
  withExamples,
  YES_OPTION,
} from './terminal.ts'

interface CreateOptions extends Output {
  name: string
  organisation?: string
  role: Role
  password?: boolean
}

export const createCommand = new Command('create')
  .description(
    'Create an account, and print a one-time token for its password. The e-mail counts as confirmed: verify the caller first.',
  )
  .argument('<email>', 'its e-mail, unique among accounts')
  .requiredOption('--name <text>', 'the name of the person')
  .option('--organisation <text>', 'the employer of the person')
  .addOption(new Option('--role <role>', 'the role of the account').choices(ROLES).default('user'))
  .option('--password', 'set a password, typed without echo or read from stdin, and print no token')
  .option(...JSON_OPTION)
  .action(async (email: string, { role, password: isGiven, ...options }: CreateOptions) => {
    const password = isGiven ? await readPassword() : undefined
    const user = await newUser(email, options, password)
    await withDatabase(async ({ writer }) => {
      const config = loadConfig()
      const { account, issued } = await inTransaction(writer, async (trx) => {
        const made = await insertUser(trx, user)
        if (!made)
          throw new OperatorError(`There is an account ${email} already; \`agro users list\` shows it.`, {
            code: 'ALREADY_THERE',
          })
        await setRole(trx, email, role)
        await recordOperation(trx, { kind: 'account_made', userId: made.id, detail: { role } })
        return {
          account: { ...made, role },
          issued: password === undefined ? await issueReset(trx, email, config) : undefined,
        }
      })
      const made = `${account.email} has an account with the role ${role}.`
      const { token, hours, usage } = issued ?? {}
      print(
        options,
        { user: account, ...(issued && { token, hours, usage }) },
        issued ? `${made}\n\n${resetText(issued)}` : made,
      )
    })
  })
withExamples(
  createCommand,
  'agro users create amina@example.org --name "Amina Bekele"',
  'agro users create amina@example.org --name "Amina Bekele" --role admin --password < password.txt',
)

const isRequest = new Ajv(AJV_OPTIONS).compile<RegisterRequest>(RegisterRequest)

/** Checks the rules of a registration. A random password is unknown to everyone. */
async function newUser(
  email: string,
  { name, organisation }: Pick<CreateOptions, 'name' | 'organisation'>,
  password = randomBytes(32).toString('base64url'),
): Promise<NewUser> {
  const request = { email, password, name, organisation: organisation ?? null }
  try {
    if (!isRequest(request)) throw validationError(isRequest.errors ?? [], request)
    await refuseGuessable('password', password, [email, name, request.organisation])
  } catch (error) {
    throw error instanceof ApiError ? new OperatorError(error.message) : error
  }
  return { email, passwordHash: await hashPassword(password), name, organisation: request.organisation }
}

/** Longer than for mails: people hand this token on. */
const RESET_HOURS = 24

export interface IssuedReset {
  id: string
  email: string
  token: string
  hours: number
  usage: string
}

export async function issueReset(
  trx: Transaction<Tables>,
  email: string,
  { BASE_PATH, PASSWORD_RESET_URL }: Config,
): Promise<IssuedReset> {
  const issued = await issueToken(trx, email, 'password_reset', RESET_HOURS)
  if (!issued) throw noAccount(email)
  await recordOperation(trx, { kind: 'password_reset_issued', userId: issued.userId })
  const usage = usageOf(issued.token, {
    page: PASSWORD_RESET_URL,
    path: `${BASE_PATH}/auth/password/reset`,
    body: { password: 'the new password' },
  })
  return { id: issued.userId, email: issued.email, token: issued.token, hours: RESET_HOURS, usage }
}

export function resetText({ email, hours, usage }: IssuedReset, consequence = ''): string {
  return `For ${email}, once, within ${hours} hours.${consequence}\n\n${usage}`
}

export const usersCommand = new Command('users').description(
  'List, create and delete accounts, set roles, and reset passwords.',
)

const list = usersCommand
  .command('list')
  .description('List all accounts with their roles.')
  .option(...JSON_OPTION)
  .action((output: Output) =>
    lookInDatabase(async ({ writer }) => {
      const users = await listUsers(writer)
      const rows = users.map(({ email, email_confirmed, role, name, created_at }) => [
        email,
        email_confirmed ? 'yes' : 'no',
        role,
        created_at.slice(0, 10),
        name,
      ])
      const text = table(['EMAIL', 'CONFIRMED', 'ROLE', 'SINCE', 'NAME'], rows)
      print(output, users, users.length === 0 ? 'There are no accounts.' : text)
    }),
  )
withExamples(list, 'agro users list', 'agro users list --json')

usersCommand.addCommand(createCommand)

const remove = usersCommand
  .command('delete <email>')
  .description(
    'Delete an account and all its data for good. The service deletes the rows of a long history in the background.',
  )
  .option(...YES_OPTION)
  .option(...JSON_OPTION)
  .action(async (email: string, options: Output & Consent) => {
    await withDatabase(async ({ writer }) => {
      if (!(await findCredentials(writer, email))) throw noAccount(email)
      await confirm(
        `This deletes the account ${email} with its history, sessions and keys, for good`,
        options,
      )
      const deletion = inTransaction(writer, async (trx) => {
        const account = await findCredentials(trx, email)
        if (!account) throw noAccount(email)
        const removed = await deleteUser(trx, account.id)
        await recordOperation(trx, { kind: 'account_deleted', userId: account.id })
        return { id: account.id, email: account.email, removed }
      })
      const deleted = await whileShown(`deleting ${email}`, deletion)
      const counts = Object.entries(deleted.removed).map(([what, count]) => `${what} ${count}`)
      print(options, deleted, `${deleted.email} is deleted: ${counts.join(', ')}.`)
    })
  })
withExamples(remove, 'agro users delete amina@example.org', 'agro users delete amina@example.org --yes')

const promote = usersCommand
  .command('promote <email>')
  .description(
    'Grant admin rights, within seconds. The service has not verified who owns the e-mail: ask first.',
  )
  .option(...JSON_OPTION)
  .action((email: string, output: Output) => changeRole(email, 'admin', output))
withExamples(promote, 'agro users promote amina@example.org')

const demote = usersCommand
  .command('demote <email>')
  .description('Revoke admin rights.')
  .option(...JSON_OPTION)
  .action((email: string, output: Output) => changeRole(email, 'user', output))
withExamples(demote, 'agro users demote amina@example.org')

function changeRole(email: string, role: Role, output: Output): Promise<void> {
  return withDatabase(async ({ writer }) => {
    const id = await inTransaction(writer, async (trx) => {
      const userId = await setRole(trx, email, role)
      await recordOperation(trx, { kind: 'role_changed', userId, detail: { role } })
      return userId
    })
    print(output, { id, email, role }, `${email} has the role ${role}.`)
  })
}

const reset = usersCommand
  .command('reset <email>')
  .description(
    'Print a one-time token for a new password. The token opens the account: verify the caller first.',
  )
  .option(...JSON_OPTION)
  .action((email: string, output: Output) =>
    withDatabase(async ({ writer }) => {
      const config = loadConfig()
      const issued = await inTransaction(writer, (trx) => issueReset(trx, email, config))
      print(output, issued, resetText(issued, ' All its sessions end then.'))
    }),
  )
withExamples(reset, 'agro users reset amina@example.org')

const resetSecondFactor = usersCommand
  .command('reset-2fa <email>')
  .description(
    'Turn off the second factor of an account whose owner lost the app and the recovery codes. The password alone opens the account then: verify the caller first.',
  )
  .option(...JSON_OPTION)
  .action((email: string, output: Output) =>
    withDatabase(async ({ writer }) => {
      const account = await findCredentials(writer, email)
      if (!account) throw noAccount(email)
      const userId = account.id
      const found = await inTransaction(writer, async (trx) => {
        const deleted = await deleteTwoFactor(trx, userId)
        if (deleted) await recordOperation(trx, { kind: 'two_factor_reset', userId })
        return deleted
      })
      print(
        output,
        { id: userId, email: account.email, had_second_factor: found },
        found ? `${email} logs in with the password alone.` : `${email} has no second factor.`,
      )
    }),
  )
withExamples(resetSecondFactor, 'agro users reset-2fa amina@example.org')
