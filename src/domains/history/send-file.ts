import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { ApiError } from '#src/errors.ts'
import { attach, type FileType } from '#src/http/attachment.ts'

/**
 * Sends a file in pieces. What fails before the second one is answered as an error; after that the connection
 * is cut, so that nobody takes a part for the whole.
 *
 * @param name without its ending
 */
export async function sendFile(
  reply: FastifyReply,
  mediaType: FileType,
  name: string,
  pieces: AsyncGenerator<string>,
): Promise<FastifyReply> {
  const [first, second] = [await pieces.next(), await pieces.next()]
  asFile(reply, mediaType, name)
  if (reply.request.method === 'HEAD' && !second.done) {
    // Fastify would read a stream to its end, for nobody.
    await pieces.return(undefined)
    return reply.send(Readable.from([]))
  }
  return reply.send(second.done ? first.value : Readable.from(resumed([first.value, second.value], pieces)))
}

/** Says that an answer is a file, and which. */
export function asFile(reply: FastifyReply, mediaType: FileType, name: string): void {
  reply.type(`${mediaType}; charset=utf-8`)
  attach(reply, mediaType, name)
}

/** Pieces from the beginning, some of which have been read. */
async function* resumed(read: string[], rest: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield* read
    yield* rest
  } finally {
    // The client may go away before the rest is asked for.
    await rest.return(undefined)
  }
}

/** Exports of whole histories that may be under way in a process, and of one account. */
const EXPORTS_AT_ONCE = 20
const EXPORTS_OF_ACCOUNT = 2

/** How long a client may take nothing of its export; Node notices after up to twice as long. */
const STALLED_MS = 60_000

/**
 * Makes what admits exports of whole histories until their answers have been sent: each holds a page in
 * memory, for as long as its client takes to read it.
 *
 * @returns throws an {@link ApiError} OVERLOADED where there are too many
 */
export function createExportAdmission(): (userId: string, response: ServerResponse) => void {
  const ofAccount = new Map<string, number>()
  let underWay = 0

  function count(userId: string, change: 1 | -1): void {
    const exports = (ofAccount.get(userId) ?? 0) + change
    if (exports === 0) ofAccount.delete(userId)
    else ofAccount.set(userId, exports)
    underWay += change
  }

  return (userId, response) => {
    const own = ofAccount.get(userId) ?? 0
    if (own >= EXPORTS_OF_ACCOUNT || underWay >= EXPORTS_AT_ONCE) {
      throw new ApiError('OVERLOADED', 'Too many exports of histories are under way; try again later.')
    }
    count(userId, 1)
    const leave = () => count(userId, -1)
    // It may have gone while the caller was looked up.
    if (response.destroyed) leave()
    else response.once('close', leave)
    response.setTimeout(STALLED_MS, () => response.destroy())
  }
}
