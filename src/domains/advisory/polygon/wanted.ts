import type { DistributionWanted } from '#src/raster/distribution.ts'

/** What a request wants to know of how values are distributed; null where it asks for nothing of it. */
export function wantedIn({
  quantiles = [],
  histogram = 0,
}: {
  quantiles?: number[] | undefined
  histogram?: number | undefined
}): DistributionWanted | null {
  return quantiles.length > 0 || histogram > 0 ? { quantiles, bins: histogram } : null
}
