import type { Polygons, Ring } from './brute-force.ts'

export { ringOf } from '#test/setup/square.ts'

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const HECTARES_A_SQUARE_DEGREE = 1_220_000

export interface ShapeOptions {
  /** West, south, east and north: where centres lie. */
  within: [number, number, number, number]
  /** Hectares, roughly. */
  smallest: number
  largest: number
  /** The corner and the size of pixels, for shapes whose corners lie on pixels'. */
  origin: [number, number]
  pixel: number
}

/**
 * Polygons of all kinds, by turns: concave, with holes, several at once, slivers, rectangles along the
 * borders of pixels, and triangles whose corners are pixels' corners. Their areas are spread evenly over
 * the orders of magnitude.
 */
export function randomPolygons(random: () => number, index: number, options: ShapeOptions): Polygons {
  const { within, smallest, largest } = options
  const hectares = smallest * (largest / smallest) ** random()
  const radius = Math.sqrt(hectares / HECTARES_A_SQUARE_DEGREE / 2)
  const [west, south, east, north] = within
  const centre: [number, number] = [west + random() * (east - west), south + random() * (north - south)]
  switch (index % 6) {
    case 1:
      return [
        [star(random, centre, radius), hole(random, centre, radius, 0), hole(random, centre, radius, 1)],
      ]
    case 2:
      return [0, 1, 2].map((place) => [
        star(random, [centre[0] + 2.2 * radius * place, centre[1] + radius * random()], radius),
      ])
    case 3:
      return [[sliver(random, centre, radius)]]
    case 4:
      return [[alongPixels(random, centre, radius, options)]]
    case 5:
      return [[throughCorners(random, centre, radius, options)]]
    default:
      return [[star(random, centre, radius)]]
  }
}

/** Concave: as far from its centre as chance has it, at least a quarter of the radius. */
function star(random: () => number, [x, y]: [number, number], radius: number): Ring {
  const corners = 7 + Math.floor(random() * 9)
  const ring = Array.from({ length: corners }, (_, index): [number, number] => {
    const angle = (2 * Math.PI * (index + 0.8 * random())) / corners
    const distance = radius * (0.25 + 0.75 * random())
    return [x + distance * Math.cos(angle), y + distance * Math.sin(angle)]
  })
  return closed(random() < 0.5 ? ring : ring.reverse())
}

/** One of two that lie apart from each other within the inner part of a star. */
function hole(random: () => number, [x, y]: [number, number], radius: number, place: number): Ring {
  const side = place === 0 ? -1 : 1
  const size = 0.04 * radius
  return closed([
    [x + side * 0.08 * radius, y - size * (0.5 + random())],
    [x + side * (0.08 * radius + size), y],
    [x + side * 0.08 * radius, y + size * (0.5 + random())],
  ])
}

/** A thousand times as long as wide. */
function sliver(random: () => number, [x, y]: [number, number], radius: number): Ring {
  const angle = 2 * Math.PI * random()
  const [dx, dy] = [Math.cos(angle) * radius, Math.sin(angle) * radius]
  const width = 1e-3
  return closed([
    [x - dx, y - dy],
    [x + dy * width, y - dx * width],
    [x + dx, y + dy],
    [x - dy * width, y + dx * width],
  ])
}

function alongPixels(
  random: () => number,
  [x, y]: [number, number],
  radius: number,
  { origin, pixel }: ShapeOptions,
): Ring {
  const column = Math.round((x - origin[0]) / pixel)
  const row = Math.round((y - origin[1]) / pixel)
  const across = Math.max(1, Math.round((radius * (1 + random())) / pixel))
  const down = Math.max(1, Math.round((radius * (1 + random())) / pixel))
  const at = (columns: number, rows: number): [number, number] => [
    origin[0] + (column + columns) * pixel,
    origin[1] + (row + rows) * pixel,
  ]
  return closed([at(0, 0), at(across, 0), at(across, down), at(0, down)])
}

function throughCorners(
  random: () => number,
  [x, y]: [number, number],
  radius: number,
  { origin, pixel }: ShapeOptions,
): Ring {
  const column = Math.round((x - origin[0]) / pixel)
  const row = Math.round((y - origin[1]) / pixel)
  const size = Math.max(1, Math.round((radius * (1 + random())) / pixel))
  const at = (columns: number, rows: number): [number, number] => [
    origin[0] + (column + columns) * pixel,
    origin[1] + (row + rows) * pixel,
  ]
  // Edges along the diagonals of pixels, and along their borders.
  return closed([at(0, 0), at(size, size), at(2 * size, 0), at(size, -size)])
}

/** With the first position at the end as well. */
export function closed(ring: Ring): Ring {
  return [...ring, ring[0] as [number, number]]
}
