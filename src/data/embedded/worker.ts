import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { listExportsOnce, postgisWithRaster } from './postgis.ts'
import { describeFileError, isIdle, listenForLastWords, queryMessage } from './protocol.ts'

/** How often the log is looked at, at most: it grows by some 20 MB a second. */
const LOOK_EVERY_MS = 2000

/**
 * How much of the write-ahead log may come since the last checkpoint: all of it is read again after a crash,
 * up to a second for 100 MB, and none of it can be removed before.
 */
const LOG_BYTES = 64 * 1024 * 1024

const CHECKPOINT_WHERE_DUE = queryMessage(`do $$ begin
  if pg_catalog.pg_current_wal_insert_lsn() - (select redo_lsn from pg_catalog.pg_control_checkpoint()) > ${LOG_BYTES}
  then checkpoint;
  end if;
end $$`)

/**
 * Sees to it that the write-ahead log stays short. A server has a process for that; the embedded PostgreSQL makes
 * no checkpoint before it is closed, and its log would grow for as long as it runs.
 *
 * @param ask has the server do a request
 * @returns to be called while the server is outside of any transaction, and nobody waits for it
 */
function keepLogShort(ask: (message: Uint8Array) => unknown): () => void {
  let lookedAt = performance.now()
  return () => {
    if (performance.now() - lookedAt < LOOK_EVERY_MS) return
    ask(CHECKPOINT_WHERE_DUE)
    lookedAt = performance.now()
  }
}

/**
 * The embedded PostgreSQL. PGlite runs its queries synchronously, so it lives in a thread of its own
 * and the main thread goes on answering. Messages in: client messages of the PostgreSQL protocol.
 * Messages out: 'ready' once, then for each message in what the server answers. Where the server ends, the
 * thread does, with an error that says why.
 */

const port = parentPort
if (!port) throw new Error('This module runs in a worker thread.')

const { folder, bundleFolder, isNew } = workerData as {
  folder: string
  bundleFolder: string
  isNew: boolean
}
// Without it, PGlite would write a new database over the present one.
if (!isNew && !existsSync(join(folder, 'PG_VERSION'))) {
  throw new Error(`its files are gone or are something else, there is no PG_VERSION in ${folder}`)
}

listExportsOnce()
const lastWords = listenForLastWords()
const server = await PGlite.create(folder, {
  extensions: { postgis: postgisWithRaster(lastWords.hear, bundleFolder) },
}).catch((error) => {
  throw new Error(lastWords.spoken() ?? describeFileError(error))
})
// postgis_raster's module cannot be linked before postgis's: it calls helpers that came with that one.
await server.exec("load '$libdir/postgis-3'")

// A statement that fails leaves its frames on the server's stack: after some 1,700 of them PostgreSQL would
// find the stack too deep for any statement. Between messages nothing of it is in use.
interface StackPointer {
  ___stack_pointer: { value: number }
}
const { ___stack_pointer: stackPointer } = server.Module as typeof server.Module & StackPointer
const emptyStack = stackPointer.value

const keepShort = keepLogShort(ask)

function ask(message: Uint8Array): Uint8Array {
  const answer = server.execProtocolRawSync(message)
  stackPointer.value = emptyStack
  // It goes on after a panic, in whatever state.
  const words = lastWords.spoken()
  if (words) throw new Error(words)
  return answer
}

port.on('message', (message: Uint8Array | 'close') => {
  if (message === 'close') {
    server.close().finally(() => port.close())
    return
  }
  const answer = ask(message)
  // A copy that owns its memory can be handed over; the answer itself may be a window on the WASM heap.
  const bytes = Uint8Array.from(answer)
  port.postMessage(bytes, [bytes.buffer])
  if (isIdle(answer)) keepShort()
})
port.postMessage('ready')
