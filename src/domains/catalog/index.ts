import { catalogSchemasOf } from '#schemas/catalog.ts'
import { releasesQueryOf, releasesSchemasOf } from '#schemas/releases.ts'
import type { App } from '#src/http/app.ts'
import { releaseRoutes } from './release-routes.ts'
import { catalogRoutes } from './routes.ts'

/** The catalog: what the service offers, what is published at the moment, and what was before. */
export async function catalog(app: App): Promise<void> {
  const { list: products } = app.products
  const { catalog: response, components } = catalogSchemasOf(products)
  const { components: ofReleases, ...releases } = releasesSchemasOf(products)
  for (const schema of [...components, ...ofReleases]) app.addSchema(schema)
  catalogRoutes(app, response)
  releaseRoutes(app, { query: releasesQueryOf(products), ...releases })
}
