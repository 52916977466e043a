import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { JSONParser, TokenType } from '@streamparser/json'
import { OperatorError } from '#src/errors.ts'
import { findOtherCrs } from '#src/lib/geojson.ts'
import { isObject } from '#src/lib/json.ts'
import { formatError } from '#src/lib/promises.ts'
import { createTextReader, TextError } from '#src/lib/text.ts'
import { gunzip, isGzipped, openZipArchive } from '../archive.ts'
import {
  convertAreas,
  ESRI_JSON,
  findKind,
  quoted,
  refuseOtherKind,
  refuseOtherPath,
  refusePacked,
  refuseTable,
  refuseUnreadable,
  shownName,
  stemOf,
  TABLE_BYTES,
  TOPOJSON,
} from '../other-formats.ts'
import {
  chooseLayer,
  type FeatureFile,
  type FeatureReading,
  MAX_POSITIONS,
  type Noted,
  type RawFeature,
  readNumber,
} from './feature.ts'
import { geoPackage } from './geopackage.ts'
import { findPart, refuseEncoding, shapefile, shapefileFeatures, shapefileReading } from './shapefile.ts'

/** Features that end in a chunk are in memory together. */
const CHUNK_BYTES = 64 * 1024

const TOKEN_BYTES = 1024

/** Finely drawn features have 20 to 40 characters a position. */
const MAX_FEATURE_CHARACTERS = 24 * 2 ** 20

/** Read as a stream: only the size of a feature matters. */
function geoJsonFile(path: string): FeatureFile {
  const name = basename(path)
  return {
    name,
    paths: [path],
    reading: [],
    async *features(noted) {
      const { size } = await stat(path)
      // The size of a packed file shows at its end.
      if (isGzipped(path)) yield* geoJsonFeatures(path, gunzip(path), Number.POSITIVE_INFINITY, noted)
      else yield* geoJsonFeatures(path, createReadStream(path, { highWaterMark: CHUNK_BYTES }), size, noted)
    },
  }
}

