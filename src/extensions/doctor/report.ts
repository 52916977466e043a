import { styleText } from 'node:util'
import type { CheckResult } from '#src/cli/findings.ts'
import { printable } from '#src/cli/table.ts'

/** From the best to the worst, with the exit codes of Nagios plugins. */
const LEVELS = {
  ok: { exitCode: 0, colour: 'green' },
  note: { exitCode: 0, colour: 'cyan' },
  unknown: { exitCode: 3, colour: 'magenta' },
  warning: { exitCode: 1, colour: 'yellow' },
  error: { exitCode: 2, colour: 'red' },
} as const satisfies Record<CheckResult['level'], object>
type Level = keyof typeof LEVELS
const NAMES = Object.keys(LEVELS) as Level[]

/** Programs read the report: fields stay, and new ones may come. */
export interface DoctorReport {
  status: Level
  checked_at: string
  findings: ({ group: string; check: string } & CheckResult)[]
}

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
