import type { RegionStatistics } from '#src/advice/region-statistics.ts'
import type { App } from '#src/http/app.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { addCollections, addDocument, addLanding, createApi } from './api.ts'
import { type Areas, createAreas } from './areas.ts'
import { coverage } from './coverage.ts'
import { addQueries, declareReleases } from './edr.ts'
import { addFeatures, createFeatureCollections, declareFeatures } from './features.ts'

interface OgcOptions {
  lookup: Lookup
  figures: RegionStatistics
}

export async function ogc(app: App, { lookup, figures }: OgcOptions): Promise<void> {
  const areas = createAreas(app, figures)
  await app.register(coverage, { lookup, areas })
  await app.register(standard, { prefix: '/ogc', lookup, figures, areas })
}

/** The OGC API: for programs that draw maps. Its document at `/ogc/api` has the operations in this order. */
async function standard(app: App, { lookup, figures, areas }: OgcOptions & { areas: Areas }): Promise<void> {
  const api = createApi(app, lookup)
  const collections = createFeatureCollections(api, areas)
  const ofMap = '-0/items?limit=1000&max-allowable-offset=0.008'
  app.askedByPages(({ countryCode }) => `/ogc/collections/areas-${countryCode}${ofMap}`)
  const features = declareFeatures(collections)
  addLanding(api, features)
  addDocument(api, features.name)
  addCollections(api, features)
  addFeatures(api, collections, areas)

  const edr = declareReleases(api)
  addLanding(api, edr)
  addCollections(api, edr)
  addQueries(api, edr, figures, { collections, areas })
}
