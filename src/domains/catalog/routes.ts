import type { FastifyReply, FastifyRequest } from 'fastify'
import type { TSchema } from 'typebox'
import { ref } from '#schemas/common.ts'
import { GLOSSARY, SCENARIOS } from '#schemas/glossary.ts'
import { listCountries } from '#src/domains/reference/queries.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { listBoundaries, listCrops, listPublishedReleases } from './queries.ts'

/** @param catalog the schema of the answer */
export function catalogRoutes(app: App, catalog: TSchema): void {
  const db = app.database.reader

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
      // One after the other: a request has one place at the database, and takes one connection.
      const countries = await listCountries(db)
      const crops = await listCrops(db)
      const releases = await listPublishedReleases(db)
      const boundaries = await listBoundaries(db)
      const products = app.products.list.map(({ code, unit, value, seasonal }) => ({
        product: code,
        unit,
        value: { key: value.key, unit, description: descriptionOf(value.schema) },
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
      }
      if (allowCaching(request, reply, entityTag(JSON.stringify(found)))) return reply.code(304).send()
      return found
    },
  )
}

function descriptionOf(schema: TSchema): string {
  return (schema as { description?: string }).description ?? ''
}
