import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import type { Readable } from 'node:stream'
import { JSONParser, TokenType } from '@streamparser/json'
import { OperatorError } from '#src/errors.ts'
import { refuseOtherKind, TOPOJSON } from '../other-formats.ts'
import { type FeatureFile, MAX_POSITIONS, type RawFeature } from './feature.ts'

/** Features that end in a chunk are in memory together. */
const CHUNK_BYTES = 64 * 1024

const TOKEN_BYTES = 1024

/** WGS 84 in the `crs` member of GeoJSON before RFC 7946. */
const WGS84_NAMES = /(CRS84|EPSG:[^:]*:?4326)$/i

/** Finely drawn features have 20 to 40 characters a position. */
const MAX_FEATURE_CHARACTERS = 24 * 2 ** 20

/** Read as a stream: only the size of a feature matters. */
export function geoJsonFile(path: string): FeatureFile {
  const name = basename(path)
  return {
    name,
    paths: [path],
    reading: [],
    async *features() {
      const { size } = await stat(path)
      yield* geoJsonFeatures(name, createReadStream(path, { highWaterMark: CHUNK_BYTES }), size)
    },
  }
}

export async function* geoJsonFeatures(
  name: string,
  bytes: Readable,
  size: number,
): AsyncGenerator<RawFeature> {
  let features: RawFeature[] = []
  let position = 0
  let count = 0
  let type: unknown
  // The parser drops all other values, finished features included.
  const parser = new JSONParser({
    paths: ['$.type', '$.crs', '$.features.*'],
    keepStack: false,
    // By default, gathering single characters takes ten times the memory.
    stringBufferSize: TOKEN_BYTES,
    numberBufferSize: TOKEN_BYTES,
  })
  parser.onValue = ({ value, key, stack }) => {
    if (stack.length > 1) {
      features.push({ ...rawFeature(name, ++count, key, value), read: position / size })
      characters = 0
      lists = 0
    } else if (key === 'type') type = value
    else refuseOtherCrs(name, value)
  }

  // In memory since the end of the last feature.
  let characters = 0
  let lists = 0
  parser.onToken = ({ token }) => {
    if (token !== TokenType.LEFT_BRACKET && token !== TokenType.LEFT_BRACE) return
    lists++
    if (lists > MAX_POSITIONS)
      refuseLarge(name, count, `${MAX_POSITIONS} lists and objects, positions among them`)
  }

  const decoder = new TextDecoder('utf-8', { fatal: true })
  for await (const chunk of bytes) {
    const text = decoded(chunk)
    position += chunk.length
    characters += text.length
    if (characters > MAX_FEATURE_CHARACTERS) refuseLarge(name, count, `${MAX_FEATURE_CHARACTERS} characters`)
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
      refuse('is cut off or is not JSON')
    }
  }

  function decoded(chunk: Buffer): string {
    try {
      return decoder.decode(chunk, { stream: true })
    } catch {
      return refuse('is not UTF-8 (`iconv -f WINDOWS-1252 -t UTF-8` may convert it)')
    }
  }

  function refuse(what: string): never {
    const where = count > 0 ? `after feature ${count}` : 'at its beginning'
    throw new OperatorError(`${name} is not GeoJSON: ${where} it ${what}.`, { code: 'CUT_OFF' })
  }
}

function refuseLarge(name: string, count: number, limit: string): never {
  throw new OperatorError(
    `Feature ${count + 1} of ${name} has more than ${limit}: at most so many are read of one.`,
  )
}

function rawFeature(name: string, number: number, key: unknown, value: unknown): Omit<RawFeature, 'read'> {
  if (typeof key !== 'number') throw new OperatorError(`${name} is not GeoJSON: its features are not a list.`)
  const { type, properties, geometry } = (value ?? {}) as Record<string, unknown>
  if (type !== 'Feature') {
    throw new OperatorError(`${name} is not GeoJSON: entry ${number} of its features is not a Feature.`)
  }
  return { number, geometry, properties: (properties ?? {}) as Record<string, unknown> }
}

function refuseOtherType(name: string, type: unknown): void {
  if (type === 'FeatureCollection') return
  if (type === 'Topology') refuseOtherKind(name, TOPOJSON)
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
