import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, BASE } from '#src/errors.ts'
import type { Rectangle } from '../crs.ts'
import type { ReleaseCollection, Releases } from '../edr/releases.ts'

/** The paths of maps begin with it, below those of the OGC API. */
export const MAPS_PATH = '/maps'

/** A layer of a published release as a collection. */
export interface LayerCollection {
  id: string
  title: string
  of: ReleaseCollection
  /** Of its grid. */
  extent: Rectangle
  /** From 1, in the order of the answers. */
  number: number
}

/** The layers of a release, in the order of the answers. */
export function layersOf(of: ReleaseCollection): LayerCollection[] {
  const { release, facts } = of
  return release.layers.map(({ input, scenario, coverageId }, at) => ({
    id: `${release.code}-${at + 1}`,
    title: [of.title, input, scenario].filter((part) => part !== null).join(', '),
    of,
    extent: facts.extents[coverageId] as Rectangle,
    number: at + 1,
  }))
}

/** The code of a release, and the number of a layer after its last hyphen. */
const ID = /^(?<code>.+)-(?<number>[1-9]\d{0,2})$/s

/**
 * The layer that an id names.
 *
 * @throws {ApiError} NOT_FOUND where no release with this code is published, or it has no such layer
 */
export async function layerNamed(
  releases: Releases,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
): Promise<LayerCollection> {
  const { code, number } = ID.exec(id)?.groups ?? {}
  if (code === undefined) throw noLayer(id)
  const layer = layersOf(await releases.named(request, reply, code))[Number(number) - 1]
  if (!layer) throw noLayer(id)
  return layer
}

function noLayer(id: string): ApiError {
  const list = `\`GET ${BASE}/ogc${MAPS_PATH}/collections\` lists those that there are`
  return new ApiError('NOT_FOUND', `There is no collection ${id}; ${list}.`)
}
