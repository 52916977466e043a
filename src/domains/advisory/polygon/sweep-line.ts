import type { RingEdges } from './ring-edges.ts'

/** The edges that a line meets which moves from west to east, from below. */
export class SweepLine {
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
