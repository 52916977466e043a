import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { JSONParser } from '@streamparser/json'
import { OperatorError } from '#src/errors.ts'
import type { FeatureFile, RawFeature } from './feature.ts'

/** Bytes read at a time: the features that end in them are in memory together. */
const CHUNK_BYTES = 64 * 1024

/** Names of WGS 84 in longitude and latitude, in the `crs` member of GeoJSON before RFC 7946. */
const WGS84_NAMES = /(CRS84|EPSG:[^:]*:?4326)$/i

const BYTE_ORDER_MARK = '\uFEFF'

/** A GeoJSON FeatureCollection. It is read as a stream, so that its size does not matter. */
export function geoJsonFile(path: string): FeatureFile {
  const name = basename(path)
  return { name, paths: [path], features: () => readFeatures(path, name) }
}

async function* readFeatures(path: string, name: string): AsyncGenerator<RawFeature> {
  let features: RawFeature[] = []
  let count = 0
  let type: unknown
  // Everything else of a document, other features of the file among it, is forgotten as it is read.
  const parser = new JSONParser({ paths: ['$.type', '$.crs', '$.features.*'], keepStack: false })
  parser.onValue = ({ value, key, stack }) => {
    if (stack.length > 1) features.push(rawFeature(name, ++count, key, value))
    else if (key === 'type') type = value
    else refuseOtherCrs(name, value)
  }

  let first = true
  for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: CHUNK_BYTES })) {
    const text: string = first && chunk.startsWith(BYTE_ORDER_MARK) ? chunk.slice(1) : chunk
    first = false
    feed(() => parser.write(text))
    if (type !== undefined) refuseOtherType(name, type)
    yield* features
    features = []
  }
  if (!parser.isEnded) feed(() => parser.end())
  if (type === undefined) refuseOtherType(name, type)
  if (count === 0) throw new OperatorError(`${name} has no features.`)

  function feed(write: () => void): void {
    try {
      write()
    } catch (error) {
      if (error instanceof OperatorError) throw error
      const where = count > 0 ? `after feature ${count}` : 'at its beginning'
      throw new OperatorError(`${name} is not GeoJSON: ${where} it is cut off or is not JSON.`)
    }
  }
}

function rawFeature(name: string, number: number, key: unknown, value: unknown): RawFeature {
  if (typeof key !== 'number') throw new OperatorError(`${name} is not GeoJSON: its features are not a list.`)
  const { type, properties, geometry } = (value ?? {}) as Record<string, unknown>
  if (type !== 'Feature') {
    throw new OperatorError(`${name} is not GeoJSON: entry ${number} of its features is not a Feature.`)
  }
  return { number, geometry, properties: (properties ?? {}) as Record<string, unknown> }
}

function refuseOtherType(name: string, type: unknown): void {
  if (type === 'FeatureCollection') return
  const is = typeof type === 'string' ? `a ${type}, not a FeatureCollection` : 'not a FeatureCollection'
  throw new OperatorError(`${name} is ${is}: boundaries are loaded from GeoJSON FeatureCollections.`)
}

function refuseOtherCrs(name: string, crs: unknown): void {
  const crsName = (crs as { properties?: { name?: unknown } } | null)?.properties?.name
  if (crs === null || (typeof crsName === 'string' && WGS84_NAMES.test(crsName))) return
  const known = typeof crsName === 'string' ? `the CRS ${crsName}` : 'a CRS without a name'
  throw new OperatorError(
    `${name} is in ${known}, not in WGS 84: convert it with \`ogr2ogr -t_srs EPSG:4326 OUT.geojson ${name}\`.`,
  )
}
