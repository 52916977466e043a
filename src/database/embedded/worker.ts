/**
 * The embedded PostgreSQL. PGlite runs its queries synchronously, so it lives in a thread of its own
 * and the main thread goes on answering. Messages in: client messages of the PostgreSQL protocol.
 * Messages out: 'ready' once, then for each message in what the server answers. Where the server ends, the
 * thread does, with an error that says why.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { keepLogShort } from './checkpoints.ts'
import { listExportsOnce } from './export-names.ts'
import { fileErrorOf } from './file-errors.ts'
import { listenForLastWords } from './last-words.ts'
import { isIdle } from './messages.ts'
import { postgisWithRaster } from './postgis.ts'

const port = parentPort
if (!port) throw new Error('This module runs in a worker thread.')

const { folder, bundleFolder, isNew } = workerData as {
  folder: string
  bundleFolder: string
  isNew: boolean
}
// Where it is not there, PGlite would write a new database over what is.
if (!isNew && !existsSync(join(folder, 'PG_VERSION'))) {
  throw new Error(`its files are gone or are something else, there is no PG_VERSION in ${folder}`)
}

listExportsOnce()
const lastWords = listenForLastWords()
const server = await PGlite.create(folder, {
  extensions: { postgis: postgisWithRaster(lastWords.hear, bundleFolder) },
}).catch((error) => {
  throw new Error(lastWords.spoken() ?? fileErrorOf(error))
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
