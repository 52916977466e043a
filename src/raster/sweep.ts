import type { Rings } from './rings.ts'

/** Above this part of the products that it is made of, the sign of the rounded determinant is right (Shewchuk, 1997). */
const CERTAIN = (3 + 16 * 2 ** -53) * 2 ** -53

/**
 * Which side of the line from a to b a position c lies on: above 0 to the left, below 0 to the right, and 0
 * on the line. The sign is exact for coordinates on the Earth; the number has no meaning beside it.
 */
export function orientation(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const left = (ax - cx) * (by - cy)
  const right = (ay - cy) * (bx - cx)
  const determinant = left - right
  if (Math.abs(determinant) > CERTAIN * (Math.abs(left) + Math.abs(right))) return determinant
  if (left === 0 && right === 0) return 0
  return exactOrientation(ax, ay, bx, by, cx, cy)
}

/** The same by a sum that is not rounded (the expansions of Shewchuk, 1997): it takes ten times as long. */
function exactOrientation(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const sum: number[] = []
  addProduct(sum, ax, by)
  addProduct(sum, -ax, cy)
  addProduct(sum, -cx, by)
  addProduct(sum, -ay, bx)
  addProduct(sum, ay, cx)
  addProduct(sum, cy, bx)
  // The parts do not overlap, so the largest one that is not 0 decides.
  return sum.findLast((part) => part !== 0) ?? 0
}

/** Splits the 53 bits of a number into two halves. */
const SPLITTER = 2 ** 27 + 1

/** Adds the product of two numbers, which is two numbers, to a sum of parts that grow and do not overlap. */
function addProduct(sum: number[], a: number, b: number): void {
  const product = a * b
  const aHigh = SPLITTER * a - (SPLITTER * a - a)
  const bHigh = SPLITTER * b - (SPLITTER * b - b)
  const aLow = a - aHigh
  const bLow = b - bHigh
  add(sum, aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow))
  add(sum, product)
}

function add(sum: number[], term: number): void {
  let carried = term
  for (let part = 0; part < sum.length; part++) {
    const other = sum[part] as number
    const rounded = carried + other
    const virtual = rounded - carried
    sum[part] = carried - (rounded - virtual) + (other - virtual)
    carried = rounded
  }
  sum.push(carried)
}

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

/** The edges that a line meets which moves from west to east, from below. */
class SweepLine {
  readonly #edges: RingEdges
  readonly #met: Int32Array
  #length = 0

  constructor(edges: RingEdges) {
    this.#edges = edges
    this.#met = new Int32Array(edges.count)
  }

  /** The edge at an index; undefined below the first and above the last one. */
  at(index: number): number | undefined {
    return index >= 0 && index < this.#length ? this.#met[index] : undefined
  }

