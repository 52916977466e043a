import { Ajv } from 'ajv'
import { expect } from 'vitest'
import { DoctorReport } from '#src/cli/doctor/finding.ts'
import { runAgro } from '#test/setup/cli.ts'
import type { TestDatabase } from '#test/setup/database.ts'

const isReport = new Ajv().compile<DoctorReport>(DoctorReport)

/** What the doctor has found with some settings, of the form that programs rely on, and its exit code. */
export async function examine(
  testDatabase: Pick<TestDatabase, 'environment'>,
  settings: Record<string, string> = {},
) {
  const environment = { ...testDatabase.environment, ...settings }
  const { code, stdout, stderr } = await runAgro({ environment }, 'doctor', '--json')
  const report: DoctorReport = JSON.parse(stdout)
  expect(isReport(report), JSON.stringify(isReport.errors)).toBe(true)
  // A slow machine is told every few seconds that it goes on.
  expect(stderr.replaceAll(/^looking: \d+ s\n/gm, '')).toBe('')
  const { status, findings } = report
  /** The levels and sentences of a check. */
  const of = (check: string) =>
    findings
      .filter((finding) => `${finding.group} ${finding.check}` === check)
      .map(({ level, sentence }) => [level, sentence])
  return { code, status, findings, of }
}
