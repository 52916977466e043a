import type { CheckName, Finding } from '#src/data/rights.ts'

/** What an operator has said about findings beforehand. */
export interface Leniency {
  /** Checks whose errors do not count. */
  allow: readonly CheckName[]
  /** Whether notes are errors as well. */
  strict?: boolean
}

/** Judges findings by what an operator allows. */
export function judged(
  findings: readonly Omit<Finding, 'allowed'>[],
  { allow, strict = false }: Leniency,
): Finding[] {
  return findings.map((finding) => {
    const level = strict ? 'error' : finding.level
    return { ...finding, level, allowed: level === 'error' && allow.includes(finding.check) }
  })
}

/** The checks that keep a release from being published, by their names. */
export function refusingChecks(findings: readonly Finding[]): CheckName[] {
  return [...new Set(findings.filter(refuses).map(({ check }) => check))].sort()
}

/** Why a release is not published, in sentences behind the names of the checks. */
export function refusalText(findings: readonly Finding[]): string {
  return findings
    .filter(refuses)
    .map(({ check, sentence }) => `${check}: ${sentence}`)
    .join(' ')
}

function refuses({ level, allowed }: Finding): boolean {
  return level === 'error' && !allowed
}

/** The checks whose errors were allowed. */
export function allowedChecks(findings: readonly Finding[]): CheckName[] {
  return [...new Set(findings.filter(({ allowed }) => allowed).map(({ check }) => check))].sort()
}
