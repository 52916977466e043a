import { styleText } from 'node:util'
import type { Transaction } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/data/client.ts'
import type { FileStore } from '#src/data/files/store.ts'
import type { Tables } from '#src/data/tables.ts'
import { printable } from '../table.ts'

/** `unknown`: the check failed, so the matter may be well or not. */
const LEVELS = ['ok', 'note', 'unknown', 'warning', 'error'] as const
type Level = (typeof LEVELS)[number]

/** The codes of Nagios plugins: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN. */
export const EXIT_OF_LEVEL: Record<Level, number> = { ok: 0, note: 0, warning: 1, error: 2, unknown: 3 }

export interface CheckResult {
  level: Level
  sentence: string
  advice: string | null
}

export interface CheckedDatabase {
  config: Config
  kind: Database['kind']
  /** Runs a query in a read-only transaction. */
  ask: <Answer>(query: (trx: Transaction<Tables>) => Promise<Answer>) => Promise<Answer>
  askReplica: CheckedDatabase['ask']
  files: FileStore | undefined
}

export type CheckResults = CheckResult | CheckResult[]

/** By group and check: monitoring knows these names, which never change. */
export type Checks<Subject> = Record<
  `${string}.${string}`,
  (subject: Subject) => CheckResults | Promise<CheckResults>
>

/** Programs read the report: fields stay, and new ones may come. */
export const DoctorReport = Type.Object(
  {
    status: Type.Enum([...LEVELS]),
    checked_at: Type.String(),
    findings: Type.Array(
      Type.Object(
        {
          group: Type.String(),
          check: Type.String(),
          level: Type.Enum([...LEVELS]),
          sentence: Type.String({ pattern: '\\.$' }),
          advice: Type.Union([Type.String(), Type.Null()]),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
)
export type DoctorReport = Static<typeof DoctorReport>

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

export function findWorst(levels: Level[]): Level {
  return LEVELS[Math.max(0, ...levels.map((level) => LEVELS.indexOf(level)))] as Level
}

const COLOURS: Record<Level, Parameters<typeof styleText>[0]> = {
  ok: 'green',
  note: 'cyan',
  unknown: 'magenta',
  warning: 'yellow',
  error: 'red',
}

const WIDTH = Math.max(...LEVELS.map((level) => level.length))

export function reportText({ status, findings }: DoctorReport, coloured: boolean): string {
  const styled = (level: Level, text: string) => (coloured ? styleText(COLOURS[level], text) : text)
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
  const counts = LEVELS.flatMap((level) => {
    const count = findings.filter((one) => one.level === level).length
    return count > 0 ? [`${count} ${level}`] : []
  })
  return [...blocks, `${styled(status, status)}: ${counts.join(', ')}`].join('\n\n')
}
