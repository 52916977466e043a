import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { isIdle, queryMessage } from './messages.ts'

/** A thread that runs the server, from its start to its end. */
export interface Instance {
  /** Rejects where it could not be started, with the reason. */
  ready: Promise<void>
  /** Resolves to what its clients are told. */
  ended: Promise<Error>
  /** Hands over whole protocol messages; resolves to the answer's bytes. */
  exchange(messages: Uint8Array): Promise<Uint8Array>
  /**
   * Does what a server does when a connection ends: the transaction is rolled back; settings, temporary
   * tables, prepared statements and locks of the session are gone.
   *
   * @returns whether it succeeded
   */
  forgetClient(): Promise<boolean>
  /** Ends it as a crash would. */
  kill(): Promise<void>
  /** Ends it when it has done what it was asked. */
  close(): Promise<void>
}

/**
 * Starts the server in a thread.
 *
 * @param isNew whether there is no database in the folder yet, and it has to be made
 */
export function startInstance(folder: string, isNew: boolean): Instance {
  const worker = new Worker(new URL('./boot.mjs', import.meta.url), {
    workerData: { folder, bundleFolder: join(dirname(folder), 'postgis'), isNew },
  })
  let reason: string | undefined
  const ended = new Promise<Error>((resolve) => {
    worker.once('error', ({ message }: Error) => {
      reason = message
    })
    worker.once('exit', () =>
      resolve(new Error(`the embedded database ended${reason === undefined ? '' : `: ${reason}`}`)),
    )
  })
  const ready = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve())
    worker.once('exit', () =>
      reject(new Error(`the embedded database could not be started: ${reason ?? 'its thread ended'}`)),
    )
  })
  // Errors reach whoever waits for `ready`; this one is for the case that nobody does.
  ready.catch(() => {})

  function exchange(messages: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      worker.once('message', answered)
      worker.once('exit', endedBefore)
      worker.postMessage(messages)

      function answered(answer: Uint8Array) {
        worker.off('exit', endedBefore)
        resolve(answer)
      }
      function endedBefore() {
        worker.off('message', answered)
        void ended.then(reject)
      }
    })
  }

  return {
    ready,
    ended,
    exchange,
    async forgetClient() {
      for (const statement of ['rollback', 'discard all']) {
        const answer = await exchange(queryMessage(statement)).catch(() => undefined)
        if (!answer || !isIdle(answer)) return false
      }
      return true
    },
    async kill() {
      await worker.terminate()
    },
    async close() {
      worker.postMessage('close')
      await ended
    },
  }
}
