import type { FastifyReply, FastifyRequest } from 'fastify'
import { SERVICE_NAME } from '#schemas/service.ts'
import type { App } from '#src/http/app.ts'
import { anchor, list, paragraph, sendPage, table } from '#src/http/plain-page.ts'
import {
  formOf,
  isCached,
  JSON_TYPE,
  type Link,
  mapsLink,
  openRoute,
  rootOf,
  selfLinks,
  withQuery,
} from '../answers.ts'
import { CRS84_WKT } from '../crs.ts'
import { WHOLE_DOCUMENT_TYPE } from '../document-parts.ts'
import { listRoute } from '../lists.ts'
import { parametersOf } from '../parameters.ts'
import { OUTPUT_FORMATS } from './data-answer.ts'
import { collectionParameter } from './parameters.ts'
import { EDR_PATH, extentOf, type ReleaseCollection, type Releases } from './releases.ts'

const DESCRIPTION =
  'What the published releases say at a point, in a polygon and in administrative areas: OGC API Environmental Data Retrieval, open to all, without a token.'

const EDR = 'http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf'

/** What of the standard is kept; the tests try each. Values are no pages, so that its HTML is not. */
export const EDR_CONFORMANCE = [
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
  `${EDR}/core`,
  `${EDR}/collections`,
  `${EDR}/json`,
  `${EDR}/geojson`,
  `${EDR}/covjson`,
  `${EDR}/oas30`,
  `${EDR}/queries`,
]

const HOME = { rel: 'root', title: 'OGC API EDR' }

export function edrLandingRoutes(app: App): void {
  async function landing(request: FastifyRequest, reply: FastifyReply) {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    if (isCached(request, reply, form, '')) return reply.code(304).send()
    const root = rootOf(request)
    const edr = root + EDR_PATH
    const links: Link[] = [
      ...selfLinks(edr, query, form, JSON_TYPE),
      {
        href: `${root}/api`,
        rel: 'service-desc',
        type: WHOLE_DOCUMENT_TYPE,
        title: 'This API as OpenAPI 3.0',
      },
      {
        href: withQuery(`${root}/api`, { f: 'html' }),
        rel: 'service-doc',
        type: 'text/html',
        title: 'Paths',
      },
      { href: `${edr}/conformance`, rel: 'conformance', type: JSON_TYPE, title: 'Conformance' },
      { href: `${edr}/collections`, rel: 'data', type: JSON_TYPE, title: 'The collections' },
    ]
    if (form.isHtml) {
      return sendPage(reply, { title: HOME.title, above: [], parts: [paragraph(DESCRIPTION)], links })
    }
    const body = { title: SERVICE_NAME, description: DESCRIPTION, links }
    return reply.type(form.type).send(JSON.stringify(body))
  }
  for (const path of [EDR_PATH, `${EDR_PATH}/`]) app.get(path, openRoute(), landing)

  app.get(`${EDR_PATH}/conformance`, openRoute(), async (request, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    if (isCached(request, reply, form, '')) return reply.code(304).send()
    if (!form.isHtml) return reply.type(form.type).send(JSON.stringify({ conformsTo: EDR_CONFORMANCE }))
    const edr = rootOf(request) + EDR_PATH
    return sendPage(reply, {
      title: 'Conformance',
      above: [{ href: withQuery(edr, { f: 'html' }), ...HOME }],
      parts: [list(EDR_CONFORMANCE.map((uri) => anchor(uri, uri)))],
      links: selfLinks(`${edr}/conformance`, query, form, JSON_TYPE),
    })
  })
}

export function edrCollectionRoutes(app: App, releases: Releases): void {
  listRoute(app, `${EDR_PATH}/collections`, releases.all, {
    title: 'Releases',
    above: { path: EDR_PATH, title: HOME.title },
    bodiesOf: (root, one) => [collectionBody(root, one)],
    columns: ['id', 'title', 'source'],
    rowsOf: (root, { release: { code }, title, facts }) => [
      [
        anchor(withQuery(`${root}${EDR_PATH}/collections/${code}`, { f: 'html' }), code),
        title,
        `${facts.source} (${facts.licence})`,
      ],
    ],
  })

  type Call = FastifyRequest<{ Params: { collection: string } }>
  app.get(`${EDR_PATH}/collections/:collection`, openRoute(), async (request: Call, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    const found = await releases.named(request, reply, request.params.collection)
    if (isCached(request, reply, form, JSON.stringify([found.release.code, found.title])))
      return reply.code(304).send()
    const edr = rootOf(request) + EDR_PATH
    const { links: own, ...body } = collectionBody(rootOf(request), found)
    const address = `${edr}/collections/${body.id}`
    const links = [...selfLinks(address, query, form, JSON_TYPE), ...own.filter(({ rel }) => rel !== 'self')]
    if (!form.isHtml) return reply.type(form.type).send(JSON.stringify({ ...body, links }))
    return sendPage(reply, {
      title: found.title,
      above: [{ href: withQuery(`${edr}/collections`, { f: 'html' }), rel: 'data', title: 'Releases' }],
      parts: [
        paragraph(body.description),
        table(
          ['parameter', 'what it is', 'unit'],
          found.parameters.map(({ id, title, unit }) => [id, title, unit]),
        ),
      ],
      links,
    })
  })
}

const QUERIES = {
  position: 'The values of the pixel at a point, or at each of several',
  area: 'The means in a polygon, each pixel by the part of it that lies inside',
  locations: 'The means in administrative areas, by their codes',
}

/** A release as its document has it. */
function collectionBody(root: string, collection: ReleaseCollection) {
  const { release, facts, title, description, parameters } = collection
  const address = `${root}${EDR_PATH}/collections/${release.code}`
  const formats = Object.keys(OUTPUT_FORMATS)
  const queries = Object.entries(QUERIES).map(([name, what]) => ({
    name,
    link: {
      href: `${address}/${name}`,
      rel: 'data',
      type: OUTPUT_FORMATS.CoverageJSON,
      title: what,
      variables: {
        title: what,
        query_type: name,
        output_formats: formats,
        default_output_format: formats[0],
        crs_details: [{ crs: 'CRS84', wkt: CRS84_WKT }],
      },
    },
  }))
  const links: Link[] = [
    { href: withQuery(address, { f: 'json' }), rel: 'self', type: JSON_TYPE, title },
    ...queries.map(({ link: { href, rel, type, title: name } }) => ({ href, rel, type, title: name })),
    mapsLink(root, release.code),
  ]
  return {
    id: release.code,
    title,
    description,
    links,
    extent: extentOf(collection, facts.extent),
    data_queries: Object.fromEntries(queries.map(({ name, link }) => [name, { link }])),
    crs: ['CRS84'],
    output_formats: formats,
    parameter_names: Object.fromEntries(parameters.map((one) => [one.id, collectionParameter(one)])),
  }
}
