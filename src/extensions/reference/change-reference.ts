import { type CommandAnswer, withDatabase } from '#src/cli/command.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Trx } from '#src/data/tables.ts'

/** Changes reference data in a transaction, and records the printed sentence. */
export function changeReference(work: (trx: Trx) => Promise<CommandAnswer>): Promise<CommandAnswer> {
  return withDatabase(({ writer }) =>
    inTransaction(writer, async (trx) => {
      const answer = await work(trx)
      await recordOperation(trx, { kind: 'reference_changed', detail: { change: answer[1] } })
      return answer
    }),
  )
}
