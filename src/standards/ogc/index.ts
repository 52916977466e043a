import type { FastifyReply, FastifyRequest } from 'fastify'
import { SERVICE_NAME } from '#schemas/service.ts'
import type { RegionFigures } from '#src/advice/polygon/region-figures.ts'
import type { App } from '#src/http/app.ts'
import { anchor, list, paragraph, sendPage, table } from '#src/http/plain-page.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import {
  formOf,
  HTML_TYPE,
  isCached,
  JSON_TYPE,
  type Link,
  OGC_PATH,
  openRoute,
  parametersOf,
  rootOf,
  selfLinks,
  withQuery,
} from './answers.ts'
import { documentOf, operationsOf } from './document.ts'
import { DOCUMENT_TYPE, WHOLE_DOCUMENT_TYPE } from './document-parts.ts'
import { createReleases } from './edr/answers.ts'
import {
  areaRoute,
  edrCollectionRoutes,
  edrLandingRoutes,
  locationRoute,
  locationsRoute,
  positionRoute,
} from './edr/routes.ts'
import { createFinder } from './features/collections.ts'
import { collectionRoute, collectionsRoute, itemRoute, itemsRoute } from './features/routes.ts'

const DESCRIPTION =
  'Administrative areas as features, and what the published releases come to in them: for programs that draw maps, open to all, without a token.'

const FEATURES = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf'
const FEATURES_CRS = 'http://www.opengis.net/spec/ogcapi-features-2/1.0/conf'

/** What of the standards is kept; the tests try each. */
const CONFORMANCE = [
  `${FEATURES}/core`,
  `${FEATURES}/oas30`,
  `${FEATURES}/html`,
  `${FEATURES}/geojson`,
  `${FEATURES_CRS}/crs`,
]

function landingRoute(app: App): void {
  async function answer(request: FastifyRequest, reply: FastifyReply) {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    if (isCached(request, reply, form, '')) return reply.code(304).send()
    const root = rootOf(request)
    const links = [...selfLinks(root, query, form, JSON_TYPE), ...landingLinks(root)]
    if (form.isHtml) {
      return sendPage(reply, {
        title: 'OGC API',
        above: [],
        parts: [paragraph(DESCRIPTION)],
        links: links.filter(({ templated }) => !templated),
      })
    }
    return reply
      .type(form.type)
      .send(JSON.stringify({ title: SERVICE_NAME, description: DESCRIPTION, links }))
  }
  for (const path of ['', '/']) app.get(path, { ...openRoute(), prefixTrailingSlash: 'slash' }, answer)
}

function landingLinks(root: string): Link[] {
  return [
    { href: `${root}/api`, rel: 'service-desc', type: WHOLE_DOCUMENT_TYPE, title: 'This API as OpenAPI 3.0' },
    {
      href: withQuery(`${root}/api`, { f: 'html' }),
      rel: 'service-doc',
      type: HTML_TYPE,
      title: 'This API as a page',
    },
    {
      href: `${root}/conformance`,
      rel: 'conformance',
      type: JSON_TYPE,
      title: 'What of the standards is kept',
    },
    { href: `${root}/collections`, rel: 'data', type: JSON_TYPE, title: 'The collections' },
    {
      href: `${root}/edr`,
      rel: 'related',
      type: JSON_TYPE,
      title: 'Releases at points and in areas: OGC API EDR',
    },
    {
      href: `${root.slice(0, -OGC_PATH.length)}/releases/{release}/layers/{layer}/tiles.json`,
      rel: 'related',
      type: JSON_TYPE,
      title: 'Layers as maps: TileJSON of XYZ tiles',
      templated: true,
    },
  ]
}

function conformanceRoute(app: App): void {
  app.get('/conformance', openRoute(), async (request, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    if (isCached(request, reply, form, '')) return reply.code(304).send()
    const root = rootOf(request)
    if (!form.isHtml) return reply.type(form.type).send(JSON.stringify({ conformsTo: CONFORMANCE }))
    return sendPage(reply, {
      title: 'Conformance',
      above: [{ href: withQuery(root, { f: 'html' }), rel: 'root', title: 'OGC API' }],
      parts: [list(CONFORMANCE.map((uri) => anchor(uri, uri)))],
      links: selfLinks(`${root}/conformance`, query, form, JSON_TYPE),
    })
  })
}

/** The document of these paths, which are none of the other one: clients of these read OpenAPI 3.0 alone. */
function documentRoute(app: App): void {
  app.get('/api', openRoute(), async (request, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [DOCUMENT_TYPE, JSON_TYPE])
    if (isCached(request, reply, form, '')) return reply.code(304).send()
    const root = rootOf(request)
    const document = documentOf(root)
    if (!form.isHtml) {
      return reply
        .type(form.type === DOCUMENT_TYPE ? WHOLE_DOCUMENT_TYPE : form.type)
        .send(Buffer.from(JSON.stringify(document)))
    }
    return sendPage(reply, {
      title: 'Paths',
      above: [{ href: withQuery(root, { f: 'html' }), rel: 'root', title: 'OGC API' }],
      parts: [
        table(
          ['path', 'what it answers', 'parameters'],
          operationsOf(document).map(({ path, summary, parameters }) => [
            path,
            summary,
            parameters.join(', '),
          ]),
        ),
      ],
      links: selfLinks(`${root}/api`, query, form, DOCUMENT_TYPE),
    })
  })
}

interface OgcOptions {
  lookup: Lookup
  figures: RegionFigures
}

/** The OGC API: for programs that draw maps. Its document is one of its own, at `/ogc/api`. */
export async function ogc(app: App, { lookup, figures }: OgcOptions): Promise<void> {
  const find = createFinder(app, lookup, figures)
  landingRoute(app)
  documentRoute(app)
  conformanceRoute(app)
  collectionsRoute(app, find)
  collectionRoute(app, find)
  itemsRoute(app, find)
  itemRoute(app, find)

  const releases = createReleases(app, lookup)
  edrLandingRoutes(app)
  edrCollectionRoutes(app, releases)
  positionRoute(app, releases, lookup)
  areaRoute(app, releases, figures)
  locationsRoute(app, releases, find)
  locationRoute(app, releases, find)
}
