import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { unzipSync } from 'fflate'
import { parseDbf, parseShp } from 'shpjs'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import type { FeatureFile, RawFeature } from './feature.ts'

/** The files that make up a shapefile, by their endings; .cpg names the encoding, .prj the CRS. */
const PARTS = ['shp', 'dbf', 'prj', 'cpg'] as const
type Parts = Partial<Record<(typeof PARTS)[number], Uint8Array>>

/** A shapefile: the .shp with the others of its name beside it. It is read as a whole. */
export async function shapefile(path: string): Promise<FeatureFile> {
  const stem = basename(path, extname(path))
  const siblings = (await readdir(dirname(path))).filter((name) => partOf(name) && stemOf(name) === stem)
  const paths = siblings.sort().map((name) => join(dirname(path), name))
  return {
    name: basename(path),
    paths,
    async *features() {
      const parts: Parts = {}
      for (const file of paths) parts[partOf(file) as keyof Parts] = await readFile(file)
      yield* featuresOf(basename(path), parts)
    },
  }
}

/**
 * A shapefile in a zip archive. Of several in it, the one named after the level is taken.
 *
 * @throws {OperatorError} when there is none, or it is not clear which one is meant
 */
export function zippedShapefile(path: string, level: number): FeatureFile {
  const name = basename(path)
  return {
    name,
    paths: [path],
    async *features() {
      const archive = new Uint8Array(await readFile(path))
      const chosen = chooseShapefile(name, entriesOf(name, archive), level)
      const files = unzip(name, archive, (entry) => stemOf(entry) === stemOf(chosen))
      const parts: Parts = {}
      for (const [entry, bytes] of Object.entries(files)) {
        const part = partOf(entry)
        if (part) parts[part] = bytes
      }
      yield* featuresOf(`${name}/${basename(chosen)}`, parts)
    },
  }
}

function partOf(name: string): keyof Parts | undefined {
  return PARTS.find((part) => name.toLowerCase().endsWith(`.${part}`))
}

function stemOf(name: string): string {
  return name.slice(0, name.length - extname(name).length)
}

function entriesOf(name: string, archive: Uint8Array): string[] {
  const entries: string[] = []
  unzip(name, archive, (entry) => {
    entries.push(entry)
    return false
  })
  return entries.filter((entry) => !entry.startsWith('__MACOSX/'))
}

function unzip(name: string, archive: Uint8Array, filter: (entry: string) => boolean) {
  try {
    return unzipSync(archive, { filter: (file) => filter(file.name) })
  } catch (error) {
    throw new OperatorError(`${name} is not a complete zip archive: ${messageOf(error)}.`)
  }
}

function chooseShapefile(name: string, entries: string[], level: number): string {
  const shapefiles = entries.filter((entry) => partOf(entry) === 'shp')
  if (shapefiles.length === 0) throw new OperatorError(`${name} holds no shapefile.`)
  if (shapefiles.length === 1) return shapefiles[0] as string
  // As COD-AB and geoBoundaries pack them: ..._adm2_..., ...-ADM2.shp beside ...-ADM2_simplified.shp.
  const named = shapefiles.filter((entry) =>
    new RegExp(`(adm|admin|admbnda_adm|gadm\\w*)_?${level}(?!\\d)`, 'i').test(basename(entry)),
  )
  const chosen = named.filter((entry) => !/simplified/i.test(entry))
  if (chosen.length === 1) return chosen[0] as string
  throw new OperatorError(
    `${name} holds several shapefiles, and it is not clear which one has level ${level}: unpack it and name one of ${shapefiles.join(', ')}.`,
  )
}

function* featuresOf(name: string, { shp, dbf, prj, cpg }: Parts): Generator<RawFeature> {
  if (!shp || !dbf)
    throw new OperatorError(`${name} is not complete: its .${shp ? 'dbf' : 'shp'} is missing.`)
  if (prj) refuseOtherCrs(name, new TextDecoder().decode(prj))
  refuseCutOff(name, shp)
  const geometries = parsed(name, () => parseShp(shp))
  const records = parsed(name, () => parseDbf(dbf, cpg))
  if (geometries.length === 0) throw new OperatorError(`${name} has no features.`)
  if (geometries.length !== records.length) {
    throw new OperatorError(
      `${name} does not fit its .dbf: there are ${geometries.length} shapes and ${records.length} records.`,
    )
  }
  for (const [index, geometry] of geometries.entries()) {
    yield { number: index + 1, geometry, properties: records[index] ?? {} }
  }
}

function parsed<Result>(name: string, parse: () => Result): Result {
  try {
    return parse()
  } catch (error) {
    throw new OperatorError(`${name} is not a shapefile that can be read: ${messageOf(error)}.`)
  }
}

/** Where a .shp says how long it is, in 16-bit words. */
const LENGTH_OFFSET = 24
const HEADER_BYTES = 100

/** The library reads a file that is cut off as far as it goes, and says nothing. */
function refuseCutOff(name: string, shp: Uint8Array): void {
  const view = new DataView(shp.buffer, shp.byteOffset, shp.byteLength)
  if (shp.byteLength >= HEADER_BYTES && view.getInt32(LENGTH_OFFSET) * 2 <= shp.byteLength) return
  throw new OperatorError(`${name} is cut off: it is shorter than its header says.`)
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
