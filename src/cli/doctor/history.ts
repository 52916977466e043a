import { findRetention } from '#src/domains/history/retention-queries.ts'
import type { Group, Patient } from './examination.ts'
import { note, ok, warning } from './finding.ts'

/** For how long histories are kept. */
export const history: Group<Patient> = {
  group: 'history',
  questions: {
    months: async ({ ask, config: { HISTORY_MONTHS: months } }) => {
      const { going, old } = await ask((trx) => findRetention(trx, months))
      if (going) {
        return [
          note(
            'A month of histories is being dropped.',
            'Where nothing becomes of it, see who holds locks, and whether the service runs.',
          ),
        ]
      }
      if (months === undefined) return [ok('Histories are kept for ever.')]
      if (!old) return [ok(`Histories are kept for ${months} months, and nothing in them is older.`)]
      return [
        warning(
          `Histories are kept for ${months} months, and there are items that are older.`,
          'The service removes them within minutes where it runs with this HISTORY_MONTHS; else see who holds locks, and its log.',
        ),
      ]
    },
  },
}
