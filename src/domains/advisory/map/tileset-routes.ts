import type { FastifyReply } from 'fastify'
import { ref } from '#schemas/common.ts'
import { LayerList, LayersParams, LayersQuery, Tileset, TilesetParams } from '#schemas/map.ts'
import { queryOf } from '#schemas/point-request.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { readPath, readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import { DEFAULT_CUT, existing, type Finder, type OfLayer, type OfRelease, tagOf } from './finder.ts'
import type { MapSubject, Maps } from './maps.ts'
import { tilesetOf } from './tileset.ts'

/** What is said of layers that there are not. */
export const NO_LAYER = 'yield-eth-wheat-2026-07-v1 has 4 layers, and no layer 5.'

const LAYERS = `
Each layer of a published release as a map: the address of its tiles, their extent, the unit and the legend. Quantiles are those of the means of blocks of pixels, weighted by area. Layers of one input share a legend, so that their scenarios compare.`

export function layerListRoute(app: App, find: Finder, maps: Maps): void {
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

export function tilesetRoute(app: App, find: Finder, maps: Maps): void {
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
