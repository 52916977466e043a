import { OperatorError } from '#src/errors.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import { markMasked, markNodata, type Pixels, pixelsOf, withType } from '#src/raster/pixels.ts'
import type { FileLayer } from './layers.ts'
import { type Piece, pieceIn } from './placement.ts'

/** Reads layers of the same files together: their bands come out of the same blocks, which are decompressed once. */
export async function readLayers(layers: FileLayer[], window: Window): Promise<Pixels[]> {
  const [{ pieces }] = layers as [FileLayer]
  if (pieces.length === 1) return readPiece(layers, { ...window, file: 0, from: window })
  const whole = layers.map(({ layer: { pixelType, nodata } }) =>
    pixelsOf(pixelType, window.width * window.height).fill(nodata as number),
  )
  for (const piece of pieces) {
    const part = pieceIn(window, piece)
    if (!part) continue
    const pixels = await readPiece(layers, part)
    layers.forEach((layer, index) => {
      const at = paste(pixels[index] as Pixels, part, whole[index] as Pixels, window, layer)
      if (at) refuseOverlap(layer, piece, at)
    })
  }
  return whole
}

/** The pixels that a piece has of layers, nodata marked. */
async function readPiece(
  layers: FileLayer[],
  { file: number, from, width, height }: Piece,
): Promise<Pixels[]> {
  const file = (layers[0] as FileLayer).files[number] as FileLayer['files'][number]
  const window = { ...from, width, height }
  const found = await file.read(
    window,
    layers.map(({ bands }) => bands[number] as number),
  )
  const pixels = found.map((band, index) => {
    const { layer, fileNodata } = layers[index] as FileLayer
    const stored = withType(band, layer.pixelType)
    markNodata(stored, layer.pixelType, fileNodata)
    return stored
  })
  const masked = layers.filter((layer) => layer.masked)
  if (masked.length === 0) return pixels
  for (const mask of file.masks) {
    const masks = await mask.read(
      window,
      masked.map(({ bands }) => bands[number] as number),
    )
    masked.forEach((layer, index) => {
      markMasked(
        pixels[layers.indexOf(layer)] as Pixels,
        masks[index] as Pixels,
        layer.layer.nodata as number,
      )
    })
  }
  return pixels
}

/** A pixel of a grid where two files have different values. */
interface Disagreement {
  column: number
  row: number
  values: [number, number]
}

/** Puts the pixels of a piece where none are yet; where there are, they have to be the same. */
function paste(
  from: Pixels,
  piece: Window,
  to: Pixels,
  window: Window,
  { layer: { nodata } }: FileLayer,
): Disagreement | undefined {
  for (let row = 0, source = 0; row < piece.height; row++) {
    let target = (piece.row - window.row + row) * window.width + piece.column - window.column
    for (let column = 0; column < piece.width; column++, source++, target++) {
      const [value, there] = [from[source] as number, to[target] as number]
      if (value === nodata || value === there) continue
      if (there !== nodata) {
        return { column: piece.column + column, row: piece.row + row, values: [there, value] }
      }
      to[target] = value
    }
  }
  return undefined
}

function refuseOverlap({ files, pieces, grid, bands }: FileLayer, piece: Piece, at: Disagreement): never {
  const pixel = { ...at, width: 1, height: 1 }
  const before = pieces.slice(0, pieces.indexOf(piece)).filter((other) => pieceIn(pixel, other))
  const others = [...new Set(before.map(({ file }) => files[file]?.path))].join(' or ')
  const [there, value] = at.values
  throw new OperatorError(
    `${files[piece.file]?.path} has ${value} in band ${bands[piece.file]} at ${placeOf(grid, at)}, where ${others} has ${there}: files of one layer overlap only where they are equal or one has no value.`,
  )
}

/** The centre of a pixel, in the units of the CRS. */
function placeOf({ originX, originY, pixelWidth, pixelHeight }: Grid, { column, row }: Disagreement): string {
  const [x, y] = [originX + (column + 0.5) * pixelWidth, originY + (row + 0.5) * pixelHeight]
  return [x, y].map((number) => Number(number.toPrecision(9))).join(', ')
}
