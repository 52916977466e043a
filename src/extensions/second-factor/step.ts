import type { LoginStep } from '#src/accounts/steps.ts'
import { BY_ANYBODY } from '#src/data/audit-queries.ts'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { createSecondFactor, type SecondFactor } from './factor.ts'
import { hasTwoFactor } from './queries.ts'
import { SecondFactor as members } from './schemas.ts'

declare module 'fastify' {
  interface FastifyInstance {
    secondFactor: SecondFactor
  }
}

const refuseAdmin = () =>
  new ApiError(
    'TWO_FACTOR_SETUP_REQUIRED',
    `Admins need a second factor: set one up with POST ${BASE}/auth/two-factor.`,
  )

/** A code of an app, or a recovery code, beside the password. */
export async function createStep(app: App): Promise<LoginStep> {
  BY_ANYBODY.add('code_refused')
  app.decorate('secondFactor', await createSecondFactor(app))
  return {
    members,
    texts: {
      members:
        'An account with a second factor needs `totp` or `recovery_code` as well; with others they are ignored.',
      login:
        'With a second factor, a right password alone gets `TWO_FACTOR_REQUIRED`: send e-mail and password again, with the code.',
      reauthentication: 'An account with a second factor also needs a code.',
      missing: 'The account has a second factor: send totp or recovery_code as well.',
    },
    refusals: { missing: 'TWO_FACTOR_REQUIRED', wrong: 'INVALID_CODE' },
    isOn: hasTwoFactor,
    judge: app.secondFactor.judge,
    refuseAdmin: app.config.ADMIN_2FA ? refuseAdmin : null,
  }
}
