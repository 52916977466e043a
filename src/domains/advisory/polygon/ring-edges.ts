import { orientation } from '#src/lib/orientation.ts'
import type { Rings } from '#src/raster/rings.ts'

/**
 * The vertices of polygons, and the edges between them. An edge has the number of the vertex that it goes
 * out from. Positions that repeat the one before are left out.
 */
export class RingEdges {
  readonly count: number
  readonly xs: Float64Array
  readonly ys: Float64Array
  /** The ring of each vertex; rings are counted through all polygons. */
  readonly ringOf: Int32Array
  /** The edge that comes to each vertex. */
  readonly previous: Int32Array
  /** The western and the eastern end of each edge; on a meridian the southern and the northern one. */
  readonly westOf: Int32Array
  readonly eastOf: Int32Array
  /** The vertices from west to east, on a meridian from south to north. */
  readonly order: Uint32Array
  /** Where a vertex is in that order; the same for vertices at the same position. */
  readonly rankOf: Int32Array

  constructor(polygons: Rings[]) {
    const rings = polygons.flat().map(withoutRepeats)
    this.count = rings.reduce((sum, ring) => sum + ring.length, 0) / 2
    this.xs = new Float64Array(this.count)
    this.ys = new Float64Array(this.count)
    this.ringOf = new Int32Array(this.count)
    this.previous = new Int32Array(this.count)
    this.westOf = new Int32Array(this.count)
    this.eastOf = new Int32Array(this.count)
    this.rankOf = new Int32Array(this.count)
    this.#addVertices(rings)
    this.order = new Uint32Array(this.count).map((_, vertex) => vertex)
    this.order.sort((a, b) => this.#compare(a, b))
    this.#rankVertices()
    this.#orientEdges()
  }

  #addVertices(rings: Float64Array[]): void {
    let vertex = 0
    for (const [ring, positions] of rings.entries()) {
      const last = vertex + positions.length / 2 - 1
      for (let at = 0; at < positions.length; at += 2, vertex++) {
        this.xs[vertex] = positions[at] as number
        this.ys[vertex] = positions[at + 1] as number
        this.ringOf[vertex] = ring
        this.previous[vertex] = at === 0 ? last : vertex - 1
      }
    }
  }

  #compare(a: number, b: number): number {
    return (this.xs[a] as number) - (this.xs[b] as number) || (this.ys[a] as number) - (this.ys[b] as number)
  }

  #rankVertices(): void {
    let rank = 0
    for (let at = 0; at < this.count; at++) {
      const vertex = this.order[at] as number
      if (at > 0 && this.#compare(this.order[at - 1] as number, vertex) !== 0) rank = at
      this.rankOf[vertex] = rank
    }
  }

  #orientEdges(): void {
    for (let vertex = 0; vertex < this.count; vertex++) {
      const edge = this.previous[vertex] as number
      const eastward = (this.rankOf[edge] as number) < (this.rankOf[vertex] as number)
      this.westOf[edge] = eastward ? edge : vertex
      this.eastOf[edge] = eastward ? vertex : edge
    }
  }

  /** Whether an edge goes east, or north on a meridian. */
  goesEast(edge: number): boolean {
    return this.westOf[edge] === edge
  }

  /** Which side of the way from one vertex to another a third one is on: above 0 to the left of it. */
  side(from: number, to: number, vertex: number): number {
    const { xs, ys } = this
    return orientation(
      xs[from] as number,
      ys[from] as number,
      xs[to] as number,
      ys[to] as number,
      xs[vertex] as number,
      ys[vertex] as number,
    )
  }

  /** Where a vertex lies as seen from an edge: positive above it, negative below. */
  height(edge: number, vertex: number): number {
    return this.side(this.westOf[edge] as number, this.eastOf[edge] as number, vertex)
  }

  /** Where two edges cross, each of them between its ends; undefined where they do not. */
  crossing(edge: number, other: number): [longitude: number, latitude: number] | undefined {
    const [from, to] = [this.westOf[edge] as number, this.eastOf[edge] as number]
    const [start, end] = [this.westOf[other] as number, this.eastOf[other] as number]
    if (!areApart(this.side(from, to, start), this.side(from, to, end))) return undefined
    if (!areApart(this.side(start, end, from), this.side(start, end, to))) return undefined
    const [x, y] = [this.xs[from] as number, this.ys[from] as number]
    const [dx, dy] = [(this.xs[to] as number) - x, (this.ys[to] as number) - y]
    const [otherX, otherY] = [this.xs[start] as number, this.ys[start] as number]
    const [otherDx, otherDy] = [(this.xs[end] as number) - otherX, (this.ys[end] as number) - otherY]
    const part = ((otherX - x) * otherDy - (otherY - y) * otherDx) / (dx * otherDy - dy * otherDx)
    return [x + part * dx, y + part * dy]
  }
}

/** Whether one side is left and the other one right. */
function areApart(side: number, other: number): boolean {
  return (side > 0 && other < 0) || (side < 0 && other > 0)
}

/** The positions of a closed ring, each once where it comes several times in a row. */
function withoutRepeats(ring: Float64Array): Float64Array {
  const kept = new Float64Array(ring.length)
  let length = 0
  for (let at = 0; at + 3 < ring.length; at += 2) {
    if (ring[at] === ring[at + 2] && ring[at + 1] === ring[at + 3]) continue
    kept[length++] = ring[at] as number
    kept[length++] = ring[at + 1] as number
  }
  return kept.subarray(0, length)
}
