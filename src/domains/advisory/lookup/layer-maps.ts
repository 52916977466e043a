import type { FastifyReply, FastifyRequest } from 'fastify'
import type { MapTile } from '#src/raster/web-mercator.ts'
import type { PublishedRelease } from './published-release.ts'

/** A layer of a published release, as maps show it. */
export interface ShownLayer {
  release: PublishedRelease
  /** West, south, east and north in decimal degrees. */
  bounds: number[]
  /** Where its pixels are larger than those of the map: no greater zoom says more. */
  highestZoom: number
  /**
   * A tile as PNG, from memory or drawn in the turn of the request. A zoom has to have its column and row.
   *
   * @throws {ApiError} NOT_FOUND where the release has been deleted since
   */
  tile(tile: MapTile, request: FastifyRequest, reply: FastifyReply): Promise<Buffer>
}

/** Shows layers of published releases, by the codes of these and their numbers, from 1. */
export interface LayerMaps {
  /** @throws {ApiError} NOT_FOUND where the release is not published now, or has no such layer */
  find(request: FastifyRequest, reply: FastifyReply, code: string, layer: number): Promise<ShownLayer>
}
