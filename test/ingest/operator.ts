import type { Database } from '#src/data/database.ts'
import { type LoadedRelease, loadRelease } from '#src/ingest/load.ts'
import type { SourceDescription } from '#src/ingest/source.ts'
import { onePixelRelease, operatorOf } from '#test/setup/releases.ts'

export interface LoadOptions extends Partial<SourceDescription> {
  /** The values of the layers, which are fertilizers. */
  values?: number[]
  /** Called before each window is read. */
  onRead?: () => unknown
}

export type LoadingOperator = ReturnType<typeof createLoadingOperator>

/** An operator who loads releases of one pixel, too. */
export function createLoadingOperator(database: Database) {
  function load({ values = [1], onRead, ...series }: LoadOptions, publish = true): Promise<LoadedRelease> {
    const rates = Object.fromEntries(values.map((value, index) => [`F${index}`, value]))
    const release = onePixelRelease(rates, series)
    for (const coverage of release.coverages) {
      const { read } = coverage
      coverage.read = async (window) => {
        await onRead?.()
        return read(window)
      }
    }
    return loadRelease(database, release, { publish })
  }
  return { ...operatorOf(database), load }
}
