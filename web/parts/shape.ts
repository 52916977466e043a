import type { Bounds } from '../api-types.ts'
import { field } from '../texts/en.ts'
import { NotRead } from './csv.ts'
import { wrongAt } from './form.ts'
import { type Outlines, readGeoshape, readWkt, readXml } from './shape-formats.ts'

// The shape of a field, as a visitor pastes or drops it.

export type Shape =
  | { type: 'Polygon'; coordinates: number[][][] }
  | { type: 'MultiPolygon'; coordinates: number[][][][] }

/** GeoJSON that may have anything in it. */
interface Sent {
  type?: unknown
  coordinates?: unknown
  features?: Sent[]
  geometry?: Sent
  properties?: { name?: unknown }
  crs?: unknown
}

export interface Field {
  shape: Shape
  name?: string
  /** The metres that a track ended from its beginning. */
  gap?: number
}

/** Its line may be the system of coordinates. */
export class NoShape extends NotRead<keyof typeof field.wrong, number | string> {}

const NUMBER = String.raw`[-+]?\d+(?:\.\d+)?`
const COMMA_NUMBER = String.raw`[-+]?\d+,\d+`
/** Two numbers and nothing else, however they are kept apart; with decimal commas, both have one. */
const PAIRS = [NUMBER, COMMA_NUMBER].map(
  (number) => new RegExp(String.raw`^\(?\s*(${number})\s*[,;\s]\s*(${number})\s*\)?[,;]?$`),
)

/**
 * An outline as people have it: GeoJSON, KML, GPX, well-known text, a geoshape of ODK, or a corner a line, latitude
 * first.
 *
 * @param isSwapped whether latitude and longitude have each other's place in the text
 * @throws {NoShape}
 */
export function readField(text: string, isSwapped = false): Field {
  const trimmed = text.replaceAll('\u001e', '').trim()
  if (trimmed === '') throw new NoShape('empty')
  if (trimmed.startsWith('{')) return swap(readGeoJson(trimmed), isSwapped)
  if (trimmed.startsWith('<')) {
    const outlines = readXml(trimmed)
    if (!outlines) throw new NoShape('notXml')
    return swap(fieldWithin(outlines), isSwapped)
  }
  const outlines = readWkt(trimmed) ?? readGeoshape(trimmed)
  return outlines ? swap(fieldWithin(outlines), isSwapped) : { shape: readCorners(trimmed, isSwapped) }
}

function swap(field: Field, isSwapped: boolean): Field {
  if (!isSwapped) return field
  const turned = (value: unknown): unknown =>
    Array.isArray(value) && !Array.isArray(value[0]) ? [value[1], value[0]] : (value as unknown[]).map(turned)
  return { ...field, shape: { ...field.shape, coordinates: turned(field.shape.coordinates) } as Shape }
}

function fieldWithin({ polygons, name, isTrack }: Outlines): Field {
  if (polygons.length > 1) throw new NoShape('manyShapes')
  const [rings = []] = polygons
  if (rings.length === 0) throw new NoShape('noPolygon')
  const coordinates = rings.map((ring) => closed(ring))
  const [first, last] = [rings[0]?.[0], rings[0]?.at(-1)]
  const gap = isTrack && first && last ? Math.round(metresBetween(first, last)) : 0
  const shape: Shape = { type: 'Polygon', coordinates }
  return { shape, ...(name && { name: name.slice(0, 200) }), ...(gap > 0 && { gap }) }
}

/** @throws {NoShape} for positions that are none, and for fewer than three corners */
function closed(ring: number[][]): number[][] {
  for (const [lng = Number.NaN, lat = Number.NaN] of ring) {
    if (!(Math.abs(lng) <= 180 && Math.abs(lat) <= 90)) throw new NoShape('noPolygon')
  }
  const [first, last] = [ring[0], ring.at(-1)]
  const isOpen = first && last && (first[0] !== last[0] || first[1] !== last[1])
  const whole = isOpen ? [...ring, [...first]] : ring
  if (whole.length < 4) throw new NoShape('fewPairs')
  return whole
}

const METRES_A_DEGREE = 111_320

function metresBetween([lng = 0, lat = 0]: number[], [toLng = 0, toLat = 0]: number[]) {
  return METRES_A_DEGREE * Math.hypot((toLng - lng) * Math.cos((lat * Math.PI) / 180), toLat - lat)
}

function readGeoJson(text: string): Field {
  let sent: Sent
  try {
    sent = JSON.parse(text)
  } catch {
    throw new NoShape('notJson')
  }
  return fieldOf(sent)
}

