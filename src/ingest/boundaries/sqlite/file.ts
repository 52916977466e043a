import type { FileHandle } from 'node:fs/promises'

/** What a file begins with. */
const MAGIC = 'SQLite format 3\0'
const HEADER_BYTES = 100
const PAGE_SIZE_OFFSET = 16
const RESERVED_OFFSET = 20
const ENCODING_OFFSET = 56

/** Fewer bytes of a page are never used: so says the format. */
const LEAST_USABLE_BYTES = 480

/** 512 GB with pages of a usual size. */
const MAX_PAGES = 2 ** 27

const ENCODINGS: Record<number, string> = { 1: 'utf-8', 2: 'utf-16le', 3: 'utf-16be' }

/** An SQLite file, of which one page is read at a time (https://www.sqlite.org/fileformat2.html). */
export interface SqliteFile {
  /** How many pages it has. */
  pageCount: number
  /** How many pages have been read so far; hardly any is read twice. */
  pagesRead(): number
  /** Bytes of a page that are used. */
  usableBytes: number
  /** How texts are read; throws where bytes are no text. */
  decode(bytes: Buffer): string
  /**
   * @param number from 1
   * @throws {Error} where there is no such page
   */
  page(number: number): Promise<Buffer>
}

/** @throws {Error} where it is no SQLite file */
export async function openSqliteFile(handle: FileHandle): Promise<SqliteFile> {
  const header = Buffer.alloc(HEADER_BYTES)
  const { bytesRead } = await handle.read(header, 0, HEADER_BYTES, 0)
  if (bytesRead < HEADER_BYTES || header.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    throw new Error('it does not begin as an SQLite file does')
  }
  const size = header.readUInt16BE(PAGE_SIZE_OFFSET)
  const pageBytes = size === 1 ? 65536 : size
  const usableBytes = pageBytes - header.readUInt8(RESERVED_OFFSET)
  if (pageBytes < 512 || (pageBytes & (pageBytes - 1)) !== 0 || usableBytes < LEAST_USABLE_BYTES) {
    throw new Error(`it has pages of ${pageBytes} bytes, which there are not`)
  }
  const encoding = ENCODINGS[header.readUInt32BE(ENCODING_OFFSET)]
  if (encoding === undefined) throw new Error('its texts are in no encoding that there is')
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  const pageCount = Math.floor((await handle.stat()).size / pageBytes)
  if (pageCount > MAX_PAGES) throw new Error(`it has ${pageCount} pages; at most ${MAX_PAGES} are read`)
  let pagesRead = 0
  return {
    pageCount,
    pagesRead: () => Math.min(pagesRead, pageCount),
    usableBytes,
    decode: (bytes) => decoder.decode(bytes),
    async page(number) {
      if (number < 1 || number > pageCount)
        throw new Error(`it is cut off or damaged: it has no page ${number}`)
      pagesRead++
      const page = Buffer.alloc(pageBytes)
      const { bytesRead } = await handle.read(page, 0, pageBytes, (number - 1) * pageBytes)
      if (bytesRead < pageBytes) throw new Error(`it is cut off in page ${number}`)
      return page
    },
  }
}
