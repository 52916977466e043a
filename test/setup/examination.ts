import { expect } from 'vitest'
import type { CheckResult } from '#src/cli/findings.ts'
import { runAgro } from './cli.ts'
import type { TestDatabase } from './database.ts'

/** Of `agro doctor`. */
interface Report {
  status: string
  findings: ({ group: string; check: string } & CheckResult)[]
}

const LEVELS = ['ok', 'note', 'unknown', 'warning', 'error']

/** What the doctor has found with some settings, of the form that programs rely on, and its exit code. */
export async function examine(
  testDatabase: Pick<TestDatabase, 'environment'>,
  settings: Record<string, string> = {},
) {
  const environment = { ...testDatabase.environment, ...settings }
  const { code, stdout, stderr } = await runAgro({ environment }, 'doctor', '--json')
  const report: Report = JSON.parse(stdout)
  expect(report).toStrictEqual({
    status: expect.any(String),
    checked_at: expect.any(String),
    findings: report.findings.map(({ group, check, level, sentence, advice }) => {
      expect([sentence, LEVELS]).toEqual([expect.stringMatching(/\.$/), expect.arrayContaining([level])])
      return { group, check, level, sentence, advice }
    }),
  })
  // A slow machine is told every few seconds that it goes on.
  expect(stderr.replaceAll(/^looking: \d+ s\n/gm, '')).toBe('')
  const { status, findings } = report
  const of = (check: string) =>
    findings
      .filter((finding) => `${finding.group} ${finding.check}` === check)
      .map(({ level, sentence }) => [level, sentence])
  return { code, status, findings, of }
}
