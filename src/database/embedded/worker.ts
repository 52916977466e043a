/**
 * The embedded PostgreSQL. PGlite runs its queries synchronously, so it lives in a thread of its own
 * and the main thread goes on answering. Messages in: client messages of the PostgreSQL protocol.
 * Messages out: 'ready' once, then for each message in what the server answers.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { postgisWithRaster } from './postgis.ts'

const port = parentPort
if (!port) throw new Error('This module runs in a worker thread.')

const server = await PGlite.create(workerData.folder as string, {
  extensions: { postgis: postgisWithRaster },
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

port.on('message', (message: Uint8Array | 'close') => {
  if (message === 'close') {
    server.close().finally(() => port.close())
    return
  }
  const answer = server.execProtocolRawSync(message)
  stackPointer.value = emptyStack
  // A copy that owns its memory can be handed over; the answer itself may be a window on the WASM heap.
  const bytes = Uint8Array.from(answer)
  port.postMessage(bytes, [bytes.buffer])
})
port.postMessage('ready')
