import type { FastifyRequest } from 'fastify'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { negotiate } from '#src/http/negotiation.ts'
import { anchor, table } from '#src/http/plain-page.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import type { MapTile } from '#src/raster/web-mercator.ts'
import type { LayerMaps, ShownLayer } from '../../lookup/layer-maps.ts'
import { JSON_TYPE, type Link, legendLink, OGC_REL, openRoute, withQuery } from '../answers.ts'
import { DEFAULT_CRS } from '../crs.ts'
import type { Releases } from '../edr/releases.ts'
import { parametersOf } from '../parameters.ts'
import { describedRoute } from './described.ts'
import { type LayerCollection, layerNamed, MAPS_PATH } from './layers.ts'
import {
  limitsUpTo,
  WEB_MERCATOR,
  WEB_MERCATOR_QUAD,
  WEB_MERCATOR_QUAD_DEFINITION,
  WEB_MERCATOR_QUAD_ENTRY,
  WEB_MERCATOR_QUAD_URI,
} from './web-mercator-quad.ts'

const PNG = 'image/png'

const TILES = '/collections/:collection/map/tiles'

export function tileMatrixSetRoutes(app: App): void {
  describedRoute(app, '/tileMatrixSets', () => ({
    version: '',
    describe: (maps, address) => ({
      title: 'Tile matrix sets',
      body: {
        tileMatrixSets: [{ ...WEB_MERCATOR_QUAD_ENTRY, links: [{ ...schemeLink(maps), rel: 'self' }] }],
      },
      parts: [
        table(
          ['id', 'title'],
          [
            [
              anchor(`${address}/${WEB_MERCATOR_QUAD}?f=html`, WEB_MERCATOR_QUAD),
              WEB_MERCATOR_QUAD_ENTRY.title,
            ],
          ],
        ),
      ],
      links: [],
    }),
  }))

  describedRoute<{ set: string }>(app, '/tileMatrixSets/:set', ({ params }) => {
    refuseOther(params.set)
    return {
      version: '',
      describe: () => ({
        title: WEB_MERCATOR_QUAD,
        body: WEB_MERCATOR_QUAD_DEFINITION,
        parts: [
          table(
            ['tile matrix', 'metres of a pixel', 'tiles on a side'],
            WEB_MERCATOR_QUAD_DEFINITION.tileMatrices.map(({ id, cellSize, matrixWidth }) => [
              id,
              cellSize,
              matrixWidth,
            ]),
          ),
        ],
        links: [],
      }),
    }
  })
}

export function tilesetRoutes(app: App, releases: Releases, layers: LayerMaps): void {
  describedRoute<{ collection: string }>(app, TILES, async (request, reply) => {
    const layer = await layerNamed(releases, request, reply, request.params.collection)
    return {
      version: layer.title,
      describe: (maps, address) => ({
        title: `Tiles of ${layer.title}`,
        body: { tilesets: [{ ...setOf(layer), links: [...setLinks(address), schemeLink(maps)] }] },
        parts: [
          table(
            ['tile matrix set', 'title'],
            [[anchor(`${address}/${WEB_MERCATOR_QUAD}?f=html`, WEB_MERCATOR_QUAD), layer.title]],
          ),
        ],
        links: [],
      }),
    }
  })

  describedRoute<{ collection: string; set: string }>(app, `${TILES}/:set`, async (request, reply) => {
    refuseOther(request.params.set)
    const layer = await layerNamed(releases, request, reply, request.params.collection)
    const shown = await layers.find(request, reply, layer.of.release.code, layer.number)
    return {
      version: layer.title,
      describe: (maps, address) => ({
        title: layer.title,
        body: { ...setOf(layer), ...limitsOf(layer, shown) },
        parts: [
          table(
            ['', ''],
            [
              ['tiles', itemOf(address)],
              ['extent', shown.bounds.join(', ')],
              ['zoom', `0 to ${shown.highestZoom}`],
            ],
          ),
        ],
        links: tilesetLinks(maps, address, layer),
      }),
    }
  })
}

