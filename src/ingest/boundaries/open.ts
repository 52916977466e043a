import { stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { KINDS, refuseOtherKind } from '../other-formats.ts'
import { refuseEncoding } from './encoding.ts'
import type { FeatureFile, Reading } from './feature.ts'
import { geoJsonFile } from './geojson.ts'
import { geoPackage } from './geopackage.ts'
import { shapefile } from './shapefile.ts'
import { zippedFile } from './zipped.ts'

/** Endings of files that may have several layers. */
const LAYERED = ['.gpkg', '.zip']
/** Endings of files whose texts may be in any encoding; of an archive, those of its shapefiles. */
const ENCODED = ['.shp', '.zip']

/**
 * Opens a file of boundaries by its name's ending.
 *
 * @throws {OperatorError} when it does not exist, or is of a kind that cannot be read
 */
export async function openBoundaryFile(path: string, reading: Reading): Promise<FeatureFile> {
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