function fieldOf(sent: Sent | undefined): Field {
  const other = otherCrsOf(sent)
  if (other !== undefined) throw new NoShape('otherCrs', other)
  if (sent?.type === 'FeatureCollection' && Array.isArray(sent.features)) {
    const shapes = sent.features.filter((feature) => isShape(feature?.geometry))
    if (shapes.length > 1) throw new NoShape('manyShapes')
    return fieldOf(shapes[0])
  }
  if (sent?.type === 'Feature') {
    const { shape } = fieldOf(sent.geometry)
    const name = sent.properties?.name
    return typeof name === 'string' && name.trim() !== ''
      ? { shape, name: name.trim().slice(0, 200) }
      : { shape }
  }
  if (!isShape(sent)) throw new NoShape('noPolygon')
  return { shape: { type: sent.type, coordinates: sent.coordinates } as Shape }
}

/** The service's rule (src/lib/geojson.ts): WGS 84 by any of its names. */
const WGS84 =
  /^(?:(?:(?:urn|https?|ogc|epsg)[:/](?:.*[:/#])?)?(?:crs:?84h?|4326|4979|2:84)|(?:gcs_)?wgs[ _-]?(?:19)?84(?: \(crs84\))?)$/i

/** The system of coordinates of GeoJSON where it is another one. */
function otherCrsOf(sent: Sent | undefined) {
  const crs = sent?.crs
  if (crs === undefined || crs === null) return undefined
  const { type, properties } = (typeof crs === 'object' ? crs : { properties: { name: crs } }) as {
    type?: unknown
    properties?: { name?: unknown; code?: unknown; href?: unknown } | null
  }
  const { name, code, href } = properties ?? {}
  const isEpsg = /^epsg$/i.test(String(type)) && code !== undefined
  const link =
    typeof href === 'string' ? href.replace(/\/(?:(?:esri|ogc)?wkt|proj4|gml)?\/?$/i, '') : undefined
  const found = isEpsg ? `EPSG:${code}` : (name ?? link)
  const said = typeof found === 'string' || typeof found === 'number' ? String(found).trim() : ''
  if (said === '') return 'a system without a name'
  return WGS84.test(said) ? undefined : said.slice(0, 60)
}

function isShape(geometry: Sent | undefined): geometry is Shape {
  return (
    ['Polygon', 'MultiPolygon'].includes(geometry?.type as string) && Array.isArray(geometry?.coordinates)
  )
}

function readCorners(text: string, isSwapped: boolean): Shape {
  const ring: number[][] = []
  for (const [index, line] of text.split(/\r\n|[\r\n]/).entries()) {
    if (line.trim() === '') continue
    const pair = PAIRS.map((form) => form.exec(line.trim())).find((found) => found !== null)
    const [first, second] = (pair ?? []).slice(1).map((number) => Number(number.replace(',', '.')))
    if (first === undefined || second === undefined) throw new NoShape('notPairs', index + 1)
    const [lat, lng] = isSwapped ? [second, first] : [first, second]
    if (Math.abs(lat) > 90 || Math.abs(lng) > 180) throw new NoShape('outOfRange', index + 1)
    ring.push([lng, lat])
  }
  return { type: 'Polygon', coordinates: [closed(ring)] }
}

/**
 * The shape of a text with latitude and longitude swapped, where it lies on a map that is asked for and the text itself
 * does not.
 */
export function swappedInto(extents: readonly Bounds[], text: string): Field | undefined {
  const read = (isSwapped: boolean) => {
    try {
      return readField(text, isSwapped)
    } catch {
      return undefined
    }
  }
  const isInside = ({ shape }: Field) => {
    const [west, south, east, north] = boundsOf(shape)
    return extents.some(([w, s, e, n]) => west >= w && south >= s && east <= e && north <= n)
  }
  const [here, there] = [read(false), read(true)]
  return there && isInside(there) && !(here && isInside(here)) ? there : undefined
}

/**
 * The corners of a shape, as they are typed: a line each, latitude first. Only of a polygon without holes.
 *
 * @returns GeoJSON, where lines cannot say it
 */
export function fieldText(shape: Shape): string {
  if (shape.type !== 'Polygon' || shape.coordinates.length !== 1) return JSON.stringify(shape)
  const ring = shape.coordinates[0] ?? []
  return ring
    .slice(0, -1)
    .map(([lng, lat]) => `${lat}, ${lng}`)
    .join('\n')
}

export function boundsOf(shape: Shape): Bounds {
  const rings = shape.type === 'Polygon' ? shape.coordinates : shape.coordinates.flat()
  const lngs = rings.flat().map(([lng]) => Number(lng))
  const lats = rings.flat().map(([, lat]) => Number(lat))
  return [
    lngs.reduce((a, b) => Math.min(a, b)),
    lats.reduce((a, b) => Math.min(a, b)),
    lngs.reduce((a, b) => Math.max(a, b)),
    lats.reduce((a, b) => Math.max(a, b)),
  ]
}

/**
 * A field as it is typed.
 *
 * @param name of the control that it is typed into
 * @throws {Error} with a sentence, and the control that it is about, as the service says it
 */
export function readOrSay(text: string, name: string) {
  try {
    return readField(text)
  } catch (error) {
    if (!(error instanceof NoShape)) throw error
    throw wrongAt(name, field.wrong[error.reason](error.line ?? ''))
  }
}
