import type { TSchema } from 'typebox'
import { ref } from '#schemas/common.ts'
import { GLOSSARY, SCENARIOS } from '#schemas/glossary.ts'
import { listCountries } from '#src/domains/advisory/lookup/queries.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { listBoundaries, listCrops, listPublishedReleases } from './queries.ts'

/** @param catalog the schema of the answer */
export function catalogRoutes(app: App, catalog: TSchema): void {
  const db = app.database.reader

  app.get(
    '/catalog',
    {
      config: { public: true },
      schema: {
        operationId: 'getCatalog',
        summary: 'What is offered and published',
        description:
          'Countries, crops and products; what the scenarios and other words mean; and each published release with its inputs, scenarios, units, range, month, grids, source, licence and version; and the administrative boundaries that are loaded, with their source and licence.',
        tags: ['catalog'],
        response: { 200: { ...ref(catalog), description: 'The catalog.' }, ...errorResponses() },
      },
    },
    async () => {
      const [countries, crops, releases, boundaries] = await Promise.all([
        listCountries(db),
        listCrops(db),
        listPublishedReleases(db),
        listBoundaries(db),
      ])
      const products = app.products.list.map(({ code, unit, value, seasonal }) => ({
        product: code,
        unit,
        value: { key: value.key, unit, description: descriptionOf(value.schema) },
        needs_crop: seasonal,
        path: `${app.config.BASE_PATH}/advisory/${code}/point`,
      }))
      return { countries, crops, products, scenarios: SCENARIOS, glossary: GLOSSARY, releases, boundaries }
    },
  )
}

function descriptionOf(schema: TSchema): string {
  return (schema as { description?: string }).description ?? ''
}
