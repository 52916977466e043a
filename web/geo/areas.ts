import { ApiFailure, addressOf, ask, get } from '../shell/api.ts'
import { patiently } from '../shell/patience.ts'

/**
 * @typedef {import('../api-types.ts').Area} Area
 * @typedef {import('../api-types.ts').Place} Place
 * @typedef {import('../api-types.ts').Position} Position
 */

/** The levels of areas, from the country down. */
export const LEVELS = [0, 1, 2, 3]

/** How far shapes may be from what they are: half a pixel of a map of a country. */
const COARSE_DEGREES = 0.01

/** The same where nobody looks at shapes: names of areas come with some. */
export const ROUGH_DEGREES = 5

const PAGE = 1000

/**
 * Makes what knows the areas of a level of a country; they are asked for once.
 *
 * @param {import('../api-types.ts').Catalog} catalog says which levels are loaded
 * @param {number} [degrees] how far shapes may be from what they are
 */
export function createAreas({ boundaries }, degrees = COARSE_DEGREES) {
  /** @type {Map<string, Promise<Area[]>>} */
  const known = new Map()

  /**
   * @param {string} country
   * @param {number} level 0 is the country
   */
  return function areasOf(country, level) {
    const key = `${country}-${level}`
    const areas = known.get(key) ?? (isLoaded(country, level) ? load(key, degrees) : Promise.resolve([]))
    known.set(key, areas)
    areas.catch(() => known.delete(key))
    return areas
  }

  /**
   * @param {string} country
   * @param {number} level
   */
  function isLoaded(country, level) {
    return boundaries.some((one) => one.country_code === country && one.level === level)
  }
}

/**
 * The area itself, of one that is known roughly.
 *
 * @param {Area} area
 * @returns {Promise<Area>}
 */
export async function areaItself({ country_code, level, code }) {
  const path = `ogc/collections/areas-${country_code}-${level}/items/${encodeURIComponent(code)}`
  return areaOf(await get(path, { 'max-allowable-offset': COARSE_DEGREES }))
}

/**
 * @param {string} key
 * @param {number} degrees
 * @returns {Promise<Area[]>}
 */
async function load(key, degrees) {
  const areas = []
  const path = `ogc/collections/areas-${key}/items`
  try {
    let address = addressOf(path, { limit: PAGE, 'max-allowable-offset': degrees })
    for (;;) {
      const asked = address
      // Tiles of a service that is busy are asked for again; borders are to come with them.
      const page = await patiently(() => ask(asked))
      areas.push(...page.features.map(areaOf))
      const next = page.links?.find((/** @type {{ rel: string }} */ { rel }) => rel === 'next')
      if (!next) return areas
      // The host may have another name for the service itself.
      address = new URL(new URL(next.href).search, addressOf(path))
    }
  } catch (error) {
    // Whatever is not there is not on the map.
    if (error instanceof ApiFailure && error.status === 404) return []
    throw error
  }
}

/**
 * Areas, or none where they cannot be had: what lies on top of values may be missing.
 *
 * @param {Promise<Area[]>} areas
 * @returns {Promise<Area[]>}
 */
export const orNone = (areas) => areas.catch(() => [])

/** @param {{ properties: Omit<Area, 'geometry'>, geometry: Area['geometry'] }} feature */
const areaOf = ({ properties, geometry }) => ({ ...properties, geometry })

/**
 * @param {Area['geometry']} geometry
 * @returns {Position[][][]}
 */
export function polygonsOf(geometry) {
  return geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
}

/**
 * @param {Area} area
 * @returns {[west: number, south: number, east: number, north: number]}
 */
export function boundsOf({ geometry }) {
  const positions = polygonsOf(geometry).flatMap(([outer = []]) => outer)
  const lngs = positions.map(([lng]) => lng)
  const lats = positions.map(([, lat]) => lat)
  return [Math.min(...lngs), Math.min(...lats), Math.max(...lngs), Math.max(...lats)]
}

/**
 * Whether a place lies in an area: a line to the east crosses its border an odd number of times.
 *
 * @param {Area} area
 * @param {Place} place
 */
export function contains({ geometry }, { lat, lng }) {
  return polygonsOf(geometry).some((rings) => crossings(rings, lat).filter((at) => at > lng).length % 2 === 1)
}

/**
 * A place inside of an area: the middle of its widest part, halfway up.
 *
 * @param {Area} area
 * @returns {Place}
 */
export function placeInside({ geometry }) {
  let best = { lat: 0, lng: 0, width: -1 }
  for (const rings of polygonsOf(geometry)) {
    const lats = (rings[0] ?? []).map(([, lat]) => lat)
    const lat = (Math.min(...lats) + Math.max(...lats)) / 2
    const ends = crossings(rings, lat).sort((a, b) => a - b)
    for (let at = 0; at + 1 < ends.length; at += 2) {
      const [west = 0, east = 0] = ends.slice(at, at + 2)
      if (east - west > best.width) best = { lat, lng: (west + east) / 2, width: east - west }
    }
  }
  return { lat: best.lat, lng: best.lng }
}

/**
 * Where the rings of a polygon cross a latitude.
 *
 * @param {Position[][]} rings
 * @param {number} latitude
 */
function crossings(rings, latitude) {
  const found = []
  for (const ring of rings) {
    for (let at = 0; at + 1 < ring.length; at++) {
      const [[lng1, lat1], [lng2, lat2]] = /** @type {[Position, Position]} */ ([ring[at], ring[at + 1]])
      if (lat1 > latitude === lat2 > latitude) continue
      found.push(lng1 + ((latitude - lat1) / (lat2 - lat1)) * (lng2 - lng1))
    }
  }
  return found
}

/**
 * The pixel of a grid that a place lies in, as a ring; undefined where that cannot be said from its extent alone.
 *
 * @param {import('../api-types.ts').Grid[]} grids
 * @param {Place} place
 * @returns {Position[] | undefined}
 */
export function pixelAt(grids, { lat, lng }) {
  const [grid] = grids
  if (!grid || grids.length > 1 || grid.srid !== 4326) return undefined
  const [west, south, east, north] = grid.extent
  const across = (east - west) / grid.width
  const down = (north - south) / grid.height
  const column = Math.floor((lng - west) / across)
  const row = Math.floor((north - lat) / down)
  if (column < 0 || row < 0 || column >= grid.width || row >= grid.height) return undefined
  const [left, right] = [west + column * across, west + (column + 1) * across]
  const [top, bottom] = [north - row * down, north - (row + 1) * down]
  return [
    [left, bottom],
    [right, bottom],
    [right, top],
    [left, top],
    [left, bottom],
  ]
}
