import { createHash } from 'node:crypto'
import { ApiError } from '#src/errors.ts'

/** The place of an item in a history. */
export interface Place {
  /** Microseconds since 1970. */
  createdAt: number
  id: string
}

const CURSOR = /^(\d{1,16}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) ([\w-]{16})$/

/** The cursor of the page that begins after an item, in a list that was asked for with some filters. */
export function cursorAfter({ createdAt, id }: Place, filters: readonly unknown[]): string {
  const place = `${createdAt} ${id}`
  return Buffer.from(`${place} ${checksum(place, filters)}`).toString('base64url')
}

/**
 * The place after which a page begins.
 *
 * @throws {ApiError} INVALID_PARAMETERS where the text is not a cursor of a list with these filters
 */
export function placeOfCursor(cursor: string, filters: readonly unknown[]): Place {
  const [, createdAt, id = ''] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  const place = { createdAt: Number(createdAt), id }
  // Decoding skips what it cannot read: only what encodes to the same text is one of ours.
  if (createdAt !== undefined && cursorAfter(place, filters) === cursor) return place
  const message = 'cursor must be the next_cursor of a page with the same filters'
  throw new ApiError('INVALID_PARAMETERS', `${message}.`, [{ field: 'cursor', message }])
}

/** Not a signature, for a cursor opens nothing: it finds damage and changed filters. */
function checksum(place: string, filters: readonly unknown[]): string {
  const hash = createHash('sha256').update(JSON.stringify([place, ...filters]))
  return hash.digest('base64url').slice(0, 16)
}
