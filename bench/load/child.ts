import { spawn } from 'node:child_process'
import type { Cleanup } from '../cleanup.ts'
import { stopProcess } from '../processes.ts'

/** A process of this repository that is told over IPC what to do: what else a run does slows it down less. */
export interface Child<Told, Answer> {
  tell(message: Told): void
  /** Tells, and waits for the answer; one message at a time. */
  ask(message: Told): Promise<Answer>
  stop(): Promise<void>
}

/**
 * Starts a file in a process of its own.
 *
 * @param launcher a program, with its parameters, that starts what it is given: such as `taskset -c 1`
 */
export function startChild<Told extends object | string, Answer>(
  cleanup: Cleanup,
  file: string,
  launcher: string[] = [],
): Child<Told, Answer> {
  const [program = '', ...parameters] = [...launcher, process.execPath, 'bin/run.mjs', file]
  const child = spawn(program, parameters, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    detached: process.platform !== 'win32',
  })
  const tell = (message: Told) => void child.send(message)
  return {
    tell,
    ask: (message) =>
      new Promise((resolve, reject) => {
        const ended = () => reject(new Error(`${file} ended`))
        child.once('exit', ended)
        child.once('message', (answer: Answer) => {
          child.off('exit', ended)
          resolve(answer)
        })
        tell(message)
      }),
    stop: cleanup.add(() => stopProcess(child)),
  }
}
