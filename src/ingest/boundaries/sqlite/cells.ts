import type { SqliteFile } from './file.ts'
import { readVarint } from './varint.ts'

/** Kinds of pages of a table; those of indexes are never read. */
const INTERIOR = 0x05
const LEAF = 0x0d

const INTERIOR_HEADER_BYTES = 12
const LEAF_HEADER_BYTES = 8
const POINTER_BYTES = 4

/** The first page begins with the header of the file. */
const FIRST_PAGE_OFFSET = 100

/** SQLite itself goes no deeper. */
const MAX_DEPTH = 20

/** A row of a table, as it is stored. */
export interface Cell {
  rowid: number
  payload: Buffer
}

/** A row, and how many bytes of its page are its own. */
interface PlacedCell extends Cell {
  pageBytes: number
}

/** Which pages of a table have been read: a bit for each of the file. A page is of one table, once. */
type PagesRead = Uint8Array

/**
 * The rows of a table, by their ids. A page at each depth and one row are in memory.
 *
 * @param root the page on which the table begins
 * @param maxBytes of a row
 * @throws {Error} where a page is damaged, pages go in circles, rows overlap, or one is too large
 */
export async function* cellsOf(file: SqliteFile, root: number, maxBytes: number): AsyncGenerator<Cell> {
  yield* cellsBelow(file, root, maxBytes, new Uint8Array((file.pageCount >> 3) + 1), 1)
}

async function* cellsBelow(
  file: SqliteFile,
  number: number,
  maxBytes: number,
  read: PagesRead,
  depth: number,
): AsyncGenerator<Cell> {
  if (depth > MAX_DEPTH) throw new Error('its pages go in circles')
  const page = await nextPage(file, number, read)
  const start = number === 1 ? FIRST_PAGE_OFFSET : 0
  const kind = page[start]
  if (kind !== LEAF && kind !== INTERIOR) throw new Error(`page ${number} is of no table`)
  const count = page.readUInt16BE(start + 3)
  const pointers = start + (kind === LEAF ? LEAF_HEADER_BYTES : INTERIOR_HEADER_BYTES)
  if (pointers + 2 * count > file.usableBytes) throw damaged(number)
  let free = file.usableBytes - pointers - 2 * count
  for (let index = 0; index < count; index++) {
    const at = page.readUInt16BE(pointers + 2 * index)
    if (at + POINTER_BYTES > file.usableBytes) throw damaged(number)
    if (kind === LEAF) {
      const { pageBytes, ...cell } = await cellAt(file, page, number, at, maxBytes, read)
      free -= pageBytes
      // A small file would have rows without end, were many of its pointers to name the same bytes.
      if (free < 0) throw new Error(`rows of page ${number} overlap`)
      yield cell
    } else yield* cellsBelow(file, page.readUInt32BE(at), maxBytes, read, depth + 1)
  }
  if (kind === INTERIOR) {
    yield* cellsBelow(file, page.readUInt32BE(pointers - POINTER_BYTES), maxBytes, read, depth + 1)
  }
}

async function nextPage(file: SqliteFile, number: number, read: PagesRead): Promise<Buffer> {
  const page = await file.page(number)
  const bit = 1 << (number & 7)
  if (((read[number >> 3] as number) & bit) !== 0) throw new Error('its pages go in circles')
  read[number >> 3] = (read[number >> 3] as number) | bit
  return page
}

async function cellAt(
  file: SqliteFile,
  page: Buffer,
  number: number,
  at: number,
  maxBytes: number,
  read: PagesRead,
): Promise<PlacedCell> {
  const [length, afterLength] = readVarint(page, at)
  const [rowid, start] = readVarint(page, afterLength)
  if (length > maxBytes) {
    throw new Error(`row ${rowid} of page ${number} has ${length} bytes; at most ${maxBytes} are read`)
  }
  const local = localBytes(length, file.usableBytes)
  const end = start + local
  const pageBytes = end + (local < length ? POINTER_BYTES : 0) - at
  if (at + pageBytes > file.usableBytes) throw damaged(number)
  if (local === length) return { rowid, payload: page.subarray(start, end), pageBytes }
  const parts = [page.subarray(start, end)]
  let missing = length - local
  let next = page.readUInt32BE(end)
  while (missing > 0) {
    const overflow = await nextPage(file, next, read)
    const part = overflow.subarray(POINTER_BYTES, Math.min(POINTER_BYTES + missing, file.usableBytes))
    parts.push(part)
    missing -= part.length
    next = overflow.readUInt32BE(0)
  }
  return { rowid, payload: Buffer.concat(parts, length), pageBytes }
}

/** How much of a row is on its own page; the rest is on pages that follow each other. */
function localBytes(length: number, usableBytes: number): number {
  if (length <= usableBytes - 35) return length
  const least = Math.floor(((usableBytes - 12) * 32) / 255) - 23
  const fitting = least + ((length - least) % (usableBytes - POINTER_BYTES))
  return fitting <= usableBytes - 35 ? fitting : least
}

function damaged(page: number): Error {
  return new Error(`page ${page} is damaged`)
}
