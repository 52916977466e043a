import { type FileHandle, open } from 'node:fs/promises'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/promises.ts'
import { type Pauses, retry } from '#src/lib/retry.ts'

const MAX_REDIRECTS = 5
/** A broken connection resumes at its position, so often. */
const PAUSES_MS: Pauses = [0, 0, 0]

interface DownloadLimits {
  maxBytes: number
  /** Between two chunks. */
  silenceMs: number
  /** In all. */
  wholeMs: number
}

/** Retries cannot change these. */
const ABSENT = [401, 403, 404, 410]

/** A retry may succeed. */
class Broken extends Error {}

/** Names, passwords and signatures in queries stay secret. */
export function shown(address: URL): string {
  return `${address.origin}${address.pathname}`
}

/**
 * Resumes broken connections by ranges.
 *
 * @returns the bytes; undefined for a missing file
 * @throws {OperatorError} for a file that is too large or slow, or a redirect that leaves https
 */
export async function download(
  address: URL,
  target: string,
  limits: DownloadLimits,
): Promise<number | undefined> {
  const { wholeMs } = limits
  const deadline = AbortSignal.timeout(wholeMs)
  const file = await open(target, 'w')
  try {
    const state: Progress = { at: 0, tag: undefined }
    const isThere = await retry(
      () => fetchRest(address, file, state, limits, deadline),
      PAUSES_MS,
      (error) => !(error instanceof OperatorError || deadline.aborted),
    )
    return isThere ? state.at : undefined
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const reason = deadline.aborted ? `it takes more than ${wholeMs / 1000} s` : reasonOf(error)
    throw new OperatorError(`${shown(address)} cannot be downloaded: ${reason}.`)
  } finally {
    await file.close()
  }
}

interface Progress {
  at: number
  tag: string | undefined
}

async function fetchRest(
  address: URL,
  file: FileHandle,
  state: Progress,
  { silenceMs, maxBytes }: DownloadLimits,
  deadline: AbortSignal,
): Promise<boolean> {
  const silence = new AbortController()
  const hangUp = () => silence.abort(new Error(`nothing came for ${silenceMs / 1000} s`))
  let timer = setTimeout(hangUp, silenceMs)
  try {
    const signal = AbortSignal.any([deadline, silence.signal])
    const response = await follow(address, state, signal)
    if (ABSENT.includes(response.status)) return false
    if (response.status !== 200 && response.status !== 206) throw new Broken(`it answers ${response.status}`)
    const start = startOf(response)
    if (start !== state.at) {
      if (start !== 0) throw new Broken('it answers with another part than was asked for')
      state.at = 0
      await file.truncate(0)
    }
    state.tag = response.headers.get('etag') ?? undefined
    for await (const chunk of response.body ?? []) {
      clearTimeout(timer)
      timer = setTimeout(hangUp, silenceMs)
      if (state.at + chunk.length > maxBytes) {
        throw new OperatorError(`${shown(address)} has more than the ${maxBytes} bytes that are downloaded.`)
      }
      for (let written = 0; written < chunk.length; ) {
        const { bytesWritten } = await file.write(chunk, written, chunk.length - written, state.at)
        written += bytesWritten
        state.at += bytesWritten
      }
    }
    return true
  } finally {
    clearTimeout(timer)
    silence.abort()
  }
}

/** The position of an answer in the file. */
function startOf({ status, headers }: Response): number {
  if (status === 200) return 0
  return Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1])
}

/** A weak tag names no bytes: the file begins anew. */
async function follow(address: URL, { at, tag }: Progress, signal: AbortSignal): Promise<Response> {
  const resumes = at > 0 && tag !== undefined && !tag.startsWith('W/')
  const headers = {
    'accept-encoding': 'identity',
    ...(resumes && { range: `bytes=${at}-`, 'if-range': tag }),
  }
  let place = address
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(place, { headers, signal, redirect: 'manual' })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body?.cancel()
    place = new URL(location, place)
    if (place.protocol !== 'https:') {
      throw new OperatorError(`${shown(address)} leads to ${shown(place)}, which is not https.`)
    }
  }
  throw new OperatorError(`${shown(address)} leads elsewhere more than ${MAX_REDIRECTS} times.`)
}

function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown }
  return messageOf(cause ?? error)
}
