import type { FastifyReply, FastifyRequest } from 'fastify'
import { GeoTiff, Picture, ref } from '#schemas/common.ts'
import {
  LayerList,
  LayersParams,
  LayersQuery,
  MapClass,
  TileParams,
  Tileset,
  TilesetParams,
} from '#schemas/map.ts'
import { queryOf } from '#schemas/point-request.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { readPath, readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { sharedWork } from '#src/lib/fair-queue.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { MapTile } from '#src/raster/maps.ts'
import {
  createFinder,
  DEFAULT_CUT,
  existing,
  type Finder,
  type FoundSubject,
  type OfLayer,
  type OfRelease,
  tagOf,
} from './finder.ts'
import { geotiffRoute } from './geotiff.ts'
import { createMaps, type MapSubject, type Maps } from './maps.ts'
import { tilesetOf } from './tilesets.ts'

const PNG = 'image/png'

const TILE = `
A tile of 256 x 256 pixels in Web Mercator, counted from the north-west (XYZ). A pixel has the colour of the value at its centre. From four pixels of the raster in one of the map, it has the colour of their mean. Pixels without a value are transparent. Tiles never change.`

type OfTile = FastifyRequest<{ Params: TileParams; Querystring: LayersQuery }>

function tileRoute(app: App, find: Finder, maps: Maps): void {
  app.get(
    '/releases/:release/layers/:layer/tiles/:z/:x/:y',
    {
      config: { public: true, caching: 'shared', ownTurns: true },
      schema: {
        operationId: 'getTile',
        summary: 'A tile of the map of a layer',
        description: TILE.trim(),
        tags: ['catalog'],
        params: TileParams,
        querystring: queryOf(LayersQuery),
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
    async (request: OfTile, reply) => {
      const { z: zoom, x: column, y: row } = request.params
      refuseBeyond('x', column, zoom)
      refuseBeyond('y', row, zoom)
      const found = await find.subject(request, reply, request.params, request.query.cut)
      if (allowCaching(request, reply, tagOf(request, found.published))) return reply.code(304).send()
      const png = await tileOf(app, maps, found, { zoom, column, row }, request, reply)
      return reply.type(PNG).send(png)
    },
  )
}

/**
 * A tile as PNG: from memory, or drawn in the turn of a request.
 *
 * @throws {ApiError} NOT_FOUND where the release has been deleted since it was found
 */
function tileOf(
  app: App,
  maps: Maps,
  { published, subject }: FoundSubject,
  tile: MapTile,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Buffer> {
  const drawNow = () => app.inTurn(request, reply, () => maps.tile(subject, tile))
  return existing(published, () => maps.shared(subject, tile, drawNow))
}

/** @throws {ApiError} INVALID_PARAMETERS where a zoom has no such column or row */
function refuseBeyond(field: 'x' | 'y', number: number, zoom: number): void {
  const last = 2 ** zoom - 1
  if (number > last) throw ApiError.invalid(field, `must be at most ${last} at zoom ${zoom}`)
}

const LAYERS = `
Each layer of a published release as a map: the address of its tiles, their extent, the unit and the legend. Quantiles are those of the means of blocks of pixels, weighted by area. Layers of one input share a legend, so that their scenarios compare.`

function layerListRoute(app: App, find: Finder, maps: Maps): void {
  const tileset = tilesetWriter(app, maps)

  app.get(
    '/releases/:release/layers',
    {
      config: { public: true, caching: 'own', ownTurns: true },
      schema: {
        operationId: 'listLayers',
        summary: 'The layers of a release as maps',
        description: LAYERS.trim(),
        tags: ['catalog'],
        params: LayersParams,
        querystring: queryOf(LayersQuery),
        response: {
          200: { ...ref(LayerList), description: 'The layers.' },
          304: { type: 'null', description: 'The layers are those that `If-None-Match` names.' },
          ...errorResponses('INVALID_PARAMETERS', 'NOT_FOUND'),
        },
      },
      preValidation: readQuery(LayersQuery),
    },
    async (request: OfRelease, reply) => {
      const { published, release } = await find.release(request, reply, request.params.release)
      if (allowCaching(request, reply, tagOf(request, published))) return reply.code(304).send()
      const { cut = DEFAULT_CUT } = request.query
      const layers = []
      for (const layer of release.layers) {
        const subject = { releaseId: published.id, release, layer, cut }
        layers.push(await tileset(request, reply, published, subject))
      }
      return { release: published.code, layers }
    },
  )
}

function tilesetRoute(app: App, find: Finder, maps: Maps): void {
  const tileset = tilesetWriter(app, maps)

  app.get(
    '/releases/:release/layers/:layer/tiles.json',
    {
      config: { public: true, caching: 'own', ownTurns: true },
      schema: {
        operationId: 'getTileset',
        summary: 'A layer of a release as a map',
        description: `${LAYERS.trim()} One layer as TileJSON, for QGIS and map libraries.`,
        tags: ['catalog'],
        params: TilesetParams,
        querystring: queryOf(LayersQuery),
        response: {
          200: { ...ref(Tileset), description: 'Where its tiles are, and the legend.' },
          304: { type: 'null', description: 'It is the one that `If-None-Match` names.' },
          ...errorResponses('INVALID_PARAMETERS', 'NOT_FOUND'),
        },
      },
      preValidation: [readPath(TilesetParams), readQuery(LayersQuery)],
    },
    async (request: OfLayer, reply) => {
      const { published, subject } = await find.subject(request, reply, request.params, request.query.cut)
      if (allowCaching(request, reply, tagOf(request, published))) return reply.code(304).send()
      return tileset(request, reply, published, subject)
    },
  )
}

/** Makes what answers with a layer's tileset. */
function tilesetWriter(app: App, maps: Maps) {
  return async (
    request: OfRelease | OfLayer,
    reply: FastifyReply,
    published: PublishedRelease,
    subject: MapSubject,
  ): Promise<Tileset> => {
    const legend = await existing(published, () => app.inTurn(request, reply, () => maps.legend(subject)))
    const { release, layer, cut } = subject
    return tilesetOf(published.code, release, layer, { cut, found: legend }, request.rootUrl)
  }
}

function mapRoutes(app: App, lookup: Lookup, maps: Maps): void {
  const find = createFinder(app, lookup, maps)
  layerListRoute(app, find, maps)
  tilesetRoute(app, find, maps)
  tileRoute(app, find, maps)
  if (app.config.DOWNLOADS) geotiffRoute(app, find, maps)
}

/** The layers of published releases as maps. */
export async function map(app: App, { lookup }: { lookup: Lookup }): Promise<void> {
  for (const schema of [MapClass, Tileset, LayerList, GeoTiff]) app.addSchema(schema)
  const pause = () => app.turns.next(sharedWork('maps'))
  const maps = createMaps({ db: app.database.reader, stores: app.tiles }, pause)
  mapRoutes(app, lookup, maps)
}
