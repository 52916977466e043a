import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import {
  defineCatalogSchemas,
  defineReleasesQuery,
  defineReleasesSchemas,
  RELEASES_DEFAULTS,
  type ReleaseAdditions,
  ReleaseParams,
} from '#schemas/catalog.ts'
import { ref } from '#schemas/common.ts'
import { GLOSSARY, SCENARIOS } from '#schemas/glossary.ts'
import { toQuerySchema } from '#schemas/point-request.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { findCaller } from '#src/http/caller.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { cursorAfter, decodeCursor, readQuery } from '#src/http/parameters.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { wordKey } from '#src/lib/names.ts'
import * as queries from './published-queries.ts'
import { listCountries } from './reference-queries.ts'

interface CatalogOptions extends ReleaseAdditions {
  /** The names of those that are on. */
  extensions: string[]
  releaseMembers: readonly queries.ReleaseMember[]
}

/** What a page can begin after. */
const CODE = /^[a-z0-9-]{1,200}$/

const LIST_DESCRIPTION = `
The releases that are or were published, and those that are deleted where \`state\` asks for them. A release is what answers are computed from; its values never change. Any that is there answers where a request names it as \`release\`.

Admins also see those that never were published, and with \`state=incomplete\` the loads that are under way or were cut off.`

function listRoute(app: App, list: TSchema): void {
  const query = defineReleasesQuery(app.products.list)
  app.get(
    '/releases',
    {
      config: { public: true, caching: 'own', onlyReads: true },
      schema: {
        operationId: 'listReleases',
        summary: 'List releases, published and earlier',
        description: LIST_DESCRIPTION.trim(),
        tags: ['catalog'],
        querystring: toQuerySchema(query),
        response: {
          200: { ...ref(list), description: 'A page of releases.' },
          304: { type: 'null', description: 'The page is the one that `If-None-Match` names.' },
          ...errorResponses('INVALID_PARAMETERS'),
        },
      },
      preValidation: readQuery(query),
    },
    async (request: FastifyRequest<{ Querystring: Static<typeof query> }>, reply: FastifyReply) => {
      const { product = null, country_code, crop, state = null, cursor } = request.query
      const { limit = RELEASES_DEFAULTS.limit } = request.query
      const countryCode = country_code?.trim().toLowerCase() ?? null
      const named = { product, countryCode, crop: crop === undefined ? null : wordKey(crop), state }
      const filters = Object.values(named)
      const withUnpublished = seesUnpublished(request)
      // Who holds a lock of the primary, no replica knows.
      const db = state === 'incomplete' && withUnpublished ? app.database.writer : app.database.reader
      const rows = await queries.listReleaseRows(db, {
        ...named,
        withUnpublished,
        after: cursor === undefined ? null : (decodeCursor(cursor, filters, CODE)[0] as string),
        limit: limit + 1,
      })
      const items = rows.slice(0, limit)
      const last = rows.length > limit ? items.at(-1) : undefined
      const answer = { items, next_cursor: last ? cursorAfter(last.release, filters) : null }
      if (allowCaching(request.exchange, entityTag(JSON.stringify(answer)))) return reply.code(304).send()
      return answer
    },
  )
}

function itemRoute(app: App, release: TSchema, { releaseLinks, releaseMembers }: CatalogOptions): void {
  app.get(
    '/releases/:release',
    {
      config: { public: true, caching: 'own', onlyReads: true },
      schema: {
        operationId: 'getRelease',
        summary: 'Get a release',
        description:
          'The layers, grids, source, licence and checksum of a release, and its publications. A deleted release has the rest of its record.',
        tags: ['catalog'],
        params: ReleaseParams,
        response: {
          200: { ...ref(release), description: 'The release.' },
          304: { type: 'null', description: 'It is as `If-None-Match` names it.' },
          ...errorResponses('NOT_FOUND'),
        },
      },
    },
    async (request: FastifyRequest<{ Params: Static<typeof ReleaseParams> }>, reply: FastifyReply) => {
      const code = request.params.release
      const found = CODE.test(code)
        ? await queries.describeRelease(app.database.reader, code, seesUnpublished(request), releaseMembers)
        : undefined
      if (!found) {
        const list = `\`GET ${BASE}/releases\` lists those that are there`
        throw new ApiError('NOT_FOUND', `No release ${code} is or was published; ${list}.`)
      }
      const added: Record<string, unknown> = {}
      for (const { name, read } of releaseMembers)
        if (read) added[name] = await read(found[name as 'release'])
      const isPublished = found.state === 'published'
      const addresses = releaseLinks.map(({ name, address }) => [
        name,
        isPublished ? address(app.config, request.rootUrl, found.country_code) : null,
      ])
      const answer = { ...found, ...added, ...Object.fromEntries(addresses) }
      if (allowCaching(request.exchange, entityTag(JSON.stringify(answer)))) return reply.code(304).send()
      return answer
    },
  )
}

/** @throws {ApiError} of 503 where the caller could not be looked up */
function seesUnpublished(request: FastifyRequest): boolean {
  return findCaller(request)?.role === 'admin'
}

/** @param catalog the schema of the answer @param extensions those that are on */
function catalogRoutes(app: App, catalog: TSchema, extensions: string[]): void {
  const db = app.database.reader

  app.askedByPages(() => '/catalog')
  app.get(
    '/catalog',
    {
      config: { public: true, caching: 'own', onlyReads: true },
      schema: {
        operationId: 'getCatalog',
        summary: 'The catalog of offered and published data',
        description:
          'Countries, crops and products, and the meaning of scenarios and other words. Each published release has its inputs, scenarios, units, range, month, grids, source, licence and version. Boundaries have their source and licence.',
        tags: ['catalog'],
        response: {
          200: { ...ref(catalog), description: 'The catalog.' },
          304: { type: 'null', description: 'The catalog is the one that `If-None-Match` names.' },
          ...errorResponses(),
        },
      },
    },
    async (request: FastifyRequest, reply: FastifyReply) => {
      // One after the other: a request has one permit of the database, and takes one connection.
      const countries = await listCountries(db)
      const crops = await queries.listCrops(db)
      const releases = await queries.listPublishedReleases(db)
      const boundaries = await queries.listBoundaries(db)
      const products = app.products.list.map(({ code, unit, value, seasonal }) => ({
        product: code,
        unit,
        value: {
          key: value.key,
          unit,
          description: (value.schema as { description?: string }).description ?? '',
        },
        needs_crop: seasonal,
        path: `${request.basePath}/advisory/${code}/point`,
      }))
      const found = {
        countries,
        crops,
        products,
        scenarios: SCENARIOS,
        glossary: GLOSSARY,
        releases,
        boundaries,
        extensions,
      }
      if (allowCaching(request.exchange, entityTag(JSON.stringify(found)))) return reply.code(304).send()
      return found
    },
  )
}

/** The catalog: offered products, published releases, and earlier ones. */
export async function catalog(app: App, options: CatalogOptions): Promise<void> {
  const { list: products } = app.products
  const { catalog: response, components } = defineCatalogSchemas(products)
  const { components: ofReleases, list, release } = defineReleasesSchemas(products, options)
  for (const schema of [...components, ...ofReleases]) app.addSchema(schema)
  catalogRoutes(app, response, options.extensions)
  listRoute(app, list)
  itemRoute(app, release, options)
}
