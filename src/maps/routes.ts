import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TObject } from 'typebox'
import { Picture, ref } from '#schemas/common.ts'
import {
  LayerList,
  LayersParams,
  LayersQuery,
  MapClass,
  TileParams,
  Tileset,
  TilesetParams,
} from '#schemas/map.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import { ApiError } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { readPath, readQuery } from '#src/http/parameters.ts'
import { allowCaching, dataTag } from '#src/http/plugins/caching.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { listMaps, type Maps } from './maps.ts'

type Call<Params extends TObject> = FastifyRequest<{
  Params: Static<Params>
  Querystring: Static<typeof LayersQuery>
}>

/** A release never changes: its code and the address distinguish answers. */
function isCached(exchange: Exchange, { code }: PublishedRelease): boolean {
  const { request } = exchange
  return allowCaching(exchange, dataTag(request, code, request.rootUrl, request.url))
}

const PNG = 'image/png'

const TILE = `
A tile of 256 x 256 pixels in Web Mercator, counted from the north-west (XYZ). A pixel has the colour of the value at its centre. From four pixels of the raster in one of the map, it has the colour of their mean. Pixels without a value are transparent. Tiles never change.`

function tileRoute(app: App, maps: Maps): void {
  app.askedByPages(({ release, ...place }) => `/releases/${release}/layers/1/tiles/${tileAt(place)}`)
  app.get(
    '/releases/:release/layers/:layer/tiles/:z/:x/:y',
    {
      config: { public: true, caching: 'shared', takesOwnPermit: true },
      schema: {
        operationId: 'getTile',
        summary: 'A tile of the map of a layer',
        description: TILE.trim(),
        tags: ['catalog'],
        params: TileParams,
        querystring: toQuerySchema(LayersQuery),
        response: {
          200: {
            description: 'The tile.',
            content: { [PNG]: { schema: ref(Picture) } },
          },
          304: { type: 'null', description: 'The tile is the one that `If-None-Match` names.' },
          ...errorResponses('INVALID_PARAMETERS', 'NOT_FOUND'),
        },
      },
      preValidation: [readPath(TileParams), readQuery(LayersQuery)],
    },
    async (request: Call<typeof TileParams>, reply: FastifyReply) => {
      const { z: zoom, x: column, y: row } = request.params
      refuseBeyond('x', column, zoom)
      refuseBeyond('y', row, zoom)
      const wanted = { ...request.params, ...request.query }
      const { release } = await maps.findSubject(request.exchange, wanted)
      if (isCached(request.exchange, release)) return reply.code(304).send()
      return reply.type(PNG).send(await maps.tile(request.exchange, wanted, { zoom, column, row }))
    },
  )
}

/** The path of the tile of a place, at a zoom that shows a country. */
function tileAt({ lat, lng }: { lat: number; lng: number }): string {
  const zoom = 5
  const south = 0.5 - Math.atanh(Math.sin((lat * Math.PI) / 180)) / (2 * Math.PI)
  return [zoom, ...[(lng + 180) / 360, south].map((part) => Math.floor(part * 2 ** zoom))].join('/')
}

/** @throws {ApiError} INVALID_PARAMETERS where a zoom has no such column or row */
function refuseBeyond(field: 'x' | 'y', number: number, zoom: number): void {
  const last = 2 ** zoom - 1
  if (number > last) throw ApiError.invalid(field, `must be at most ${last} at zoom ${zoom}`)
}

const LAYERS = `
Each layer of a published release as a map: the address of its tiles, their extent, the unit and the legend. Quantiles are those of the means of blocks of pixels, weighted by area. Layers of one input and condition share a legend, so that their scenarios compare. Bands about layers follow them: odds with fixed classes, ends and spreads of ranges, and codes of conditions. Where the odds of the three seasons are rasters of one grid, \`most-likely\` names a map of the likeliest.`

function layerListRoute(app: App, maps: Maps): void {
  app.askedByPages(({ release }) => `/releases/${release}/layers?cut=quantiles`)
  app.get(
    '/releases/:release/layers',
    {
      config: { public: true, caching: 'own', takesOwnPermit: true },
      schema: {
        operationId: 'listLayers',
        summary: 'The layers of a release as maps',
        description: LAYERS.trim(),
        tags: ['catalog'],
        params: LayersParams,
        querystring: toQuerySchema(LayersQuery),
        response: {
          200: { ...ref(LayerList), description: 'The layers.' },
          304: { type: 'null', description: 'The layers are those that `If-None-Match` names.' },
          ...errorResponses('INVALID_PARAMETERS', 'NOT_FOUND'),
        },
      },
      preValidation: readQuery(LayersQuery),
    },
    async (request: Call<typeof LayersParams>, reply: FastifyReply) => {
      const wanted = { ...request.params, ...request.query }
      const { release, layers } = await maps.findSubject(request.exchange, { ...wanted, layer: 1 })
      if (isCached(request.exchange, release)) return reply.code(304).send()
      const tilesets: Tileset[] = []
      for (const layer of listMaps(layers)) {
        tilesets.push(await maps.tileset(request.exchange, { ...wanted, layer }))
      }
      return { release: release.code, layers: tilesets }
    },
  )
}

function tilesetRoute(app: App, maps: Maps): void {
  app.get(
    '/releases/:release/layers/:layer/tiles.json',
    {
      config: { public: true, caching: 'own', takesOwnPermit: true },
      schema: {
        operationId: 'getTileset',
        summary: 'A layer of a release as a map',
        description: `${LAYERS.trim()} One layer as TileJSON, for QGIS and map libraries.`,
        tags: ['catalog'],
        params: TilesetParams,
        querystring: toQuerySchema(LayersQuery),
        response: {
          200: { ...ref(Tileset), description: 'Where its tiles are, and the legend.' },
          304: { type: 'null', description: 'It is the one that `If-None-Match` names.' },
          ...errorResponses('INVALID_PARAMETERS', 'NOT_FOUND'),
        },
      },
      preValidation: [readPath(TilesetParams), readQuery(LayersQuery)],
    },
    async (request: Call<typeof TilesetParams>, reply: FastifyReply) => {
      const wanted = { ...request.params, ...request.query }
      const { release } = await maps.findSubject(request.exchange, wanted)
      if (isCached(request.exchange, release)) return reply.code(304).send()
      return maps.tileset(request.exchange, wanted)
    },
  )
}

/** The layers of published releases as maps. */
export async function map(app: App, { maps }: { maps: Maps }): Promise<void> {
  for (const schema of [MapClass, Tileset, LayerList]) app.addSchema(schema)
  layerListRoute(app, maps)
  tilesetRoute(app, maps)
  tileRoute(app, maps)
}
