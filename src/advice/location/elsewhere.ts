import type { Kysely } from 'kysely'
import { type AdminReference, LEVELS_BELOW } from '#schemas/areas.ts'
import type { LocationValidation } from '#schemas/location.ts'
import type { Tables } from '#src/data/tables.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import { swapped } from '#src/lib/names.ts'
import { roundVisibly } from '#src/lib/round.ts'
import type { Outlines, Piece } from '#src/lookup/areas.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Area, Position } from '#src/lookup/queries.ts'
import { countryNamed, type Snapshot } from '#src/lookup/snapshot.ts'
import { geodesicLength, type NearestOnSphere, nearestOnSphere, onSphere } from '#src/raster/nearest.ts'
import { squaredDistanceTo } from '#src/raster/rings.ts'
import { DISTANCE_DECIMALS, findNearestCountries, NEAREST_PIECES, type NearestCountry } from './queries.ts'

/** A country by its code, and how far away it is. */
interface Nearest {
  countryCode: string
  distanceKm: number
}

/** Within so many degrees the database may order two pieces otherwise. */
const DEGREES_IN_DOUBT = 1e-9

/** Metres by which its distances may differ from ours: far more than they do. */
const METRES_IN_DOUBT = 0.01

/** Metres on the ellipsoid of a radian on the sphere, at the least: the meridian's radius of curvature at the equator. */
const LEAST_METRES_A_RADIAN = 6_335_439

/** The vectors of pieces near to earlier positions. */
const vectorCache = new WeakMap<Piece, Float64Array[]>()

/**
 * The same as `findNearestCountries`, from memory: null without outlines, undefined where only the database can decide.
 */
function nearestFromMemory(outlines: Outlines, position: Position): Nearest | null | undefined {
  if (outlines.pieces.length === 0) return null
  const { certain, doubtful } = nearestPieces(outlines, position)
  const all = measureDistances([...certain, ...doubtful], position)
  const least = Math.min(...all.map(({ metres }) => metres))
  const nearest = all.filter(({ metres }) => metres - least <= METRES_IN_DOUBT)
  const [{ countryCode }] = nearest.map(({ piece }) => piece) as [Piece]
  if (nearest.some(({ piece }) => piece.countryCode !== countryCode)) return undefined
  // The database takes as many of the doubtful ones as its limit allows.
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

/** The distances of pieces, without those that are certainly farther than others. */
function measureDistances(pieces: Piece[], position: Position): { piece: Piece; metres: number }[] {
  const byAngle = pieces
    .map((piece) => ({ piece, ...nearestOnSphere(readVectors(piece), position) }))
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

function readVectors(piece: Piece): Float64Array[] {
  const cached = vectorCache.get(piece)
  if (cached) return cached
  const vectors = piece.rings.map(onSphere)
  vectorCache.set(piece, vectors)
  return vectors
}

/** The country of a point, and its areas there. */
export interface CountryAndAreas {
  countryCode: string
  /** From level 1 down, at most one a level. */
  admin: AdminReference[]
}

/**
 * Chooses among the areas of a point. Most points have one a level; those on a border have several, and get the one of
 * lowest code: in the requested country if it is among them, and within the chosen area one level up if possible.
 */
export function chooseAreas(
  areas: readonly Area[],
  requestedCountry: string | undefined,
): CountryAndAreas | undefined {
  const codes = areas.map(({ countryCode }) => countryCode)
  const countryCode =
    requestedCountry && codes.includes(requestedCountry) ? requestedCountry : codes.sort()[0]
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

/** The members of an answer about a point in no country. */
export type Elsewhere = Pick<LocationValidation, 'nearest' | 'hint'>

/** Positions of one query: a millisecond each. */
const NEAREST_PER_QUERY = 20

/** Simultaneous queries: points in no country must not delay others at the database. */
const NEAREST_QUERIES = 1

/**
 * Finds the country nearest to a point in none, and whether the point would lie in the requested country, or in any, with
 * longitude and latitude swapped.
 */
export function createElsewhereFinder(db: Kysely<Tables>, lookup: Lookup) {
  const { areas, outlines } = lookup
  const askNearest = createBatcher({
    run: (positions: Position[]) => findNearestCountries(db, positions),
    concurrency: NEAREST_QUERIES,
    batch: NEAREST_PER_QUERY,
    // No position makes a query fail, so smaller batches would not help.
    failsAll: () => true,
  })

  return {
    /** Undefined where only the database can decide. */
    fromMemory(
      position: Position,
      requestedCountry: string | undefined,
      snapshot: Snapshot,
    ): Elsewhere | undefined {
      const nearest = readNearest(lookup, position, snapshot)
      if (nearest === undefined) return undefined
      const other = swapped(position)
      const otherAreas = other ? areas.fromMemory(other, snapshot.boundaries) : []
      return otherAreas && describeElsewhere(nearest, otherAreas, requestedCountry, snapshot)
    },
    async find(
      position: Position,
      requestedCountry: string | undefined,
      snapshot: Snapshot,
    ): Promise<Elsewhere> {
      // The next request is answered from memory.
      void outlines.read(snapshot.boundaries)
      const cached = readNearest(lookup, position, snapshot)
      const nearest = cached === undefined ? await askNearest(position) : cached
      const other = swapped(position)
      const otherAreas = other ? await areas.find(other, snapshot.boundaries) : []
      return describeElsewhere(nearest, otherAreas, requestedCountry, snapshot)
    },
  }
}

/** The nearest country by the outlines in memory; undefined where only the database can decide. */
function readNearest(
  { outlines }: Lookup,
  position: Position,
  snapshot: Snapshot,
): NearestCountry | null | undefined {
  const cached = outlines.known(snapshot.boundaries)
  const nearest = cached && nearestFromMemory(cached, position)
  if (!nearest) return nearest
  const country = countryNamed(snapshot, nearest.countryCode)
  return country === undefined
    ? undefined
    : { country_code: nearest.countryCode, country, distance_km: nearest.distanceKm }
}

/** @param areas of the position with longitude and latitude swapped */
function describeElsewhere(
  nearest: NearestCountry | null,
  areas: readonly Area[],
  requestedCountry: string | undefined,
  snapshot: Snapshot,
): Elsewhere {
  const elsewhere: Elsewhere = { ...(nearest && { nearest }) }
  const { countryCode } = chooseAreas(areas, requestedCountry) ?? {}
  if (countryCode === undefined || (requestedCountry ?? countryCode) !== countryCode) return elsewhere
  const country = countryNamed(snapshot, countryCode)
  const hint = `With lat and lng swapped the point would lie in ${country}: did you mean lng, lat?`
  return { ...elsewhere, hint }
}
