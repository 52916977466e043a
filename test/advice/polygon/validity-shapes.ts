import type { Polygons, Ring } from './brute-force.ts'
import { closed, ringOf } from './shapes.ts'

type Random = () => number

const whole = (random: Random, below: number) => Math.floor(random() * below)
const anyOf = <Item>(random: Random, items: Item[]) => items[whole(random, items.length)] as Item

/**
 * Polygons on whole numbers, where rings meet in all ways that there are: their corners, edges and sides fall
 * together often. Some are turned, some have vertices that lie on an edge as nearly as numbers can say.
 */
export function meetingPolygons(random: Random): Polygons {
  let polygons = random() < 0.4 ? scribble(random) : puzzle(random)
  if (random() < 0.4) polygons = turned(random, polygons)
  if (random() < 0.4) polygons = divided(random, polygons)
  return polygons
}

function scribble(random: Random): Polygons {
  const size = anyOf(random, [4, 5, 9])
  return Array.from({ length: 1 + whole(random, 2) }, () =>
    Array.from({ length: 1 + whole(random, 3) }, () =>
      closed(Array.from({ length: 3 + whole(random, 4) }, () => [whole(random, size), whole(random, size)])),
    ),
  )
}

/** Squares and diamonds with small holes, which often touch. */
function puzzle(random: Random): Polygons {
  return Array.from({ length: 1 + whole(random, 2) }, () => {
    const width = 6 + whole(random, 4)
    const x = width + whole(random, 4)
    const shell = random() < 0.7 ? square(x, width, width) : diamond(x, width, width + 4)
    return [
      closed(shell),
      ...Array.from({ length: whole(random, 5) }, () => {
        const place = [whole(random, 20), whole(random, 20), 1 + whole(random, 3)] as const
        const ring = anyOf(random, [diamond, square, triangle])(...place)
        const first = whole(random, ring.length)
        const moved = [...ring.slice(first), ...ring.slice(0, first)]
        return closed(random() < 0.5 ? moved : moved.reverse())
      }),
    ]
  })
}

const diamond = (x: number, y: number, radius: number): Ring => [
  [x - radius, y],
  [x, y - radius],
  [x + radius, y],
  [x, y + radius],
]
const square = (x: number, y: number, half: number): Ring => [
  [x - half, y - half],
  [x + half, y - half],
  [x + half, y + half],
  [x - half, y + half],
]
const triangle = (x: number, y: number, size: number): Ring => [
  [x, y],
  [x + size, y + size / 2],
  [x, y + size],
]

/** The same somewhere in Ethiopia, turned and of another size. */
function turned(random: Random, polygons: Polygons): Polygons {
  const angle = 2 * Math.PI * random()
  const size = Math.exp(4 * random() - 6)
  const [east, north] = [Math.cos(angle) * size, Math.sin(angle) * size]
  const place = ([x, y]: [number, number]): [number, number] => [
    38 + east * x - north * y,
    9 + north * x + east * y,
  ]
  return polygons.map((rings) => rings.map((ring) => ring.map(place)))
}

/** The same with one more vertex on an edge of each ring, or next to it. */
function divided(random: Random, polygons: Polygons): Polygons {
  return polygons.map((rings) =>
    rings.map((ring) => {
      const at = whole(random, ring.length - 1)
      const [[x, y], [toX, toY]] = [ring[at], ring[at + 1]] as [[number, number], [number, number]]
      const part = random()
      return [...ring.slice(0, at + 1), [x + part * (toX - x), y + part * (toY - y)], ...ring.slice(at + 1)]
    }),
  )
}

/** Polygons with one fault each, and those without one that come near to it. */
export const FAULTS: Record<string, Polygons> = {
  none: [[closed(square(5, 5, 5)), closed(square(5, 5, 1))]],
  'a hole that touches a corner': [[closed(square(5, 5, 5)), closed(ringOf('0 0, 3 1, 1 3'))]],
  'a hole that touches a side': [[closed(square(5, 5, 5)), closed(diamond(2, 5, 2))]],
  'polygons that touch at several corners': [
    [closed(diamond(2, 2, 2))],
    [closed(ringOf('4 2, 9 2, 9 9, 2 9, 2 4, 8 8'))],
  ],
  'an island in a hole': [[closed(square(5, 5, 5)), closed(square(5, 5, 3))], [closed(square(5, 5, 1))]],
  'three holes that touch at one position': [
    [
      closed(square(5, 5, 5)),
      closed(ringOf('5 5, 6 3, 4 3')),
      closed(ringOf('5 5, 7 6, 7 5')),
      closed(ringOf('5 5, 3 5, 3 6')),
    ],
  ],
  'a crossing': [[closed(ringOf('0 0, 4 4, 4 0, 0 5'))]],
  'a crossing of two rings through a corner': [
    [closed(ringOf('0 0, 10 0, 10 10, 5 5, 0 10')), closed(ringOf('4 1, 5 5, 6 9, 7 1'))],
  ],
  'a ring that touches itself at a corner': [[closed(ringOf('0 0, 4 4, 8 0, 8 8, 4 4, 0 8'))]],
  'a ring that touches its own side': [[closed(ringOf('0 0, 8 0, 8 8, 4 0, 0 8'))]],
  'a hole outside': [[closed(square(5, 5, 5)), closed(square(20, 5, 1))]],
  'a hole around its polygon': [[closed(square(5, 5, 2)), closed(square(5, 5, 5))]],
  'a hole within a hole': [[closed(square(5, 5, 5)), closed(square(5, 5, 3)), closed(square(5, 5, 1))]],
  'a polygon within another one': [[closed(square(5, 5, 5))], [closed(square(5, 5, 1))]],
  'a hole that cuts': [[closed(square(5, 5, 5)), closed(diamond(5, 5, 5))]],
  'a side in common': [[closed(square(5, 5, 5))], [closed(square(15, 5, 5))]],
}

/** Where PostGIS may name another place. */
export const FAULTS_AT_SEVERAL_PLACES = new Set([
  'a crossing of two rings through a corner',
  'a hole that cuts',
  'a side in common',
])

/** The eight ways to mirror and turn polygons so that their numbers stay exact, somewhere in Ethiopia. */
export function mirrored(polygons: Polygons): Polygons[] {
  const ways = [1, -1].flatMap((east) =>
    [1, -1].flatMap((north) => [true, false].map((swap) => ({ east, north, swap }))),
  )
  return ways.map(({ east, north, swap }) =>
    polygons.map((rings) =>
      rings.map((ring) =>
        ring.map(([x, y]): [number, number] => {
          const [across, up] = swap ? [y, x] : [x, y]
          return [39 + (east * across) / 16, 9 + (north * up) / 16]
        }),
      ),
    ),
  )
}
