import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { ByteReader } from './byte-reader.ts'
import { recordsIn, surveyTexts } from './dbf.ts'
import { chooseEncoding } from './encoding.ts'
import type { FeatureFile, Noted, RawFeature, Reading } from './feature.ts'
import { CutOff, shapesIn } from './shp.ts'
import { isWgs84Wkt } from './wgs84.ts'

/** The files that make up a shapefile, by their endings; .cpg names the encoding, .prj the CRS. */
const PARTS = ['shp', 'dbf', 'prj', 'cpg'] as const
type Part = (typeof PARTS)[number]

/** Opens a part of a shapefile from its beginning. */
type Parts = Partial<Record<Part, () => Promise<Readable>>>

/** A shapefile: the .shp with the others of its name beside it. */
export async function shapefile(path: string, reading: Reading): Promise<FeatureFile> {
  const stem = basename(path, extname(path))
  const siblings = (await readdir(dirname(path))).filter((name) => partOf(name) && stemOf(name) === stem)
  const paths = siblings.sort().map((name) => join(dirname(path), name))
  return {
    name: basename(path),
    paths,
    reading: shapefileReading(reading),
    features: (noted) =>
      shapefileFeatures(
        basename(path),
        partsOf(paths, async (file) => createReadStream(file)),
        reading,
        noted,
      ),
  }
}

/** Encodings were guessed otherwise once: what was loaded then may be loaded again. */
export function shapefileReading({ encoding }: Reading): string[] {
  return ['encoding', encoding?.name ?? 'by label']
}

/** Which part of a shapefile a file is, by its ending; undefined where it is none. */
export function partOf(name: string): Part | undefined {
  return PARTS.find((part) => name.toLowerCase().endsWith(`.${part}`))
}

export function partsOf(files: string[], open: (file: string) => Promise<Readable>): Parts {
  return Object.fromEntries(files.map((file) => [partOf(file), () => open(file)]))
}

/** The name of a file without its ending, which all parts of a shapefile share. */
export function stemOf(name: string): string {
  return name.slice(0, name.length - extname(name).length)
}

/** The shapes and the records side by side: whatever the size of the files, one feature is in memory. */
export async function* shapefileFeatures(
  name: string,
  { shp, dbf, prj, cpg }: Parts,
  reading: Reading,
  noted: Noted,
): AsyncGenerator<RawFeature> {
  if (!shp || !dbf) {
    throw new OperatorError(`${name} is not complete: its .${shp ? 'dbf' : 'shp'} is missing.`)
  }
  const readers: ByteReader[] = []
  const open = async (part: () => Promise<Readable>) => {
    const reader = new ByteReader(await part())
    readers.push(reader)
    return reader
  }
  try {
    const crs = prj ? (await textOf(await open(prj))).trim() : ''
    if (crs === '') noted(`${name} has no CRS (.prj): its coordinates are taken for degrees of WGS 84.`)
    else refuseOtherCrs(name, crs)
    const label = cpg && (await textOf(await open(cpg)))
    const { encoding, note } = chooseEncoding(
      name,
      await surveyTexts(await open(dbf)),
      label,
      reading.encoding,
    )
    if (note) noted(note)
    yield* sideBySide(name, shapesIn(await open(shp)), recordsIn(await open(dbf), encoding.decode))
  } catch (error) {
    if (error instanceof OperatorError) throw error
    if (error instanceof CutOff) {
      throw new OperatorError(`${name} is cut off: it is shorter than its header says.`, { code: 'CUT_OFF' })
    }
    throw new OperatorError(`${name} is not a shapefile that can be read: ${messageOf(error)}.`)
  } finally {
    for (const reader of readers) await reader.close()
  }
}

async function* sideBySide(
  name: string,
  shapes: ReturnType<typeof shapesIn>,
  records: AsyncGenerator<Record<string, unknown>>,
): AsyncGenerator<RawFeature> {
  for (let number = 1; ; number++) {
    const [found, record] = [await shapes.next(), await records.next()]
    if (found.done && record.done) {
      if (number === 1) throw new OperatorError(`${name} has no features.`)
      return
    }
    if (found.done || record.done) {
      const [more, fewer] = found.done ? ['records', 'shapes'] : ['shapes', 'records']
      throw new OperatorError(
        `${name} does not fit its .dbf: there are ${number - 1} ${fewer} and more ${more}.`,
      )
    }
    const { shape, read } = found.value
    yield { number, read, geometry: shape, properties: record.value }
  }
}

/** Bytes of a .prj or .cpg: they are a few lines. */
const MAX_TEXT_BYTES = 64 * 1024

async function textOf(file: ByteReader): Promise<string> {
  return (await file.read(MAX_TEXT_BYTES)).toString('utf8')
}

function refuseOtherCrs(name: string, wkt: string): void {
  if (isWgs84Wkt(wkt)) return
  const crs = /^\s*\w+\s*\[\s*"([^"]*)"/.exec(wkt)?.[1] ?? wkt.slice(0, 50)
  throw new OperatorError(
    `${name} is in the CRS ${crs}, not in WGS 84: convert it with \`ogr2ogr -t_srs EPSG:4326 OUT.geojson IN.shp\`.`,
  )
}
