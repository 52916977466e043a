import { roundVisibly } from '#src/lib/round.ts'
import { geodesicLength, type NearestOnSphere, nearestOnSphere, onSphere } from '#src/raster/great-circles.ts'
import { squaredDistanceTo } from '#src/raster/rings.ts'
import type { Outlines, Piece } from '../lookup/outlines.ts'
import type { Position } from '../lookup/queries.ts'
import { DISTANCE_DECIMALS, NEAREST_PIECES } from './queries.ts'

/** A country by its code, and how far away it is. */
export interface Nearest {
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
export function nearestFromMemory(outlines: Outlines, position: Position): Nearest | null | undefined {
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
