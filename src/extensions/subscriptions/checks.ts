import { answer, type CheckedDatabase, type Checks, note, ok, warning } from '#src/cli/findings.ts'
import { spanText } from '#src/cli/table.ts'
import { findDeliveryState } from './queries.ts'

export const checks: Checks<CheckedDatabase> = {
  'subscriptions.deliveries': answer(
    findDeliveryState,
    ({ active, disabled, failing, overdueSeconds }, { config }) => {
      if (overdueSeconds !== null && overdueSeconds > OVERDUE_SECONDS) {
        const sentence = `Changes that are due are not sent: one has been due for ${spanText(overdueSeconds)}.`
        return warning(sentence, 'A service that runs sends them; see whether one does, and its log.')
      }
      if (config.WEBHOOK_ALLOW_PRIVATE) {
        const sentence = 'WEBHOOK_ALLOW_PRIVATE lets every account send requests to hosts of this network.'
        return warning(sentence, 'Leave it out wherever others have accounts.')
      }
      const begin = `${active} ${active === 1 ? 'subscription gets' : 'subscriptions get'} changes`
      if (disabled + failing === 0) return ok(`${begin}.`)
      return note(
        `${begin}, of which ${failing} cannot be reached at the moment; ${disabled} are disabled.`,
        'Their owners see it, and can enable them again; where it is all of them, see whether this machine may connect to others.',
      )
    },
  ),
}

/** The service should have sent changes that are due this long. */
const OVERDUE_SECONDS = 600
