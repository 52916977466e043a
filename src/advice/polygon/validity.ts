import { roundDegrees } from '#src/lib/round.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Rings } from '#src/raster/rings.ts'
import { RingEdges, type RingRelations, Sweep } from '#src/raster/sweep.ts'
import { invalid } from './geometry.ts'

/** What is wrong with polygons as a whole, and where. */
interface Fault {
  rule: string
  longitude: number
  latitude: number
}

/**
 * Refuses polygons that are not valid by OGC Simple Features (1.2.1, section 6.1.11), as ST_IsValid would: but
 * that compares all edges whose boxes meet, which takes seconds for a comb, and nobody can interrupt it on
 * the embedded database.
 *
 * @throws {ApiError} says what is wrong and where; where more is wrong, it is one of it
 */
export async function refuseInvalid(polygons: Rings[], pause: Pause): Promise<void> {
  const fault = await findFault(polygons, pause)
  if (!fault) return
  const [longitude, latitude] = [roundDegrees(fault.longitude), roundDegrees(fault.latitude)]
  throw invalid('geometry', `${fault.rule}, at longitude ${longitude}, latitude ${latitude}`)
}

async function findFault(polygons: Rings[], pause: Pause): Promise<Fault | undefined> {
  const edges = new RingEdges(polygons)
  const places = placesOf(polygons)
  await pause()
  const steps = new Sweep(edges, places.length).run()
  let step = steps.next()
  for (; !step.done; step = steps.next()) await pause()
  const found = step.value
  if ('kind' in found) {
    const { kind, longitude, latitude } = found
    return { rule: MEETING_RULES[kind], longitude, latitude }
  }
  const misplaced = misplacedOf(places, found)
  if (misplaced) {
    const [longitude, latitude] = polygons.flat()[misplaced.ring] as unknown as [number, number]
    return { rule: misplaced.rule, longitude, latitude }
  }
  const cut = cutOf(places, found)
  if (cut === undefined) return undefined
  return {
    rule: 'is cut into parts by its holes',
    longitude: edges.xs[cut] as number,
    latitude: edges.ys[cut] as number,
  }
}

const MEETING_RULES = {
  crossing: 'crosses itself or another of its rings',
  'self-touch': 'has a ring that touches itself',
}

/** What a ring is of the polygons. */
interface Place {
  polygon: number
  hole: boolean
}

/** The places of all rings, in the order that they are counted in. */
function placesOf(polygons: Rings[]): Place[] {
  return polygons.flatMap((rings, polygon) => rings.map((_, index) => ({ polygon, hole: index > 0 })))
}

/** A ring that lies where it must not, of rings that do not cross. */
function misplacedOf(places: Place[], { around }: RingRelations): { ring: number; rule: string } | undefined {
  const holes = places.map((place, ring) => (place.hole ? surroundingsOf(ring, place.polygon) : undefined))
  const rules: [rule: string, isBroken: (place: Place, ring: number) => boolean][] = [
    ['has a hole outside of its polygon', (_, ring) => holes[ring]?.inShell === false],
    ['has a hole within another hole', (_, ring) => holes[ring]?.inHole === true],
    ['has a polygon within another one', ({ hole }, ring) => !hole && placeAround(ring)?.hole === false],
  ]
  for (const [rule, isBroken] of rules) {
    const ring = places.findIndex(isBroken)
    if (ring !== -1) return { ring, rule }
  }
  return undefined

  function placeAround(ring: number): Place | undefined {
    const outer = around[ring]
    return outer === undefined ? undefined : places[outer]
  }

  /** Which rings of its own polygon a hole lies in, up to the outer one. */
  function surroundingsOf(ring: number, polygon: number): { inShell: boolean; inHole: boolean } {
    let inHole = false
    for (let outer = around[ring]; outer !== undefined; outer = around[outer]) {
      const place = places[outer] as Place
      if (place.polygon !== polygon) continue
      if (!place.hole) return { inShell: true, inHole }
      inHole = true
    }
    return { inShell: false, inHole }
  }
}

/**
 * A vertex where rings of a polygon touch that are connected by other touches already: together they
 * enclose a part of its inside.
 */
function cutOf(places: Place[], { touches }: RingRelations): number | undefined {
  const parents = places.map((_, ring) => ring)
  const rootOf = (ring: number): number => {
    let root = ring
    while (parents[root] !== root) {
      // Halves the way for whoever comes next.
      parents[root] = parents[parents[root] as number] as number
      root = parents[root] as number
    }
    return root
  }
  for (const { vertex, rings } of touches) {
    const first = new Map<number, number>()
    for (const ring of rings) {
      const { polygon } = places[ring] as Place
      const other = first.get(polygon)
      if (other === undefined) first.set(polygon, ring)
      else if (rootOf(other) === rootOf(ring)) return vertex
      else parents[rootOf(ring)] = rootOf(other)
    }
  }
  return undefined
}
