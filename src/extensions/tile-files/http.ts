import { StorageUnavailable } from '#src/data/failures.ts'
import { OperatorError } from '#src/errors.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import { FileMissing, type FileStore, pathOf } from './store.ts'

export interface FileRequest {
  method: 'GET' | 'PUT' | 'DELETE'
  url: URL
  headers: Record<string, string>
  body?: Buffer
}

export interface Expected {
  /** Other statuses are failures, and so are longer bodies: a server may not fill the memory. */
  statuses: number[]
  mostBytes: number
  signal: AbortSignal
}

interface Answer {
  status: number
  body: Buffer
}

/** @throws {StorageUnavailable} for an unexpected answer, or none in time */
export async function askServer(address: string, request: FileRequest, expected: Expected): Promise<Answer> {
  try {
    return await ask(request, expected).catch((error) => {
      // A server may end a connection that was left open in the moment in which it is used again.
      if (!wasReset(error) || expected.signal.aborted) throw error
      return ask(request, expected)
    })
  } catch (error) {
    const { status } = error as Partial<UnexpectedAnswer>
    throw new StorageUnavailable(`the files at ${address} cannot be reached: ${reasonOf(error)}`, {
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

async function ask(
  { url, ...request }: FileRequest,
  { statuses, mostBytes, signal }: Expected,
): Promise<Answer> {
  // A redirection might lead anywhere, with the signature.
  const response = await fetch(url, { ...request, signal, redirect: 'error' } as RequestInit)
  const { status } = response
  if (!statuses.includes(status)) {
    throw new UnexpectedAnswer(status, `the answer is ${status}${await readErrorName(response)}`)
  }
  const body = await readBody(response, mostBytes)
  if (body.length <= mostBytes) return { status, body }
  throw new UnexpectedAnswer(status, `the answer has more than ${mostBytes} bytes`)
}

/** Reads a body, and stops behind a bound. */
async function readBody({ body }: Response, mostBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body ?? []) {
    parts.push(part)
    bytes += part.length
    if (bytes > mostBytes) break
  }
  return Buffer.concat(parts)
}

/** The code of S3 for an error, in brackets behind a space. */
async function readErrorName(response: Response): Promise<string> {
  if (!/^(application|text)\/xml\b/.test(response.headers.get('content-type') ?? '')) {
    // A page of a proxy, which may never end.
    void response.body?.cancel().catch(() => {})
    return ''
  }
  // The status says enough.
  const body = await readBody(response, LONGEST_ERROR).catch(() => Buffer.alloc(0))
  const [, code] = /<Code>(\w{1,64})<\/Code>/.exec(body.toString('latin1', 0, LONGEST_ERROR)) ?? []
  return code === undefined ? '' : ` (${code})`
}

/** The code of an error is among its first lines. */
const LONGEST_ERROR = 4096

function wasReset(error: unknown): boolean {
  const code = readErrorCode((error as Error).cause)
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

/** `fetch` has the reason as its cause, which has a code alone after several addresses. */
function reasonOf(error: unknown): string {
  const cause = (error as Error).cause ?? error
  return formatError(cause) || (readErrorCode(cause) ?? formatError(error))
}

/** Throws as `read` of a store. */
export async function readRange(
  address: string,
  request: FileRequest,
  length: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const expected = { statuses: [206, ...MISSING], mostBytes: Math.max(length, MOST_ERROR_BYTES), signal }
  const { status, body } = await askServer(address, request, expected)
  if (status === 206 && body.length === length) return body
  throw new FileMissing(`${address} has not all of ${request.url.pathname}`)
}

const MISSING = [404, 416]

/** Bytes of a page that explains an error. */
export const MOST_ERROR_BYTES = 65_536

export function rangeHeader(offset: number, length: number): Record<string, string> {
  return { range: `bytes=${offset}-${offset + length - 1}` }
}

/** The store of a web server with the folder of another machine, to be read alone. */
export function openWebServer(base: URL, timeoutMs: number): FileStore {
  const address = `${base.origin}${base.pathname}`
  const root = address.endsWith('/') ? address : `${address}/`

  async function refuse(): Promise<never> {
    throw new OperatorError(
      `${address} can only be read: name the folder that it serves, as TILE_STORE=file:///..., where files are written.`,
    )
  }

  return {
    address,
    read(name, offset, length, signal = AbortSignal.timeout(timeoutMs)) {
      const url = new URL(pathOf(name), root)
      return readRange(address, { method: 'GET', url, headers: rangeHeader(offset, length) }, length, signal)
    },
    write: refuse,
    list: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
    remove: refuse,
  }
}
