import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { FileMissing, type FileStore, pathOf, StorageUnavailable } from './store.ts'

/** What a server is asked, with headers that may depend on it. */
export interface FileRequest {
  method: 'GET' | 'PUT' | 'DELETE'
  url: URL
  headers: Record<string, string>
  body?: Buffer
}

/**
 * Asks a server.
 *
 * @throws {StorageUnavailable} where it does not answer in time, or with a status that is none of those
 */
export async function askServer(
  place: string,
  { url, ...request }: FileRequest,
  timeoutMs: number,
  statuses: number[],
): Promise<{ status: number; body: Buffer }> {
  try {
    // A redirection might lead anywhere, with the signature.
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { ...request, signal, redirect: 'error' } as RequestInit)
    const body = Buffer.from(await response.arrayBuffer())
    if (statuses.includes(response.status)) return { status: response.status, body }
    throw new Error(`the answer is ${response.status}`)
  } catch (error) {
    const reason = messageOf((error as Error).cause ?? error)
    throw new StorageUnavailable(`the files at ${place} cannot be reached: ${reason}`, { cause: error })
  }
}

/**
 * Reads a part of a file of a server.
 *
 * @throws as `read` of a store
 */
export async function readRange(
  place: string,
  request: FileRequest,
  timeoutMs: number,
  length: number,
): Promise<Buffer> {
  const { status, body } = await askServer(place, request, timeoutMs, [206, 404, 416])
  if (status === 206 && body.length === length) return body
  throw new FileMissing(`${place} has not all of ${request.url.pathname}`)
}

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
    read: (name, offset, length) =>
      readRange(
        place,
        { method: 'GET', url: new URL(pathOf(name), root), headers: rangeHeader(offset, length) },
        timeoutMs,
        length,
      ),
    write: refuse,
    list: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }),
    remove: refuse,
  }
}
