import { extname } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { quoted } from '../geotiff/other-formats.ts'

export const TOPOJSON = 'TopoJSON'
const LINES = 'GeoJSON of one feature a line'

/** Files of boundaries that are not read, by their endings. */
export const KINDS: Record<string, string> = {
  '.kml': 'KML',
  '.kmz': 'KML',
  '.fgb': 'FlatGeobuf',
  '.topojson': TOPOJSON,
  '.parquet': 'GeoParquet',
  '.geoparquet': 'GeoParquet',
  '.geojsonl': LINES,
  '.geojsons': LINES,
  '.ndjson': LINES,
  '.gml': 'GML',
}

/** Refuses a file with the line for a shell that makes one of it that is read, with all of its layers. */
export function refuseOtherKind(name: string, kind: string): never {
  const made = quoted(`${name.slice(0, name.length - extname(name).length)}.gpkg`)
  // Nothing in TopoJSON says a CRS, which there would be to convert from.
  const crs = `${kind === TOPOJSON ? '-a_srs' : '-t_srs'} EPSG:4326`
  throw new OperatorError(
    `${name} is ${kind}, which is not read: \`ogr2ogr ${crs} ${made} ${quoted(name)}\` makes a GeoPackage of it.`,
  )
}
