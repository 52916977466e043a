import type { Ask } from '#src/database/cancellable.ts'
import {
  decodeLineString,
  decodeMultiPolygon,
  encodeLineString,
  encodeMultiPolygon,
} from '#src/raster/geometry-wkb.ts'
import type { Rings } from '#src/raster/rings.ts'
import { divideEdges, transformTo } from './zonal-queries.ts'

/**
 * Positions that are transformed by one statement, which takes some milliseconds for them. The embedded database does
 * nothing else meanwhile.
 */
const POSITIONS_A_STATEMENT = 10_000

/**
 * Transforms polygons in longitude and latitude into the CRS of a grid.
 *
 * @param step degrees: longer edges are divided, since a line that is straight there is a curve in the grid
 */
export async function transformPolygons(
  ask: Ask,
  polygons: Rings[],
  srid: number,
  step: number,
): Promise<Rings[]> {
  const divided = decodeMultiPolygon(await divideEdges(ask, encodeMultiPolygon(polygons), step))
  const positions = joined(divided.flat())
  // Each position is transformed by itself: it makes no difference which of them are together in a line.
  for (const part of partsOf(positions)) {
    part.set(decodeLineString(await transformTo(ask, encodeLineString(part), srid)))
  }
  let at = 0
  return divided.map((rings) =>
    rings.map(({ length }) => {
      at += length
      return positions.slice(at - length, at)
    }),
  )
}

function joined(rings: Float64Array[]): Float64Array {
  const positions = new Float64Array(rings.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const ring of rings) {
    positions.set(ring, at)
    at += ring.length
  }
  return positions
}

/** Views of positions, as equal as they can be: none has a single position, which would be no line. */
function partsOf(positions: Float64Array): Float64Array[] {
  const total = positions.length / 2
  const parts = Math.ceil(total / POSITIONS_A_STATEMENT)
  const startOf = (part: number) => 2 * Math.floor((part * total) / parts)
  return Array.from({ length: parts }, (_, part) => positions.subarray(startOf(part), startOf(part + 1)))
}
