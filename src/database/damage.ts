import { codeOf, messageOf } from '#src/lib/caught.ts'

/** SQLSTATEs: a page of a table that is not what was written, and an index that does not fit its table. */
const DATA_CORRUPTED = 'XX001'
const INDEX_CORRUPTED = 'XX002'

/**
 * What an operator is told where the files of the database are damaged: what is, and what to do, in a sentence.
 * Undefined for all other errors. It does not go away by itself, so clients are told of a failure and not to wait.
 */
export function damageOf(error: unknown): string | undefined {
  const code = codeOf(error)
  const damage = `The files of the database are damaged (${messageOf(error)})`
  if (code === DATA_CORRUPTED) return `${damage}: stop the service, and put back a backup.`
  if (code === INDEX_CORRUPTED) return `${damage}: reindex, or put back a backup.`
  return undefined
}
