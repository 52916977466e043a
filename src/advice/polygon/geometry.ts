import { ApiError } from '#src/errors.ts'
import { crsRule, findOtherCrs } from '#src/lib/geojson.ts'
import { isObject } from '#src/lib/json.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Position } from '#src/lookup/layers.ts'
import type { Rings } from '#src/raster/rings.ts'
import { RingEdges, type RingRelations, Sweep } from '#src/raster/sweep.ts'

/** The most vertices of all rings together, with the closing ones. */
export const MAX_VERTICES = 10_000

export function tooManyVertices(): ApiError {
  return invalid('geometry', `must have at most ${MAX_VERTICES} vertices; simplify it, or ask in parts`)
}

/** The least positions of a closed ring. */
const SMALLEST_RING = 4

/** Longitude, latitude, an ignored height, and a measure that some writers add. */
const LONGEST_POSITION = 4

/** Characters of a wrong value in an error. */
const SHOWN_CHARACTERS = 60

export interface SentGeoJson {
  value: unknown
  /** Its path in the body, with dots; empty for the whole body. */
  at: string
}

/** A polygon in a small part of the memory of its GeoJSON. */
export interface Outline {
  type: 'Polygon' | 'MultiPolygon'
  polygons: Rings[]
}

export function createOutline(polygons: Rings[]): Outline {
  return { type: polygons.length === 1 ? 'Polygon' : 'MultiPolygon', polygons }
}

/** The only Feature of a FeatureCollection; any other value unchanged. @throws {ApiError} with the path in the body */
export function soleFeature(sent: SentGeoJson): SentGeoJson {
  const { value, at } = sent
  if (!isObject(value) || value.type !== 'FeatureCollection') return sent
  refuseCrs(value, at)
  const features = asArray(value.features, within(at, 'features'), 'a list of Features')
  if (features.length !== 1) {
    throw invalid(within(at, 'features'), `has ${features.length} Features: ask for one at a time`)
  }
  const feature = { value: features[0], at: `${within(at, 'features')}[0]` }
  if (isObject(feature.value) && feature.value.type === 'Feature') return feature
  throw invalid(within(feature.at, 'type'), 'must be Feature')
}

/** The polygons of GeoJSON, without heights, and unrepaired. @throws {ApiError} with the path in the body */
export function readGeoJson({ value, at }: SentGeoJson): Outline {
  const feature = asObject(value, at)
  refuseCrs(feature, at)
  if (feature.type !== 'Feature') return readGeometry(feature, at)
  const { properties = null } = feature
  if (properties !== null && !isObject(properties)) {
    throw invalid(within(at, 'properties'), `must be an object or null, not ${shown(properties)}`)
  }
  const inside = within(at, 'geometry')
  if (feature.geometry === null) throw invalid(inside, 'is null: the Feature has no shape')
  const geometry = asObject(feature.geometry, inside)
  refuseCrs(geometry, inside)
  return readGeometry(geometry, inside)
}

function within(at: string, member: string): string {
  return at === '' ? member : `${at}.${member}`
}

/** An outline as GeoJSON, to the last digit. */
export function toGeoJson({ type, polygons }: Outline): Record<string, unknown> {
  const coordinates = polygons.map((rings) => rings.map(listPositions))
  return { type, coordinates: type === 'Polygon' ? coordinates[0] : coordinates }
}

function listPositions(ring: Rings[number]): [longitude: number, latitude: number][] {
  return Array.from({ length: ring.length / 2 }, (_, index) => [
    ring[2 * index] as number,
    ring[2 * index + 1] as number,
  ])
}

/** Vertices that are written before others may go on: half a millisecond. */
const VERTICES_AT_ONCE = 500

interface Notation {
  list: readonly [open: string, close: string]
  position(longitude: number, latitude: number): string
}

const GEOJSON: Notation = { list: ['[', ']'], position: (x, y) => `[${x},${y}]` }
const WELL_KNOWN: Notation = { list: ['(', ')'], position: (x, y) => `${x} ${y}` }

