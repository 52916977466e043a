import type { Area, Bounds, Catalog, CatalogRelease, Grid, Place, Position } from '../api-types.ts'
import { cacheOf } from '../shell/api.ts'
import { partsThatAreOn } from '../shell/extensions.ts'

/** The levels of areas that a catalog has, from the country down. */
export function listLevels({ boundaries }: Catalog): number[] {
  return [...new Set(boundaries.map(({ level }) => level))].sort((a, b) => a - b)
}

/** The statistics of a release in an area, by the names of figures. */
export interface AreaFigures {
  code: string
  [figure: string]: unknown
}

/** By the codes of areas. */
export type Figures = ReadonlyMap<string, AreaFigures>

/** Where areas and their statistics come from: an extension. */
export interface AreaSource {
  /** All areas of a level of a country. */
  list(country: string, level: number): Promise<Area[]>
  find(area: Omit<Area, 'geometry'>): Promise<Area>
  /** @param areas of one level */
  figures(
    areas: Area[],
    release: CatalogRelease,
    progress: (found: number, all: number) => void,
  ): Promise<Figures>
}

const SOURCES = import.meta.glob<AreaSource>('../extensions/*/areas.ts', { eager: true, import: 'source' })

/** None where the service gives out no areas: maps have no borders then, and there is no table. */
export const areaSource = (): AreaSource | undefined => partsThatAreOn(SOURCES)[0]

/** Makes a cache of the areas of a level of a country. @param catalog says which levels are loaded */
export function createAreas({ boundaries }: Catalog) {
  const cached = cacheOf<Area[]>()
  const isLoaded = (country: string, level: number) =>
    boundaries.some((one) => one.country_code === country && one.level === level)

  /** @param level 0 is the country */
  return (country: string, level: number) => {
    const load = async () =>
      isLoaded(country, level) ? ((await areaSource()?.list(country, level)) ?? []) : []
    return cached(`${country}-${level}`, load)
  }
}

/**
 * Makes what finds the smallest areas of the country that a place lies in: near by, those of the first level have nothing to
 * find one's way by.
 */
export function createFinest({ countries, boundaries }: Catalog, areasOf: AreasOf) {
  return async (place: Place): Promise<Area[]> => {
    const outlines = await outlinesOf({ countries }, areasOf)
    const code = outlines.find((area) => contains(area, place))?.country_code
    const levels = boundaries.filter((one) => one.country_code === code).map(({ level }) => level)
    return code === undefined ? [] : orNone(areasOf(code, Math.max(0, ...levels)))
  }
}

export type AreasOf = ReturnType<typeof createAreas>

/** Areas, or none where they cannot be had: what lies on top of values may be missing. */
export const orNone = (areas: Promise<Area[]>): Promise<Area[]> => areas.catch(() => [])

/** The outlines of countries, as far as they can be had. */
export async function outlinesOf({ countries }: Pick<Catalog, 'countries'>, areasOf: AreasOf) {
  return (await Promise.all(countries.map(({ code }) => orNone(areasOf(code, 0))))).flat()
}

function polygonsOf(geometry: Area['geometry']): Position[][][] {
  return geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
}

export function boundsOf({ geometry }: Area): Bounds {
  const positions = polygonsOf(geometry).flatMap(([outer = []]) => outer)
  const lngs = positions.map(([lng]) => lng)
  const lats = positions.map(([, lat]) => lat)
  return [Math.min(...lngs), Math.min(...lats), Math.max(...lngs), Math.max(...lats)]
}

/** Whether a place lies in an area: a line to the east crosses its border an odd number of times. */
export function contains({ geometry }: Area, { lat, lng }: Place) {
  return polygonsOf(geometry).some((rings) => crossings(rings, lat).filter((at) => at > lng).length % 2 === 1)
}

/** A place inside of an area: the middle of its widest part, halfway up. */
export function placeInside({ geometry }: Area): Place {
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

/** Where the rings of a polygon cross a latitude. */
function crossings(rings: Position[][], latitude: number) {
  const found = []
  for (const ring of rings) {
    for (let at = 0; at + 1 < ring.length; at++) {
      const [[lng1, lat1], [lng2, lat2]] = [ring[at], ring[at + 1]] as [Position, Position]
      if (lat1 > latitude === lat2 > latitude) continue
      found.push(lng1 + ((latitude - lat1) / (lat2 - lat1)) * (lng2 - lng1))
    }
  }
  return found
}

/**
 * The pixel of a grid that a place lies in, as a ring; undefined where that cannot be said from its extent alone.
 */
export function pixelAt(grids: Grid[], { lat, lng }: Place): Position[] | undefined {
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

/** Of coordinates: about a metre. */
const DECIMALS = 5

export const short = (degrees: number) => Number(degrees.toFixed(DECIMALS))

/** A place as links and calls name it. */
export const shortPlace = ({ lat, lng }: Place) => ({ lat: short(lat), lng: short(lng) })

/** Whether there is such a place. */
export const isPlace = (lat: number, lng: number) => Math.abs(lat) <= 90 && Math.abs(lng) <= 180
