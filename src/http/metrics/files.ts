import type { App } from '../app.ts'
import type { Metrics } from './metrics.ts'

/** Shows where tiles in files were found, and whether their store is well. */
export function observeFiles(metrics: Metrics, { files, tiles }: Pick<App, 'files' | 'tiles'>): void {
  const disk = () => files?.disk()
  const store = () => files?.store()
  metrics.observe('agro_tile_files_away', () => Number(store()?.isAway ?? false))
  metrics.observe('agro_tile_files_reads_total', () => tiles.files.hits(), { from: 'memory' })
  metrics.observe('agro_tile_files_reads_total', () => disk()?.hits ?? 0, { from: 'disk' })
  metrics.observe('agro_tile_files_reads_total', () => store()?.reads ?? 0, { from: 'store' })
  metrics.observe('agro_tile_files_bytes_total', () => disk()?.hitBytes ?? 0, { from: 'disk' })
  metrics.observe('agro_tile_files_bytes_total', () => store()?.bytes ?? 0, { from: 'store' })
  for (const reason of ['unavailable', 'missing', 'damaged', 'refused'] as const) {
    metrics.observe('agro_tile_files_errors_total', () => store()?.errors[reason] ?? 0, { reason })
  }
  metrics.observe('agro_tile_disk_cache_failures_total', () => disk()?.failures ?? 0)
  metrics.observe('agro_tile_disk_cache_evictions_total', () => disk()?.evictions ?? 0)
}
