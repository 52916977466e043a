import { type FileHandle, open } from 'node:fs/promises'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/promises.ts'
import { type Pauses, retry } from '#src/lib/retry.ts'

const MAX_REDIRECTS = 5
/** A broken connection is made again so often, at once, and goes on where it was. */
const PAUSES_MS: Pauses = [0, 0, 0]

/** How much a download may be, and how long it may take. */
interface DownloadLimits {
  maxBytes: number
  /** Until the next bytes come. */
  silenceMs: number
  /** In all. */
  wholeMs: number
}

/** Answers that nothing changes about: the file is not there, or not for us. */
const ABSENT = [401, 403, 404, 410]

/** What may be better at the next attempt. */
class Broken extends Error {}

/** An address without what may be a secret of it: a name and a password, or a signature in its query. */
export function shown(address: URL): string {
  return `${address.origin}${address.pathname}`
}

/**
 * Writes what is at an https address into a file, by ranges where the connection breaks.
 *
 * @returns how many bytes there are; undefined where there is no such file
 * @throws {OperatorError} when it is too large, takes too long, leads elsewhere than to https or cannot be had
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

/** How far a download has come, and of which version of the file. */
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

/** Where what an answer has begins in the file. */
function startOf({ status, headers }: Response): number {
  if (status === 200) return 0
  return Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1])
}

/** Asks for what is missing, wherever that leads to. A weak tag names no bytes: then all of it is asked for. */
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

/** What fetch says is that it failed; why is in the cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as { cause?: unknown }
  return messageOf(cause ?? error)
}
