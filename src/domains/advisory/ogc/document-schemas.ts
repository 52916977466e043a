/** The schemas of the OpenAPI 3.0 document: what standards fix of answers, and no more. */

const text = { type: 'string' }
const links = { type: 'array', items: { $ref: '#/components/schemas/Link' } }

const object = (properties: Record<string, object>, required: readonly string[] = []) => ({
  type: 'object',
  ...(required.length > 0 && { required }),
  properties,
})

const geometry = {
  type: 'object',
  nullable: true,
  required: ['type', 'coordinates'],
  properties: { type: text, coordinates: { type: 'array', items: {} } },
}

const feature = {
  type: { type: 'string', enum: ['Feature'] },
  id: text,
  geometry,
  properties: { type: 'object', nullable: true },
  links,
}

const wholeNumber = { type: 'integer', minimum: 0 }

const tileset = { title: text, dataType: text, crs: text, tileMatrixSetURI: text, links }

const limits = object({
  tileMatrix: text,
  minTileRow: wholeNumber,
  maxTileRow: wholeNumber,
  minTileCol: wholeNumber,
  maxTileCol: wholeNumber,
})

const tileMatrixSet = { id: text, title: text, uri: text, crs: text, links }

const pair = { type: 'array', minItems: 2, maxItems: 2, items: { type: 'number' } }

const tileMatrix = object(
  {
    id: text,
    scaleDenominator: { type: 'number' },
    cellSize: { type: 'number' },
    cornerOfOrigin: text,
    pointOfOrigin: pair,
    tileWidth: wholeNumber,
    tileHeight: wholeNumber,
    matrixWidth: wholeNumber,
    matrixHeight: wholeNumber,
  },
  ['id', 'scaleDenominator', 'cellSize', 'pointOfOrigin', 'tileWidth', 'tileHeight'],
)

const TILE_SCHEMAS = {
  TileSets: object(
    { links, tilesets: { type: 'array', items: object(tileset, ['dataType', 'crs', 'links']) } },
    ['tilesets'],
  ),
  TileSet: object(
    {
      ...tileset,
      description: text,
      attribution: text,
      license: text,
      mediaTypes: { type: 'array', items: text },
      boundingBox: object({ lowerLeft: pair, upperRight: pair, crs: text }, ['lowerLeft', 'upperRight']),
      tileMatrixSetLimits: { type: 'array', items: limits },
    },
    ['dataType', 'crs', 'links'],
  ),
  TileMatrixSets: object({
    links,
    tileMatrixSets: { type: 'array', items: object(tileMatrixSet, ['links']) },
  }),
  TileMatrixSet: object(
    {
      ...tileMatrixSet,
      orderedAxes: { type: 'array', items: text },
      wellKnownScaleSet: text,
      tileMatrices: { type: 'array', items: tileMatrix },
    },
    ['crs', 'tileMatrices'],
  ),
}

export const SCHEMAS = {
  ...TILE_SCHEMAS,
  Error: object({ error: text, code: text, request_id: text }, ['error', 'code']),
  Link: object({ href: text, rel: text, type: text, title: text, templated: { type: 'boolean' } }, [
    'href',
    'rel',
  ]),
  LandingPage: object({ title: text, description: text, links }, ['links']),
  ConfClasses: object({ conformsTo: { type: 'array', items: text } }, ['conformsTo']),
  Extent: object({
    spatial: object({
      bbox: {
        type: 'array',
        minItems: 1,
        items: { type: 'array', minItems: 4, maxItems: 6, items: { type: 'number' } },
      },
      crs: text,
    }),
    temporal: object({
      interval: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'array',
          minItems: 2,
          maxItems: 2,
          items: { type: 'string', format: 'date-time', nullable: true },
        },
      },
    }),
  }),
  Collection: object(
    {
      id: text,
      title: text,
      description: text,
      attribution: text,
      links,
      extent: { $ref: '#/components/schemas/Extent' },
      itemType: text,
      crs: { type: 'array', items: text },
      storageCrs: text,
    },
    ['id', 'links'],
  ),
  Collections: object(
    { links, collections: { type: 'array', items: { $ref: '#/components/schemas/Collection' } } },
    ['links', 'collections'],
  ),
  Feature: object(feature, ['type', 'geometry', 'properties', 'links']),
  FeatureCollection: object(
    {
      type: { type: 'string', enum: ['FeatureCollection'] },
      features: {
        type: 'array',
        items: object(feature, ['type', 'geometry', 'properties']),
      },
      links,
      timeStamp: { type: 'string', format: 'date-time' },
      numberMatched: { type: 'integer', minimum: 0 },
      numberReturned: { type: 'integer', minimum: 0 },
    },
    ['type', 'features'],
  ),
}