/** What lists have of a tile set. */
function setOf({ title }: LayerCollection) {
  return { title, dataType: 'map', crs: WEB_MERCATOR, tileMatrixSetURI: WEB_MERCATOR_QUAD_URI }
}

function limitsOf({ of: { description, facts } }: LayerCollection, { bounds, highestZoom }: ShownLayer) {
  return {
    description,
    attribution: facts.source,
    license: facts.licence,
    mediaTypes: [PNG],
    boundingBox: { lowerLeft: bounds.slice(0, 2), upperRight: bounds.slice(2), crs: DEFAULT_CRS.uri },
    tileMatrixSetLimits: limitsUpTo(highestZoom),
  }
}

function setLinks(tiles: string): Link[] {
  const title = 'Where its tiles are'
  return [
    { href: withQuery(`${tiles}/${WEB_MERCATOR_QUAD}`, { f: 'json' }), rel: 'self', type: JSON_TYPE, title },
  ]
}

function schemeLink(maps: string): Link {
  const href = `${maps}/tileMatrixSets/${WEB_MERCATOR_QUAD}`
  return { href, rel: `${OGC_REL}/tiling-scheme`, type: JSON_TYPE, title: 'How tiles are cut' }
}

function itemOf(address: string): string {
  return `${address}/{tileMatrix}/{tileRow}/{tileCol}`
}

function tilesetLinks(maps: string, address: string, { id, number, of }: LayerCollection): Link[] {
  return [
    { href: itemOf(address), rel: 'item', type: PNG, title: 'A tile', templated: true },
    schemeLink(maps),
    { href: `${maps}/collections/${id}`, rel: `${OGC_REL}/geodata`, type: JSON_TYPE, title: 'The layer' },
    legendLink(maps.slice(0, -MAPS_PATH.length), of.release.code, number),
  ]
}

interface TilePath {
  collection: string
  set: string
  matrix: string
  row: string
  column: string
}

/** A tile: the very one of `/releases/{release}/layers/{layer}/tiles/{z}/{x}/{y}`. */
export function ogcTileRoute(app: App, releases: Releases, layers: LayerMaps): void {
  type Call = FastifyRequest<{ Params: TilePath }>
  app.get(`${MAPS_PATH}${TILES}/:set/:matrix/:row/:column`, openRoute(), async (request: Call, reply) => {
    parametersOf(request, [])
    negotiate(request, reply, [PNG])
    refuseOther(request.params.set)
    const { of, number } = await layerNamed(releases, request, reply, request.params.collection)
    const layer = await layers.find(request, reply, of.release.code, number)
    const tile = tileAt(request.params, layer)
    const tag = entityTag(of.release.code, request.rootUrl, request.url)
    if (allowCaching(request, reply, tag)) return reply.code(304).send()
    return reply.type(PNG).send(await layer.tile(tile, request, reply))
  })
}

/** @throws {ApiError} INVALID_PARAMETERS where a layer has no such tile */
function tileAt({ matrix, row, column }: TilePath, { highestZoom }: ShownLayer): MapTile {
  const zoom = wholeNumber('tileMatrix', matrix, highestZoom)
  const last = 2 ** zoom - 1
  return { zoom, row: wholeNumber('tileRow', row, last), column: wholeNumber('tileCol', column, last) }
}

function wholeNumber(field: string, text: string, last: number): number {
  const number = /^(0|[1-9]\d{0,7})$/.test(text) ? Number(text) : Number.NaN
  if (number <= last) return number
  throw ApiError.invalid(field, `must be a whole number from 0 to ${last}`)
}

/** @throws {ApiError} NOT_FOUND where a tile matrix set is none of ours */
function refuseOther(set: string): void {
  if (set === WEB_MERCATOR_QUAD) return
  const list = `\`GET ${BASE}/ogc${MAPS_PATH}/tileMatrixSets\` lists those that there are`
  throw new ApiError('NOT_FOUND', `There is no tile matrix set ${set}; ${list}.`)
}
