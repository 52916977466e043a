import { json, type Operation, operation, type Parameter, pathParameter } from '../document-parts.ts'
import { MAPS_PATH } from './layers.ts'
import { WEB_MERCATOR_QUAD } from './web-mercator-quad.ts'

const wholeNumber = (name: string, description: string, example: number): Parameter => ({
  ...pathParameter(name, description),
  schema: { type: 'integer', minimum: 0 },
  example,
})

export const MAPS_PARAMETERS: Record<string, Parameter> = {
  layerId: pathParameter('layerId', 'The code of a published release, a hyphen, and the number of a layer.'),
  tileMatrixSetId: {
    ...pathParameter('tileMatrixSetId', 'How tiles are cut.'),
    schema: { type: 'string', enum: [WEB_MERCATOR_QUAD] },
  },
  tileMatrix: { ...pathParameter('tileMatrix', 'The zoom.'), example: '6' },
  tileRow: wholeNumber('tileRow', 'The row of the tile, from the north.', 30),
  tileCol: wholeNumber('tileCol', 'The column of the tile, from the west.', 38),
}

const COLLECTION = `${MAPS_PATH}/collections/{layerId}`
const TILES = `${COLLECTION}/map/tiles`
const SET = `${TILES}/{tileMatrixSetId}`
const SETS = `${MAPS_PATH}/tileMatrixSets`

const described = (id: string, summary: string, parameters: string[], schema: string) => ({
  get: operation(id, summary, 'Maps', [...parameters, 'f'], json(schema)),
})

/** Clients find operations by how their ids end. */
export const MAPS_PATHS: Record<string, { get: Operation }> = {
  [MAPS_PATH]: described('getMapsLandingPage', 'The landing page of maps', [], 'LandingPage'),
  [`${MAPS_PATH}/conformance`]: described('getMapsConformance', 'What of Tiles is kept', [], 'ConfClasses'),
  [`${MAPS_PATH}/collections`]: described('getLayers', 'The layers', [], 'Collections'),
  [COLLECTION]: described('describeLayer', 'A layer', ['layerId'], 'Collection'),
  [TILES]: described(
    'maps.collection.map.getTileSetsList',
    'The tile sets of a layer',
    ['layerId'],
    'TileSets',
  ),
  [SET]: described('maps.collection.map.getTileSet', 'A tile set', ['layerId', 'tileMatrixSetId'], 'TileSet'),
  [`${SET}/{tileMatrix}/{tileRow}/{tileCol}`]: {
    get: operation(
      'maps.collection.map.getTile',
      'A tile',
      'Maps',
      ['layerId', 'tileMatrixSetId', 'tileMatrix', 'tileRow', 'tileCol'],
      { 'image/png': { type: 'string', format: 'binary' } },
    ),
  },
  [SETS]: described('getTileMatrixSetsList', 'How tiles are cut', [], 'TileMatrixSets'),
  [`${SETS}/{tileMatrixSetId}`]: described(
    'getTileMatrixSet',
    'One way how tiles are cut',
    ['tileMatrixSetId'],
    'TileMatrixSet',
  ),
}
