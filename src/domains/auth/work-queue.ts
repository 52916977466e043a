import { ApiError } from '#src/errors.ts'

/** Runs tasks a few at a time and lets a few more wait. */
export interface WorkQueue {
  /**
   * Runs a task when its turn comes.
   *
   * @throws {ApiError} OVERLOADED, at once, when too many are waiting already
   */
  run<Result>(task: () => Promise<Result>): Promise<Result>
}

export function createWorkQueue(limits: { running: number; waiting: number }): WorkQueue {
  const waiting: (() => void)[] = []
  let running = 0

  return {
    async run(task) {
      if (running < limits.running) running++
      else if (waiting.length < limits.waiting) await new Promise<void>((resolve) => waiting.push(resolve))
      else throw new ApiError('OVERLOADED', 'The service is busy with other logins; try again in a second.')
      try {
        return await task()
      } finally {
        // The place is handed on, so that nobody who comes later takes it.
        const next = waiting.shift()
        if (next) next()
        else running--
      }
    },
  }
}
