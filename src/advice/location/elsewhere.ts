import type { Kysely } from 'kysely'
import { type AdminReference, LEVELS_BELOW } from '#schemas/areas.ts'
import type { LocationValidation } from '#schemas/location.ts'
import type { Tables } from '#src/data/tables.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { swapped } from '#src/lib/names.ts'
import { roundVisibly } from '#src/lib/round.ts'
import type { Outlines, Piece } from '#src/lookup/areas.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Area, Position } from '#src/lookup/queries.ts'
import { countryNamed, type Snapshot } from '#src/lookup/snapshot.ts'
import { geodesicLength, type NearestOnSphere, nearestOnSphere, onSphere } from '#src/raster/great-circles.ts'
import { squaredDistanceTo } from '#src/raster/rings.ts'
import { DISTANCE_DECIMALS, findNearestCountries, NEAREST_PIECES, type NearestCountry } from './queries.ts'

/** A country by its code, and how far away it is. */
interface Nearest {
  countryCode: string
  distanceKm: number
}

/** Degrees by which the database may take another of two pieces for the nearer one. */
const DEGREES_IN_DOUBT = 1e-9

/** Metres by which its distances may differ from ours: far more than they do. */
const METRES_IN_DOUBT = 0.01

/** Metres on the ellipsoid of a radian on the sphere, at the least: the meridian's radius of curvature at the equator. */
const LEAST_METRES_A_RADIAN = 6_335_439

/** The vectors of pieces that were near to a position before. */
const vectorsOf = new WeakMap<Piece, Float64Array[]>()

/**
 * The country nearest to a position that lies in none, as `findNearestCountries` has it: null where there are no
 * outlines, undefined where it takes the database to tell.
 */
function nearestFromMemory(outlines: Outlines, position: Position): Nearest | null | undefined {
  if (outlines.pieces.length === 0) return null
  const { certain, doubtful } = nearestPieces(outlines, position)
  const all = measured([...certain, ...doubtful], position)
  const least = Math.min(...all.map(({ metres }) => metres))
  const nearest = all.filter(({ metres }) => metres - least <= METRES_IN_DOUBT)
  const [{ countryCode }] = nearest.map(({ piece }) => piece) as [Piece]
  if (nearest.some(({ piece }) => piece.countryCode !== countryCode)) return undefined
  // Of the doubtful ones, the database takes as many as there is room for.
  const others = doubtful.filter((piece) => !nearest.some((near) => near.piece === piece))
  const isTaken = nearest.some(({ piece }) => certain.includes(piece))
  if (!isTaken && others.length >= NEAREST_PIECES - certain.length) return undefined
  const [low, high] = [kilometres(least - METRES_IN_DOUBT), kilometres(least + METRES_IN_DOUBT)]
  return low === high ? { countryCode, distanceKm: low } : undefined
}

function kilometres(metres: number): number {
  return roundVisibly(metres / 1000, DISTANCE_DECIMALS)
}

/** The pieces nearest by degrees, and those that may as well be the last of them. */
function nearestPieces(
  { pieces, tree }: Outlines,
  { longitude, latitude }: Position,
): { certain: Piece[]; doubtful: Piece[] } {
  const squared = (item: number) => squaredDistanceTo((pieces[item] as Piece).rings, longitude, latitude)
  const found = tree
    .nearest(longitude, latitude, NEAREST_PIECES, DEGREES_IN_DOUBT, squared)
    .map(({ item, squaredDistance }) => ({
      piece: pieces[item] as Piece,
      degrees: Math.sqrt(squaredDistance),
    }))
  const last = found[NEAREST_PIECES - 1]
  const isCertain = ({ degrees }: { degrees: number }) =>
    found.length <= NEAREST_PIECES || degrees < (last as { degrees: number }).degrees - DEGREES_IN_DOUBT
  return {
    certain: found.filter(isCertain).map(({ piece }) => piece),
    doubtful: found.filter((one) => !isCertain(one)).map(({ piece }) => piece),
  }
}

/** How far away pieces are, without those that are farther than others in any case. */
function measured(pieces: Piece[], position: Position): { piece: Piece; metres: number }[] {
  const byAngle = pieces
    .map((piece) => ({ piece, ...nearestOnSphere(vectors(piece), position) }))
    .sort((a, b) => a.angle - b.angle)
  const found: { piece: Piece; metres: number }[] = []
  let least = Number.POSITIVE_INFINITY
  let before: NearestOnSphere | undefined
  let metres = 0
  for (const near of byAngle) {
    if (near.angle * LEAST_METRES_A_RADIAN > least + METRES_IN_DOUBT) break
    // Areas of all levels share their borders.
    if (before?.longitude !== near.longitude || before.latitude !== near.latitude) {
      metres = geodesicLength(position, near)
    }
    before = near
    least = Math.min(least, metres)
    found.push({ piece: near.piece, metres })
  }
  return found
}

