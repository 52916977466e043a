import { SERVICE_NAME } from '#schemas/service.ts'
import type { App } from '#src/http/app.ts'
import { anchor, list, paragraph } from '#src/http/plain-page.ts'
import { JSON_TYPE, type Link, legendLink, OGC_REL, withQuery } from '../answers.ts'
import { WHOLE_DOCUMENT_TYPE } from '../document-parts.ts'
import { extentOf, type Releases } from '../edr/releases.ts'
import { listRoute } from '../lists.ts'
import { describedRoute } from './described.ts'
import { type LayerCollection, layerNamed, layersOf, MAPS_PATH } from './layers.ts'

const DESCRIPTION =
  'The layers of the published releases as maps: OGC API Tiles, open to all, without a token.'

const TILES = 'http://www.opengis.net/spec/ogcapi-tiles-1/1.0/conf'

/** What of the standard is kept; the tests try each. */
export const MAPS_CONFORMANCE = [
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
  `${TILES}/core`,
  `${TILES}/tileset`,
  `${TILES}/tilesets-list`,
  `${TILES}/geodata-tilesets`,
  `${TILES}/png`,
  `${TILES}/oas30`,
]

export function mapsLandingRoutes(app: App): void {
  for (const path of ['', '/']) {
    describedRoute(app, path, () => ({
      version: '',
      describe: (maps) => ({
        title: 'OGC API Tiles',
        body: { title: SERVICE_NAME, description: DESCRIPTION },
        parts: [paragraph(DESCRIPTION)],
        links: landingLinks(maps),
      }),
    }))
  }

  describedRoute(app, '/conformance', () => ({
    version: '',
    describe: () => ({
      title: 'Conformance',
      body: { conformsTo: MAPS_CONFORMANCE },
      parts: [list(MAPS_CONFORMANCE.map((uri) => anchor(uri, uri)))],
      links: [],
    }),
  }))
}

function landingLinks(maps: string): Link[] {
  const api = `${maps.slice(0, -MAPS_PATH.length)}/api`
  const schemes = `${OGC_REL}/tiling-schemes`
  return [
    { href: api, rel: 'service-desc', type: WHOLE_DOCUMENT_TYPE, title: 'This API as OpenAPI 3.0' },
    { href: withQuery(api, { f: 'html' }), rel: 'service-doc', type: 'text/html', title: 'Paths' },
    { href: `${maps}/conformance`, rel: 'conformance', type: JSON_TYPE, title: 'Conformance' },
    { href: `${maps}/collections`, rel: 'data', type: JSON_TYPE, title: 'The layers' },
    { href: `${maps}/tileMatrixSets`, rel: schemes, type: JSON_TYPE, title: 'How tiles are cut' },
  ]
}

export function mapsCollectionRoutes(app: App, releases: Releases): void {
  listRoute(app, `${MAPS_PATH}/collections`, releases.all, {
    title: 'Layers',
    above: { path: MAPS_PATH, title: 'Maps' },
    bodiesOf: (root, release) => layersOf(release).map((layer) => listed(root + MAPS_PATH, layer)),
    columns: ['id', 'title', 'source'],
    rowsOf: (root, release) =>
      layersOf(release).map(({ id, title, of: { facts } }) => [
        anchor(withQuery(`${root}${MAPS_PATH}/collections/${id}`, { f: 'html' }), id),
        title,
        `${facts.source} (${facts.licence})`,
      ]),
  })

  describedRoute<{ collection: string }>(app, '/collections/:collection', async (request, reply) => {
    const layer = await layerNamed(releases, request, reply, request.params.collection)
    return {
      version: JSON.stringify([layer.id, layer.title]),
      describe: (maps) => ({
        title: layer.title,
        body: bodyOf(layer),
        parts: [paragraph(layer.of.description)],
        links: linksOf(maps, layer),
      }),
    }
  })
}

function bodyOf({ id, title, of, extent }: LayerCollection) {
  const { facts, description } = of
  return {
    id,
    title,
    description,
    attribution: `${facts.source} (${facts.licence})`,
    extent: extentOf(of, extent),
  }
}

function listed(maps: string, layer: LayerCollection) {
  const self = {
    href: withQuery(`${maps}/collections/${layer.id}`, { f: 'json' }),
    rel: 'self',
    type: JSON_TYPE,
    title: layer.title,
  }
  return { ...bodyOf(layer), links: [self, ...linksOf(maps, layer)] }
}

function linksOf(maps: string, { id, number, of }: LayerCollection): Link[] {
  const root = maps.slice(0, -MAPS_PATH.length)
  return [
    {
      href: `${maps}/collections/${id}/map/tiles`,
      rel: `${OGC_REL}/tilesets-map`,
      type: JSON_TYPE,
      title: 'Its tiles',
    },
    legendLink(root, of.release.code, number),
  ]
}
