import type { RegionStatistics } from '#src/advice/polygon/advisors.ts'
import type { App } from '#src/http/app.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Areas } from '../areas.ts'
import type { Api } from './api.ts'
import { addCollections, addDocument, addLanding } from './collections.ts'
import { addQueries } from './edr.ts'
import { createFeatureCollections, declareFeatures } from './feature-collections.ts'
import { addFeatures } from './features.ts'
import { createReleases, declareReleases } from './releases.ts'

/** The OGC API: for programs that draw maps. Its document at `/ogc/api` has the operations in this order. */
export async function ogc(
  app: App,
  { lookup, figures, areas }: { lookup: Lookup; figures: RegionStatistics; areas: Areas },
): Promise<void> {
  const api: Api = { app, operations: [] }
  const collections = createFeatureCollections(api, lookup, areas, figures.version)
  const features = declareFeatures(collections)
  addLanding(api, features)
  addDocument(api, features.name)
  addCollections(api, features)
  addFeatures(api, collections, areas)

  const releases = createReleases(api, lookup)
  const edr = declareReleases(releases)
  addLanding(api, edr)
  addCollections(api, edr)
  addQueries(api, lookup, figures, { releases, collections, areas })
}
