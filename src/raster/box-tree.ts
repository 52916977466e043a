import type { Extent } from './grid.ts'

/** Boxes, or nodes, that a node has. */
const NODE_SIZE = 16

/** The numbers of a box. */
const SIDES = 4

/** Something that was given to a tree by its number, and the square of its distance. */
export interface Neighbour {
  item: number
  squaredDistance: number
}

/**
 * Finds things by their extents: a packed tree (sort-tile-recursive; Leutenegger et al., 1997), which is made once and
 * never changes.
 */
export class BoxTree {
  /** Which thing each box of the lowest level is of. */
  readonly #items: Uint32Array
  /** West, south, east and north of the boxes, level by level: the lowest has those of all things, the highest one. */
  readonly #levels: Float64Array[]

  constructor(extents: readonly Extent[]) {
    this.#items = packed(extents)
    const lowest = new Float64Array(SIDES * extents.length)
    this.#items.forEach((item, at) => {
      const { west, south, east, north } = extents[item] as Extent
      lowest.set([west, south, east, north], SIDES * at)
    })
    this.#levels = [lowest]
    for (let level: Float64Array = lowest; level.length > SIDES; this.#levels.push(level))
      level = levelAbove(level)
  }

  /** Whether a position lies in any of the boxes, or as near to one as a margin. */
  isInAny(x: number, y: number, margin: number): boolean {
    const isIn = (level: number, at: number): boolean => {
      if (this.#squaredDistance(level, at, x, y) > margin ** 2) return false
      if (level === 0) return true
      for (let child = at * NODE_SIZE; child < this.#endOf(level, at); child++) {
        if (isIn(level - 1, child)) return true
      }
      return false
    }
    return this.#items.length > 0 && isIn(this.#levels.length - 1, 0)
  }

  /**
   * The things nearest to a position, nearest first: so many, and those that are no farther than the last of them and
   * a margin.
   *
   * @param squaredDistanceTo of a thing, which is no smaller than that of its box: asked about few more than are found
   */
  nearest(
    x: number,
    y: number,
    count: number,
    margin: number,
    squaredDistanceTo: (item: number) => number,
  ): Neighbour[] {
    const found: Neighbour[] = []
    if (this.#items.length === 0) return found
    let farthest = Number.POSITIVE_INFINITY
    const queue = new NearestFirst()
    queue.add(0, this.#levels.length - 1, 0)
    for (let distance = queue.first(); distance <= farthest; distance = queue.first()) {
      const [level, at] = queue.take()
      if (level === MEASURED) {
        found.push({ item: at, squaredDistance: distance })
        if (found.length === count) farthest = (Math.sqrt(distance) + margin) ** 2
      } else if (level === 0) {
        const item = this.#items[at] as number
        queue.add(squaredDistanceTo(item), MEASURED, item)
      } else {
        for (let child = at * NODE_SIZE; child < this.#endOf(level, at); child++) {
          queue.add(this.#squaredDistance(level - 1, child, x, y), level - 1, child)
        }
      }
    }
    return found
  }

  /** Where the boxes within a node end. */
  #endOf(level: number, at: number): number {
    return Math.min((at + 1) * NODE_SIZE, (this.#levels[level - 1] as Float64Array).length / SIDES)
  }

  #squaredDistance(level: number, at: number, x: number, y: number): number {
    const boxes = this.#levels[level] as Float64Array
    const first = at * SIDES
    const dx = Math.max((boxes[first] as number) - x, 0, x - (boxes[first + 2] as number))
    const dy = Math.max((boxes[first + 1] as number) - y, 0, y - (boxes[first + 3] as number))
    return dx * dx + dy * dy
  }
}

/** Things in such an order that neighbours are near to each other: by columns, and in each from south to north. */
function packed(extents: readonly Extent[]): Uint32Array {
  const x = (item: number) => (extents[item] as Extent).west + (extents[item] as Extent).east
  const y = (item: number) => (extents[item] as Extent).south + (extents[item] as Extent).north
  const items = Uint32Array.from(extents, (_, item) => item).sort((a, b) => x(a) - x(b))
  const column = NODE_SIZE * Math.ceil(Math.sqrt(items.length / NODE_SIZE))
  for (let at = 0; at < items.length; at += column) {
    items.subarray(at, at + column).sort((a, b) => y(a) - y(b))
  }
  return items
}

function levelAbove(boxes: Float64Array): Float64Array {
  const size = NODE_SIZE * SIDES
  const above = new Float64Array(SIDES * Math.ceil(boxes.length / size))
  for (let node = 0; node * SIDES < above.length; node++) {
    let [west, south, east, north] = boxes.subarray(node * size) as unknown as [
      number,
      number,
      number,
      number,
    ]
    for (let at = node * size; at < Math.min((node + 1) * size, boxes.length); at += SIDES) {
      west = Math.min(west, boxes[at] as number)
      south = Math.min(south, boxes[at + 1] as number)
      east = Math.max(east, boxes[at + 2] as number)
      north = Math.max(north, boxes[at + 3] as number)
    }
    above.set([west, south, east, north], node * SIDES)
  }
  return above
}

/** Instead of a level: a thing, with its own distance. */
const MEASURED = -1

/** Levels that a queue tells apart; the tree of a million things has five. */
const LEVELS = 16

/** A queue of boxes and things from which the nearest is taken first: a binary heap. */
class NearestFirst {
  readonly #distances: number[] = []
  /** What they are to: the number of a box in its level, or of a thing, and the level. */
  readonly #entries: number[] = []

  /** The distance of what is taken next; NaN where there is nothing. */
  first(): number {
    return this.#distances[0] ?? Number.NaN
  }

  add(distance: number, level: number, number: number): void {
    const [distances, entries] = [this.#distances, this.#entries]
    let at = distances.length
    while (at > 0) {
      const above = (at - 1) >> 1
      if ((distances[above] as number) <= distance) break
      distances[at] = distances[above] as number
      entries[at] = entries[above] as number
      at = above
    }
    distances[at] = distance
    entries[at] = number * LEVELS + level - MEASURED
  }

  take(): [level: number, number: number] {
    const [distances, entries] = [this.#distances, this.#entries]
    const taken = entries[0] as number
    const distance = distances.pop() as number
    const entry = entries.pop() as number
    const { length } = distances
    if (length > 0) {
      let at = 0
      for (let below = 1; below < length; below = 2 * at + 1) {
        if (below + 1 < length && (distances[below + 1] as number) < (distances[below] as number)) below++
        if ((distances[below] as number) >= distance) break
        distances[at] = distances[below] as number
        entries[at] = entries[below] as number
        at = below
      }
      distances[at] = distance
      entries[at] = entry
    }
    return [(taken % LEVELS) + MEASURED, Math.floor(taken / LEVELS)]
  }
}
