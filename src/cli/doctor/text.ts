import { styleText } from 'node:util'
import { printable } from '../table.ts'
import type { DoctorReport, Level } from './finding.ts'

const COLOURS: Record<Level, Parameters<typeof styleText>[0]> = {
  ok: 'green',
  note: 'cyan',
  unknown: 'magenta',
  warning: 'yellow',
  error: 'red',
}

const WIDTH = Math.max(...Object.keys(COLOURS).map((level) => level.length))

/** A report for people, group by group; what there is to do stands below what was found. */
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
  const counts = Object.keys(COLOURS).flatMap((level) => {
    const count = findings.filter((finding) => finding.level === level).length
    return count > 0 ? [`${count} ${level}`] : []
  })
  return [...blocks, `${styled(status, status)}: ${counts.join(', ')}`].join('\n\n')
}
