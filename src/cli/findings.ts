import type { Config } from '#src/config.ts'
import type { Database } from '#src/data/database.ts'
import type { Trx } from '#src/data/tables.ts'

/** `unknown`: the check failed. */
export interface CheckResult {
  level: 'ok' | 'note' | 'unknown' | 'warning' | 'error'
  sentence: string
  advice: string | null
}
export type CheckResults = CheckResult | CheckResult[]

export interface CheckedDatabase extends Pick<Database, 'kind'> {
  config: Config
  /** Runs a query in a read-only transaction. */
  ask: <Answer>(query: (trx: Trx) => Promise<Answer>) => Promise<Answer>
  /** Runs what leaves nothing behind in a transaction that may write. */
  change: CheckedDatabase['ask']
  askReplica: CheckedDatabase['ask']
}

/** By group and check: monitoring knows these names, which never change. */
export type Checks<Subject> = Record<
  `${string}.${string}`,
  (subject: Subject) => CheckResults | Promise<CheckResults>
>

const finding = (
  level: CheckResult['level'],
  sentence: string,
  advice: string | null = null,
): CheckResult => ({
  level,
  sentence,
  advice,
})
export const ok = (sentence: string) => finding('ok', sentence)
export const note = (sentence: string, advice?: string) => finding('note', sentence, advice)
export const unknown = (sentence: string, advice?: string) => finding('unknown', sentence, advice)
export const warning = (sentence: string, advice: string) => finding('warning', sentence, advice)
export const error = (sentence: string, advice: string) => finding('error', sentence, advice)

type Query<Answer> = (trx: Trx) => Promise<Answer>

export const answer =
  <Answer>(query: Query<Answer>, judge: (answer: Answer, database: CheckedDatabase) => CheckResults) =>
  async (database: CheckedDatabase) =>
    judge(await database.ask(query), database)
