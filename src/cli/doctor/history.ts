import { totalOf } from '#src/domains/history/quota.ts'
import { sumHistories } from '#src/domains/history/recording-queries.ts'
import { findRetention } from '#src/domains/history/retention-queries.ts'
import type { Group, Patient } from './examination.ts'
import { note, ok, sizeText, warning } from './finding.ts'

/** For how long histories are kept, and how much they hold. */
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
    total: async ({ ask, config }) => {
      const limit = totalOf(config)
      const bytes = await ask((trx) => sumHistories(trx))
      if (limit === undefined)
        return [ok(`Histories hold ${sizeText(bytes)}; HISTORY_TOTAL_MB sets no limit.`)]
      const sentence = `Histories hold ${sizeText(bytes)} of the ${sizeText(limit)} of HISTORY_TOTAL_MB.`
      if (bytes < NEARLY * limit) return [ok(sentence)]
      const remedy = 'Raise HISTORY_TOTAL_MB, set HISTORY_MONTHS, or delete unused accounts.'
      if (bytes < limit) return [warning(sentence, remedy)]
      return [warning(`${sentence} New answers are not kept.`, remedy)]
    },
  },
}

/** The part of the total from which on a warning is due. */
const NEARLY = 0.9