async function* geoJsonFeatures(
  path: string,
  bytes: AsyncIterable<Buffer>,
  size: number,
  noted: Noted,
): AsyncGenerator<RawFeature> {
  const name = shownName(path)
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
  // No option says how numbers are read.
  Object.assign(parser['tokenizer' as keyof JSONParser] as object, { parseNumber: readNumber })
  parser.onValue = ({ value, key, stack }) => {
    if (stack.length > 1) {
      features.push({ ...rawFeature(path, ++count, key, value), file: name, path, read: position / size })
      characters = 0
      lists = 0
    } else if (key === 'type') type = value
    else refuseOtherCrs(path, { crs: value })
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

  const reader = createTextReader({ source: name })
  for await (const chunk of bytes) {
    const text = feed(() => reader.write(chunk))
    position += chunk.length
    characters += text.length
    if (characters > MAX_FEATURE_CHARACTERS) refuseLarge(name, count, `${MAX_FEATURE_CHARACTERS} characters`)
    feed(() => parser.write(text))
    if (type !== undefined) refuseOtherType(path, type)
    yield* features
    features = []
  }
  feed(() => parser.write(reader.end()))
  if (!parser.isEnded) feed(() => parser.end())
  reader.notes.forEach(noted)
  if (type === undefined) refuseOtherType(path, type)
  if (count === 0) throw new OperatorError(`${name} has no features.`)

  function feed<T>(write: () => T): T {
    try {
      return write()
    } catch (error) {
      if (error instanceof OperatorError) throw error
      const where = count > 0 ? `after feature ${count}` : 'at its beginning'
      const isText = !(error instanceof TextError)
      const fault = isText ? `${name} is not GeoJSON: ${where} it is cut off or is not JSON.` : error.message
      throw new OperatorError(fault, { code: 'CUT_OFF' })
    }
  }
}

function refuseLarge(name: string, count: number, limit: string): never {
  throw new OperatorError(
    `Feature ${count + 1} of ${name} has more than ${limit}: at most so many are read of one.`,
  )
}

function rawFeature(path: string, number: number, key: unknown, value: unknown) {
  const name = shownName(path)
  if (typeof key !== 'number') throw new OperatorError(`${name} is not GeoJSON: its features are not a list.`)
  const { type, crs, properties, geometry, attributes } = (value ?? {}) as Record<string, unknown>
  if (type !== 'Feature') {
    if (attributes !== undefined) refuseOtherKind(path, ESRI_JSON)
    throw new OperatorError(`${name} is not GeoJSON: entry ${number} of its features is not a Feature.`)
  }
  refuseOtherCrs(path, { crs })
  if (isObject(geometry)) refuseOtherCrs(path, geometry)
  return { number, geometry, properties: (properties ?? {}) as Record<string, unknown> }
}

function refuseOtherType(path: string, type: unknown): void {
  if (type === 'FeatureCollection') return
  if (type === 'Topology') refuseOtherKind(path, TOPOJSON)
  const is = typeof type === 'string' ? `a ${type}, not a FeatureCollection` : 'not a FeatureCollection'
  throw new OperatorError(
    `${shownName(path)} is ${is}: boundaries are loaded from GeoJSON FeatureCollections.`,
  )
}

function refuseOtherCrs(path: string, object: { crs?: unknown }): void {
  const other = findOtherCrs(object)
  if (other === undefined) return
  throw new OperatorError(
    `${shownName(path)} is in ${other ? `the CRS ${other}` : 'a CRS without a name'}, not in WGS 84: convert it with ${convertAreas(path)}.`,
  )
}

const LAYERED = ['.gpkg', '.zip']
/** Other formats fix the encoding; in an archive it applies to shapefiles. */
const ENCODED = ['.shp', '.zip']

export async function openBoundaryFile(path: string, reading: FeatureReading): Promise<FeatureFile> {
  refuseOtherPath(path)
  const found = await stat(path).catch((error) => refuseUnreadable(path, error))
  const kind = findKind(path)
  if (!found.isFile() && !kind) throw new OperatorError(`${path} is not a file.`)
  if (found.size === 0) throw new OperatorError(`${path} is empty.`)
  const unpacked = /\.(?:geo)?json\.gz$/i.test(path) ? stemOf(path) : path
  const ending = extname(unpacked).toLowerCase()
  if (reading.layer !== undefined && !LAYERED.includes(ending)) {
    throw new OperatorError(`${path} has no layers: --layer is for GeoPackages and archives.`)
  }
  if (!ENCODED.includes(ending)) refuseEncoding(path, reading)
  switch (ending) {
    case '.geojson':
    case '.json':
      return geoJsonFile(path)
    case '.shp':
      return shapefile(path, reading)
    case '.zip':
      return zippedFile(path, reading)
    case '.gpkg':
      return geoPackage(path, reading)
    default:
      refusePacked(path)
      if (kind && TABLE.test(path)) refuseTable(path, kind, await readBeginning(path))
      if (kind) refuseOtherKind(path, kind)
      throw new OperatorError(
        `${path} is neither GeoJSON (.geojson, .json), nor a shapefile (.shp), nor one of them in an archive (.zip), nor a GeoPackage (.gpkg): if ogrinfo ${quoted(path)} knows it, ${convertAreas(path)} makes one of it.`,
      )
  }
}

const TABLE = /\.[ct]sv$/i

async function readBeginning(path: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(path, { end: TABLE_BYTES })) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Leftovers of packers and metadata. */
const NO_FEATURES = /(^|\/)(__MACOSX\/|\.)|meta-?data\.json$/i

/** A shapefile in a zip archive, or else a GeoJSON file; each is a layer. */
function zippedFile(path: string, reading: FeatureReading): FeatureFile {
  const name = basename(path)
  return {
    name,
    paths: [path],
    reading: [...shapefileReading(reading), ...(reading.layer === undefined ? [] : ['layer', reading.layer])],
    async *features(noted) {
      const archive = await openZipArchive(path, name)
      try {
        const chosen = chooseEntry(path, archive.names, reading)
        const entry = `${path}/${chosen}`
        if (findPart(chosen) === 'shp') {
          const files = archive.names.filter((other) => stemOf(other) === stemOf(chosen))
          yield* shapefileFeatures(entry, files, archive.open, reading, noted)
        } else {
          refuseEncoding(entry, reading)
          yield* geoJsonFeatures(entry, await archive.open(chosen), archive.sizeOf(chosen), noted)
        }
      } catch (error) {
        if (error instanceof OperatorError) throw error
        throw new OperatorError(`${name} cannot be unpacked: ${formatError(error)}.`)
      } finally {
        archive.close()
      }
    },
  }
}

function chooseEntry(path: string, entries: string[], reading: FeatureReading): string {
  const name = basename(path)
  const usable = entries.filter((entry) => !NO_FEATURES.test(entry))
  const named = (endings: string[]) =>
    usable.filter((entry) => endings.includes(extname(entry).toLowerCase()))
  const shapefiles = named(['.shp'])
  // Archives may repeat the areas in several formats.
  const files = shapefiles.length > 0 ? shapefiles : named(['.geojson', '.json'])
  if (files.length > 0) {
    const layers = nameLayers(files)
    return files[layers.indexOf(chooseLayer(name, layers, reading))] as string
  }
  if (named(['.gpkg']).length > 0) {
    throw new OperatorError(
      `${name} holds a GeoPackage, which is read once it is unpacked: \`unzip ${quoted(path)}\`.`,
    )
  }
  const others = usable.map((entry) => entry.replace(/(?<=\.gdb)\/.*/i, ''))
  for (const other of others) {
    const kind = findKind(other)
    if (kind) refuseOtherKind(`${path}/${other}`, kind)
    refusePacked(`${path}/${other}`)
  }
  throw new OperatorError(`${name} holds no shapefile and no GeoJSON.`)
}

/** File names without endings or, if these repeat, paths. */
function nameLayers(files: string[]): string[] {
  const forms = [files.map((file) => stemOf(basename(file))), files.map(stemOf)]
  return forms.find((names) => new Set(names).size === names.length) ?? files
}
