import { rectangle } from '#test/setup/square.ts'
import type { Polygons, Ring } from './brute-force.ts'
import { closed } from './shapes.ts'

/** The middle of the shapes, which are two degrees wide at most. */
const [X, Y] = [38.5, 9.5]

/** Shapes of nearly 10,000 vertices whose edges, rings or touches are as much in each other's way as can be. */
export const HOSTILE_SHAPES: Record<string, () => Polygons> = {
  'slanted comb': () => [[slanted(comb(3300))]],
  spiral: () => [[band(4990, 100, 30)]],
  'squares in each other': () =>
    Array.from({ length: 990 }, (_, index) => [square(1 - index / 990), square(1 - (index + 0.5) / 990)]),
  'a thousand holes that touch the same side': () => [touchingHoles(1600)],
}

/** Teeth as high as the comb is wide, upwards from the origin. */
function comb(teeth: number): Ring {
  const points = Array.from({ length: teeth }, (_, tooth): Ring => {
    const x = tooth / teeth
    return [
      [x, 0.05],
      [x + 0.3 / teeth, 1],
      [x + 0.6 / teeth, 0.05],
    ]
  })
  return closed([...points.flat(), [1, 0], [0, 0]])
}

/** Turned by an eighth, so that the boxes of all edges overlap. */
function slanted(ring: Ring): Ring {
  return ring.map(([x, y]) => [X + (x - y) * Math.SQRT1_2, Y - 1 + (x + y) * Math.SQRT1_2])
}

/** A band that goes around its middle, outwards. */
function band(corners: number, turns: number, width: number): Ring {
  const way = (out: number) =>
    Array.from({ length: corners }, (_, corner) => {
      const part = corner / corners
      return polar(2 * Math.PI * turns * part, 0.01 + 0.9 * part + out / (100 * turns))
    })
  return closed([...way(0), ...way(width).reverse()])
}

const square = (size: number) => rectangle(X - size, Y - size, X + size, Y + size).coordinates[0] as Ring

/** A square with long thin holes that hang from its upper side. */
function touchingHoles(count: number): Ring[] {
  const tops = Array.from({ length: count }, (_, hole) => X + (hole + 0.5) / count)
  const shell = closed([
    [X, Y],
    [X + 1, Y],
    [X + 1, Y + 1],
    ...tops.toReversed().map((x): [number, number] => [x, Y + 1]),
    [X, Y + 1],
  ])
  return [
    shell,
    ...tops.map(
      (x): Ring =>
        closed([
          [x, Y + 1],
          [x + 0.2 / count, Y + 0.5],
          [x - 0.2 / count, Y + 0.5],
        ]),
    ),
  ]
}

function polar(angle: number, distance: number): [number, number] {
  return [X + distance * Math.cos(angle), Y + distance * Math.sin(angle)]
}
