import { spawn } from 'node:child_process'
import { format } from 'node:util'
import { vi } from 'vitest'
import { operate } from '#src/cli/program.ts'
import type { TestDatabase } from './database.ts'

export interface CliResult {
  code: number | null
  stdout: string
  stderr: string
}

export interface MeasuredResult extends CliResult {
  /** How many bytes of memory the process had when it had most, up to the end of the command. */
  peakBytes: number
}

export interface RunningAgro {
  /** What it has said so far. */
  result: CliResult
  ended: Promise<CliResult>
  kill(signal: NodeJS.Signals): void
}

const AGRO = ['bin/run.mjs', 'src/cli/agro.ts']

/** Starts `agro` as an operator would, in a process of its own, on a test database. */
export function startAgro(testDatabase: TestDatabase, ...parameters: string[]): RunningAgro {
  return startNode(testDatabase, [...AGRO, ...parameters])
}

/** Does so with several commands, one after the other in one process: its start takes longer than most of them. */
export async function measureAgro(
  testDatabase: TestDatabase,
  commands: string[][],
): Promise<MeasuredResult[]> {
  const program = ['bin/run.mjs', 'test/setup/measured-agro.ts', JSON.stringify(commands)]
  const { code, stdout, stderr } = await startNode(testDatabase, program).ended
  if (code !== 0) throw new Error(stderr)
  const told = stderr.split('\0')
  return stdout
    .split('\0')
    .slice(0, commands.length)
    .map((said, index) => ({
      stdout: said,
      stderr: told[2 * index],
      ...JSON.parse(told[2 * index + 1] as string),
    }))
}

function startNode(testDatabase: TestDatabase, parameters: string[]): RunningAgro {
  const result: CliResult = { code: null, stdout: '', stderr: '' }
  const child = spawn(process.execPath, parameters, {
    env: { ...process.env, ...testDatabase.environment },
  })
  child.stdout.on('data', (text) => {
    result.stdout += text
  })
  child.stderr.on('data', (text) => {
    result.stderr += text
  })
  const ended = new Promise<CliResult>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ ...result, code }))
  })
  return { result, ended, kill: (signal) => void child.kill(signal) }
}

/**
 * Does the same within this process, one command after the other: it opens and closes the database all the
 * same, and is done in half the time.
 */
export async function runAgro(
  testDatabase: Pick<TestDatabase, 'environment'>,
  ...parameters: string[]
): Promise<CliResult> {
  const result = { stdout: '', stderr: '' }
  const collect = (stream: keyof typeof result) => (text: string | Uint8Array) => {
    result[stream] += text
    return true
  }
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(collect('stdout')),
    vi.spyOn(process.stderr, 'write').mockImplementation(collect('stderr')),
    vi.spyOn(console, 'log').mockImplementation((...what) => void collect('stdout')(`${format(...what)}\n`)),
    vi
      .spyOn(console, 'error')
      .mockImplementation((...what) => void collect('stderr')(`${format(...what)}\n`)),
  ]
  const before = { ...process.env }
  Object.assign(process.env, testDatabase.environment)
  try {
    return { code: await operate(parameters), ...result }
  } finally {
    for (const name of Object.keys(testDatabase.environment)) delete process.env[name]
    Object.assign(process.env, before)
    for (const spy of spies) spy.mockRestore()
  }
}
