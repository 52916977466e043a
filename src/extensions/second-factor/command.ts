import { findCredentials, noAccount } from '#src/accounts/user-queries.ts'
import { command } from '#src/cli/command.ts'
import type { Output } from '#src/cli/terminal.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import { deleteTwoFactor } from './queries.ts'

/** `agro users reset-2fa`. */
export const resetCommand = command({
  usage: 'reset-2fa <email>',
  description:
    'Turn off the second factor of an account whose owner lost the app and the recovery codes. The password alone opens the account then: verify the caller first.',
  examples: ['agro users reset-2fa amina@example.org'],
  async change({ writer }, _: Output, email: string) {
    const account = await findCredentials(writer, email)
    if (!account) throw noAccount(email)
    const userId = account.id
    const had = await inTransaction(writer, async (trx) => {
      const deleted = await deleteTwoFactor(trx, userId)
      if (deleted) await recordOperation(trx, { kind: 'two_factor_reset', userId })
      return deleted
    })
    return [
      { id: userId, email: account.email, had_second_factor: had },
      had ? `${email} logs in with the password alone.` : `${email} has no second factor.`,
    ]
  },
})
