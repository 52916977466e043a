import Flatbush from 'flatbush'
import type { Extent } from './grid.ts'

interface Neighbour {
  item: number
  squaredDistance: number
}

/** An immutable index of extents. */
export class BoxTree {
  readonly #extents: readonly Extent[]
  /** The library needs at least one extent. */
  readonly #index: Flatbush | undefined

  constructor(extents: readonly Extent[]) {
    this.#extents = extents
    if (extents.length === 0) return
    this.#index = new Flatbush(extents.length)
    for (const { west, south, east, north } of extents) this.#index.add(west, south, east, north)
    this.#index.finish()
  }

  /** @param margin along each axis */
  isInAny(x: number, y: number, margin: number): boolean {
    return this.#index?.collides(x - margin, y - margin, x + margin, y + margin) ?? false
  }

  /**
   * The nearest `count`, and those no farther than the last of them plus a margin.
   *
   * @param squaredDistanceTo at least that of its box; called for few more than are found
   */
  nearest(
    x: number,
    y: number,
    count: number,
    margin: number,
    squaredDistanceTo: (item: number) => number,
  ): Neighbour[] {
    const found: Neighbour[] = []
    let farthest = Number.POSITIVE_INFINITY
    // Boxes come nearest first, until they are farther than the items.
    for (let boxes = 2 * count; ; boxes *= 2) {
      const items = this.#index?.neighbors(x, y, boxes) ?? []
      for (const item of items.slice(found.length)) {
        if (this.#squaredDistance(item, x, y) > farthest) return nearestOf(found, farthest)
        found.push({ item, squaredDistance: squaredDistanceTo(item) })
        const last = found.length < count ? undefined : nearestOf(found, farthest)[count - 1]
        if (last) farthest = Math.max(last.squaredDistance, (Math.sqrt(last.squaredDistance) + margin) ** 2)
      }
      if (items.length < boxes) return nearestOf(found, farthest)
    }
  }

  #squaredDistance(item: number, x: number, y: number): number {
    const { west, south, east, north } = this.#extents[item] as Extent
    return Math.max(west - x, 0, x - east) ** 2 + Math.max(south - y, 0, y - north) ** 2
  }
}

function nearestOf(neighbours: Neighbour[], farthest: number): Neighbour[] {
  return neighbours
    .filter(({ squaredDistance }) => squaredDistance <= farthest)
    .sort((a, b) => a.squaredDistance - b.squaredDistance)
}
