import { basename } from 'node:path'
import { listSome, OperatorError } from '#src/errors.ts'
import type { Encoding } from '#src/lib/text.ts'
import { type Bounds, measureBounds } from '#src/raster/rings.ts'
import { encodeMultiPolygon } from '#src/raster/tiles.ts'
import { hasRotatedPole } from '../geotiff/crs.ts'
import { convertAreas } from '../other-formats.ts'

/**
 * Memory holds one feature. The finest outlines of countries have some hundred thousand positions; `ogr2ogr -simplify`
 * removes some.
 */
export const MAX_POSITIONS = 500_000

export interface RawFeature {
  /** Of an archive, with the path in it. */
  file: string
  /** The same with its folder, for commands. */
  path: string
  /** From 1. */
  number: number
  /** The share of the file so far, from 0 to 1. */
  read: number
  properties: Record<string, unknown>
  geometry: unknown
  /** Mends letters of its file that were read in a wrong encoding. */
  remedy?: string | undefined
}

export interface FeatureReading {
  /** Chooses among layers; undefined for any level. */
  level?: number
  /** Overrides the file's own label. */
  encoding?: Encoding
  /** Chooses among layers. */
  layer?: string
}

export type Noted = (note: string) => void

export interface FeatureFile {
  name: string
  /** Covered by checksums. */
  paths: string[]
  /** Settings that change the result: covered by checksums. */
  reading: string[]
  features(noted: Noted): AsyncGenerator<RawFeature>
}

/** A geographic CRS with the datum of WGS 84, in its spellings. */
const WGS84_WKT = /^\s*(GEOGCS|GEOGCRS)\s*\[.*(D_WGS_1984|WGS_1984|WGS 84|World Geodetic System 1984)/is

export function isWgs84Wkt(wkt: string): boolean {
  return WGS84_WKT.test(wkt) && !hasRotatedPole(wkt)
}

/** The given layer, the only one, or the one named after the level. */
export function chooseLayer(
  file: string,
  layers: string[],
  { level, layer: requested }: FeatureReading,
): string {
  if (requested !== undefined) {
    const alike = layers.filter((layer) => layer.toLowerCase() === requested.toLowerCase())
    const found = alike.find((layer) => layer === requested) ?? alike[0]
    if (found === requested || alike.length === 1) return found as string
    if (alike.length > 1) {
      throw new OperatorError(
        `${file} has several layers that ${requested} may mean (--layer): ${listSome(alike)}.`,
      )
    }
    throw new OperatorError(`${file} has no layer ${requested} (--layer); it has ${listSome(layers)}.`)
  }
  if (layers.length === 1) return layers[0] as string
  if (level === undefined) {
    throw new OperatorError(`${file} has several layers: give --layer, one of ${listSome(layers)}.`)
  }
  const ofLevel = layers.filter((layer) => isOfLevel(layer, level))
  const chosen = ofLevel.filter((layer) => !/simplified/i.test(layer))
  if (chosen.length === 1) return chosen[0] as string
  throw new OperatorError(
    `${file} has several layers, and it is not clear which one is of level ${level}: give --layer, one of ${listSome(layers)}.`,
  )
}

/**
 * Publishers' names: eth_admbnda_adm2_2021, geoBoundaries-ETH-ADM2, ADM_2, admin2, gadm41_ETH_2, GAUL_2024_L2. Folders
 * in paths do not count.
 */
function isOfLevel(layer: string, level: number): boolean {
  return new RegExp(`(?:adm(?:in)?_?|^gadm.*_|_L)${level}(?!\\d)`, 'i').test(basename(layer))
}

export interface Shape {
  wkb: Buffer
  /** Degrees only after a check. */
  bounds: Bounds
}

/** GDAL makes polygons of these. */
const SURFACES = /^(Curve|Compound|MultiS|Poly|MultiPatch|TIN|Tri)/

/** Numbers of the smallest closed ring, two a position. */
const SMALLEST_RING = 8

/**
 * Drops heights, closes open rings, and drops rings with fewer than three corners. PostGIS finds other faults.
 *
 * @returns the reason without a shape
 * @param of names it in errors
 * @throws {OperatorError} for coordinates that are no finite numbers
 */
export function readShape(
  geometry: unknown,
  of = { number: 1, file: 'the outline', path: '' },
): Shape | string {
  if (geometry === null || geometry === undefined) return 'it has no geometry'
  const polygons = polygonsIn(geometry)
  if (!polygons) {
    const { type } = geometry as { type?: unknown }
    const mend = SURFACES.test(String(type))
      ? `: ${convertAreas(of.path, '-nlt MULTIPOLYGON')} makes polygons`
      : ''
    return `its geometry is a ${String(type)}${mend}`
  }
  const usable = polygons.flatMap((rings): [Float64Array, ...Float64Array[]][] => {
    const [outer, ...holes] = rings.map((ring) => closed(ring, of))
    // Holes without an outer ring lie in nothing.
    if (!outer || outer.length < SMALLEST_RING) return []
    return [[outer, ...holes.filter((hole) => hole.length >= SMALLEST_RING)]]
  })
  if (usable.length === 0) return 'its geometry is empty'
  return { wkb: encodeMultiPolygon(usable), bounds: measureBounds(usable.map(([outer]) => outer)) }
}

function polygonsIn(geometry: unknown): unknown[][] | undefined {
  const { type, coordinates, geometries } = geometry as Record<string, unknown>
  if (type === 'Polygon') return [asArray(coordinates)]
  if (type === 'MultiPolygon') return asArray(coordinates).map(asArray)
  if (type !== 'GeometryCollection') return undefined
  const parts = asArray(geometries).map(polygonsIn)
  return parts.some((part) => part) ? parts.flatMap((part) => part ?? []) : undefined
}

function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function closed(positions: unknown, { number, file }: { number: number; file: string }): Float64Array {
  const ring = asArray(positions).flatMap((position) => {
    const [x, y] = asArray(position)
    if (Number.isFinite(x) && Number.isFinite(y)) return [x, y] as number[]
    throw new OperatorError(
      `feature ${number} of ${file}: the coordinates ${JSON.stringify(position)} are not two numbers.`,
    )
  })
  const isOpen = ring[0] !== ring.at(-2) || ring[1] !== ring.at(-1)
  return Float64Array.from(isOpen ? [...ring, ...ring.slice(0, 2)] : ring)
}

/** A number of a property; a whole one that a double would round stays a text, since it is a code. NaN for a blank. */
export function readNumber(text: string): number | string {
  const number = Number.parseFloat(text)
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(number) ? text : number
}
