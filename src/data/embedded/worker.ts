import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { freeArchive, listExportsOnce, postgisWithRaster } from './postgis.ts'
import {
  awaitOutcome,
  describeFileError,
  listenForLastWords,
  queryMessage,
  READY_BYTES,
  readEnding,
} from './protocol.ts'

/** The log grows by 20 MB a second at most. */
const LOOK_EVERY_MS = 2000

/** Write-ahead log since the last checkpoint: a start after a crash reads all of it, up to a second for 100 MB. */
const LOG_BYTES = 64 * 1024 * 1024

const CHECKPOINT_WHERE_DUE = queryMessage(`do $$ begin
  if pg_catalog.pg_current_wal_insert_lsn() - (select redo_lsn from pg_catalog.pg_control_checkpoint()) > ${LOG_BYTES}
  then checkpoint;
  end if;
end $$`)

/**
 * The embedded PostgreSQL. PGlite blocks its thread, so it has one of its own. Messages in are those of the PostgreSQL
 * protocol; messages out are 'ready', then the pieces of each answer. The thread ends with the server, by an error with
 * the reason.
 */

/**
 * For one session, whose pages the operating system caches too: by default, PostgreSQL takes 150 MB more, also while `initdb`
 * makes the files.
 */
const MEMORY = ['shared_buffers=16MB', 'wal_buffers=1MB', 'maintenance_work_mem=16MB', 'max_connections=5']
const OPTIONS = MEMORY.flatMap((setting) => ['-c', setting])

const port = parentPort
if (!port) throw new Error('This module runs in a worker thread.')

const { folder, isNew } = workerData as { folder: string; isNew: boolean }
// Without it, PGlite would write a new database over the present one.
if (!isNew && !existsSync(join(folder, 'PG_VERSION'))) {
  throw new Error(`its files are gone or are something else, there is no PG_VERSION in ${folder}`)
}

listExportsOnce()
const lastWords = listenForLastWords()
const server = await PGlite.create(folder, {
  extensions: { postgis: postgisWithRaster(lastWords.hear) },
  startParams: [...PGlite.defaultStartParams, ...OPTIONS],
  initDbStartParams: OPTIONS,
}).catch((error) => {
  throw new Error(lastWords.spoken() ?? describeFileError(error))
})
// postgis_raster's module cannot be linked before postgis's: it calls helpers that came with that one.
await server.exec("load '$libdir/postgis-3'; load '$libdir/postgis_raster-3'")
freeArchive(server.Module.FS)

// A failed statement leaves its frames on the server's stack, which would be full after 1,700. Between messages it is
// unused.
const { ___stack_pointer: stackPointer } = server.Module as unknown as { ___stack_pointer: { value: number } }
const emptyStack = stackPointer.value
let lookedAt = performance.now()

/** @param hear takes the answer as it comes: windows on the WASM heap of 8 kB, or of one larger message */
async function ask(message: Uint8Array, hear: (bytes: Uint8Array) => void): Promise<void> {
  // Its other calls parse answers, and of `execProtocolRawSync` PGlite (0.5.8) would hold all that it has parsed.
  await server.execProtocolRawStream(message, { syncToFs: false, onRawData: hear })
  stackPointer.value = emptyStack
  // It goes on after a panic, in whatever state.
  const words = lastWords.spoken()
  if (words) throw new Error(words)
}

/** Sends an answer as it comes, so that neither thread holds a large one twice; the last piece waits for the ending. */
async function answer(message: Uint8Array) {
  let last = new Uint8Array()
  let tail = Buffer.alloc(0)
  const outcome = awaitOutcome(message)
  const send = (ending?: string) => port?.postMessage({ bytes: last, ending }, [last.buffer])
  await ask(message, (bytes) => {
    outcome.hear(bytes)
    const isReady = readEnding(tail) !== 'unfinished'
    if (last.length > 0 && !isReady) send()
    last = new Uint8Array(isReady ? Buffer.concat([last, bytes]) : bytes)
    tail = Buffer.concat([tail, last]).subarray(-2 * READY_BYTES)
  })
  // After an error the server says twice that it is ready, which would end the next statement of the client.
  if (readEnding(tail.subarray(0, -READY_BYTES)) !== 'unfinished') last = last.slice(0, -READY_BYTES)
  const ending = outcome.isMissing() ? 'unfinished' : readEnding(tail)
  send(ending)
  return ending
}

port.on('message', async (message: Uint8Array | 'close') => {
  if (message === 'close') return void server.close().finally(() => port.close())
  const ending = await answer(message)
  // The embedded PostgreSQL makes checkpoints at its close alone, and within a transaction it cannot.
  if (ending !== 'idle' || performance.now() - lookedAt < LOOK_EVERY_MS) return
  await ask(CHECKPOINT_WHERE_DUE, () => {})
  lookedAt = performance.now()
})
port.postMessage('ready')
