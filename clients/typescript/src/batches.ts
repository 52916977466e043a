import { AdvisoryError, type ErrorDetails, errorOf } from './errors.ts'
import { groupsOf, linesOf } from './ndjson.ts'
import { type Retries, sleep, waitBefore } from './retries.ts'

/** What a call with many places needs. */
export interface Batch extends Retries {
  /** Asks about some of them; the answer is NDJSON. */
  ask(texts: string[]): Promise<Response>
  count: number
  /** Fewer than the service takes of somebody without a token. */
  bytes: number
  signal: AbortSignal | undefined
}

/** What an item may say of the rest, where the service could not go on: it stands at the end, in the place of the rest. */
const FAULTS = new Set(['OVERLOADED', 'DATABASE_UNAVAILABLE'])

/** What an item says where its place was not read. */
const REFUSALS = new Set(['INVALID_PARAMETERS', 'INVALID_GEOMETRY', 'MALFORMED_JSON'])

interface Refusal {
  error: string
  code: string
  details?: ErrorDetails
}

function allRefused(items: Refusal[]): AdvisoryError {
  const [{ error, code, details }] = items as [Refusal]
  const said = `All ${items.length} places are refused. The first one: ${error}`
  return new AdvisoryError(said, { code, status: 400, ...(details && { details }) })
}

/** A point whose coordinates are numbers, also where they are text; text that is none is left to the service. */
function withNumbers(point: object): object {
  const read = (value: unknown) =>
    typeof value === 'string' && /^[-+]?\d+(?:[.,]\d+)?(?:e[-+]?\d+)?$/i.test(value.trim())
      ? Number(value.trim().replace(',', '.'))
      : value
  const { lat, lng } = point as { lat?: unknown; lng?: unknown }
  return {
    ...point,
    ...(lat !== undefined && { lat: read(lat) }),
    ...(lng !== undefined && { lng: read(lng) }),
  }
}

interface Outcome {
  id?: unknown
  code?: unknown
}

/**
 * The answers for any number of places, in their order: one call after the other, each only when its first answer is asked for.
 * Where an answer is cut off, those that are missing are asked for again.
 *
 * @throws {AdvisoryError} where a call is refused, all places of the first one are, or one is cut off without getting on
 */
export async function* answersTo<Item>(
  sent: Iterable<unknown> | AsyncIterable<unknown>,
  batch: Batch,
): AsyncGenerator<Item, void, void> {
  /** Undefined as soon as one is accepted. */
  let refused: Item[] | undefined = []
  for await (const texts of groupsOf(textsOf(sent), batch)) {
    let left = texts
    let attempt = 0
    while (left.length > 0) {
      const { items, stopped } = answersOf<Item>(batch, left)
      let answered = 0
      for await (const item of items) {
        answered++
        if (refused && REFUSALS.has(String((item as Outcome).code))) {
          refused.push(item)
          continue
        }
        yield* refused ?? []
        refused = undefined
        yield item
      }
      left = left.slice(answered)
      if (left.length === 0) break
      attempt = answered > 0 ? 1 : attempt + 1
      if (attempt > batch.retries) throw incomplete(stopped())
      await sleep(Math.min(waitBefore(attempt), batch.maxWaitMs), batch.signal)
    }
    if (refused && refused.length > 0) throw allRefused(refused as Refusal[])
  }
}

/** The answers of one call as far as they come, and then why there are no more. */
export function answersOf<Item>(
  { ask, signal }: Pick<Batch, 'ask' | 'signal'>,
  texts: string[],
): { items: AsyncGenerator<Item, void, void>; stopped: () => unknown } {
  let reason: unknown

  async function* read(): AsyncGenerator<Item, void, void> {
    const response = await ask(texts)
    if (!response.ok || !response.body) throw await errorOf(response)
    const lines = linesOf(response.body)
    let doubtful: string | undefined
    try {
      for (;;) {
        const line = await lines.next().catch((cause: unknown) => {
          signal?.throwIfAborted()
          reason = cause
          return { done: true, value: undefined } as const
        })
        if (line.done) break
        if (doubtful !== undefined) yield JSON.parse(doubtful) as Item
        doubtful = undefined
        if (isFault(line.value)) doubtful = line.value
        else yield JSON.parse(line.value) as Item
      }
      if (doubtful !== undefined) reason = (JSON.parse(doubtful) as { error?: unknown }).error
    } finally {
      await lines.return()
    }
  }

  return { items: read(), stopped: () => reason }
}

export function incomplete(cause: unknown): AdvisoryError {
  const said = typeof cause === 'string' ? ` ${cause}` : ''
  return new AdvisoryError(`The answer was cut off.${said}`, { code: 'INCOMPLETE_ANSWER', cause })
}

/** Whether a line may stand for the rest of an answer: it does so where it is the last one. */
function isFault(line: string): boolean {
  if (!line.includes('"code"')) return false
  const { id, code } = JSON.parse(line) as Outcome
  return id === undefined && typeof code === 'string' && FAULTS.has(code)
}

async function* textsOf(sent: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const one of sent) yield JSON.stringify(withNumbers(one as object))
}
