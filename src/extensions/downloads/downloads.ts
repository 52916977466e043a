import { createHash } from 'node:crypto'
import { tmpdir } from 'node:os'
import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { TSchema } from 'typebox'
import { openNameless } from '#src/data/nameless-file.ts'
import { ApiError, overloaded } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { Cache } from '#src/lib/cache.ts'
import { type ClientKey, createLimiter, type Pause, sharedWork } from '#src/lib/limiter.ts'
import { readErrorCode } from '#src/lib/promises.ts'
import { TimeBudget } from '#src/lib/time-budget.ts'
import { downloadBytesOf } from './geotiff-writer.ts'
import { createMadeFiles, type OpenMadeFile, type WrittenFile } from './made-files.ts'

/** Files that may wait to be made: one is at a time, so that others have the rest of the machine. */
const MOST_WAITING = 16

/** Refusals of files that turned out too large: a sentence each. */
const MOST_REFUSED = 1000

/** How long a request waits for its file: the next request finds it, or waits on. */
const WAIT_MS = 10_000

/** The errors of a disk that takes no file. */
const DISK_FAILURES = ['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'ENOENT', 'EMFILE', 'EIO']

/** Writes a file in a folder, and lets others go on meanwhile. */
type WriteDownload = (folder: string, pause: Pause) => Promise<WrittenFile>

export type Downloads = ReturnType<typeof createDownloads>

/** Makes files at the first request, one at a time, and keeps them for a while: all kinds share DOWNLOAD_CACHE_MB. */
export function createDownloads(app: App) {
  const folder = tmpdir()
  const most = downloadBytesOf(app.config)
  const files = createMadeFiles(most)
  const refused = new Cache<string, ApiError>('refused files', { max: MOST_REFUSED })
  const queue = createLimiter({ running: 1, waiting: MOST_WAITING }, overloaded)
  const closing = new AbortController()
  app.addHook('onClose', async () => {
    closing.abort()
    await files.close()
  })

  async function writeNext(write: WriteDownload, kind: string): Promise<WrittenFile> {
    // The file before it counts by then.
    await setImmediate()
    if (files.isFull()) throw overloaded()
    return write(folder, () => app.slices.next(sharedWork(kind), closing.signal))
  }

  async function make(key: string, kind: string, clientKey: ClientKey, write: WriteDownload): Promise<void> {
    const making = files.make(key, () => queue.run(clientKey, () => writeNext(write, kind)))
    making.catch((error) => {
      if (error instanceof ApiError && error.code === 'TOO_MANY_POINTS') refused.set(key, error)
    })
    try {
      // The making goes on.
      const still = () =>
        new ApiError('OVERLOADED', 'The file is being made; ask for it again in some seconds.')
      await new TimeBudget(WAIT_MS).wait(() => making, still)
    } catch (error) {
      if (closing.signal.aborted) throw overloaded()
      if (!DISK_FAILURES.includes(readErrorCode(error) ?? '')) throw error
      app.log.warn({ err: error }, `a file (${kind}) cannot be written: see TMPDIR`)
      throw overloaded()
    }
  }

  /** A file that takes more than all of the space is never stored. */
  function refuseTooLarge(bytes = 0): void {
    if (bytes <= most) return
    throw new ApiError('NOT_FOUND', `The file would have ${bytes} bytes: more than this service keeps.`)
  }

  return {
    /** Size and checksum of a file that was made before. @throws {ApiError} TOO_MANY_POINTS as its making did */
    facts(key: string): Pick<WrittenFile, 'bytes' | 'checksum'> | undefined {
      const refusal = refused.get(key)
      if (refusal) throw refusal
      return files.facts(key)
    },
    /**
     * @param key names the bytes: another content has another key
     * @param kind whose slices the making takes
     * @throws {ApiError} as `write`; OVERLOADED for a file that cannot be made now, or is still being made; NOT_FOUND for one that is
     * larger than all of the space
     */
    async open(key: string, kind: string, clientKey: ClientKey, write: WriteDownload): Promise<OpenMadeFile> {
      const stored = files.open(key)
      if (stored) return stored
      refuseTooLarge(files.facts(key)?.bytes)
      await make(key, kind, clientKey, write)
      const file = files.open(key)
      if (!file) refuseTooLarge(files.facts(key)?.bytes)
      // Others have made room for theirs.
      if (!file) throw overloaded()
      return file
    },
  }
}

/** Writes pieces one behind the other. */
export async function writePieces(
  folder: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<WrittenFile> {
  const handle = await openNameless(folder)
  try {
    const hash = createHash('sha256')
    let bytes = 0
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; ) {
        const { bytesWritten } = await handle.write(piece, at, piece.length - at, bytes + at)
        at += bytesWritten
      }
      hash.update(piece)
      bytes += piece.length
    }
    return { handle, bytes, checksum: hash.digest('hex') }
  } catch (error) {
    await handle.close()
    throw error
  }
}

