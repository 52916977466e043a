import { stat } from 'node:fs/promises'
import type { Worker } from 'node:worker_threads'
import { startThread } from '#src/lib/thread.ts'
import type { Pixels, PixelType } from '#src/raster/pixels.ts'
import type { AttributeValue, Container, Variable } from './container.ts'

export type Attributes = Record<string, AttributeValue>

/** What the thread says of a variable. */
export interface DescribedVariable extends Omit<Variable, 'attribute' | 'read' | 'readTexts'> {
  attributes: Attributes
  hasTexts: boolean
}

export interface DescribedFile {
  isNetcdf: boolean
  attributes: Attributes
  variables: DescribedVariable[]
}

/** What the thread is asked of a file, which has a number. */
export type Asked = { file: number } & (
  | { what: 'open'; path: string }
  | { what: 'close' }
  | {
      what: 'read'
      variable: string
      start: readonly number[]
      count: readonly number[]
      as: PixelType | undefined
    }
  | { what: 'texts'; variable: string }
)

/** No disk takes so long for a window. */
const LONGEST_MS = 60_000

const ENDED = 'the library of HDF5 ended'
/** What the library says where it gives up; then it is of no more use. */
const ABORTED = 'Aborted('

/** One for all files, while there is one. */
let thread: Worker | undefined

function findThread(): Worker {
  if (thread) return thread
  const started = startThread(new URL('./hdf5-thread.ts', import.meta.url))
  // Who waits is told by its end.
  started.on('error', () => {})
  started.once('exit', () => {
    if (thread === started) thread = undefined
  })
  // Those who wait have timers.
  started.unref()
  started.setMaxListeners(0)
  thread = started
  return started
}

let questions = 0

/** @throws {Error} with the library's reason, or where there is no answer in time: then all files are closed */
function ask<Answer>(worker: Worker, asked: Asked, withinMs: number): Promise<Answer> {
  const id = questions++
  return new Promise((resolve, reject) => {
    if (worker !== thread) return reject(new Error(ENDED))
    const timer = setTimeout(
      () => giveUp(`its reading takes longer than ${withinMs / 1000} seconds`),
      withinMs,
    )
    worker.on('message', take).once('exit', fail)
    worker.postMessage({ id, asked })

    function end(): void {
      clearTimeout(timer)
      worker.off('message', take).off('exit', fail)
    }
    function take(said: { id: number; value: Answer; reason?: string }): void {
      if (said.id !== id) return
      end()
      if (said.reason === undefined) resolve(said.value)
      else if (said.reason.startsWith(ABORTED)) giveUp('the library of HDF5 gave up')
      else reject(new Error(said.reason))
    }
    function fail(): void {
      end()
      reject(new Error(ENDED))
    }
    /** The next file has another thread. */
    function giveUp(reason: string): void {
      end()
      thread = undefined
      void worker.terminate()
      reject(new Error(reason))
    }
  })
}

let opened = 0

/** NetCDF 4 and HDF5. @param withinMs of each reading */
export async function openHdf5(path: string, withinMs = LONGEST_MS): Promise<Container> {
  const { size: bytes } = await stat(path)
  const worker = findThread()
  const file = opened++
  const described = await ask<DescribedFile>(worker, { what: 'open', file, path }, withinMs)
  const { isNetcdf, attributes } = described
  return {
    isNetcdf,
    driver: isNetcdf ? 'NETCDF' : 'HDF5',
    attribute: (name) => attributes[name],
    variables: described.variables.map(({ attributes, hasTexts, ...variable }) => ({
      ...variable,
      attribute: (name) => attributes[name],
      read: (start, count) =>
        ask<Pixels>(
          worker,
          { what: 'read', file, variable: variable.name, start, count, as: variable.pixelType },
          withinMs,
        ),
      ...(hasTexts && {
        readTexts: () => ask<string[]>(worker, { what: 'texts', file, variable: variable.name }, withinMs),
      }),
    })),
    bytes,
    close: async () => {
      if (worker === thread) await ask(worker, { what: 'close', file }, withinMs)
    },
  }
}