function vectors(piece: Piece): Float64Array[] {
  const known = vectorsOf.get(piece)
  if (known) return known
  const made = piece.rings.map(onSphere)
  vectorsOf.set(piece, made)
  return made
}

/** The country a point lies in, and its areas there. */
export interface Place {
  countryCode: string
  /** From level 1 down, at most one a level. */
  admin: AdminReference[]
}

/**
 * Chooses among the areas that a point lies in. Most points lie in one a level; those on a border lie in
 * several, and get the one of lowest code: in the country that was asked for if it is among them, and
 * below the area chosen one level up wherever there is one.
 */
export function placeOf(areas: readonly Area[], wantedCountry: string | undefined): Place | undefined {
  const codes = areas.map(({ countryCode }) => countryCode)
  const countryCode = wantedCountry && codes.includes(wantedCountry) ? wantedCountry : codes.sort()[0]
  if (countryCode === undefined) return undefined
  const admin: AdminReference[] = []
  let above: Area | undefined
  for (const level of LEVELS_BELOW) {
    const candidates = areas
      .filter((area) => area.countryCode === countryCode && area.level === level)
      .sort(byCode)
    const chosen: Area | undefined =
      candidates.find(({ parentId }) => parentId === above?.id) ?? candidates[0]
    if (!chosen) continue
    admin.push({ level, code: chosen.code, name: chosen.name })
    above = chosen
  }
  return { countryCode, admin }
}

function byCode(a: Area, b: Area): number {
  return a.code < b.code ? -1 : 1
}

/** What is said of a point in no country. */
export type Elsewhere = Pick<LocationValidation, 'nearest' | 'hint'>

/**
 * Tells of a point in no country which one is nearest, and whether it would lie in the one that is wanted, or in any,
 * with longitude and latitude swapped.
 */
interface ElsewhereFinder {
  /** From memory alone; undefined where the database has to be asked. */
  fromMemory(position: Position, wantedCountry: string | undefined, snapshot: Snapshot): Elsewhere | undefined
  /** The same; what is not in memory is asked of the database. */
  find(
    position: Position,
    wantedCountry: string | undefined,
    snapshot: Snapshot,
    clientKey: ClientKey,
  ): Promise<Elsewhere>
}

/** Places a query: a millisecond each. */
const NEAREST_PER_QUERY = 20

/** Queries at a time: points in no country are to keep no others from the database. */
const NEAREST_QUERIES = 1

export function createElsewhereFinder(db: Kysely<Tables>, lookup: Lookup): ElsewhereFinder {
  const { areas, outlines } = lookup
  const askNearest = createBatcher({
    run: (places: Position[]) => findNearestCountries(db, places),
    concurrency: NEAREST_QUERIES,
    batch: NEAREST_PER_QUERY,
    // No place makes a query fail: asking again for fewer would not help.
    failsAll: () => true,
  })

  return {
    fromMemory(position, wantedCountry, snapshot) {
      const nearest = knownNearest(lookup, position, snapshot)
      if (nearest === undefined) return undefined
      const meant = swapped(position)
      const areasMeant = meant ? areas.fromMemory(meant, snapshot.boundaries) : []
      return areasMeant && elsewhereOf(nearest, hintOf(areasMeant, wantedCountry, snapshot))
    },
    async find(position, wantedCountry, snapshot, clientKey) {
      // Whoever comes next is answered by it.
      void outlines.read(snapshot.boundaries)
      const known = knownNearest(lookup, position, snapshot)
      const nearest = known === undefined ? await askNearest(position, clientKey) : known
      const meant = swapped(position)
      const areasMeant = meant ? await areas.find(meant, snapshot.boundaries, clientKey) : []
      return elsewhereOf(nearest, hintOf(areasMeant, wantedCountry, snapshot))
    },
  }
}

/** The country nearest to a position, by the outlines in memory; undefined where the database has to be asked. */
function knownNearest(
  { outlines }: Lookup,
  position: Position,
  snapshot: Snapshot,
): NearestCountry | null | undefined {
  const known = outlines.known(snapshot.boundaries)
  const nearest = known && nearestFromMemory(known, position)
  if (!nearest) return nearest
  const country = countryNamed(snapshot, nearest.countryCode)
  return country === undefined
    ? undefined
    : { country_code: nearest.countryCode, country, distance_km: nearest.distanceKm }
}

/** @param areas that the position lies in with longitude and latitude swapped */
function hintOf(
  areas: readonly Area[],
  wantedCountry: string | undefined,
  snapshot: Snapshot,
): string | undefined {
  const place = placeOf(areas, wantedCountry)
  if (!place || (wantedCountry ?? place.countryCode) !== place.countryCode) return undefined
  const country = countryNamed(snapshot, place.countryCode)
  return `With lat and lng swapped the point would lie in ${country}: did you mean lng, lat?`
}

function elsewhereOf(nearest: NearestCountry | null, hint: string | undefined): Elsewhere {
  return { ...(nearest && { nearest }), ...(hint && { hint }) }
}
