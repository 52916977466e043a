import { InvalidArgumentError, Option } from 'commander'
import { CHECK_NAMES, type CheckName, type Finding } from '#src/database/findings.ts'
import { OperatorError } from '#src/errors.ts'
import { refusingChecks } from '#src/ingest/checks/judgement.ts'
import { say } from './output.ts'

export const STRICT_OPTION = ['--strict', 'refuse it for notes as well as errors'] as const

/** Lets an operator allow what checks refuse. */
export function allowOption(): Option {
  return new Option('--allow <checks>', `publish although these checks refuse it: ${CHECK_NAMES.join(', ')}`)
    .argParser(readChecks)
    .default([], 'none')
}

function readChecks(text: string, before: CheckName[]): CheckName[] {
  const named = text.split(',').map((name) => name.trim())
  const unknown = named.find((name) => !CHECK_NAMES.includes(name as CheckName))
  if (unknown !== undefined) {
    throw new InvalidArgumentError(`There is no check ${unknown}; there are ${CHECK_NAMES.join(', ')}.`)
  }
  return [...before, ...(named as CheckName[])]
}

/** Says what checks have found, each finding in a line. */
export function sayFindings(findings: readonly Finding[]): void {
  for (const { check, level, sentence, allowed } of findings) {
    say(allowed ? 'allowed' : level, `${sentence} (${check})`)
  }
}

/** What to do about a release that is loaded and may not be published. */
export function notPublished(code: string, findings: readonly Finding[]): OperatorError {
  const allow = refusingChecks(findings).join()
  return new OperatorError(
    `${code} is not published: \`agro releases publish ${code} --allow ${allow}\` publishes it all the same, \`agro releases delete ${code}\` deletes it.`,
    { code: 'CHECKS' },
  )
}
