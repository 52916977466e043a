/**
 * Loaded into the service that is attacked, and so into each of its threads: at SIGUSR2 they collect all garbage. The
 * process notes in the file HELD_MEMORY_FILE how many bytes of its memory are left, which are those that something is
 * held in: `main` of the main thread, `threads` of the others, with the memory of WebAssembly.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { BroadcastChannel, isMainThread, threadId } from 'node:worker_threads'

const { HELD_MEMORY_FILE: file } = process.env

if (file) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const heldBytes = () => {
    // Buffers are given back by the second collection, once the first has found what held them.
    collect()
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }

  const channel = new BroadcastChannel('held-memory')
  channel.unref()
  if (isMainThread) listen(channel, heldBytes)
  else {
    channel.onmessage = () => channel.postMessage({ threadId, bytes: heldBytes() })
    channel.postMessage({ threadId })
  }
}

/** In the main thread: asks the others, and notes what all have said. */
function listen(channel, heldBytes) {
  /** What each thread has said to the last question; undefined until then. */
  const threads = new Map()
  let isAsked = false

  const noteOnceKnown = () => {
    const said = [...threads.values()]
    if (!isAsked || said.includes(undefined)) return
    isAsked = false
    const held = { main: heldBytes(), threads: said.reduce((sum, bytes) => sum + bytes, 0) }
    writeFileSync(`${file}.new`, JSON.stringify(held))
    renameSync(`${file}.new`, file)
  }
  channel.onmessage = ({ data: { threadId, bytes } }) => {
    threads.set(threadId, bytes)
    // It has begun after the question.
    if (isAsked && bytes === undefined) channel.postMessage('ask')
    noteOnceKnown()
  }
  process.on('worker', (worker) => {
    const { threadId } = worker
    worker.once('exit', () => {
      threads.delete(threadId)
      noteOnceKnown()
    })
  })
  process.on('SIGUSR2', () => {
    isAsked = true
    for (const thread of threads.keys()) threads.set(thread, undefined)
    channel.postMessage('ask')
    noteOnceKnown()
  })
}
