import type { Pause } from '#src/lib/limiter.ts'

/** The items of an answer, in the shapes that formats are made of. */
export interface Items<Item> {
  members: object
  lastMembers?: object
  columns: readonly string[]
  object(item: Item): string
  /** An item as a Feature of GeoJSON. Its properties are flat, and have the names of the columns. */
  feature(item: Item): string
  /** An item as rows of CSV, each with its line end. */
  rows(item: Item): string
}

export interface Writer<Item> {
  opening: string
  separator: string
  write(item: Item): string
  /** A format that needs all items before its first byte returns all of its bytes here. */
  closing(): string | Uint8Array
}

/** A format of answers with many items. A format is a file and a line in `FORMATS`. */
export interface Format {
  name: string
  mediaType: string
  contentType: string
  /** The ending of file names, where a client saves the answer; undefined where a program reads it. */
  extension?: string
  /** Whether `feature` needs the shapes of areas. */
  hasShapes?: boolean
  /** Whether an answer of one item is that item, without opening and closing. */
  isBareItem?: boolean
  write<Item>(items: Items<Item>): Writer<Item>
}

interface WriteOptions {
  /** Lets other requests proceed before a slice of items. */
  pause?: Pause
  /** The least characters of a piece, except of the last one. */
  pieceLength?: number
}

/** The bytes of an answer in pieces, at most one for each slice of its items. */
export async function* writeItems<Item>(
  { opening, separator, write, closing }: Writer<Item>,
  slices: AsyncIterable<readonly Item[]>,
  { pause, pieceLength = 1 }: WriteOptions = {},
): AsyncGenerator<Buffer> {
  let text = opening
  let between = ''
  for await (const slice of slices) {
    await pause?.()
    for (const item of slice) {
      // Appending is faster than joining: bytes are copied once, for the whole piece.
      text += between
      text += write(item)
      between = separator
    }
    if (text.length < pieceLength) continue
    yield Buffer.from(text)
    text = ''
  }
  const end = closing()
  const last = typeof end === 'string' ? Buffer.from(text + end) : Buffer.concat([Buffer.from(text), end])
  if (last.length > 0) yield last
}

export function writeOneItem<Item>(format: Format, items: Items<Item>, item: Item): Buffer {
  const { opening, write, closing } = format.write(items)
  if (format.isBareItem) return Buffer.from(write(item))
  return Buffer.concat([opening, write(item), closing()].map((piece) => Buffer.from(piece as string)))
}

/** The rest of a generator after its first pieces. The generator ends with its consumer. */
export async function* resumePieces<Piece>(
  first: readonly IteratorResult<Piece>[],
  rest: AsyncGenerator<Piece>,
): AsyncGenerator<Piece> {
  try {
    for (const { done, value } of first) if (!done) yield value
    yield* rest
  } finally {
    // The consumer may end before it asks for the rest.
    await rest.return(undefined)
  }
}
