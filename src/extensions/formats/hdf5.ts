import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import { OperatorError } from '#src/errors.ts'
import { formatError } from '#src/lib/promises.ts'
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

/** What it says then. */
export interface Answered {
  value?: unknown
  /** Why there is no value. */
  reason?: string
  /** Whether the library is of no more use. */
  isLost?: boolean
}

/** No disk takes so long for a window. */
const LONGEST_MS = 60_000

const ENDED = 'The library of HDF5 ended with another file: leave that one out, and run this again.'

/** One for all files, while there is one. */
let thread: Worker | undefined

function findThread(): Worker {
  if (thread) return thread
  const started = new Worker(new URL('../../lib/thread-boot.mjs', import.meta.url), {
    workerData: { file: new URL('./hdf5-thread.ts', import.meta.url).href },
  })
  started.once('exit', () => {
    if (thread === started) thread = undefined
  })
  // A question under way hears of it, too.
  started.on('error', () => {})
  // A question under way has a timer, which keeps the process.
  started.unref()
  thread = started
  return started
}

/** The end of the question before. */
let answered: Promise<unknown> = Promise.resolve()

/** One question after the other: their time counts from when the thread has them. */
function ask<Answer>(worker: Worker, asked: Asked, withinMs: number): Promise<Answer> {
  const answer = answered.then(() => askNow<Answer>(worker, asked, withinMs))
  answered = answer.catch(() => {})
  return answer
}

/**
 * @throws {Error} with the library's reason, or where there is no answer in time: then all files are closed
 * @throws {OperatorError} where the thread fails by itself
 */
function askNow<Answer>(worker: Worker, asked: Asked, withinMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (worker !== thread) return reject(new OperatorError(ENDED))
    const timer = setTimeout(
      () => giveUp(`its reading takes longer than ${withinMs / 1000} seconds`),
      withinMs,
    )
    worker.once('message', take).once('error', fail)
    worker.postMessage(asked)

    function end(): void {
      clearTimeout(timer)
      worker.off('message', take).off('error', fail)
    }
    function take({ value, reason, isLost }: Answered): void {
      end()
      if (isLost) giveUp('the library of HDF5 gave up')
      else if (reason === undefined) resolve(value as Answer)
      else reject(new Error(reason))
    }
    function fail(error: Error): void {
      end()
      thread = undefined
      reject(new OperatorError(`HDF5 and NetCDF 4 cannot be read: ${formatError(error)}`))
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
