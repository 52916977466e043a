import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#src/http/app.ts'
import type { MapTile } from '#src/raster/web-mercator.ts'
import type { LayerMaps } from '../lookup/layer-maps.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { createFinder, existing, type FoundSubject } from './finder.ts'
import type { Maps } from './maps.ts'
import { boundsOf, highestZoomOf } from './tileset.ts'

/** Layers as the paths of maps show them, for others that show them by other paths. */
export function createLayerMaps(app: App, lookup: Lookup, maps: Maps): LayerMaps {
  const find = createFinder(app, lookup, maps)

  return {
    async find(request, reply, release, layer) {
      const found = await find.subject(request, reply, { release, layer })
      return {
        release: found.published,
        bounds: boundsOf(found.subject.layer),
        highestZoom: highestZoomOf(found.subject.layer),
        tile: (tile, asking, answer) => tileOf(app, maps, found, tile, asking, answer),
      }
    },
  }
}

/**
 * A tile as PNG: from memory, or drawn in the turn of a request.
 *
 * @throws {ApiError} NOT_FOUND where the release has been deleted since it was found
 */
export function tileOf(
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