async function writePolygons(
  polygons: Rings[],
  { list: [open, close], position }: Notation,
  pause: Pause,
): Promise<string> {
  const texts: string[] = []
  for (const ring of polygons.flat()) {
    let text = ''
    for (let at = 0; at < ring.length; at += 2) {
      if (at % (2 * VERTICES_AT_ONCE) === 0) await pause()
      text += `${at === 0 ? '' : ','}${position(ring[at] as number, ring[at + 1] as number)}`
    }
    texts.push(`${open}${text}${close}`)
  }
  const listed = polygons.map((rings) => `${open}${texts.splice(0, rings.length).join()}${close}`)
  return `${open}${listed.join()}${close}`
}

/** The JSON of {@link toGeoJson}, with a pause in each long shape. */
export async function writeGeoJson({ type, polygons }: Outline, pause: Pause): Promise<string> {
  const text = await writePolygons(polygons, GEOJSON, pause)
  return `{"type":"${type}","coordinates":${type === 'Polygon' ? text.slice(1, -1) : text}}`
}

/** The same as well-known text. */
export async function writeWkt({ polygons }: Pick<Outline, 'polygons'>, pause: Pause): Promise<string> {
  return `MULTIPOLYGON${await writePolygons(polygons, WELL_KNOWN, pause)}`
}

export function invalid(field: string, rule: string): ApiError {
  const message = `${field} ${rule}`
  return new ApiError('INVALID_GEOMETRY', `${message}.`, [{ field, message }])
}

function readGeometry({ type, coordinates }: Record<string, unknown>, field: string): Outline {
  const at = within(field, 'coordinates')
  const budget = { left: MAX_VERTICES }
  switch (type) {
    case 'Polygon':
      return { type, polygons: [readPolygon(coordinates, at, budget)] }
    case 'MultiPolygon': {
      const polygons = asArray(coordinates, at, 'a list of polygons')
      if (polygons.length === 0) throw invalid(at, 'is empty: there is no polygon')
      return {
        type,
        polygons: polygons.map((polygon, index) => readPolygon(polygon, `${at}[${index}]`, budget)),
      }
    }
    default:
      throw invalid(
        within(field, 'type'),
        `must be Polygon or MultiPolygon, or Feature around one of them, not ${shown(type)}`,
      )
  }
}

function readPolygon(value: unknown, at: string, budget: { left: number }): Rings {
  const rings = asArray(value, at, 'a list of rings')
  if (rings.length === 0) throw invalid(at, 'is empty: a polygon needs an outer ring')
  return rings.map((ring, index) => readRing(ring, `${at}[${index}]`, budget))
}

function readRing(value: unknown, at: string, budget: { left: number }): Float64Array {
  const positions = asArray(value, at, 'a list of positions')
  budget.left -= positions.length
  if (budget.left < 0) {
    throw tooManyVertices()
  }
  if (positions.length < SMALLEST_RING) {
    throw invalid(
      at,
      `has ${positions.length} positions; a ring needs at least four, the last the same as the first`,
    )
  }
  const ring = new Float64Array(2 * positions.length)
  positions.forEach((position, index) => {
    const [longitude, latitude] = readPosition(position, () => `${at}[${index}]`)
    ring[2 * index] = longitude
    ring[2 * index + 1] = latitude
  })
  const last = ring.length - 2
  if (ring[0] !== ring[last] || ring[1] !== ring[last + 1]) {
    throw invalid(at, 'is not closed: its last position must be the same as its first')
  }
  if (isFlat(ring)) throw invalid(at, 'has no area: its positions lie on one line or point')
  return ring
}

/** @param pathOf creates the path, which only an error needs */
function readPosition(value: unknown, pathOf: () => string): [longitude: number, latitude: number] {
  if (!Array.isArray(value) || value.length < 2 || value.length > LONGEST_POSITION) {
    throw invalid(pathOf(), `must be [longitude, latitude], not ${shown(value)}`)
  }
  if (!value.every((number) => Number.isFinite(number))) {
    throw invalid(pathOf(), `must be [longitude, latitude] in numbers, not ${shown(value)}`)
  }
  const [longitude, latitude] = value as [number, number]
  if (Math.abs(longitude) > 180 || Math.abs(latitude) > 90) {
    const swapped = Math.abs(latitude) <= 180 && Math.abs(longitude) <= 90
    throw invalid(
      pathOf(),
      swapped
        ? `has the latitude ${latitude}: did you mean lng, lat? GeoJSON has the longitude first`
        : 'must have a longitude from -180 to 180 and a latitude from -90 to 90',
    )
  }
  return [longitude, latitude]
}

