import type { Geotransform, Window } from '#src/raster/grid.ts'
import type { PixelType } from '#src/raster/pixels.ts'

/** How TIFF names a type of samples: whole numbers without a sign, with one, or floats. */
export function sampleFormatOf(type: PixelType): number {
  if (type.endsWith('F')) return 3
  return type.endsWith('SI') ? 2 : 1
}

/** From pixels of a window to the CRS, as a matrix: it also has rows that run south to north. */
export function transformationOf(
  { originX, originY, pixelWidth, pixelHeight }: Geotransform,
  { column, row }: Pick<Window, 'column' | 'row'>,
): number[] {
  const [x, y] = [originX + column * pixelWidth, originY + row * pixelHeight]
  return [pixelWidth, 0, 0, x, 0, pixelHeight, 0, y, 0, 0, 0, 0, 0, 0, 0, 1]
}

/** The ids that the EPSG gives; what was added to PostGIS has others. */
const LARGEST_EPSG = 32_766

const GEO_KEYS = { modelType: 1024, rasterType: 1025, geographicCrs: 2048, projectedCrs: 3072 }
const PIXEL_IS_AREA = 1

/** The keys by which GeoTIFF names a CRS: by its code of the EPSG, where it has one. */
export function geoKeysOf(srid: number, geographic: boolean): number[] {
  const keys = [
    [GEO_KEYS.modelType, geographic ? 2 : 1],
    [GEO_KEYS.rasterType, PIXEL_IS_AREA],
    ...(srid <= LARGEST_EPSG ? [[geographic ? GEO_KEYS.geographicCrs : GEO_KEYS.projectedCrs, srid]] : []),
  ] as [number, number][]
  return [1, 1, 0, keys.length, ...keys.flatMap(([key, value]) => [key, 0, 1, value])]
}
