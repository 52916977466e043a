import { coverageQueryOf, coverageSchemasOf } from '#schemas/coverage.ts'
import type { App } from '#src/http/app.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { RegionFigures } from '../lookup/region-figures.ts'
import { createAtlas } from './atlas.ts'
import { coverageRoute } from './routes.ts'

export interface CoverageOptions {
  lookup: Lookup
  figures: RegionFigures
}

/** The atlas: how much of each area has values. */
export async function coverage(app: App, { lookup, figures }: CoverageOptions): Promise<void> {
  const { list: products } = app.products
  const { components, ...answers } = coverageSchemasOf(products)
  for (const schema of components) app.addSchema(schema)
  coverageRoute(app, lookup, createAtlas(app, figures), { query: coverageQueryOf(products), ...answers })
}