const RANGE = /^bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})$/i

/** The range of a Range header (RFC 9110, 14.2); null for the whole, `unsatisfiable` beyond the end. */
export function readByteRange(
  header: string | undefined,
  size: number,
): { first: number; last: number } | 'unsatisfiable' | null {
  const [, first = '', last = ''] = RANGE.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return null
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 }
  }
  if (last !== '' && Number(last) < Number(first)) return null
  if (Number(first) >= size) return 'unsatisfiable'
  return { first: Number(first), last: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

const DISPOSITION = { 'Content-Disposition': { type: 'string', description: 'The name of the file.' } }

const HEADERS = {
  ...DISPOSITION,
  'Accept-Ranges': { type: 'string', description: '`bytes`: of the file there are ranges (RFC 9110, 14).' },
}

/** The answers of a route with a file, errors left out. @param hasRanges whether there are ranges of it */
export function documentFile(mediaType: string, schema: TSchema, hasRanges = true) {
  const content = { [mediaType]: { schema } }
  const unchanged = { type: 'null', description: 'The file is the one that `If-None-Match` names.' }
  if (!hasRanges) {
    return { 200: { description: 'The file.', headers: DISPOSITION, content }, 304: unchanged }
  }
  return {
    200: { description: 'The file.', headers: HEADERS, content },
    206: {
      description: 'The bytes of it that `Range` names. Of several ranges, the file is the answer.',
      headers: {
        ...HEADERS,
        'Content-Range': { type: 'string', description: 'Which bytes of how many.' },
      },
      content,
    },
    304: unchanged,
  }
}

/** How a file is sent. */
interface SentFile {
  name: string
  type: string
  /** Strong: that of its bytes; null where another machine may have others, of which no ranges fit together. */
  tag: string | null
}

/** Sends a file, or the range of it that the request asks for; to HEAD only what it would be. */
export async function sendFile(
  { request, reply }: Exchange,
  file: OpenMadeFile,
  { name, type, tag }: SentFile,
): Promise<FastifyReply> {
  const { bytes } = file
  const { range: asked, 'if-range': ifRange } = request.headers
  // A date in If-Range never allows a range: answers with ranges have none.
  const isCurrent = tag !== null && (ifRange === undefined || String(ifRange).trim() === tag)
  const isAsked = request.method === 'GET' && isCurrent
  const range = readByteRange(isAsked ? asked : undefined, bytes)
  if (range === 'unsatisfiable') {
    file.close()
    const sentence = `The file has ${bytes} bytes, and none of those that Range names.`
    throw new ApiError('RANGE_NOT_SATISFIABLE', sentence).withHeader('content-range', `bytes */${bytes}`)
  }
  const { first, last } = range ?? { first: 0, last: bytes - 1 }
  if (range) reply.code(206).header('content-range', `bytes ${first}-${last}/${bytes}`)
  describeSent(reply, { name, type, tag }, last - first + 1)
  if (request.method !== 'HEAD') return reply.send(file.stream(first, last))
  file.close()
  return sendNothing(reply)
}

/** Sets the headers of a file. @param length undefined where it is not made yet */
export function describeSent(
  reply: FastifyReply,
  { name, type, tag }: SentFile,
  length: number | undefined,
): void {
  reply.type(type).headers({
    ...(tag !== null && { 'accept-ranges': 'bytes' }),
    ...(length !== undefined && { 'content-length': length }),
    'content-disposition': `attachment; filename="${name}"`,
  })
}

/** Answers HEAD: Fastify would read the stream of a file to its end, unseen. */
export function sendNothing(reply: FastifyReply): FastifyReply {
  return reply.send(Readable.from([]))
}