/** The area of a triangle below this share of its extent squared is noise of rounding. */
const FLAT = 2 ** -40

/** Whether all positions lie on one line. The area alone does not show it: rings that cross themselves may have none. */
function isFlat(ring: Float64Array): boolean {
  const x = ring[0] as number
  const y = ring[1] as number
  let farX = 0
  let farY = 0
  for (let at = 2; at < ring.length; at += 2) {
    const dx = (ring[at] as number) - x
    const dy = (ring[at + 1] as number) - y
    if (dx * dx + dy * dy > farX * farX + farY * farY) [farX, farY] = [dx, dy]
  }
  const extent = farX * farX + farY * farY
  for (let at = 2; at < ring.length; at += 2) {
    const twice = ((ring[at] as number) - x) * farY - ((ring[at + 1] as number) - y) * farX
    if (Math.abs(twice) > extent * FLAT) return false
  }
  return true
}

function refuseCrs(object: Record<string, unknown>, field: string): void {
  const other = findOtherCrs(object)
  if (other !== undefined) throw invalid(within(field, 'crs'), crsRule(other))
}

function asObject(value: unknown, field: string): Record<string, unknown> {
  if (isObject(value)) return value
  throw invalid(field, `must be a GeoJSON object, not ${shown(value)}`)
}

function asArray(value: unknown, field: string, what: string): unknown[] {
  if (Array.isArray(value)) return value
  throw invalid(field, `must be ${what}, not ${shown(value)}`)
}