  /** The edges that a vertex lies on: the index of the first one, and of the one after the last. */
  through(vertex: number): [from: number, to: number] {
    const from = this.#firstWhere((edge) => this.#edges.height(edge, vertex) <= 0)
    let to = from
    while (to < this.#length && this.#edges.height(this.#met[to] as number, vertex) === 0) to++
    return [from, to]
  }

  /** Puts edges in the place of others. */
  replace(from: number, to: number, edges: number[]): void {
    this.#met.copyWithin(from + edges.length, to, this.#length)
    for (let index = 0; index < edges.length; index++) this.#met[from + index] = edges[index] as number
    this.#length += edges.length - (to - from)
  }

  between(from: number, to: number): number[] {
    return [...this.#met.subarray(from, to)]
  }

  #firstWhere(test: (edge: number) => boolean): number {
    let low = 0
    let high = this.#length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (test(this.#met[middle] as number)) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** How rings meet where they must not. */
interface Meeting {
  kind: 'crossing' | 'self-touch'
  longitude: number
  latitude: number
}

/** What a sweep finds out about rings that do not cross. */
export interface RingRelations {
  /** The ring around each ring that is closest to it; undefined where there is none. */
  around: (number | undefined)[]
  /** The rings that touch at a vertex, for each vertex where some do. */
  touches: { vertex: number; rings: number[] }[]
}

/** Vertices after which the sweep can be left alone for a while: less than a millisecond. */
const VERTICES_A_STEP = 256

/**
 * Sweeps a line from west to east over the edges of rings, and compares those that come to lie side by side
 * on it (Shamos and Hoey, 1976). So the time grows with the number n of vertices as n log n, whatever the
 * shape, where a comparison of all edges whose boxes meet may take the square.
 */
export class Sweep {
  readonly #edges: RingEdges
  readonly #line: SweepLine
  readonly #around: (number | undefined)[]
  readonly #touches: RingRelations['touches'] = []
  /** Of each ring that the line has reached, whether it runs anticlockwise. */
  readonly #anticlockwise: (boolean | undefined)[]

  /** @param rings how many rings the edges are of */
  constructor(edges: RingEdges, rings: number) {
    this.#edges = edges
    this.#line = new SweepLine(edges)
    this.#around = new Array(rings)
    this.#anticlockwise = new Array(rings)
  }

  /**
   * @yields now and then, where it can be left alone
   * @returns where rings meet that must not: of several places, one of the first; else how the rings lie
   */
  *run(): Generator<undefined, Meeting | RingRelations> {
    const { count, order, rankOf } = this.#edges
    const rankAt = (place: number) => rankOf[order[place] as number]
    let next = 0
    for (let at = 0; at < count; at = next) {
      for (next = at + 1; next < count && rankAt(next) === rankAt(at); ) next++
      const found = this.#pass(order.subarray(at, next))
      if (found) return found
      if (Math.floor(at / VERTICES_A_STEP) !== Math.floor(next / VERTICES_A_STEP)) yield
    }
    return { around: this.#around, touches: this.#touches }
  }

  /** Takes the line past a position with all vertices there. */
  #pass(vertices: Uint32Array): Meeting | undefined {
    const vertex = vertices[0] as number
    const { ringOf, rankOf, eastOf } = this.#edges
    const line = this.#line
    const [from, to] = line.through(vertex)
    const eastern = this.#beginningAt(vertices)
    const ending = 2 * vertices.length - eastern.length
    const touched = vertices.length > 1 || to - from > ending
    const western = touched ? line.between(from, to) : []
    const passing = western.filter((edge) => rankOf[eastOf[edge] as number] !== rankOf[vertex])
    eastern.push(...passing)
    eastern.sort((a, b) => this.#turn(vertex, b, a))
    if (eastern.some((edge, at) => at > 0 && this.#turn(vertex, eastern[at - 1] as number, edge) === 0)) {
      return this.#meetingAt(vertex, 'crossing')
    }
    if (touched) {
      const kind = meetingOf(ringOf, { vertices, passing, western, eastern })
      if (kind) return this.#meetingAt(vertex, kind)
      this.#touches.push({ vertex, rings: [...vertices, ...passing].map((of) => ringOf[of] as number) })
    }
    line.replace(from, to, eastern)
    for (const [at, edge] of eastern.entries()) this.#placeRing(edge, line.at(from + at - 1))
    const last = from + eastern.length
    return this.#crossingAt(from) ?? (last > from ? this.#crossingAt(last) : undefined)
  }

  /** The edges whose western end is one of some vertices. */
  #beginningAt(vertices: Uint32Array): number[] {
    const { previous, westOf } = this.#edges
    const beginning: number[] = []
    for (const vertex of vertices) {
      const before = previous[vertex] as number
      if (westOf[vertex] === vertex) beginning.push(vertex)
      if (westOf[before] === vertex) beginning.push(before)
    }
    return beginning
  }

  /** Above 0 where the second of two edges leaves a vertex to the east above the first. */
  #turn(vertex: number, edge: number, other: number): number {
    const { eastOf } = this.#edges
    return this.#edges.side(vertex, eastOf[edge] as number, eastOf[other] as number)
  }

  /** Notes what is around a ring, when the line comes to the first of its edges. */
  #placeRing(edge: number, below: number | undefined): void {
    const { ringOf } = this.#edges
    const ring = ringOf[edge] as number
    if (this.#anticlockwise[ring] !== undefined) return
    this.#anticlockwise[ring] = this.#edges.goesEast(edge)
    if (below === undefined) return
    const beside = ringOf[below] as number
    const isInside = this.#edges.goesEast(below) === this.#anticlockwise[beside]
    this.#around[ring] = isInside ? beside : this.#around[beside]
  }

  /** Where the edge at an index of the line crosses the one below it. */
  #crossingAt(index: number): Meeting | undefined {
    const below = this.#line.at(index - 1)
    const edge = this.#line.at(index)
    const place = below !== undefined && edge !== undefined && this.#edges.crossing(below, edge)
    return place ? { kind: 'crossing', longitude: place[0], latitude: place[1] } : undefined
  }

  #meetingAt(vertex: number, kind: Meeting['kind']): Meeting {
    const { xs, ys } = this.#edges
    return { kind, longitude: xs[vertex] as number, latitude: ys[vertex] as number }
  }
}

/** What meets at a position. */
interface Contact {
  vertices: Uint32Array
  /** Edges that the position lies on, and is no end of. */
  passing: number[]
  /** The edges that come there from the west and go on to the east, each from below. */
  western: number[]
  eastern: number[]
}

/** Whether rings that meet at a position touch, which they may, or what else they do. */
function meetingOf(
  ringOf: Int32Array,
  { vertices, passing, western, eastern }: Contact,
): Meeting['kind'] | undefined {
  const ways = [...vertices, ...passing]
  if (new Set(ways.map((way) => ringOf[way])).size < ways.length) {
    return passing.length > 1 ? 'crossing' : 'self-touch'
  }
  // Around the position the two arms of each way follow each other, or enclose whole other ways. Each ring
  // has one.
  const open: number[] = []
  for (const edge of [...eastern, ...western.toReversed()]) {
    const ring = ringOf[edge] as number
    if (open.at(-1) === ring) open.pop()
    else open.push(ring)
  }
  return open.length > 0 ? 'crossing' : undefined
}
