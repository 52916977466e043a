import { createReadStream } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { openArchive } from './archive.ts'
import { ByteReader } from './byte-reader.ts'
import { recordsIn, surveyTexts } from './dbf.ts'
import { chooseEncoding } from './encoding.ts'
import type { FeatureFile, Noted, RawFeature, Reading } from './feature.ts'
import { someOf } from './parents.ts'
import { CutOff, shapesIn } from './shp.ts'

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
    reading: readingOf(reading),
    features: (noted) =>
      featuresOf(
        basename(path),
        partsOf(paths, async (file) => createReadStream(file)),
        reading,
        noted,
      ),
  }
}

/**
 * A shapefile in a zip archive. Of several in it, the one named after the level is taken.
 *
 * @throws {OperatorError} when there is none, or it is not clear which one is meant
 */
export function zippedShapefile(path: string, reading: Reading): FeatureFile {
  const name = basename(path)
  return {
    name,
    paths: [path],
    reading: readingOf(reading),
    async *features(noted) {
      const archive = await openArchive(path, name)
      try {
        const chosen = chooseShapefile(name, archive.names, reading.level)
        const files = archive.names.filter((entry) => stemOf(entry) === stemOf(chosen))
        yield* featuresOf(`${name}/${basename(chosen)}`, partsOf(files, archive.open), reading, noted)
      } finally {
        archive.close()
      }
    },
  }
}

/** Encodings were guessed otherwise once: what was loaded then may be loaded again. */
function readingOf({ encoding }: Reading): string[] {
  return ['encoding', encoding?.name ?? 'by label']
}

function partOf(name: string): Part | undefined {
  return PARTS.find((part) => name.toLowerCase().endsWith(`.${part}`))
}

function partsOf(files: string[], open: (file: string) => Promise<Readable>): Parts {
  return Object.fromEntries(files.map((file) => [partOf(file), () => open(file)]))
}

function stemOf(name: string): string {
  return name.slice(0, name.length - extname(name).length)
}

function chooseShapefile(name: string, entries: string[], level: number): string {
  const shapefiles = entries.filter((entry) => partOf(entry) === 'shp' && !entry.startsWith('__MACOSX/'))
  if (shapefiles.length === 0) throw new OperatorError(`${name} holds no shapefile.`)
  if (shapefiles.length === 1) return shapefiles[0] as string
  // As COD-AB and geoBoundaries pack them: ..._adm2_..., ...-ADM2.shp beside ...-ADM2_simplified.shp.
  const named = shapefiles.filter((entry) =>
    new RegExp(`(adm|admin|admbnda_adm|gadm\\w*)_?${level}(?!\\d)`, 'i').test(basename(entry)),
  )
  const chosen = named.filter((entry) => !/simplified/i.test(entry))
  if (chosen.length === 1) return chosen[0] as string
  throw new OperatorError(
    `${name} holds several shapefiles, and it is not clear which one has level ${level}: unpack it and name one of ${someOf(shapefiles)}.`,
  )
}

/** The shapes and the records side by side: whatever the size of the files, one feature is in memory. */
async function* featuresOf(
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
    if (prj) refuseOtherCrs(name, await textOf(await open(prj)))
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
      throw new OperatorError(`${name} is cut off: it is shorter than its header says.`)
    }
    throw new OperatorError(`${name} is not a shapefile that can be read: ${messageOf(error)}.`)
  } finally {
    for (const reader of readers) await reader.close()
  }
}

async function* sideBySide(
  name: string,
  shapes: AsyncGenerator<unknown>,
  records: AsyncGenerator<Record<string, unknown>>,
): AsyncGenerator<RawFeature> {
  for (let number = 1; ; number++) {
    const [shape, record] = [await shapes.next(), await records.next()]
    if (shape.done && record.done) {
      if (number === 1) throw new OperatorError(`${name} has no features.`)
      return
    }
    if (shape.done || record.done) {
      const [more, fewer] = shape.done ? ['records', 'shapes'] : ['shapes', 'records']
      throw new OperatorError(
        `${name} does not fit its .dbf: there are ${number - 1} ${fewer} and more ${more}.`,
      )
    }
    yield { number, geometry: shape.value, properties: record.value }
  }
}

/** Bytes of a .prj or .cpg: they are a few lines. */
const MAX_TEXT_BYTES = 64 * 1024

async function textOf(file: ByteReader): Promise<string> {
  return (await file.read(MAX_TEXT_BYTES)).toString('utf8')
}

/** The CRS as WKT: geographic, with the datum of WGS 84 in one of the spellings there are. */
const WGS84_WKT = /^\s*(GEOGCS|GEOGCRS)\s*\[.*(D_WGS_1984|WGS_1984|WGS 84|World Geodetic System 1984)/is

function refuseOtherCrs(name: string, wkt: string): void {
  if (wkt.trim() === '' || WGS84_WKT.test(wkt)) return
  const crs = /^\s*\w+\s*\[\s*"([^"]*)"/.exec(wkt)?.[1] ?? wkt.slice(0, 50)
  throw new OperatorError(
    `${name} is in the CRS ${crs}, not in WGS 84: convert it with \`ogr2ogr -t_srs EPSG:4326 OUT.geojson IN.shp\`.`,
  )
}
