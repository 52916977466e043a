import { setTimeout } from 'node:timers/promises'

/** What an error says; of anything else that was thrown, how it reads. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The code of an error of Node or of the database, such as ENOENT or 57P01; undefined where it has none. */
export function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : undefined
}

/**
 * Values of which some are not known. As a rule all are: a promise for each would cost as much as a value.
 *
 * @param known undefined where a value is not known
 * @param valueAt asks for the one that is not known at a place
 */
export async function completed<Value>(
  known: (Value | undefined)[],
  valueAt: (index: number) => Promise<Value>,
): Promise<Value[]> {
  if (!known.includes(undefined)) return known as Value[]
  return Promise.all(known.map((value, index) => (value === undefined ? valueAt(index) : value)))
}

/** Work that is going on. */
interface UnderWay {
  /** Adds work until it is done; answers with it. */
  add<Result>(work: Promise<Result>): Promise<Result>
  /** Waits until nothing is going on, for so many milliseconds at most. */
  over(milliseconds: number): Promise<void>
}

export function createUnderWay(): UnderWay {
  const works = new Set<Promise<unknown>>()

  return {
    add(work) {
      // What has failed is told to those who wait for it.
      const settled = work.then(
        () => void works.delete(settled),
        () => void works.delete(settled),
      )
      works.add(settled)
      return work
    },
    async over(milliseconds) {
      if (works.size > 0) await Promise.race([Promise.all(works), setTimeout(milliseconds)])
    },
  }
}

/**
 * Makes a reader of something that changes now and then: what it gives was loaded less than `maxAgeMs` ago,
 * for all who ask meanwhile by one call of `load`. With an age of 0 each call loads. A load that has failed
 * is not kept.
 */
export function createFreshValue<Value>(load: () => Promise<Value>, maxAgeMs: number): () => Promise<Value> {
  let latest: { begun: number; value: Promise<Value> } | undefined

  return () => {
    const now = performance.now()
    if (latest && now - latest.begun < maxAgeMs) return latest.value
    const loading = { begun: now, value: load() }
    latest = loading
    loading.value.catch(() => {
      if (latest === loading) latest = undefined
    })
    return loading.value
  }
}

/** For so long a document waits for a database that is silent. */
const WAIT_MS = 1000

interface LastKnownOptions<Value> {
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