function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  const text = JSON.stringify(value)
  return text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}...` : text
}

/** A part of a line from west to east inside, by its middle. */
interface Section extends Position {
  width: number
}

/**
 * A position inside valid polygons, to the last bit that of ST_PointOnSurface: the middle of the widest section of a line
 * from west to east through the middle of a polygon, or beside it if a vertex lies there. PostGIS took up to 30 ms, and
 * blocked the only connection of the embedded database.
 */
export function findInteriorPoint(polygons: Rings[]): Position {
  const sections = polygons.map(findWidestSection)
  const { longitude, latitude } = sections.reduce((widest, section) =>
    section.width > widest.width ? section : widest,
  )
  return { longitude, latitude }
}

function findWidestSection(rings: Rings): Section {
  const latitude = latitudeThrough(rings)
  const crossings = rings.flatMap((ring) => findCrossings(ring, latitude)).sort((a, b) => a - b)
  const [longitude, start] = rings[0] as unknown as [number, number]
  let widest: Section = { width: 0, longitude, latitude: start }
  for (let at = 0; at + 1 < crossings.length; at += 2) {
    const [west, east] = [crossings[at] as number, crossings[at + 1] as number]
    const width = east - west
    if (width > widest.width) widest = { width, longitude: (west + east) / 2, latitude }
  }
  return widest
}

/** The latitude between the two vertices closest to the middle of a polygon. */
function latitudeThrough(rings: Rings): number {
  const shell = rings[0] as Float64Array
  let south = Number.POSITIVE_INFINITY
  let north = Number.NEGATIVE_INFINITY
  for (let at = 1; at < shell.length; at += 2) {
    south = Math.min(south, shell[at] as number)
    north = Math.max(north, shell[at] as number)
  }
  const middle = (south + north) / 2
  for (const ring of rings) {
    for (let at = 1; at < ring.length; at += 2) {
      const latitude = ring[at] as number
      if (latitude <= middle) south = Math.max(south, latitude)
      else north = Math.min(north, latitude)
    }
  }
  return (north + south) / 2
}

/** The longitudes at which a ring crosses a latitude. A vertex on it counts as south. */
function findCrossings(ring: Float64Array, latitude: number): number[] {
  const crossings: number[] = []
  for (let at = 0; at + 3 < ring.length; at += 2) {
    const [x, y] = [ring[at] as number, ring[at + 1] as number]
    const [toX, toY] = [ring[at + 2] as number, ring[at + 3] as number]
    if (y > latitude === toY > latitude) continue
    crossings.push(x === toX ? x : x + (latitude - y) / ((toY - y) / (toX - x)))
  }
  return crossings
}

/**
 * Refuses polygons that are invalid by OGC Simple Features (1.2.1, section 6.1.11). ST_IsValid compares all edges whose
 * boxes meet, takes seconds for a comb, and cannot be interrupted on the embedded database.
 *
 * @throws {ApiError} with one of the faults and its position
 */
export async function refuseInvalid(polygons: Rings[], pause: Pause): Promise<void> {
  const fault = await findFault(polygons, pause)
  if (!fault) return
  const [longitude, latitude] = [roundDegrees(fault.longitude), roundDegrees(fault.latitude)]
  throw invalid('geometry', `${fault.rule}, at longitude ${longitude}, latitude ${latitude}`)
}

async function findFault(
  polygons: Rings[],
  pause: Pause,
): Promise<(Position & { rule: string }) | undefined> {
  const edges = new RingEdges(polygons)
  const roles = polygons.flatMap((rings, polygon) =>
    rings.map((_, index): RingRole => ({ polygon, hole: index > 0 })),
  )
  await pause()
  const steps = new Sweep(edges, roles.length).run()
  let step = steps.next()
  for (; !step.done; step = steps.next()) await pause()
  const found = step.value
  if ('kind' in found) {
    const { kind, longitude, latitude } = found
    return { rule: MEETING_RULES[kind], longitude, latitude }
  }
  const misplaced = findMisplaced(roles, found)
  if (misplaced) {
    const [longitude, latitude] = polygons.flat()[misplaced.ring] as unknown as [number, number]
    return { rule: misplaced.rule, longitude, latitude }
  }
  const cut = findCut(roles, found)
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

/** What a ring is of which polygon. */
interface RingRole {
  polygon: number
  hole: boolean
}

/** A misplaced ring, of rings that do not cross. */
function findMisplaced(
  roles: RingRole[],
  { around }: RingRelations,
): { ring: number; rule: string } | undefined {
  const holes = roles.map((role, ring) => (role.hole ? findSurroundings(ring, role.polygon) : undefined))
  const rules: [rule: string, isBroken: (role: RingRole, ring: number) => boolean][] = [
    ['has a hole outside of its polygon', (_, ring) => holes[ring]?.inShell === false],
    ['has a hole within another hole', (_, ring) => holes[ring]?.inHole === true],
    [
      'has a polygon within another one',
      ({ hole }, ring) => !hole && roles[around[ring] ?? -1]?.hole === false,
    ],
  ]
  for (const [rule, isBroken] of rules) {
    const ring = roles.findIndex(isBroken)
    if (ring !== -1) return { ring, rule }
  }
  return undefined

  /** The rings of its own polygon around a hole, up to the outer one. */
  function findSurroundings(ring: number, polygon: number): { inShell: boolean; inHole: boolean } {
    let inHole = false
    for (let outer = around[ring]; outer !== undefined; outer = around[outer]) {
      const role = roles[outer] as RingRole
      if (role.polygon !== polygon) continue
      if (!role.hole) return { inShell: true, inHole }
      inHole = true
    }
    return { inShell: false, inHole }
  }
}

/** A vertex where rings touch that other touches already connect: together they enclose a part of the inside. */
function findCut(roles: RingRole[], { touches }: RingRelations): number | undefined {
  const parents = roles.map((_, ring) => ring)
  const rootOf = (ring: number): number => {
    let root = ring
    while (parents[root] !== root) {
      // Halves the way of the next search.
      parents[root] = parents[parents[root] as number] as number
      root = parents[root] as number
    }
    return root
  }
  for (const { vertex, rings } of touches) {
    const first = new Map<number, number>()
    for (const ring of rings) {
      const { polygon } = roles[ring] as RingRole
      const other = first.get(polygon)
      if (other === undefined) first.set(polygon, ring)
      else if (rootOf(other) === rootOf(ring)) return vertex
      else parents[rootOf(ring)] = rootOf(other)
    }
  }
  return undefined
}
