import type { Group, Patient } from './examination.ts'
import { ok, sizeText, someNames, spanText, warning } from './finding.ts'
import { findSizes, findTransactionAge, listBloat } from './table-queries.ts'

/** Fewer dead rows are nothing to speak of. PostgreSQL cleans up by itself where a fifth of the rows is dead. */
const DEAD_ROWS = 10_000
const DEAD_PART = 0.3

/** PostgreSQL freezes old rows by itself at 200 million transactions, and refuses to write at two thousand. */
const OLD_TRANSACTIONS = 1e9

/** What the tables take, and what of it is dead. */
export const tables: Group<Patient> = {
  group: 'tables',
  questions: {
    sizes: async ({ ask }) => {
      const { bytes, tables: largest } = await ask(findSizes)
      const names = largest.map((table) => `${table.name} ${sizeText(table.bytes)}`)
      const which = names.length > 0 ? `: ${someNames(names)}` : ''
      return [ok(`The database takes ${sizeText(bytes)}${which}.`)]
    },
    bloat: async ({ ask }) => {
      const bloated = await ask((trx) => listBloat(trx, DEAD_ROWS, DEAD_PART))
      if (bloated.length === 0) return [ok('No table has many dead rows.')]
      return bloated.map(({ name, live, dead, vacuumed }) => {
        const since = vacuumed === null ? 'never' : `${spanText(vacuumed)} ago`
        return warning(
          `${name} has ${dead} dead rows beside ${live} living ones, and was cleaned up last: ${since}.`,
          `Look for long transactions, see that autovacuum is on, and say \`vacuum analyze ${name}\`.`,
        )
      })
    },
    transaction_age: async ({ ask }) => {
      const age = await ask(findTransactionAge)
      const sentence = `The oldest rows that nothing has frozen are ${age} transactions old.`
      if (age < OLD_TRANSACTIONS) return [ok(sentence)]
      return [
        warning(
          sentence,
          'Say `vacuum freeze` before PostgreSQL refuses to write; see that autovacuum is on.',
        ),
      ]
    },
  },
}
