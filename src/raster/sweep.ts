import { orient2d } from 'robust-predicates'
import type { Rings } from './rings.ts'

/** An edge has the number of its first vertex. Repeated positions are left out. */
export class RingEdges {
  readonly count: number
  readonly xs: Float64Array
  readonly ys: Float64Array
  /** Counted through all polygons. */
  readonly ringOf: Int32Array
  /** The edge that ends at each vertex. */
  readonly previous: Int32Array
  /** On a meridian: the southern and northern end. */
  readonly westOf: Int32Array
  readonly eastOf: Int32Array
  /** From west to east, on a meridian from south to north. */
  readonly order: Uint32Array
  /** By `order`; equal for equal positions. */
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

  /** Or north on a meridian. */
  goesEast(edge: number): boolean {
    return this.westOf[edge] === edge
  }

  /** Positive: left. The sign is exact. */
  side(from: number, to: number, vertex: number): number {
    const { xs, ys } = this
    // The library counts rows downwards.
    return -orient2d(
      xs[from] as number,
      ys[from] as number,
      xs[to] as number,
      ys[to] as number,
      xs[vertex] as number,
      ys[vertex] as number,
    )
  }

  /** Positive: above the edge. */
  height(edge: number, vertex: number): number {
    return this.side(this.westOf[edge] as number, this.eastOf[edge] as number, vertex)
  }

  /** Between the ends of both. */
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

function areApart(side: number, other: number): boolean {
  return (side > 0 && other < 0) || (side < 0 && other > 0)
}

function withoutRepeats(ring: Float64Array): Float64Array {
  const positions = new Float64Array(ring.length)
  let length = 0
  for (let at = 0; at + 3 < ring.length; at += 2) {
    if (ring[at] === ring[at + 2] && ring[at + 1] === ring[at + 3]) continue
    positions[length++] = ring[at] as number
    positions[length++] = ring[at + 1] as number
  }
  return positions.subarray(0, length)
}

/** The edges on a line that moves from west to east, from below. */
function createLine(edges: RingEdges) {
  const met = new Int32Array(edges.count)
  let length = 0

  function findFirst(test: (edge: number) => boolean): number {
    let low = 0
    let high = length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (test(met[middle] as number)) high = middle
      else low = middle + 1
    }
    return low
  }

  return {
    /** Undefined below the first and above the last. */
    at: (index: number): number | undefined => (index >= 0 && index < length ? met[index] : undefined),
    /** The edges through a vertex, as a range of indices. */
    through(vertex: number): [from: number, to: number] {
      const from = findFirst((edge) => edges.height(edge, vertex) <= 0)
      let to = from
      while (to < length && edges.height(met[to] as number, vertex) === 0) to++
      return [from, to]
    },
    replace(from: number, to: number, others: number[]): void {
      met.copyWithin(from + others.length, to, length)
      for (let index = 0; index < others.length; index++) met[from + index] = others[index] as number
      length += others.length - (to - from)
    },
    between: (from: number, to: number): number[] => [...met.subarray(from, to)],
  }
}

interface Meeting {
  kind: 'crossing' | 'self-touch'
  longitude: number
  latitude: number
}

/** For rings that do not cross. */
export interface RingRelations {
  /** The closest ring around each. */
  around: (number | undefined)[]
  /** Rings that touch at a vertex. */
  touches: { vertex: number; rings: number[] }[]
}

/** Less than a millisecond. */
const VERTICES_A_STEP = 256

/**
 * Compares neighbours on a line that moves from west to east (Shamos and Hoey, 1976): n log n for n vertices, where
 * comparing edges with meeting boxes may take the square.
 */
export class Sweep {
  readonly #edges: RingEdges
  readonly #line: ReturnType<typeof createLine>
  readonly #around: (number | undefined)[]
  readonly #touches: RingRelations['touches'] = []
  /** By ring, once the line has reached it. */
  readonly #anticlockwise: (boolean | undefined)[]

  constructor(edges: RingEdges, rings: number) {
    this.#edges = edges
    this.#line = createLine(edges)
    this.#around = new Array(rings)
    this.#anticlockwise = new Array(rings)
  }

  /**
   * @yields at points where the caller may pause
   * @returns an early meeting that is forbidden; else how the rings lie
   */
  *run(): Generator<undefined, Meeting | RingRelations> {
    const { count, order, rankOf } = this.#edges
    const rankAt = (index: number) => rankOf[order[index] as number]
    let next = 0
    for (let at = 0; at < count; at = next) {
      for (next = at + 1; next < count && rankAt(next) === rankAt(at); ) next++
      const found = this.#pass(order.subarray(at, next))
      if (found) return found
      if (Math.floor(at / VERTICES_A_STEP) !== Math.floor(next / VERTICES_A_STEP)) yield
    }
    return { around: this.#around, touches: this.#touches }
  }

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
    eastern.sort((a, b) => this.#side(vertex, b, a))
    if (eastern.some((edge, at) => at > 0 && this.#side(vertex, eastern[at - 1] as number, edge) === 0)) {
      return this.#meetingAt(vertex, 'crossing')
    }
    if (touched) {
      const kind = classifyContact(ringOf, { vertices, passing, western, eastern })
      if (kind) return this.#meetingAt(vertex, kind)
      this.#touches.push({ vertex, rings: [...vertices, ...passing].map((of) => ringOf[of] as number) })
    }
    line.replace(from, to, eastern)
    for (const [at, edge] of eastern.entries()) this.#placeRing(edge, line.at(from + at - 1))
    const last = from + eastern.length
    return this.#crossingAt(from) ?? (last > from ? this.#crossingAt(last) : undefined)
  }

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

  /** Positive: the second edge leaves the vertex above the first. */
  #side(vertex: number, edge: number, other: number): number {
    const { eastOf } = this.#edges
    return this.#edges.side(vertex, eastOf[edge] as number, eastOf[other] as number)
  }

  /** At the first edge of a ring. */
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

  /** With the edge below it. */
  #crossingAt(index: number): Meeting | undefined {
    const below = this.#line.at(index - 1)
    const edge = this.#line.at(index)
    const point = below !== undefined && edge !== undefined && this.#edges.crossing(below, edge)
    return point ? { kind: 'crossing', longitude: point[0], latitude: point[1] } : undefined
  }

  #meetingAt(vertex: number, kind: Meeting['kind']): Meeting {
    const { xs, ys } = this.#edges
    return { kind, longitude: xs[vertex] as number, latitude: ys[vertex] as number }
  }
}

interface Contact {
  vertices: Uint32Array
  /** The position is inside them. */
  passing: number[]
  /** From the west, and to the east, each from below. */
  western: number[]
  eastern: number[]
}

/** Undefined for an allowed touch. */
function classifyContact(ringOf: Int32Array, { vertices, passing, western, eastern }: Contact) {
  const ways = [...vertices, ...passing]
  if (new Set(ways.map((way) => ringOf[way])).size < ways.length) {
    return passing.length > 1 ? 'crossing' : 'self-touch'
  }
  // Around the position, the arms of a ring must follow each other or enclose whole others.
  const open: number[] = []
  for (const edge of [...eastern, ...western.toReversed()]) {
    const ring = ringOf[edge] as number
    if (open.at(-1) === ring) open.pop()
    else open.push(ring)
  }
  return open.length > 0 ? 'crossing' : undefined
}
