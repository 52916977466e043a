/**
 * Loaded into the service that is attacked: at SIGUSR2 it collects all garbage, and notes in the file HELD_MEMORY_FILE
 * how many bytes of its memory are left, which are those that something is held in.
 */
import { renameSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

const { HELD_MEMORY_FILE: file } = process.env

if (isMainThread && file) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  process.on('SIGUSR2', () => {
    // Buffers are given back by the second collection, once the first has found what held them.
    collect()
    collect()
    const { heapUsed, external } = process.memoryUsage()
    writeFileSync(`${file}.new`, `${heapUsed + external}`)
    renameSync(`${file}.new`, file)
  })
}
