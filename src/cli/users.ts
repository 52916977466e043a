import { randomBytes } from 'node:crypto'
import { Ajv } from 'ajv'
import { Option } from 'commander'
import { RegisterRequest } from '#schemas/auth.ts'
import { ROLES, type Role } from '#schemas/user.ts'
import { describeTokenUse, issueToken } from '#src/accounts/account-mail.ts'
import { hashPassword, refuseGuessable } from '#src/accounts/credentials.ts'
import * as queries from '#src/accounts/user-queries.ts'
import { type Config, loadConfig } from '#src/config.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Trx } from '#src/data/tables.ts'
import { ApiError, OperatorError } from '#src/errors.ts'
import { AJV_OPTIONS, validationError } from '#src/http/parameters.ts'
import { type CommandAnswer, command, group, listCommand, withDatabase, YES_OPTION } from './command.ts'
import { type Consent, confirm, type Output, readPassword, whileShown } from './terminal.ts'

interface CreateOptions extends Output {
  name: string
  organisation?: string
  role: Role
  password?: boolean
}

const create = command({
  usage: 'create <email>',
  description:
    'Create an account, and print a one-time token for its password. The e-mail counts as confirmed: verify the caller first.',
  parameters: ['its e-mail, unique among accounts'],
  options: [
    new Option('--name <text>', 'the name of the person').makeOptionMandatory(),
    ['--organisation <text>', 'the employer of the person'],
    new Option('--role <role>', 'the role of the account').choices(ROLES).default('user'),
    ['--password', 'set a password, typed without echo or read from stdin, and print no token'],
  ],
  examples: [
    'agro users create amina@example.org --name "Amina Bekele"',
    'agro users create amina@example.org --name "Amina Bekele" --role admin --password < password.txt',
  ],
  async run({ role, password: isGiven, ...options }: CreateOptions, email: string) {
    const password = isGiven ? await readPassword() : undefined
    const user = await prepareUser(email, options, password)
    return withDatabase(({ writer }) => {
      const config = loadConfig()
      return inTransaction(writer, async (trx): Promise<CommandAnswer> => {
        const made = await queries.insertUser(trx, user)
        if (!made)
          throw new OperatorError(`There is an account ${email} already; \`agro users list\` shows it.`, {
            code: 'ALREADY_THERE',
          })
        await queries.setRole(trx, email, role)
        await recordOperation(trx, { kind: 'account_made', userId: made.id, detail: { role } })
        const account = { ...made, role }
        const sentence = `${account.email} has an account with the role ${role}.`
        if (password !== undefined) return [{ user: account }, sentence]
        const issued = await issueReset(trx, email, config)
        const { token, hours, usage } = issued
        return [{ user: account, token, hours, usage }, `${sentence}\n\n${resetText(issued)}`]
      })
    })
  },
})

const isRequest = new Ajv(AJV_OPTIONS).compile<RegisterRequest>(RegisterRequest)

/** Checks the rules of a registration. A random password is unknown to everyone. */
async function prepareUser(
  email: string,
  { name, organisation = null }: { name: string; organisation?: string | null },
  password = randomBytes(32).toString('base64url'),
): Promise<queries.NewUser> {
  const request = { email, password, name, organisation }
  try {
    if (!isRequest(request)) throw validationError(isRequest.errors ?? [], request)
    await refuseGuessable('password', password, [email, name, organisation])
  } catch (error) {
    throw error instanceof ApiError ? new OperatorError(error.message) : error
  }
  return { email, passwordHash: await hashPassword(password), name, organisation }
}

/** Longer than for mails: people hand this token on. */
const RESET_HOURS = 24

async function issueReset(trx: Trx, email: string, { BASE_PATH, PASSWORD_RESET_URL }: Config) {
  const issued = await issueToken(trx, email, 'password_reset', RESET_HOURS)
  if (!issued) throw queries.noAccount(email)
  await recordOperation(trx, { kind: 'password_reset_issued', userId: issued.userId })
  const usage = describeTokenUse(issued.token, {
    page: PASSWORD_RESET_URL,
    path: `${BASE_PATH}/auth/password/reset`,
    body: { password: 'the new password' },
  })
  return { id: issued.userId, email: issued.email, token: issued.token, hours: RESET_HOURS, usage }
}

function resetText({ email, hours, usage }: Awaited<ReturnType<typeof issueReset>>, consequence = '') {
  return `For ${email}, once, within ${hours} hours.${consequence}\n\n${usage}`
}

const list = listCommand('users', 'List all accounts with their roles.', queries.listUsers, {
  none: 'There are no accounts.',
  head: ['EMAIL', 'CONFIRMED', 'ROLE', 'SINCE', 'NAME'],
  cells: ({ email, email_confirmed, role, name, created_at }) => [
    email,
    email_confirmed ? 'yes' : 'no',
    role,
    created_at.slice(0, 10),
    name,
  ],
})

const remove = command({
  usage: 'delete <email>',
  description:
    'Delete an account and all its data for good. The service deletes the rows of a long history in the background.',
  options: [YES_OPTION],
  examples: ['agro users delete amina@example.org', 'agro users delete amina@example.org --yes'],
  async change({ writer }, consent: Output & Consent, email: string) {
    if (!(await queries.findCredentials(writer, email))) throw queries.noAccount(email)
    await confirm(`This deletes the account ${email} with its history, sessions and keys, for good`, consent)
    const deletion = inTransaction(writer, async (trx) => {
      const account = await queries.findCredentials(trx, email)
      if (!account) throw queries.noAccount(email)
      const removed = await queries.deleteUser(trx, account.id)
      await recordOperation(trx, { kind: 'account_deleted', userId: account.id })
      return { id: account.id, email: account.email, removed }
    })
    const deleted = await whileShown(`deleting ${email}`, deletion)
    const counts = Object.entries(deleted.removed).map(([name, count]) => `${name} ${count}`)
    return [deleted, `${deleted.email} is deleted: ${counts.join(', ')}.`]
  },
})

const roleCommands = (
  [
    [
      'promote',
      'admin',
      'Grant admin rights, within seconds. The service has not verified who owns the e-mail: ask first.',
    ],
    ['demote', 'user', 'Revoke admin rights.'],
  ] as const
).map(([name, role, description]) =>
  command({
    usage: `${name} <email>`,
    description,
    examples: [`agro users ${name} amina@example.org`],
    change: ({ writer }, _: Output, email: string): Promise<CommandAnswer> =>
      inTransaction(writer, async (trx) => {
        const id = await queries.setRole(trx, email, role)
        await recordOperation(trx, { kind: 'role_changed', userId: id, detail: { role } })
        return [{ id, email, role }, `${email} has the role ${role}.`]
      }),
  }),
)

const reset = command({
  usage: 'reset <email>',
  description:
    'Print a one-time token for a new password. The token opens the account: verify the caller first.',
  examples: ['agro users reset amina@example.org'],
  async change({ writer }, _: Output, email: string) {
    const config = loadConfig()
    const issued = await inTransaction(writer, (trx) => issueReset(trx, email, config))
    return [issued, resetText(issued, ' All its sessions end then.')]
  },
})

export const usersCommand = group(
  'users',
  'List, create, delete and restore accounts, set roles, and reset passwords.',
  [list, create, remove, ...roleCommands, reset],
)
