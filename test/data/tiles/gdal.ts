import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import type { Grid } from '#src/raster/grid.ts'

export const run = promisify(execFile)

/** Debian's gdal-bin and python3-gdal; without them what takes them is skipped. */
const VALIDATOR = 'osgeo_utils.samples.validate_cloud_optimized_geotiff'
export const hasGdal = await Promise.all([
  run('gdal_translate', ['--version']),
  run('/usr/bin/python3', ['-c', `import ${VALIDATOR}`]),
]).then(
  () => true,
  () => false,
)

export const DEGREES: Grid = {
  ...{ srid: 4326, originX: 37.5, originY: 9.25, pixelWidth: 0.0025, pixelHeight: -0.0025 },
  ...{ width: 700, height: 300 },
}
export const METRES: Grid = {
  ...{ srid: 32637, originX: 400_000, originY: 1_000_000, pixelWidth: 30, pixelHeight: -30 },
  ...{ width: 300, height: 257 },
}

/** What GDAL says of a file that is cloud-optimised by the rules of its own script, and lies where the grid does. */
export async function infoOfCog(path: string, grid: Grid) {
  const { stdout } = await run('/usr/bin/python3', ['-m', VALIDATOR, path])
  expect(stdout.split('\n')[0]).toBe(`${path} is a valid cloud optimized GeoTIFF`)
  const info = JSON.parse((await run('gdalinfo', ['-json', path])).stdout)
  expect(info.size).toEqual([grid.width, grid.height])
  const { originX, originY, pixelWidth, pixelHeight } = grid
  expect(info.geoTransform).toEqual([originX, pixelWidth, 0, originY, 0, pixelHeight])
  expect(info.stac['proj:epsg']).toBe(grid.srid)
  return info
}
