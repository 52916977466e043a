import type { RegionStatistics } from '#src/advice/polygon/advisors.ts'
import type { App } from '#src/http/app.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { addCollections, addDocument, addLanding, createApi } from './api.ts'
import type { Areas } from './areas.ts'
import { addQueries, declareReleases } from './edr.ts'
import { addFeatures, createFeatureCollections, declareFeatures } from './features.ts'

/** The OGC API: for programs that draw maps. Its document at `/ogc/api` has the operations in this order. */
export async function ogc(
  app: App,
  { lookup, figures, areas }: { lookup: Lookup; figures: RegionStatistics; areas: Areas },
): Promise<void> {
  const api = createApi(app, lookup)
  const collections = createFeatureCollections(api, areas)
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
