/** An edge of a ring from its upper to its lower end, in rows and columns of a grid. */
export interface Edge {
  top: number
  topColumn: number
  bottom: number
  bottomColumn: number
  /** 1 where the ring goes down along it, -1 where it goes up. */
  sign: number
}

/** The edges that have a part in the rows of the grid, and none that lie along a border of rows. */
export function edgesOf(rings: Float64Array[], height: number): Edge[] {
  const edges: Edge[] = []
  for (const ring of rings) {
    for (let at = 0; at + 3 < ring.length; at += 2) {
      const column = ring[at] as number
      const row = ring[at + 1] as number
      const toColumn = ring[at + 2] as number
      const toRow = ring[at + 3] as number
      if (row === toRow && (Number.isInteger(row) || row < 0 || row > height)) continue
      const edge =
        row <= toRow
          ? { top: row, topColumn: column, bottom: toRow, bottomColumn: toColumn, sign: 1 }
          : { top: toRow, topColumn: toColumn, bottom: row, bottomColumn: column, sign: -1 }
      const clipped = clippedToRows(edge, height)
      if (clipped) edges.push(clipped)
    }
  }
  return edges
}

function clippedToRows(edge: Edge, height: number): Edge | undefined {
  const { top, topColumn, bottom, bottomColumn } = edge
  if (bottom < 0 || top > height || (bottom === 0 && top < 0) || top === height) return undefined
  if (top >= 0 && bottom <= height) return edge
  const columnAt = (y: number) => topColumn + ((y - top) / (bottom - top)) * (bottomColumn - topColumn)
  return {
    ...edge,
    ...(top < 0 && { top: 0, topColumn: columnAt(0) }),
    ...(bottom > height && { bottom: height, bottomColumn: columnAt(height) }),
  }
}
