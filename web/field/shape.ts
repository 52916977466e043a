import type { Bounds } from '../api-types.ts'
import { field } from '../texts/en.ts'

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
}

interface Field {
  shape: Shape
  name?: string
}

type Reason = 'empty' | 'notJson' | 'noPolygon' | 'manyShapes' | 'notPairs' | 'fewPairs' | 'outOfRange'

/** Why a text is no shape: the key of its sentence. */
export class NoShape extends Error {
  declare readonly reason: Reason
  /** From 1. */
  declare readonly line: number | undefined

  constructor(reason: Reason, line?: number) {
    super(reason)
    this.reason = reason
    this.line = line
  }
}

const NUMBER = String.raw`[-+]?\d+(?:\.\d+)?`
/** Two numbers and nothing else, however they are kept apart. */
const PAIR = new RegExp(String.raw`^\(?\s*(${NUMBER})\s*[,;\s]\s*(${NUMBER})\s*\)?[,;]?$`)

/**
 * GeoJSON, or a corner a line: latitude, then longitude.
 *
 * @throws {NoShape}
 */
export function readField(text: string): Field {
  const trimmed = text.trim()
  if (trimmed === '') throw new NoShape('empty')
  return trimmed.startsWith('{') ? readGeoJson(trimmed) : { shape: readCorners(trimmed) }
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

function isShape(geometry: Sent | undefined): geometry is Shape {
  return (
    ['Polygon', 'MultiPolygon'].includes(geometry?.type as string) && Array.isArray(geometry?.coordinates)
  )
}

function readCorners(text: string): Shape {
  const ring = []
  for (const [index, line] of text.split(/\r\n|[\r\n]/).entries()) {
    if (line.trim() === '') continue
    const [, lat, lng] = PAIR.exec(line.trim()) ?? []
    if (lat === undefined || lng === undefined) throw new NoShape('notPairs', index + 1)
    if (Math.abs(Number(lat)) > 90 || Math.abs(Number(lng)) > 180) throw new NoShape('outOfRange', index + 1)
    ring.push([Number(lng), Number(lat)])
  }
  const [first, last] = [ring[0], ring.at(-1)]
  if (first && last && (first[0] !== last[0] || first[1] !== last[1])) ring.push([...first])
  if (ring.length < 4) throw new NoShape('fewPairs')
  return { type: 'Polygon', coordinates: [ring] }
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
    const message = field.wrong[error.reason](error.line ?? 0)
    throw Object.assign(new Error(message), { details: [{ field: name, message }] })
  }
}
