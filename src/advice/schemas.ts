import { defineAllProductsSchemas, definePointSchemas, listPointComponents } from '#schemas/advisory.ts'
import { defineBatchFormats, defineBatchSchemas, listBatchComponents } from '#schemas/batch.ts'
import { definePolygonSchemas, listPolygonComponents } from '#schemas/polygon.ts'
import { definePolygonsFormats, definePolygonsSchemas, listPolygonsComponents } from '#schemas/polygons.ts'
import type { App } from '#src/http/app.ts'
import { POLYGON_FORMATS } from './polygons/formats.ts'

/** Adds the schemas of advice to a scope: extensions answer with them, too. */
export function addAdviceSchemas(app: App) {
  const { placeSources } = app
  const { list: products } = app.products
  const points = products.map((product) => definePointSchemas(product, app.additions))
  const polygons = definePolygonSchemas(
    points,
    placeSources.map(({ one }) => one),
  )
  const formats = POLYGON_FORMATS.map(({ name }) => name)
  const ofMany = placeSources.map(({ many }) => many)
  const many = {
    schemas: definePolygonsSchemas(polygons, formats, ofMany),
    forms: definePolygonsFormats(products),
  }
  const batch = { schemas: points.map(defineBatchSchemas), forms: defineBatchFormats(products) }
  const allProducts = defineAllProductsSchemas(points, app.additions)
  const components = [
    ...listPointComponents(points, app.additions),
    ...allProducts.components,
    ...listBatchComponents(batch.schemas, batch.forms),
    ...listPolygonComponents(polygons),
    ...listPolygonsComponents(many.schemas, many.forms),
  ]
  for (const schema of components) app.addSchema(schema)
  app.decorateRequest('ignored', null)
  return { points, allProducts, batch, polygons, many }
}

export type AdviceSchemas = ReturnType<typeof addAdviceSchemas>
