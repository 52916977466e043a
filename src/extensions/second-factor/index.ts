import type { Generated } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Extension } from '../extension.ts'
import { TOTP_DIGITS } from './schemas.ts'

const Operated = Type.Object({ ADMIN_2FA: Type.Boolean({ default: false }) })

type TwoFactorSettings = Static<typeof Operated>

const ERRORS = {
  TWO_FACTOR_REQUIRED: {
    status: 401,
    meaning: 'The password is right; a code is needed as well.',
    example: 'The password is right: send it again, with totp or recovery_code.',
  },
  INVALID_CODE: {
    status: 401,
    meaning: 'The password is right, but the code is wrong or used.',
    example: 'The code is wrong, or has been used: wait for the next one.',
  },
  TWO_FACTOR_SETUP_REQUIRED: {
    status: 403,
    meaning: 'Admins need a second factor on this service.',
    example: 'Admins need a second factor: set one up with POST /auth/two-factor.',
    refusesAdmins: true,
  },
  TWO_FACTOR_ON: {
    status: 409,
    meaning: 'The account has a second factor already.',
    example: 'The account has a second factor: turn it off before you set up another one.',
  },
} as const

const KINDS = {
  code_asked: 'the password was right, and a second factor was asked for',
  code_refused: 'the second factor was wrong',
  recovery_code_used: 'a recovery code was used',
  two_factor_on: 'a second factor was turned on',
  two_factor_off: 'a second factor was turned off',
  two_factor_reset: 'an operator turned a second factor off',
}

type OwnErrors = typeof ERRORS
type OwnKinds = typeof KINDS

interface TwoFactorTable {
  user_id: string
  secret: Buffer
  begun_at: Generated<Date>
  confirmed_at: Date | null
  last_step: Generated<number>
}

declare module '#src/config.ts' {
  interface Config extends TwoFactorSettings {}
}
declare module '#src/errors.ts' {
  interface Errors extends OwnErrors {}
}
declare module '#src/data/audit-kinds.ts' {
  interface AuditKinds extends OwnKinds {}
}
declare module '#src/data/tables.ts' {
  interface Tables {
    two_factor: TwoFactorTable
    recovery_code: { user_id: string; hash: Buffer }
  }
}

/** Codes of an app beside the passwords of accounts that want it. */
export const secondFactor: Extension = {
  name: 'second-factor',
  settings: { operated: Operated.properties },
  sql: new URL('sql/', import.meta.url),
  errors: ERRORS,
  auditKinds: KINDS,
  patterns: { [TOTP_DIGITS]: 'must be six digits, such as 492039' },
  accounts: {
    rows: { two_factor: 'user_id = :user', recovery_code: 'user_id = :user' },
    changes: ['two_factor_on', 'two_factor_off', 'two_factor_reset'],
  },
  loginStep: async (app) => (await import('./factor.ts')).createStep(app),
  async routes(app, core) {
    const { twoFactor } = await import('./routes.ts')
    await app.register(twoFactor, { prefix: '/auth', ...core })
  },
  commands: { 'users reset-2fa': async () => (await import('./command.ts')).resetCommand },
}
