import { setTimeout } from 'node:timers/promises'
import { createFreshValue } from './fresh-value.ts'

/** For so long a document waits for a database that is silent. */
const WAIT_MS = 1000

export interface LastKnownOptions<Value> {
  load: () => Promise<Value>
  /** What is said as long as nothing could be loaded. */
  otherwise: () => Value | Promise<Value>
  maxAgeMs: number
  /** Is told why nothing could be loaded. */
  warn: (error: unknown) => void
}

/**
 * Makes a reader of something that documents are made with. They are served without a database as well: then
 * with what was last known. A database that does not answer is asked again when `maxAgeMs` have passed.
 */
export function createLastKnown<Value>(options: LastKnownOptions<Value>): () => Promise<Value> {
  const { load, otherwise, maxAgeMs, warn } = options
  let known: { value: Value } | undefined

  async function loadPatiently(): Promise<Value> {
    try {
      known = { value: await Promise.race([load(), silence()]) }
    } catch (error) {
      warn(error)
      known ??= { value: await otherwise() }
    }
    return known.value
  }

  return createFreshValue(loadPatiently, maxAgeMs)
}

async function silence(): Promise<never> {
  await setTimeout(WAIT_MS, undefined, { ref: false })
  throw new Error(`the database has not answered within ${WAIT_MS} ms`)
}
