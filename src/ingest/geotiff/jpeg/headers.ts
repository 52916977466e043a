import { damaged } from './damaged.ts'
import { type HuffmanCode, huffmanCodeOf } from './huffman.ts'

/** Markers of JPEG (T.81, table B.1), each after a byte of 0xFF. */
export const MARKERS = { frames: [0xc0, 0xc1], huffman: 0xc4, scan: 0xda, quantisation: 0xdb, restarts: 0xdd }
const BEGIN = 0xd8
const END = 0xd9
/** Frames of other kinds: progressive, lossless, arithmetic. */
const OTHER_FRAMES = [0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]

/** Where a coefficient lies in a block row by row, in the order of the stream. */
export const ZIGZAG = Uint8Array.of(
  ...[0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6],
  ...[7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31],
  ...[39, 46, 53, 60, 61, 54, 47, 55, 62, 63],
)

/** What scans are decoded with, each table by its number. */
export interface Tables {
  quantisation: (Uint16Array | undefined)[]
  dc: (HuffmanCode | undefined)[]
  ac: (HuffmanCode | undefined)[]
  /** Units from one restart to the next; 0 where there are none. */
  restartInterval: number
}

/** A component of a frame: a band, or one of the three that colours are stored as. */
export interface Component {
  id: number
  /** Samples across and down, where the component with the most has as many as the frame's. */
  across: number
  down: number
  quantisation: number
}

export interface Frame {
  width: number
  height: number
  components: Component[]
}

interface Segment {
  marker: number
  content: Uint8Array
  end: number
}

/** The segment that begins at a place. */
export function segmentAt(bytes: Uint8Array, place: number): Segment {
  let at = place
  while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at++
  const marker = bytes[at + 1]
  if (bytes[at] !== 0xff || marker === undefined) throw damaged()
  if (marker === BEGIN || marker === END) return { marker, content: new Uint8Array(0), end: at + 2 }
  const end = at + 2 + uint16(bytes, at + 2)
  if (end < at + 4 || end > bytes.length) throw damaged()
  return { marker, content: bytes.subarray(at + 4, end), end }
}

/** The tables of the JPEGTables tag, which all blocks of a file share. */
export function sharedTablesOf(bytes: Uint8Array): Tables {
  const tables: Tables = { quantisation: [], dc: [], ac: [], restartInterval: 0 }
  for (let at = 0; at < bytes.length; ) {
    const { marker, content, end } = segmentAt(bytes, at)
    if (marker === END) break
    readTables(marker, content, tables)
    at = end
  }
  return tables
}

/** Takes what a segment of tables has; any other says nothing of them. */
export function readTables(marker: number, content: Uint8Array, tables: Tables): void {
  if (marker === MARKERS.quantisation) readQuantisation(content, tables)
  if (marker === MARKERS.huffman) readHuffman(content, tables)
  if (marker === MARKERS.restarts) tables.restartInterval = uint16(content, 0)
}

function readQuantisation(content: Uint8Array, { quantisation }: Tables): void {
  for (let at = 0; at < content.length; ) {
    const head = content[at++] as number
    const bytes = head >> 4 === 0 ? 1 : 2
    if (at + 64 * bytes > content.length) throw damaged()
    const table = new Uint16Array(64)
    for (let index = 0; index < 64; index++, at += bytes) {
      table[ZIGZAG[index] as number] = bytes === 1 ? (content[at] as number) : uint16(content, at)
    }
    quantisation[head & 15] = table
  }
}

function readHuffman(content: Uint8Array, tables: Tables): void {
  for (let at = 0; at < content.length; ) {
    const head = content[at] as number
    const counts = content.subarray(at + 1, at + 17)
    const end = at + 17 + counts.reduce((sum, count) => sum + count, 0)
    if (end > content.length) throw damaged()
    // The bytes of the file are let go.
    const code = huffmanCodeOf(counts, content.slice(at + 17, end))
    ;(head >> 4 === 0 ? tables.dc : tables.ac)[head & 15] = code
    at = end
  }
}

/**
 * What a segment says of the frame; undefined where it is about something else.
 *
 * @throws where the frame is of a kind that is not read
 */
export function frameOf(marker: number, content: Uint8Array): Frame | undefined {
  if (OTHER_FRAMES.includes(marker)) {
    throw new Error(
      'its JPEG data are progressive, lossless or arithmetically coded: sequential ones are read',
    )
  }
  if (!MARKERS.frames.includes(marker)) return undefined
  const count = content[5] ?? 0
  if (content.length < 6 + 3 * count) throw damaged()
  if (content[0] !== 8)
    throw new Error(`its JPEG data have samples of ${content[0]} bits: those of 8 are read`)
  const components = Array.from({ length: count }, (_, index) => {
    const [id, sampling, quantisation] = content.subarray(6 + 3 * index) as unknown as [
      number,
      number,
      number,
    ]
    return { id, across: sampling >> 4, down: sampling & 15, quantisation }
  })
  return { height: uint16(content, 1), width: uint16(content, 3), components }
}

function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
}
