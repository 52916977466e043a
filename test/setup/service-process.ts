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

/** Runs a TypeScript file as `npm start` does. */
export function startProcess(
  file: string,
  environment: Record<string, string>,
  ...parameters: string[]
): TestProcess {
  const child = spawn(process.execPath, ['bin/run.mjs', file, ...parameters], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: collect(child.stdout), stderr: collect(child.stderr) }
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    pid: child.pid as number,
    stdout: () => output.stdout.text,
    stderr: () => output.stderr.text,
    prints: (pattern) => printed(child, output, pattern),
    signal: (signal) => void child.kill(signal),
    ended,
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

function collect(stream: NodeJS.ReadableStream): { text: string } {
  const collected = { text: '' }
  stream.setEncoding('utf8').on('data', (text) => {
    collected.text += text
  })
  return collected
}

function printed(
  child: ChildProcess,
  output: { stdout: { text: string }; stderr: { text: string } },
  pattern: RegExp,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const match = pattern.exec(output.stdout.text)
      if (match) resolve(match)
    }
    child.stdout?.on('data', look)
    child.once('close', () => {
      reject(new Error(`ended without printing ${pattern}:\n${output.stdout.text}\n${output.stderr.text}`))
    })
    look()
  })
}
