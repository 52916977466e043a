import { findDeliveryState } from '#src/domains/subscriptions/state-queries.ts'
import type { Group, Patient } from './examination.ts'
import { note, ok, spanText, warning } from './finding.ts'

/** What was due for so long has been tried by nobody. */
const OVERDUE_SECONDS = 600

/** Whether those who are to be told of changes are. */
export const subscriptions: Group<Patient> = {
  group: 'subscriptions',
  questions: {
    deliveries: async ({ ask, config: { WEBHOOK_ALLOW_PRIVATE: isOpen } }) => {
      const { active, disabled, failing, overdueSeconds } = await ask(findDeliveryState)
      if (overdueSeconds !== null && overdueSeconds > OVERDUE_SECONDS) {
        return [
          warning(
            `Changes that are due are not sent: one has been due for ${spanText(overdueSeconds)}.`,
            'A service that runs sends them; see whether one does, and its log.',
          ),
        ]
      }
      if (isOpen) {
        return [
          warning(
            'WEBHOOK_ALLOW_PRIVATE lets every account send requests to hosts of this network.',
            'Leave it out wherever others have accounts.',
          ),
        ]
      }
      const told = `${active} ${active === 1 ? 'subscription is' : 'subscriptions are'} told of changes`
      if (disabled + failing === 0) return [ok(`${told}.`)]
      return [
        note(
          `${told}, of which ${failing} cannot be reached at the moment; ${disabled} are disabled.`,
          'Their owners see it, and can enable them again; where it is all of them, see whether this machine may connect to others.',
        ),
      ]
    },
  },
}
