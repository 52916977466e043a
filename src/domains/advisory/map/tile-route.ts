import type { FastifyReply, FastifyRequest } from 'fastify'
import { Picture, ref } from '#schemas/common.ts'
import { LayersQuery, TileParams } from '#schemas/map.ts'
import { queryOf } from '#schemas/point-request.ts'
import { ApiError, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { readPath, readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import type { MapTile } from '#src/raster/web-mercator.ts'
import { existing, type Finder, type FoundSubject, tagOf } from './finder.ts'
import type { Maps } from './maps.ts'

const PNG = 'image/png'

const TILE = `
A tile of 256 x 256 pixels in Web Mercator, counted from the north-west (XYZ). A pixel has the colour of the value at its centre. From four pixels of the raster in one of the map, it has the colour of their mean. Pixels without a value are transparent. Tiles never change.`

type OfTile = FastifyRequest<{ Params: TileParams; Querystring: LayersQuery }>

export function tileRoute(app: App, find: Finder, maps: Maps): void {
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
