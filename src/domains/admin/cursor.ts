import { ApiError } from '#src/errors.ts'

/** Tells our cursors from other texts, and a later kind of them from this one. */
const PREFIX = 'after '

/** The cursor of the page that begins after an area. */
export function cursorAfter(code: string): string {
  return Buffer.from(PREFIX + code).toString('base64url')
}

/**
 * The code of the area after which a page begins.
 *
 * @throws {ApiError} where the text is not one of our cursors
 */
export function codeOfCursor(cursor: string): string {
  const bytes = Buffer.from(cursor, 'base64url')
  const text = bytes.toString('utf8')
  const code = text.slice(PREFIX.length)
  // Decoding skips what it cannot read: only what encodes to the same text is one of ours.
  if (!text.startsWith(PREFIX) || code === '' || code.includes('\0') || cursorAfter(code) !== cursor) {
    const message = 'cursor must be the next_cursor of a page'
    throw new ApiError('INVALID_PARAMETERS', `${message}.`, [{ field: 'cursor', message }])
  }
  return code
}
