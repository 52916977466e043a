import fc from 'fast-check'
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import type { AskedPlace } from './by-sql.ts'

/** Where places are: countries, and corners of the world. */
const EXTENTS: [west: number, south: number, east: number, north: number][] = [
  [28.8, -2.9, 30.95, -1],
  [32.9, 3.3, 48.1, 15],
  [33.8, -4.8, 42, 5.6],
  [-3.4, 4.5, 1.3, 11.3],
  [-180, -90, 180, 90],
]

/** Degrees from a vertex. */
const DISTANCES = [0, 1e-12, 1e-7, 1.1e-6, 1e-5, 1e-3, 0.05, 2]

const between = (min: number, max: number) => fc.double({ min, max, noNaN: true })
const anywhere = fc
  .constantFrom(...EXTENTS)
  .chain(([west, south, east, north]) => fc.tuple(between(west, east), between(south, north)))
const cornerOfCell = anywhere.map(([x, y]): [number, number] => [
  Math.round(x * 16) / 16,
  Math.round(y * 16) / 16,
])
const swapped = anywhere.map(([x, y]): [number, number] => [y, x])

/**
 * Makes places of all sorts: anywhere, with longitude and latitude swapped, on the corners of cells, near the vertices of
 * areas, and on their edges.
 *
 * @param db which has the areas
 */
export async function arbitraryPlaces(db: Kysely<Tables>): Promise<fc.Arbitrary<AskedPlace>> {
  const { rows } = await sql<{ x: number; y: number }>`
    select st_x(vertex.geom) as x, st_y(vertex.geom) as y
    from admin_area, st_dumppoints(admin_area.geom) as vertex
    -- A seed stands for the same places each time.
    order by country_code, level, code, vertex.path`.execute(db)
  const vertices = rows.map(({ x, y }): [number, number] => [x, y])
  const byVertex = fc
    .tuple(fc.nat(), fc.constantFrom(...DISTANCES), between(-1, 1), between(-1, 1))
    .map(([at, distance, dx, dy]): [number, number] => {
      const [x, y] = vertices[at % vertices.length] as [number, number]
      return [x + distance * dx, y + distance * dy]
    })
  const onEdge = fc.tuple(fc.nat(), between(0, 1)).map(([at, part]): [number, number] => {
    const [x, y] = vertices[at % vertices.length] as [number, number]
    const [nextX, nextY] = vertices[(at + 1) % vertices.length] as [number, number]
    return [x + part * (nextX - x), y + part * (nextY - y)]
  })
  return fc
    .oneof(anywhere, swapped, cornerOfCell, byVertex, onEdge)
    .filter(([, lat]) => Math.abs(lat) <= 90)
    .map(([lng, lat]): AskedPlace => ({ lng: Number(lng), lat: Number(lat) }))
}
