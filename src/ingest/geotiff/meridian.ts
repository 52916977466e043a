import { OperatorError } from '#src/errors.ts'
import { shortNumber } from '#src/lib/round.ts'
import { ROUNDING } from '#src/raster/grid.ts'
import { type Piece, type Placement, pieceIn } from './placement.ts'
import { refuseAbsurdGrid } from './size.ts'

const CIRCLE = 360
/** The longitudes that anybody counts to, east or west; what lies beyond is not in degrees. */
const FARTHEST = 540

/**
 * Puts a grid of longitude and latitude where points are looked for, between 180 degrees west and east. One that lies
 * beyond as a whole is moved; of one that lies on both sides, the columns beyond go to the other end, and the grid
 * goes round the Earth.
 *
 * @throws {OperatorError} where it goes round the Earth more than once, or its columns beyond would not lie on columns
 */
export function betweenMeridians({ grid, pieces }: Placement, path: string): Placement {
  const { originX, pixelWidth, width } = grid
  const span = width * pixelWidth
  if (Math.max(-originX, originX + span) > FARTHEST) return { grid, pieces }
  if (span > CIRCLE + 2 * pixelWidth) {
    throw new OperatorError(
      `${path} has ${shortNumber(span)} degrees of longitude, and places twice that are the same: cut it with gdal_translate -projwin, or have all files of its layer count longitudes in one way with gdal_translate -a_ullr.`,
    )
  }
  const turns = Math.round((originX + span / 2) / CIRCLE)
  const moved = { ...grid, originX: originX - turns * CIRCLE }
  // Columns whose centres lie on the longitude where the Earth ends reach half beyond it.
  const reach = CIRCLE / 2 + pixelWidth * (0.5 + ROUNDING)
  if (Math.max(-moved.originX, moved.originX + span) <= reach) return { grid: moved, pieces }

  const around = Math.round(CIRCLE / pixelWidth)
  if (Math.abs(around * pixelWidth - CIRCLE) > ROUNDING * pixelWidth) {
    throw new OperatorError(
      `${path} lies on both sides of the 180th meridian, and ${CIRCLE} degrees are not a whole number of its columns: cut it there with gdal_translate -projwin, or give it other pixels with gdalwarp -tr.`,
    )
  }
  const first = Math.floor((-CIRCLE / 2 - moved.originX) / pixelWidth + ROUNDING)
  const last = Math.ceil((CIRCLE / 2 - moved.originX) / pixelWidth - ROUNDING)
  const rolled = { ...moved, originX: moved.originX + first * pixelWidth, width: last - first }
  refuseAbsurdGrid(rolled, `${path}, once around the Earth,`)
  return { grid: rolled, pieces: pieces.flatMap((piece) => wherever(piece, first, around, rolled)) }
}

/** A piece wherever it lies in a grid that begins at a column and comes back to itself after so many. */
function wherever(
  piece: Piece,
  first: number,
  around: number,
  { width, height }: Placement['grid'],
): Piece[] {
  const whole = { column: 0, row: 0, width, height }
  return [-1, 0, 1].flatMap(
    (turn) => pieceIn(whole, { ...piece, column: piece.column - first + turn * around }) ?? [],
  )
}
