import { type ChildProcess, spawn } from 'node:child_process'
import { onTestFinished } from 'vitest'

/** A process of its own that a test started, killed at the end of the test if it is still there. */
export interface TestProcess {
  pid: number
  stdout(): string
  stderr(): string
  /** Resolves to the match once standard output matches; fails when the process ends before. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  signal(signal: NodeJS.Signals): void
  /** The exit code, or the name of the signal that ended it. */
  ended: Promise<number | NodeJS.Signals | null>
}

/** Most processes end soon. Node 20 computes a quarter less for a start where it optimizes code later. */
const COMPILE_LATER = process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : []

/** A process of Node, and what it has said so far. */
export function spawnNode(parameters: string[], environment: Record<string, string>) {
  const child = spawn(process.execPath, [...COMPILE_LATER, ...parameters], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text) => {
      output[stream] += text
    })
  }
  const ended = new Promise<[code: number | null, signal: NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve([code, signal]))
  })
  return { child, output, ended }
}

/** Runs a TypeScript file as `npm start` does, but for {@link COMPILE_LATER}. */
export function startProcess(
  file: string,
  environment: Record<string, string>,
  ...parameters: string[]
): TestProcess {
  const { child, output, ended } = spawnNode(['bin/run.mjs', file, ...parameters], environment)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    pid: child.pid as number,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    prints: (pattern) => printed(child, output, pattern),
    signal: (signal) => void child.kill(signal),
    ended: ended.then(([code, signal]) => code ?? signal),
  }
}

/** The service, on a port that is free. */
export function startService(environment: Record<string, string>): TestProcess {
  return startProcess('src/server.ts', { PORT: '0', ...environment })
}

/** The address that the service has said to be ready at. */
export async function addressOf(service: TestProcess): Promise<string> {
  const [, address] = await service.prints(/ {2}API {3}(http:\/\/\S+)\n[\s\S]*Try .*\n/)
  return address as string
}

function printed(
  child: ChildProcess,
  output: { stdout: string; stderr: string },
  pattern: RegExp,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const match = pattern.exec(output.stdout)
      if (match) resolve(match)
    }
    child.stdout?.on('data', look)
    child.once('close', () => {
      reject(new Error(`ended without printing ${pattern}:\n${output.stdout}\n${output.stderr}`))
    })
    look()
  })
}
