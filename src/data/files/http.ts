import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { FileMissing, type FileStore, pathOf, StorageUnavailable } from './store.ts'

/** What a server is asked, with headers that may depend on it. */
export interface FileRequest {
  method: 'GET' | 'PUT' | 'DELETE'
  url: URL
  headers: Record<string, string>
  body?: Buffer
}

/** The result of an answer. */
export interface Expected {
  /** Those that are no failure. */
  statuses: number[]
  /** Longer answers are failures: a server may not fill the memory. */
  mostBytes: number
  signal: AbortSignal
}

/**
 * Asks a server.
 *
 * @throws {StorageUnavailable} where it does not answer in time, or with a status that is none of those
 */
export async function askServer(
  place: string,
  request: FileRequest,
  expected: Expected,
): Promise<{ status: number; body: Buffer }> {
  try {
    return await answerOf(request, expected).catch((error) => {
      // A server may end a connection that was kept open in the moment in which it is used again.
      if (!wasReset(error) || expected.signal.aborted) throw error
      return answerOf(request, expected)
    })
  } catch (error) {
    const { status } = error as Partial<UnexpectedAnswer>
    throw new StorageUnavailable(`the files at ${place} cannot be reached: ${reasonOf(error)}`, {
      cause: error,
      hasAnswered: status !== undefined && status < 500 && status !== TOO_MANY_REQUESTS,
    })
  }
}

const TOO_MANY_REQUESTS = 429

class UnexpectedAnswer extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

async function answerOf(
  { url, ...request }: FileRequest,
  { statuses, mostBytes, signal }: Expected,
): Promise<{ status: number; body: Buffer }> {
  // A redirection might lead anywhere, with the signature.
  const response = await fetch(url, { ...request, signal, redirect: 'error' } as RequestInit)
  const { status } = response
  const parts: Uint8Array[] = []
  let bytes = 0
  try {
    if (!statuses.includes(status)) {
      throw new UnexpectedAnswer(status, `the answer is ${status}${await errorCodeOf(response)}`)
    }
    for await (const part of response.body ?? []) {
      bytes += part.length
      if (bytes > mostBytes) throw new UnexpectedAnswer(status, `the answer has more than ${mostBytes} bytes`)
      parts.push(part)
    }
  } catch (error) {
    await response.body?.cancel().catch(() => {})
    throw error
  }
  return { status, body: Buffer.concat(parts) }
}

/** What a provider that speaks S3 calls an error, in brackets behind a space; nothing where the answer does not say. */
async function errorCodeOf({ headers, body }: Response): Promise<string> {
  if (!/^(application|text)\/xml\b/.test(headers.get('content-type') ?? '')) return ''
  let text = ''
  try {
    for await (const part of body ?? []) {
      text += Buffer.from(part).toString('latin1')
      const [, code] = /<Code>(\w{1,64})<\/Code>/.exec(text) ?? []
      if (code !== undefined) return ` (${code})`
      if (text.length > LONGEST_ERROR) return ''
    }
  } catch {
    // The status says enough.
  }
  return ''
}

/** The code of an error is among its first lines. */
const LONGEST_ERROR = 4096

function wasReset(error: unknown): boolean {
  const code = readErrorCode((error as Error).cause)
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

/** What fetch fails for is the cause of what it throws; where several addresses were tried, that has a code alone. */
function reasonOf(error: unknown): string {
  const cause = (error as Error).cause ?? error
  return formatError(cause) || (readErrorCode(cause) ?? formatError(error))
}

/**
 * Reads a part of a file of a server.
 *
 * @throws as `read` of a store
 */
export async function readRange(
  place: string,
  request: FileRequest,
  length: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const expected = { statuses: [206, ...MISSING], mostBytes: Math.max(length, MOST_ERROR_BYTES), signal }
  const { status, body } = await askServer(place, request, expected)
  if (status === 206 && body.length === length) return body
  throw new FileMissing(`${place} has not all of ${request.url.pathname}`)
}

const MISSING = [404, 416]

/** The bound of a page that explains an error. */
export const MOST_ERROR_BYTES = 65_536

export function rangeHeader(offset: number, length: number): Record<string, string> {
  return { range: `bytes=${offset}-${offset + length - 1}` }
}

/** Makes the store of a web server, which has the folder of another machine; it can only be read. */
export function openWebServer(base: URL, timeoutMs: number): FileStore {
  const place = `${base.origin}${base.pathname}`
  const root = place.endsWith('/') ? place : `${place}/`

  async function refuse(): Promise<never> {
    throw new OperatorError(
      `${place} can only be read: name the folder that it serves, as TILE_STORE=file:///..., where files are written.`,
    )
  }

  return {
    place,
    read(name, offset, length, signal = AbortSignal.timeout(timeoutMs)) {
      const url = new URL(pathOf(name), root)
      return readRange(place, { method: 'GET', url, headers: rangeHeader(offset, length) }, length, signal)
    },
    write: refuse,
    list: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
    remove: refuse,
  }
}
