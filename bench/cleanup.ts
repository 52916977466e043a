import { mkdtempSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'

/** Undoes what a run has started and made, in reverse order: at its end, on failure and on Ctrl-C. */
export interface Cleanup {
  /** Registers what is to be undone. The function returned does it now, and not again at the end. */
  add(undo: () => unknown): () => Promise<void>
  run(): Promise<void>
}

export function createCleanup(): Cleanup {
  const pending: (() => unknown)[] = []
  let running: Promise<void> | undefined

  async function undoAll(): Promise<void> {
    for (let undo = pending.pop(); undo; undo = pending.pop()) {
      try {
        await undo()
      } catch (error) {
        console.error(`bench: not cleaned up: ${(error as Error).message}`)
      }
    }
  }

  return {
    add(undo) {
      pending.push(undo)
      return async () => {
        const index = pending.indexOf(undo)
        if (index < 0) return
        pending.splice(index, 1)
        await undo()
      }
    },
    run: () => {
      running ??= undoAll()
      return running
    },
  }
}

/** Cleans up before a signal ends the process. npm and the terminal both pass on a Ctrl-C: once is enough. */
export function cleanUpOnSignals(cleanup: Cleanup): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      void cleanup.run().then(() => process.exit(128 + constants.signals[signal]))
    })
  }
}

/** Works, and undoes at the end or at a signal what the work has started. */
export async function withCleanup<Result>(work: (cleanup: Cleanup) => Promise<Result>): Promise<Result> {
  const cleanup = createCleanup()
  cleanUpOnSignals(cleanup)
  return work(cleanup).finally(cleanup.run)
}

/** Makes a folder for the time of a run. */
export function temporaryFolder(cleanup: Cleanup, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `agro-${name}-`))
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
