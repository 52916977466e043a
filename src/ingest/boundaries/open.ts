import { stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import type { FeatureFile, Reading } from './feature.ts'
import { geoJsonFile } from './geojson.ts'
import { shapefile, zippedShapefile } from './shapefile.ts'

/**
 * Opens a file of boundaries by its name's ending.
 *
 * @throws {OperatorError} when it does not exist, or is of a kind that cannot be read
 */
export async function openBoundaryFile(path: string, reading: Reading): Promise<FeatureFile> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(
      error.code === 'ENOENT' ? `${path} does not exist.` : `${path} cannot be read: ${error.message}.`,
    )
  })
  if (!found.isFile()) throw new OperatorError(`${path} is not a file.`)
  if (found.size === 0) throw new OperatorError(`${path} is empty.`)
  switch (extname(path).toLowerCase()) {
    case '.geojson':
    case '.json':
      return geoJsonFile(path)
    case '.shp':
      return shapefile(path, reading)
    case '.zip':
      return zippedShapefile(path, reading)
    default:
      throw new OperatorError(`${path} is neither GeoJSON (.geojson, .json) nor a shapefile (.shp, .zip).`)
  }
}
