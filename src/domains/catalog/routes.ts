import { Catalog } from '#schemas/catalog.ts'
import { PRODUCTS, ref } from '#schemas/common.ts'
import { listCountries } from '#src/domains/advisory/lookup/queries.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { PRODUCT_RULES } from '#src/products/rules.ts'
import { listBoundaries, listCrops, listPublishedReleases } from './queries.ts'

export function catalogRoutes(app: App): void {
  const db = app.database.reader

  app.get(
    '/catalog',
    {
      config: { public: true },
      schema: {
        operationId: 'getCatalog',
        summary: 'What is offered and published',
        description:
          'Countries, crops and products; and each published release with its inputs, scenarios, units, month, grids, source, licence and version; and the administrative boundaries that are loaded, with their source and licence.',
        tags: ['catalog'],
        response: { 200: { ...ref(Catalog), description: 'The catalog.' }, ...errorResponses() },
      },
    },
    async () => {
      const [countries, crops, releases, boundaries] = await Promise.all([
        listCountries(db),
        listCrops(db),
        listPublishedReleases(db),
        listBoundaries(db),
      ])
      const products = PRODUCTS.map((product) => ({
        product,
        unit: PRODUCT_RULES[product].unit,
        needs_crop: PRODUCT_RULES[product].perSeason,
        path: `${app.config.BASE_PATH}/advisory/${product}/point`,
      }))
      return { countries, crops, products, releases, boundaries }
    },
  )
}
