import type { RingEdges } from './ring-edges.ts'
import { SweepLine } from './sweep-line.ts'

/** How rings meet where they must not. */
export interface Meeting {
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
