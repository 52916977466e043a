import { AsyncLocalStorage } from 'node:async_hooks'
import { format } from 'node:util'
import { vi } from 'vitest'
import { operate } from '#src/cli/program.ts'
import type { TestDatabase } from './database.ts'
import { spawnNode } from './service-process.ts'

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

/** The database that a command is called on. */
type Called = Pick<TestDatabase, 'environment'>

const AGRO = ['bin/run.mjs', 'src/cli/agro.ts']

/** Starts `agro` as an operator would, in a process of its own, on a test database. */
export function startAgro(testDatabase: Called, ...parameters: string[]): RunningAgro {
  return startNode(testDatabase, [...AGRO, ...parameters])
}

/** Does so with several commands, one after the other in one process: its start takes longer than most of them. */
export async function measureAgro(testDatabase: Called, commands: string[][]): Promise<MeasuredResult[]> {
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

function startNode({ environment }: Called, parameters: string[]): RunningAgro {
  const { child, output, ended } = spawnNode(parameters, environment)
  const result = Object.assign(output, { code: null })
  return {
    result,
    ended: ended.then(([code]) => ({ ...result, code })),
    kill: (signal) => void child.kill(signal),
  }
}

/** What each command has said that runs within this process. */
const outputs = new AsyncLocalStorage<Omit<CliResult, 'code'>>()

let running = 0
let stopListening = () => {}

/** Hears what commands say, and has the environment as it was before them when the last one has ended. */
function listen(): void {
  const collect = (stream: 'stdout' | 'stderr') => (text: string | Uint8Array) => {
    const output = outputs.getStore()
    if (output) output[stream] += text
    return true
  }
  const log =
    (stream: 'stdout' | 'stderr') =>
    (...what: unknown[]) =>
      void collect(stream)(`${format(...what)}\n`)
  const spies = [
    vi.spyOn(process.stdout, 'write').mockImplementation(collect('stdout')),
    vi.spyOn(process.stderr, 'write').mockImplementation(collect('stderr')),
    vi.spyOn(console, 'log').mockImplementation(log('stdout')),
    vi.spyOn(console, 'error').mockImplementation(log('stderr')),
  ]
  const before = { ...process.env }
  stopListening = () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
    Object.assign(process.env, before)
    for (const spy of spies) spy.mockRestore()
  }
}

/**
 * Begins a command within this process: it opens and closes the database all the same, and is done in half the time.
 * Several may run at once on one database.
 */
export function beginAgro(
  { environment }: Called,
  ...parameters: string[]
): Pick<RunningAgro, 'result' | 'ended'> {
  if (running++ === 0) listen()
  Object.assign(process.env, environment)
  const result: CliResult = { code: null, stdout: '', stderr: '' }
  const ended = outputs
    .run(result, () => operate(parameters))
    .then((code) => ({ ...result, code }))
    .finally(() => {
      if (--running === 0) stopListening()
    })
  return { result, ended }
}

/** Runs a command within this process, to its end. */
export function runAgro(testDatabase: Called, ...parameters: string[]): Promise<CliResult> {
  return beginAgro(testDatabase, ...parameters).ended
}
