import { randomBytes } from 'node:crypto'
import { Ajv } from 'ajv'
import { Command, Option } from 'commander'
import { RegisterRequest } from '#schemas/auth.ts'
import { ROLES, type Role } from '#schemas/user.ts'
import { loadConfig } from '#src/config.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { recordOperation } from '#src/domains/audit/queries.ts'
import { hashPassword, refuseGuessable } from '#src/domains/auth/passwords.ts'
import { insertUser, type NewUser, setRole } from '#src/domains/user/queries.ts'
import { ApiError, OperatorError } from '#src/errors.ts'
import { AJV_OPTIONS, validationError } from '#src/http/validation.ts'
import { withDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { readPassword } from './terminal.ts'
import { issueReset, resetText } from './users-reset.ts'

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

/** An account as it is stored, of what keeps the rules of a registration. Without a password, nobody has it. */
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
