import { createHash } from 'node:crypto'
import { ApiError } from '#src/errors.ts'

const CHECKSUM_LENGTH = 16

/**
 * The cursor of the page that begins after an item.
 *
 * @param place says which item, in the terms of its list
 * @param filters what the list was asked for with: it goes on with nothing else
 */
export function cursorAfter(place: string, filters: readonly unknown[]): string {
  return Buffer.from(checksum(place, filters) + place).toString('base64url')
}

/**
 * The place that a cursor was made of.
 *
 * @param pattern what places look like: anybody can make cursors
 * @returns the place, and the groups of the pattern
 * @throws {ApiError} INVALID_PARAMETERS where the text is not a cursor of a list with these filters
 */
export function placeOf(cursor: string, filters: readonly unknown[], pattern: RegExp): RegExpExecArray {
  const place = Buffer.from(cursor, 'base64url').toString('utf8').slice(CHECKSUM_LENGTH)
  const found = pattern.exec(place)
  // Decoding skips what it cannot read: only what encodes to the same text is one of ours.
  if (found && cursorAfter(place, filters) === cursor) return found
  throw ApiError.invalid('cursor', 'must be the next_cursor of a page with the same filters')
}

/** Not a signature, for a cursor opens nothing: it finds damage and changed filters. */
function checksum(place: string, filters: readonly unknown[]): string {
  const hash = createHash('sha256').update(JSON.stringify([place, ...filters]))
  return hash.digest('base64url').slice(0, CHECKSUM_LENGTH)
}
