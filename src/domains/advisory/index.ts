import { pointComponentsOf, pointSchemasOf } from '#schemas/advisory.ts'
import { allProductsSchemasOf } from '#schemas/all-products.ts'
import { batchComponentsOf, batchSchemasOf } from '#schemas/batch.ts'
import { batchFormsOf } from '#schemas/batch-forms.ts'
import { polygonComponentsOf, polygonSchemasOf } from '#schemas/polygon.ts'
import { polygonsComponentsOf, polygonsSchemasOf } from '#schemas/polygons.ts'
import { polygonsFormsOf } from '#schemas/polygons-forms.ts'
import type { RecordAdvisory } from '#src/domains/history/queries.ts'
import type { App } from '#src/http/app.ts'
import { flushRegularly } from '#src/http/regular-flush.ts'
import { batchRoutes } from './batch/routes.ts'
import type { Lookup } from './lookup/lookup.ts'
import { observeLookup } from './metrics.ts'
import { pointEndpointsOf } from './point/endpoints.ts'
import { pointRoutes } from './point/routes.ts'
import type { Advisors } from './polygon/advisors.ts'
import { polygonRoutes } from './polygon/routes.ts'
import type { ReadRules } from './quantities/rules.ts'

/** What is asked for most changes slowly. */
const KEEP_USES_MS = 10 * 60_000

export interface AdvisoryOptions {
  lookup: Lookup
  /** For polygons and areas. */
  advisors: Advisors
  /** Records what callers with a token are answered. */
  record: RecordAdvisory
  /** What quantities are computed by. */
  readRules: ReadRules
}

/** The advisory endpoints: what the published releases say about a place. */
export async function advisory(app: App, options: AdvisoryOptions): Promise<void> {
  const { lookup, advisors, record, readRules } = options
  const { list: products } = app.products
  const points = products.map(pointSchemasOf)
  const allProducts = allProductsSchemasOf(points)
  const batches = points.map(batchSchemasOf)
  const forms = batchFormsOf(products)
  const polygons = points.map(polygonSchemasOf)
  const many = { schemas: polygons.map(polygonsSchemasOf), forms: polygonsFormsOf(products) }
  const components = [
    ...pointComponentsOf(points),
    ...allProducts.components,
    ...batchComponentsOf(batches, forms),
    ...polygonComponentsOf(polygons),
    ...polygonsComponentsOf(many.schemas, many.forms),
  ]
  for (const schema of components) app.addSchema(schema)
  app.decorateRequest('ignored', null)

  observeLookup(app.metrics, lookup)
  flushRegularly(app, lookup.keepTileUses, 'tile usage not saved, will retry', KEEP_USES_MS)
  app.metrics.observe('agro_queue_waiting', app.turns.waiting, { queue: 'slices' })
  pointRoutes(app, pointEndpointsOf(points, allProducts.response, readRules), lookup, record)
  await app.register(batchRoutes, { lookup, schemas: batches, forms, readRules })
  await app.register(polygonRoutes, { lookup, advisors, schemas: polygons, many, record, readRules })
}
