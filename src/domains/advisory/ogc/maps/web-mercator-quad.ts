import { MAP_TILE_SIZE } from '#src/raster/web-mercator.ts'

/** The tile matrix set of maps on the web, as the OGC has registered it (17-083r4, annex D.1). */
export const WEB_MERCATOR_QUAD = 'WebMercatorQuad'

export const WEB_MERCATOR_QUAD_URI = 'http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad'

export const WEB_MERCATOR = 'http://www.opengis.net/def/crs/EPSG/0/3857'

/** As it is registered; our maps end before its last ones. */
const MATRICES = 25

/** Half of the circumference of the sphere in metres: where the square of the world ends. */
const HALF_WORLD = 6_378_137 * Math.PI

/** The side of a pixel in metres, of which scales of the OGC are reckoned. */
const STANDARD_PIXEL = 0.00028

/** What stands of it in lists. */
export const WEB_MERCATOR_QUAD_ENTRY = {
  id: WEB_MERCATOR_QUAD,
  title: 'Google Maps Compatible for the World',
  uri: WEB_MERCATOR_QUAD_URI,
  crs: WEB_MERCATOR,
}

/**
 * All of it. A matrix has the id of its zoom. `identifier`, `supportedCRS` and `topLeftCorner` are how the standard
 * before this one (17-083r2) called the same: GDAL up to 3.6 reads no others.
 */
export const WEB_MERCATOR_QUAD_DEFINITION = {
  ...WEB_MERCATOR_QUAD_ENTRY,
  identifier: WEB_MERCATOR_QUAD,
  supportedCRS: WEB_MERCATOR,
  boundingBox: {
    lowerLeft: [-HALF_WORLD, -HALF_WORLD],
    upperRight: [HALF_WORLD, HALF_WORLD],
    crs: WEB_MERCATOR,
  },
  orderedAxes: ['X', 'Y'],
  wellKnownScaleSet: 'http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible',
  tileMatrices: Array.from({ length: MATRICES }, (_, zoom) => {
    const cellSize = (2 * HALF_WORLD) / MAP_TILE_SIZE / 2 ** zoom
    return {
      id: String(zoom),
      identifier: String(zoom),
      scaleDenominator: cellSize / STANDARD_PIXEL,
      cellSize,
      cornerOfOrigin: 'topLeft',
      pointOfOrigin: [-HALF_WORLD, HALF_WORLD],
      topLeftCorner: [-HALF_WORLD, HALF_WORLD],
      tileWidth: MAP_TILE_SIZE,
      tileHeight: MAP_TILE_SIZE,
      matrixWidth: 2 ** zoom,
      matrixHeight: 2 ** zoom,
    }
  }),
}

/** The limits of a layer: all of the world, up to the greatest zoom that shows more. */
export function limitsUpTo(highestZoom: number) {
  return Array.from({ length: highestZoom + 1 }, (_, zoom) => ({
    tileMatrix: String(zoom),
    minTileRow: 0,
    maxTileRow: 2 ** zoom - 1,
    minTileCol: 0,
    maxTileCol: 2 ** zoom - 1,
  }))
}
