import { spawn } from 'node:child_process'
import type { TestDatabase } from './database.ts'

export interface CliResult {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs `agro` as an operator would, in a process of its own, on a test database. */
export function runAgro(testDatabase: TestDatabase, ...parameters: string[]): Promise<CliResult> {
  const child = spawn(process.execPath, ['bin/run.mjs', 'src/cli/agro.ts', ...parameters], {
    env: { ...process.env, ...testDatabase.environment },
  })
  const result: CliResult = { code: null, stdout: '', stderr: '' }
  child.stdout.on('data', (text) => {
    result.stdout += text
  })
  child.stderr.on('data', (text) => {
    result.stderr += text
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ ...result, code }))
  })
}
