import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { listExportsOnce, postgisWithRaster } from './postgis.ts'
import {
  describeFileError,
  type Ending,
  listenForLastWords,
  type Piece,
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

/** A large answer goes in pieces as it comes, so that neither thread holds it twice; small ones go in one. */
const PIECE_BYTES = 64 * 1024

/**
 * The embedded PostgreSQL. PGlite blocks its thread, so it has one of its own. Messages in are those of the PostgreSQL
 * protocol; messages out are 'ready', then the pieces of each answer. The thread ends with the server, by an error with
 * the reason.
 */

/** For one session, whose pages the operating system caches too: by default, PostgreSQL takes 150 MB more. */
const MEMORY = ['shared_buffers=16MB', 'wal_buffers=1MB', 'maintenance_work_mem=16MB', 'max_connections=5']

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
  startParams: [...PGlite.defaultStartParams, ...MEMORY.flatMap((setting) => ['-c', setting])],
}).catch((error) => {
  throw new Error(lastWords.spoken() ?? describeFileError(error))
})
// postgis_raster's module cannot be linked before postgis's: it calls helpers that came with that one.
await server.exec("load '$libdir/postgis-3'")

// A failed statement leaves its frames on the server's stack, which would be full after 1,700. Between messages it is
// unused.
interface StackPointer {
  ___stack_pointer: { value: number }
}
const { ___stack_pointer: stackPointer } = server.Module as typeof server.Module & StackPointer
const emptyStack = stackPointer.value

const gathered = new Uint8Array(PIECE_BYTES)
let lookedAt = performance.now()

/** @param hear takes the answer as it comes: windows on the WASM heap of 8 kB, or of one larger message */
async function ask(message: Uint8Array, hear: (bytes: Uint8Array) => void): Promise<void> {
  // PGlite (0.5.8) parses what its other calls answer. Of `execProtocolRawSync` it keeps all that it has parsed.
  await server.execProtocolRawStream(message, { syncToFs: false, onRawData: hear })
  stackPointer.value = emptyStack
  // It goes on after a panic, in whatever state.
  const words = lastWords.spoken()
  if (words) throw new Error(words)
}

async function answer(message: Uint8Array): Promise<Ending> {
  let filled = 0
  let tail = Buffer.alloc(0)
  const post = (bytes: Uint8Array, ending?: Ending) =>
    port?.postMessage({ bytes, ending } satisfies Piece, [bytes.buffer as ArrayBuffer])
  await ask(message, (bytes) => {
    tail = Buffer.concat([tail, bytes.subarray(-READY_BYTES)]).subarray(-READY_BYTES)
    if (filled + bytes.length > PIECE_BYTES) {
      post(gathered.slice(0, filled))
      filled = 0
    }
    if (bytes.length > PIECE_BYTES) return post(bytes.slice())
    gathered.set(bytes, filled)
    filled += bytes.length
  })
  const ending = readEnding(tail)
  post(gathered.slice(0, filled), ending)
  return ending
}

port.on('message', async (message: Uint8Array | 'close') => {
  if (message === 'close') {
    server.close().finally(() => port.close())
    return
  }
  const ending = await answer(message)
  // The embedded PostgreSQL makes checkpoints at its close alone, and within a transaction it cannot.
  if (ending !== 'idle' || performance.now() - lookedAt < LOOK_EVERY_MS) return
  await ask(CHECKPOINT_WHERE_DUE, () => {})
  lookedAt = performance.now()
})
port.postMessage('ready')
