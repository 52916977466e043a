import type { CheckName, Finding } from '#src/data/rights.ts'

export interface Leniency {
  allow: readonly CheckName[]
  strict?: boolean
}

export function judged(
  findings: readonly Omit<Finding, 'allowed'>[],
  { allow, strict = false }: Leniency,
): Finding[] {
  return findings.map((finding) => {
    const level = strict ? 'error' : finding.level
    return { ...finding, level, allowed: level === 'error' && allow.includes(finding.check) }
  })
}

export function refusingChecks(findings: readonly Finding[]): CheckName[] {
  return [...new Set(findings.filter(refuses).map(({ check }) => check))].sort()
}

export function refusalText(findings: readonly Finding[]): string {
  return findings
    .filter(refuses)
    .map(({ check, sentence }) => `${check}: ${sentence}`)
    .join(' ')
}

function refuses({ level, allowed }: Finding): boolean {
  return level === 'error' && !allowed
}

export function allowedChecks(findings: readonly Finding[]): CheckName[] {
  return [...new Set(findings.filter(({ allowed }) => allowed).map(({ check }) => check))].sort()
}
