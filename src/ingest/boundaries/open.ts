import { stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { formatError } from '#src/lib/promises.ts'
import { openZipArchive } from '../archive.ts'
import { KINDS, refuseOtherKind } from '../other-formats.ts'
import { refuseEncoding } from './encoding.ts'
import { chooseLayer, type FeatureFile, type FeatureReading } from './feature.ts'
import { geoJsonFeatures, geoJsonFile } from './geojson.ts'
import { geoPackage } from './geopackage.ts'
import { findPart, openParts, shapefile, shapefileFeatures, shapefileReading, stemOf } from './shapefile.ts'

const LAYERED = ['.gpkg', '.zip']
/** Other formats fix the encoding; in an archive it applies to shapefiles. */
const ENCODED = ['.shp', '.zip']

/** @throws {OperatorError} for a missing file or an unreadable kind */
export async function openBoundaryFile(path: string, reading: FeatureReading): Promise<FeatureFile> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(
      error.code === 'ENOENT' ? `${path} does not exist.` : `${path} cannot be read: ${error.message}.`,
      { code: error.code === 'ENOENT' ? 'NOT_FOUND' : 'REFUSED' },
    )
  })
  if (!found.isFile()) throw new OperatorError(`${path} is not a file.`)
  if (found.size === 0) throw new OperatorError(`${path} is empty.`)
  const ending = extname(path).toLowerCase()
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
      if (ending in KINDS) refuseOtherKind(basename(path), KINDS[ending] as string)
      throw new OperatorError(
        `${path} is neither GeoJSON (.geojson, .json), nor a shapefile (.shp), nor one of them in an archive (.zip), nor a GeoPackage (.gpkg).`,
      )
  }
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
        const chosen = chooseEntry(name, archive.names, reading)
        const entry = `${name}/${basename(chosen)}`
        if (findPart(chosen) === 'shp') {
          const files = archive.names.filter((other) => stemOf(other) === stemOf(chosen))
          yield* shapefileFeatures(entry, openParts(files, archive.open), reading, noted)
        } else {
          refuseEncoding(entry, reading)
          yield* geoJsonFeatures(entry, await archive.open(chosen), archive.sizeOf(chosen))
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

function chooseEntry(name: string, entries: string[], reading: FeatureReading): string {
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
      `${name} holds a GeoPackage, which is read once it is unpacked: \`unzip ${name}\`.`,
    )
  }
  throw new OperatorError(`${name} holds no shapefile and no GeoJSON.`)
}

/** File names without endings or, if these repeat, paths. */
function nameLayers(files: string[]): string[] {
  const forms = [files.map((file) => stemOf(basename(file))), files.map(stemOf)]
  return forms.find((names) => new Set(names).size === names.length) ?? files
}
