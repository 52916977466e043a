import type { FastifyReply, FastifyRequest } from 'fastify'
import { ref } from '#schemas/common.ts'
import {
  GEOJSON_TYPE,
  StacCatalog,
  StacCollection,
  StacCollectionParams,
  StacItem,
  StacItemParams,
  stacSchemas,
} from '#schemas/stac.ts'
import { isOffered } from '#src/data/tiles/geotiff-writer.ts'
import { ApiError, BASE, errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { listStacReleases, listStacSeries, type Wanted } from './queries.ts'
import { catalogOf, collectionOf, itemOf, JSON_TYPE } from './stac.ts'

/** Everybody may read it, and is told when it has changed. */
const CONFIG = { public: true, caching: 'own', onlyReads: true } as const

function stacRoutes(app: App): void {
  catalogRoute(app)
  collectionRoute(app)
  itemRoute(app)
}

function catalogRoute(app: App): void {
  app.get(
    '/stac',
    {
      config: CONFIG,
      schema: {
        operationId: 'getStacCatalog',
        summary: 'The published data as a STAC catalog',
        description:
          'The root of the SpatioTemporal Asset Catalog (1.1.0): a collection for each product and country, with an item for each published release and its layers as GeoTIFF and as maps.',
        tags: ['catalog'],
        response: {
          200: { ...ref(StacCatalog), description: 'The catalog.' },
          304: { type: 'null', description: 'The catalog is the one that `If-None-Match` names.' },
          ...errorResponses(),
        },
      },
    },
    async (request, reply) => {
      const series = await listStacSeries(app.database.reader)
      const known = series.filter(({ product }) => productOf(app, product))
      return answer(
        request,
        reply,
        JSON_TYPE,
        catalogOf(request.rootUrl, known, (code) => titleOf(app, code)),
      )
    },
  )
}

type OfCollection = FastifyRequest<{ Params: StacCollectionParams }>

function collectionRoute(app: App): void {
  app.get(
    '/stac/collections/:collection',
    {
      config: CONFIG,
      schema: {
        operationId: 'getStacCollection',
        summary: 'The releases of a product in a country, as a STAC collection',
        description: 'Their extent in space and time, their sources and licences, and links to each.',
        tags: ['catalog'],
        params: StacCollectionParams,
        response: {
          200: { ...ref(StacCollection), description: 'The collection.' },
          304: { type: 'null', description: 'The collection is the one that `If-None-Match` names.' },
          ...errorResponses('NOT_FOUND'),
        },
      },
    },
    async (request: OfCollection, reply) => {
      const { collection } = request.params
      const wanted = seriesOf(app, collection)
      const releases = wanted ? await listStacReleases(app.database.reader, wanted) : []
      if (!wanted || releases.length === 0) throw noCollection(collection)
      return answer(
        request,
        reply,
        JSON_TYPE,
        collectionOf(request.rootUrl, titleOf(app, wanted.product), releases),
      )
    },
  )
}

type OfItem = FastifyRequest<{ Params: StacItemParams }>

function itemRoute(app: App): void {
  app.get(
    '/stac/collections/:collection/items/:item',
    {
      config: CONFIG,
      schema: {
        operationId: 'getStacItem',
        summary: 'A release as a STAC item',
        description:
          'Where and when it is of, its source and licence, and its layers: as GeoTIFF with grid, type, unit and range, and as maps. Checksums are not in it: a file is made when it is asked for, and its `ETag` is that of its bytes.',
        tags: ['catalog'],
        params: StacItemParams,
        response: {
          200: {
            description: 'The item.',
            content: { [GEOJSON_TYPE]: { schema: ref(StacItem) } },
          },
          304: { type: 'null', description: 'The item is the one that `If-None-Match` names.' },
          ...errorResponses('NOT_FOUND'),
        },
      },
    },
    async (request: OfItem, reply) => {
      const { collection, item: code } = request.params
      const wanted = seriesOf(app, collection)
      const [release] =
        wanted && CODE.test(code) ? await listStacReleases(app.database.reader, { ...wanted, code }) : []
      if (!wanted || !release) {
        throw new ApiError('NOT_FOUND', `There is no item ${code} in the collection ${collection}.`)
      }
      const frame = {
        root: request.rootUrl,
        product: titleOf(app, wanted.product),
        isOffered: (layer: (typeof release.layers)[number]) => isOffered(app.config, layer, layer.pixelType),
      }
      return answer(request, reply, GEOJSON_TYPE, itemOf(frame, release))
    },
  )
}

/** What may be the code of a release: nothing else is asked for. */
const CODE = /^[\w.-]{1,200}$/

function answer(request: FastifyRequest, reply: FastifyReply, type: string, body: object) {
  if (allowCaching(request, reply, entityTag(JSON.stringify(body)))) return reply.code(304).send()
  return reply.type(`${type}; charset=utf-8`).send(body)
}

function productOf({ products }: App, code: string) {
  return products.list.find((product) => product.code === code)
}

function titleOf(app: App, code: string): string {
  return productOf(app, code)?.names.title ?? code
}

/** The product and the country that a collection is named after; undefined where it is none. */
function seriesOf(
  app: App,
  collection: string,
): Required<Pick<Wanted, 'product' | 'countryCode'>> | undefined {
  const [, product = '', countryCode = ''] = /^(.+)-(\w{1,20})$/.exec(collection) ?? []
  return productOf(app, product) && { product, countryCode }
}

function noCollection(id: string): ApiError {
  return new ApiError(
    'NOT_FOUND',
    `There is no collection ${id}; \`GET ${BASE}/stac\` links those that there are.`,
  )
}

/** What is published, for programs that know the SpatioTemporal Asset Catalog. */
export async function stac(app: App): Promise<void> {
  for (const schema of stacSchemas) app.addSchema(schema)
  stacRoutes(app)
}
