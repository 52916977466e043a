import { writeFile } from 'node:fs/promises'

const TYPES = {
  ascii: { code: 2, bytes: 1 },
  short: { code: 3, bytes: 2 },
  long: { code: 4, bytes: 4 },
  double: { code: 12, bytes: 8 },
} as const

/** A tag of a TIFF directory; no values leave it out. */
export type Tag = [type: keyof typeof TYPES, values: number[] | string]

interface Rows {
  /** Samples of a row, in the machine's byte order. */
  row: (row: number) => ArrayBufferView
}

interface Strips {
  /** Strips as the tags say that they are. */
  strips: Buffer[]
}

export type TiffOptions = (Rows | Strips) & {
  width: number
  height: number
  bits?: number
  /** SampleFormat: 1 unsigned, 2 signed, 3 float, 5 and 6 complex. */
  format?: number
  /** Tags that are added or replaced, by number. */
  tags?: Record<number, Tag>
}

export const TAGS = {
  pixelScale: 33550,
  tiepoints: 33922,
  transformation: 34264,
  geoKeys: 34735,
  geoDoubles: 34736,
  geoAscii: 34737,
  nodata: 42113,
}

const HEADER_BYTES = 8
const ENTRY_BYTES = 12

/**
 * Writes a little-endian TIFF of one band, not compressed, a row a strip: longitude and latitude, 0.01
 * degree pixels from 38 E, 9 N, unless the strips or the tags say otherwise.
 */
export async function writeTiff(path: string, options: TiffOptions): Promise<string> {
  const { width, height, bits = 32, format = 3, tags = {} } = options
  const blocks = 'strips' in options ? options.strips : rowsOf(height, options.row)
  const all: Record<number, Tag> = {
    256: ['long', [width]],
    257: ['long', [height]],
    258: ['short', [bits]],
    259: ['short', [1]],
    262: ['short', [1]],
    273: ['long', blocks.map(() => 0)],
    277: ['short', [1]],
    278: ['long', [1]],
    279: ['long', blocks.map(({ length }) => length)],
    339: ['short', [format]],
    [TAGS.pixelScale]: ['double', [0.01, 0.01, 0]],
    [TAGS.tiepoints]: ['double', [0, 0, 0, 38, 9, 0]],
    [TAGS.geoKeys]: ['short', [1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 4326]],
    ...tags,
  }
  const entries = Object.entries(all).filter(([, [, values]]) => values.length > 0)
  const sizes = entries.map(([, [type, values]]) => TYPES[type].bytes * values.length)
  const directoryBytes = 2 + entries.length * ENTRY_BYTES + 4
  const extraBytes = sizes.filter((size) => size > 4).reduce((sum, size) => sum + size, 0)
  const dataStart = HEADER_BYTES + directoryBytes + extraBytes
  if (!tags[273]) all[273] = ['long', offsetsOf(blocks, dataStart)]

  const head = Buffer.alloc(dataStart)
  head.write('II*\0', 'latin1')
  head.writeUInt32LE(HEADER_BYTES, 4)
  head.writeUInt16LE(entries.length, HEADER_BYTES)
  let extra = HEADER_BYTES + directoryBytes
  entries.forEach(([number], index) => {
    const [type, values] = all[Number(number)] as Tag
    const at = HEADER_BYTES + 2 + index * ENTRY_BYTES
    head.writeUInt16LE(Number(number), at)
    head.writeUInt16LE(TYPES[type].code, at + 2)
    head.writeUInt32LE(values.length, at + 4)
    let place = at + 8
    if ((sizes[index] as number) > 4) {
      head.writeUInt32LE(extra, place)
      place = extra
      extra += sizes[index] as number
    }
    writeValues(head, place, type, values)
  })
  await writeFile(path, Buffer.concat([head, ...blocks]))
  return path
}

function rowsOf(height: number, row: Rows['row']): Buffer[] {
  return Array.from({ length: height }, (_, index) => {
    const { buffer, byteOffset, byteLength } = row(index)
    return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)
  })
}

/** Where blocks begin that lie one behind the other. */
function offsetsOf(blocks: Buffer[], start: number): number[] {
  const offsets: number[] = []
  let offset = start
  for (const { length } of blocks) {
    offsets.push(offset)
    offset += length
  }
  return offsets
}

function writeValues(buffer: Buffer, at: number, type: Tag[0], values: Tag[1]): void {
  if (typeof values === 'string') {
    buffer.write(values, at, 'latin1')
    return
  }
  values.forEach((value, index) => {
    const place = at + index * TYPES[type].bytes
    if (type === 'double') buffer.writeDoubleLE(value, place)
    else if (type === 'long') buffer.writeUInt32LE(value, place)
    else buffer.writeUInt16LE(value, place)
  })
}
