import type { Labels, Metrics, Sample } from '#src/http/metrics/metrics.ts'
import { observeBatcher, observeQueue } from '#src/http/metrics/observe.ts'
import type { Lookup } from './lookup/lookup.ts'
import type { PublishedRelease } from './lookup/published-release.ts'

/** Shows what the look-up has in memory, and what it does at the database. */
export function observeLookup(metrics: Metrics, { state }: Lookup): void {
  metrics.observe('agro_tile_cache_tiles', () => state().cache.tiles)
  metrics.observe('agro_tile_cache_bytes', () => state().cache.bytes)
  metrics.observe('agro_tile_cache_limit_bytes', () => state().cache.limitBytes)
  metrics.observe('agro_tile_cache_hits_total', () => state().cache.hits)
  metrics.observe('agro_tile_cache_misses_total', () => state().cache.misses)
  metrics.observe('agro_tile_cache_evictions_total', () => state().cache.evicted)
  metrics.observe('agro_area_cells', () => state().areas.cells)
  metrics.observe('agro_area_cell_bytes', () => state().areas.bytes)
  metrics.observe('agro_outline_vertices', () => state().outlines.vertices)

  observeQueue(metrics, 'points', () => state().queue)
  observeBatcher(metrics, 'tiles', () => state().tiles)
  observeBatcher(metrics, 'pixels', () => state().pixels)
  observeBatcher(metrics, 'grids', () => state().cells)
  observeBatcher(metrics, 'granules', () => state().granules)
  observeBatcher(metrics, 'cells', () => state().areas.askingCells)
  observeBatcher(metrics, 'places', () => state().areas.askingPlaces)

  const published = () => state().snapshot?.published ?? []
  metrics.observeAll('agro_snapshot_age_seconds', () => {
    const { snapshot } = state()
    return snapshot ? [{ labels: {}, value: snapshot.ageMs / 1000 }] : []
  })
  metrics.observeAll('agro_releases_published', () =>
    byProductAndCountry(published(), (releases) => releases.length),
  )
  metrics.observeAll('agro_release_newest_timestamp_seconds', () =>
    byProductAndCountry(published(), (releases) => newestOf(releases) / 1000),
  )
}

function byProductAndCountry(
  published: PublishedRelease[],
  measure: (releases: PublishedRelease[]) => number,
): Sample[] {
  const groups = new Map<string, { labels: Labels; releases: PublishedRelease[] }>()
  for (const release of published) {
    const { product, countryCode: country } = release
    const key = `${product} ${country}`
    const group = groups.get(key) ?? { labels: { product, country }, releases: [] }
    group.releases.push(release)
    groups.set(key, group)
  }
  return [...groups.values()].map(({ labels, releases }) => ({ labels, value: measure(releases) }))
}

function newestOf(releases: PublishedRelease[]): number {
  return releases.reduce((newest, { createdAt }) => Math.max(newest, createdAt.getTime()), 0)
}
