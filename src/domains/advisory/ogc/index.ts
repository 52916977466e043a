import type { App } from '#src/http/app.ts'
import type { Lookup } from '../lookup/lookup.ts'
import type { RegionFigures } from '../lookup/region-figures.ts'
import { edrCollectionRoutes, edrLandingRoutes } from './edr/collection-routes.ts'
import { areaRoute, positionRoute } from './edr/data-routes.ts'
import { locationRoute, locationsRoute } from './edr/location-routes.ts'
import { createReleases } from './edr/releases.ts'
import { collectionRoute, collectionsRoute } from './features/collection-routes.ts'
import { createFinder } from './features/finder.ts'
import { itemRoute } from './features/item-route.ts'
import { itemsRoute } from './features/items-route.ts'
import { conformanceRoute, documentRoute, landingRoute } from './landing-routes.ts'

export interface OgcOptions {
  lookup: Lookup
  figures: RegionFigures
}

/** The OGC API: for programs that draw maps. Its document is one of its own, at `/ogc/api`. */
export async function ogc(app: App, { lookup, figures }: OgcOptions): Promise<void> {
  const find = createFinder(app, lookup, figures)
  landingRoute(app)
  documentRoute(app)
  conformanceRoute(app)
  collectionsRoute(app, find)
  collectionRoute(app, find)
  itemsRoute(app, find)
  itemRoute(app, find)

  const releases = createReleases(app, lookup)
  edrLandingRoutes(app)
  edrCollectionRoutes(app, releases)
  positionRoute(app, releases, lookup)
  areaRoute(app, releases, figures)
  locationsRoute(app, releases, find)
  locationRoute(app, releases, find)
}
