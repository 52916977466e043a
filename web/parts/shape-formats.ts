// Outlines as programs of field work write them: rings of longitude and latitude, not closed.

/** A polygon: its outer ring and its holes. */
export type Polygon = number[][][]

/** What a file holds. */
export interface Outlines {
  polygons: Polygon[]
  name?: string
  /** Whether the rings are a track, whose end is joined to its beginning. */
  isTrack?: boolean
}

/** KML or GPX. @returns none where the text is neither */
export function readXml(text: string): Outlines | undefined {
  const document = new DOMParser().parseFromString(text, 'application/xml')
  const root = document.documentElement
  if (document.getElementsByTagName('parsererror').length > 0) return undefined
  if (root.localName === 'kml') return readKml(root)
  return root.localName === 'gpx' ? readGpx(root) : undefined
}

const within = (element: Element, name: string) => [...element.getElementsByTagNameNS('*', name)]

function readKml(root: Element): Outlines {
  const ringsIn = (element: Element) =>
    within(element, 'coordinates').map(({ textContent }) =>
      (textContent ?? '')
        .trim()
        .split(/\s+/)
        .map((tuple) => tuple.split(',').slice(0, 2).map(Number)),
    )
  const polygons = within(root, 'Polygon')
  const [named] = polygons.map((polygon) => polygon.closest('Placemark'))
  if (polygons.length > 0) {
    return { polygons: polygons.map(ringsIn), ...nameOf(named ?? root) }
  }
  const lines = [...within(root, 'LineString'), ...within(root, 'LinearRing')]
  return {
    polygons: lines.flatMap(ringsIn).map((ring) => [ring]),
    ...nameOf(lines[0]?.closest('Placemark') ?? root),
    isTrack: true,
  }
}

/** Parts of a track are one: a receiver lost the signal between them. */
function readGpx(root: Element): Outlines {
  const lines = [...within(root, 'trk'), ...within(root, 'rte')]
  const positionsIn = (line: Element) =>
    [...within(line, 'trkpt'), ...within(line, 'rtept')].map((point) => [
      Number(point.getAttribute('lon') ?? Number.NaN),
      Number(point.getAttribute('lat') ?? Number.NaN),
    ])
  const rings = lines.map(positionsIn).filter((ring) => ring.length > 0)
  return { polygons: rings.map((ring) => [ring]), ...nameOf(lines[0] ?? root), isTrack: true }
}

function nameOf(element: Element) {
  const found = [...element.children].find(({ localName }) => localName === 'name')?.textContent?.trim()
  return found ? { name: found } : {}
}

const NUMBER = String.raw`[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?`
const WKT = /^(?:SRID\s*=\s*4326\s*;\s*)?(MULTI)?POLYGON\s*(?:ZM|Z|M)?\s*(\([\s\S]*\))\s*;?$/i
const WKT_POSITION = new RegExp(`(${NUMBER})\\s+(${NUMBER})(?:\\s+${NUMBER}){0,2}`, 'gi')

/** Well-known text. @returns none where the text is none, or not readable */
export function readWkt(text: string): Outlines | undefined {
  const [, isMulti, body = ''] = WKT.exec(text) ?? []
  if (body === '') return undefined
  try {
    const read = JSON.parse(
      body.replaceAll(WKT_POSITION, '[$1,$2]').replaceAll('(', '[').replaceAll(')', ']').replaceAll('+', ''),
    )
    return { polygons: isMulti ? read : [read] }
  } catch {
    return undefined
  }
}

const ODK_POSITION = new RegExp(`^(${NUMBER})\\s+(${NUMBER})(?:\\s+${NUMBER}){0,2}$`, 'i')

/** A geoshape or geotrace of ODK: latitude, longitude, altitude and accuracy, with semicolons between. */
export function readGeoshape(text: string): Outlines | undefined {
  const parts = text.split(';').map((part) => part.trim())
  if (parts.at(-1) === '') parts.pop()
  if (parts.length < 3) return undefined
  const ring = parts.map((part) => ODK_POSITION.exec(part)?.slice(1, 3).map(Number).reverse())
  return ring.includes(undefined) ? undefined : { polygons: [[ring as number[][]]] }
}
