import { basename, extname } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'
import { openArchive } from '../archive.ts'
import { refuseEncoding } from './encoding.ts'
import type { FeatureFile, Reading } from './feature.ts'
import { geoJsonFeatures } from './geojson.ts'
import { chooseLayer } from './layers.ts'
import { partOf, partsOf, shapefileFeatures, shapefileReading, stemOf } from './shapefile.ts'

/** What archives hold beside the files that are meant, and is named as they are. */
const NO_FEATURES = /(^|\/)(__MACOSX\/|\.)|meta-?data\.json$/i

/** A shapefile in a zip archive or, where there is none, a GeoJSON file. Each is a layer of it. */
export function zippedFile(path: string, reading: Reading): FeatureFile {
  const name = basename(path)
  return {
    name,
    paths: [path],
    reading: [...shapefileReading(reading), ...(reading.layer === undefined ? [] : ['layer', reading.layer])],
    async *features(noted) {
      const archive = await openArchive(path, name)
      try {
        const chosen = chooseEntry(name, archive.names, reading)
        const entry = `${name}/${basename(chosen)}`
        if (partOf(chosen) === 'shp') {
          const files = archive.names.filter((other) => stemOf(other) === stemOf(chosen))
          yield* shapefileFeatures(entry, partsOf(files, archive.open), reading, noted)
        } else {
          refuseEncoding(entry, reading)
          yield* geoJsonFeatures(entry, await archive.open(chosen), archive.sizeOf(chosen))
        }
      } catch (error) {
        if (error instanceof OperatorError) throw error
        throw new OperatorError(`${name} cannot be unpacked: ${messageOf(error)}.`)
      } finally {
        archive.close()
      }
    },
  }
}

function chooseEntry(name: string, entries: string[], reading: Reading): string {
  const usable = entries.filter((entry) => !NO_FEATURES.test(entry))
  const named = (endings: string[]) =>
    usable.filter((entry) => endings.includes(extname(entry).toLowerCase()))
  const shapefiles = named(['.shp'])
  // The same areas may be there in several forms.
  const files = shapefiles.length > 0 ? shapefiles : named(['.geojson', '.json'])
  if (files.length > 0) {
    const layers = layersOf(files)
    return files[layers.indexOf(chooseLayer(name, layers, reading))] as string
  }
  if (named(['.gpkg']).length > 0) {
    throw new OperatorError(
      `${name} holds a GeoPackage, which is read once it is unpacked: \`unzip ${name}\`.`,
    )
  }
  throw new OperatorError(`${name} holds no shapefile and no GeoJSON.`)
}

/** What files are called as layers: by their names without endings or, where some share those, by their paths. */
function layersOf(files: string[]): string[] {
  const forms = [files.map((file) => stemOf(basename(file))), files.map(stemOf)]
  return forms.find((names) => new Set(names).size === names.length) ?? files
}
