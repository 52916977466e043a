import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { OperatorError } from '#src/errors.ts'
import { readSideMetadata, readSmallFile, refuseAbsurdGrid } from '#src/ingest/geotiff/bands.ts'
import { parseCrs } from '#src/ingest/geotiff/crs.ts'
import { FileBytes } from '#src/ingest/geotiff/directories.ts'
import { stemOf } from '#src/ingest/other-formats.ts'
import type { FileCrs, RasterFile } from '#src/ingest/readers.ts'
import type { PixelGrid } from '#src/raster/grid.ts'
import { createPixels, type PixelType, withType } from '#src/raster/pixels.ts'
import { describeMeant, UNMASKED } from './container.ts'

/** Lines before the first row of numbers, in small letters. */
type Header = Map<string, string>

const MOST_HEADER_LINES = 20
const MOST_PRJ_BYTES = 100_000
const NUMBER = /^[+-]?(?:\d|\.\d|nan|inf|1\.#)/i

/** Unpacks an ESRI ASCII grid into a temporary file without a name, whose rows are then read as they are needed. */
export async function openAsciiGrid(path: string): Promise<RasterFile> {
  const tokens = readTokens(path)
  const { header, first } = await readHeader(tokens)
  const grid = gridOf(header, path)
  refuseAbsurdGrid(grid, path)
  await refuseShort(path, grid)
  const noted = { isFloat: false, isWide: false }
  const numbers = packNumbers(tokens, first, grid, noted, path)
  const file = await FileBytes.createTemporary(numbers)
  // As GDAL: whole numbers are Int32, and others Float32.
  const pixelType: PixelType = noted.isFloat ? '32BF' : noted.isWide ? '64BF' : '32BSI'
  const nodata = header.has('nodata_value') ? numberIn(header.get('nodata_value') as string) : undefined
  return {
    path,
    grid,
    ...(await readPlace(path)),
    block: { width: grid.width, height: 1 },
    bandCount: 1,
    words: () => ({ description: undefined, unit: undefined, notes: {} }),
    ...UNMASKED,
    refuseInflated: () => {},
    band(entry) {
      if (entry.band !== undefined && entry.band !== 1) {
        throw new OperatorError(`${path} has 1 band without a name; band ${entry.band} is not there.`)
      }
      return describeMeant(entry, {
        number: 1,
        pixelType,
        description: undefined,
        nodata,
        scale: 1,
        offset: 0,
      })
    },
    async read({ column, row, width, height }, bands) {
      const doubles = createPixels('64BF', width * height) as Float64Array
      for (let at = 0; at < height; at++) {
        const offset = 8 * ((row + at) * grid.width + column)
        const bytes = Uint8Array.from(await file.read({ offset, length: 8 * width }))
        doubles.set(new Float64Array(bytes.buffer), at * width)
      }
      return bands.map(() => withType(doubles, pixelType))
    },
    close: () => file.close(),
  }
}

/** Words between spaces and ends of lines, several at a time. */
async function* readTokens(path: string): AsyncGenerator<string[]> {
  let rest = ''
  for await (const chunk of createReadStream(path, { encoding: 'latin1', highWaterMark: 256 * 1024 })) {
    const words = `${rest}${chunk}`.split(/\s+/)
    rest = words.pop() as string
    // A word that never ends would fill the memory.
    if (rest.length > 1000) throw new Error('it has a word of more than 1000 signs')
    yield words
  }
  yield [rest]
}

async function readHeader(tokens: AsyncGenerator<string[]>): Promise<{ header: Header; first: string[] }> {
  const header: Header = new Map()
  const { value } = await tokens.next()
  const words = ((value ?? []) as string[]).filter((word) => word !== '')
  let at = 0
  while (at + 1 < words.length && !NUMBER.test(words[at] as string)) {
    if (header.size === MOST_HEADER_LINES) throw new Error('its header has no end')
    header.set((words[at] as string).toLowerCase(), words[at + 1] as string)
    at += 2
  }
  return { header, first: words.slice(at) }
}

/** Some locales write decimal commas. */
function numberIn(text: string): number {
  const number = Number(text)
  if (!Number.isNaN(number)) return number
  return Number(text.replace(',', '.'))
}

function gridOf(header: Header, path: string): PixelGrid {
  const read = (...names: string[]) => {
    const name = names.find((one) => header.has(one))
    const number = name === undefined ? Number.NaN : numberIn(header.get(name) as string)
    if (Number.isFinite(number)) return number
    throw new OperatorError(`${path} has no number for ${names.join(' or ')} in its header.`, {
      code: 'CUT_OFF',
    })
  }
  const [width, height] = [read('ncols'), read('nrows')]
  const [pixelWidth, pixelHeight] = [read('cellsize', 'dx'), read('cellsize', 'dy')]
  if (
    ![width, height].every((size) => Number.isInteger(size) && size > 0) ||
    !(pixelWidth > 0 && pixelHeight > 0)
  ) {
    throw new OperatorError(`${path} has ${width} x ${height} cells of ${pixelWidth} x ${pixelHeight}.`)
  }
  const west = header.has('xllcorner') ? read('xllcorner') : read('xllcenter', 'xllcorner') - 0.5 * pixelWidth
  const south = header.has('yllcorner')
    ? read('yllcorner')
    : read('yllcenter', 'yllcorner') - 0.5 * pixelHeight
  return {
    originX: west,
    originY: south + height * pixelHeight,
    pixelWidth,
    pixelHeight: -pixelHeight,
    width,
    height,
  }
}

/** A number takes a sign and a space at least. */
async function refuseShort(path: string, { width, height }: PixelGrid): Promise<void> {
  const { size } = await stat(path)
  if (size >= 2 * width * height - 1) return
  throw new OperatorError(`${path} is cut off: it has ${size} bytes for ${width} x ${height} cells.`, {
    code: 'CUT_OFF',
  })
}

const PIECE = 32_768

/** Doubles, as they are read back. @param noted what kinds of numbers there are */
async function* packNumbers(
  tokens: AsyncGenerator<string[]>,
  first: string[],
  { width, height }: PixelGrid,
  noted: { isFloat: boolean; isWide: boolean },
  path: string,
): AsyncGenerator<Uint8Array> {
  const count = width * height
  let [at, piece, filled] = [0, new Float64Array(PIECE), 0]
  const take = function* (words: string[]) {
    for (const word of words) {
      if (word === '') continue
      if (at === count)
        throw new OperatorError(
          `${path} has more than the ${count} numbers of its ${width} x ${height} cells.`,
        )
      const number = numberIn(word)
      if (Number.isNaN(number) && !NUMBER.test(word)) {
        throw new OperatorError(`${path} has "${word}" where number ${at + 1} of ${count} is to be.`)
      }
      if (!noted.isFloat && !/^[+-]?\d+$/.test(word)) noted.isFloat = true
      if (Math.abs(number) > 2 ** 31 - 1) noted.isWide = true
      piece[filled++] = number
      at++
      if (filled < PIECE) continue
      yield new Uint8Array(piece.buffer)
      piece = new Float64Array(PIECE)
      filled = 0
    }
  }
  yield* take(first)
  for await (const words of tokens) yield* take(words)
  yield new Uint8Array(piece.buffer, 0, 8 * filled)
  if (at < count) {
    throw new OperatorError(`${path} is cut off: it has ${at} of the ${count} numbers of its cells.`, {
      code: 'CUT_OFF',
    })
  }
}

/** From the .prj beside it, or GDAL's metadata. */
async function readPlace(path: string): Promise<{ crs: FileCrs; notes: string[] }> {
  for (const ending of ['.prj', '.PRJ']) {
    const text = await readSmallFile(stemOf(path) + ending, MOST_PRJ_BYTES)
    const crs = text === undefined ? undefined : parseCrs(text)
    if (crs) return { crs, notes: [] }
    if (text !== undefined) {
      return { crs: { kind: 'unknown', reason: 'the .prj beside it is no WKT' }, notes: [] }
    }
  }
  const side = (await readSideMetadata(path))?.crs
  const crs = side === undefined ? undefined : parseCrs(side)
  return { crs: crs ?? { kind: 'unknown', reason: 'no .prj with one lies beside it' }, notes: [] }
}
