// What somebody pastes or drops as the shape of a field.

/** @typedef {{ type: 'Polygon', coordinates: number[][][] } | { type: 'MultiPolygon', coordinates: number[][][][] }} Shape */
/** @typedef {{ shape: Shape, name?: string }} Field */

/** Why a text is no shape: the key of its sentence. */
export class NoShape extends Error {
  /** @param {'empty' | 'notJson' | 'noPolygon' | 'manyShapes' | 'notPairs' | 'fewPairs' | 'outOfRange'} reason @param {number} [line] from 1 */
  constructor(reason, line) {
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
 * @param {string} text
 * @returns {Field}
 * @throws {NoShape}
 */
export function readField(text) {
  const trimmed = text.trim()
  if (trimmed === '') throw new NoShape('empty')
  return trimmed.startsWith('{') ? readGeoJson(trimmed) : { shape: readCorners(trimmed) }
}

/**
 * @param {string} text
 * @returns {Field}
 */
function readGeoJson(text) {
  let sent: any
  try {
    sent = JSON.parse(text)
  } catch {
    throw new NoShape('notJson')
  }
  return fieldOf(sent)
}

/**
 * @param {any} sent
 * @returns {Field}
 */
function fieldOf(sent) {
  if (sent?.type === 'FeatureCollection' && Array.isArray(sent.features)) {
    const shapes = sent.features.filter((/** @type {any} */ feature) => isShape(feature?.geometry))
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
  return { shape: { type: sent.type, coordinates: sent.coordinates } }
}

/** @param {any} geometry */
function isShape(geometry) {
  return ['Polygon', 'MultiPolygon'].includes(geometry?.type) && Array.isArray(geometry.coordinates)
}

/**
 * @param {string} text
 * @returns {Shape}
 */
function readCorners(text) {
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
 * @param {Shape} shape
 * @returns {string} GeoJSON, where lines cannot say it
 */
export function fieldText(shape) {
  if (shape.type !== 'Polygon' || shape.coordinates.length !== 1) return JSON.stringify(shape)
  const ring = shape.coordinates[0] ?? []
  return ring
    .slice(0, -1)
    .map(([lng, lat]) => `${lat}, ${lng}`)
    .join('\n')
}

/**
 * West, south, east and north.
 *
 * @param {Shape} shape
 * @returns {[number, number, number, number]}
 */
export function boundsOf(shape) {
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
