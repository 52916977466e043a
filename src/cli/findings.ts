import { styleText } from 'node:util'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/data/client.ts'
import type { Trx } from '#src/data/tables.ts'
import { printable } from './table.ts'

/** From the best to the worst, with the exit codes of Nagios plugins. `unknown`: the check failed. */
const LEVELS = {
  ok: { exitCode: 0, colour: 'green' },
  note: { exitCode: 0, colour: 'cyan' },
  unknown: { exitCode: 3, colour: 'magenta' },
  warning: { exitCode: 1, colour: 'yellow' },
  error: { exitCode: 2, colour: 'red' },
} as const
type Level = keyof typeof LEVELS
const NAMES = Object.keys(LEVELS) as Level[]

/** Programs read the report: fields stay, and new ones may come. */
export interface DoctorReport {
  status: Level
  checked_at: string
  findings: {
    group: string
    check: string
    level: Level
    sentence: string
    advice: string | null
  }[]
}

type CheckResult = Omit<DoctorReport['findings'][number], 'group' | 'check'>
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

const finding = (level: Level, sentence: string, advice: string | null = null): CheckResult => ({
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

export const rows = <Row>(query: Query<Row[]>, none: string, judge: (row: Row) => CheckResult) =>
  answer(query, (found) => (found.length === 0 ? ok(none) : found.map(judge)))

export function summarise(findings: DoctorReport['findings']): { status: Level; exitCode: number } {
  const status = NAMES.findLast((name) => findings.some(({ level }) => level === name)) ?? 'ok'
  return { status, exitCode: LEVELS[status].exitCode }
}

const WIDTH = Math.max(...NAMES.map((level) => level.length))

export function reportText({ status, findings }: DoctorReport, coloured: boolean): string {
  const styled = (level: Level, text: string) => (coloured ? styleText(LEVELS[level].colour, text) : text)
  const groups = [...new Set(findings.map(({ group }) => group))]
  const blocks = groups.map((name) => {
    const lines = findings
      .filter(({ group }) => group === name)
      .flatMap(({ level, sentence, advice }) => [
        `  ${styled(level, level.padEnd(WIDTH))}  ${printable(sentence)}`,
        ...(advice ? [`  ${' '.repeat(WIDTH)}  > ${printable(advice)}`] : []),
      ])
    return [name, ...lines].join('\n')
  })
  const counts = NAMES.flatMap((level) => {
    const count = findings.filter((one) => one.level === level).length
    return count > 0 ? [`${count} ${level}`] : []
  })
  return [...blocks, `${styled(status, status)}: ${counts.join(', ')}`].join('\n\n')
}
