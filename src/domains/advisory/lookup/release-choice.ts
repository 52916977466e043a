import type { CropAlias } from '#src/domains/reference/queries.ts'
import type { Series } from '#src/products/series.ts'

/** What the choice among releases depends on. */
interface Candidate extends Series {
  synthetic: boolean
}

/**
 * Makes the choice among published releases, for points and polygons alike: of the month asked for, or else
 * the newest; values that agronomists published before synthetic ones of any month.
 *
 * A crop may be named by its code or by an alias.
 *
 * The SQL function published_release chooses by the same rule, where a query needs it.
 *
 * @returns finds the release that answers for a series; undefined where nothing is published for it
 */
export function chooserOf<Release extends Candidate>(
  releases: Release[],
  aliases: CropAlias[],
): (series: Series) => Release | undefined {
  const best = new Map<string, Release>()
  for (const release of releases) {
    for (const series of seriesAnswered(release, aliases)) {
      const key = keyOf(series)
      const other = best.get(key)
      if (!other || comesBefore(release, other)) best.set(key, release)
    }
  }
  return (series) => best.get(keyOf(series))
}

/** What a release may answer for: its month and no month, its crop by the code and each alias. */
function seriesAnswered(release: Candidate, aliases: CropAlias[]): Series[] {
  const ofCrop = aliases.filter(({ code }) => code === release.cropCode).map(({ alias }) => alias)
  const periods = [...new Set([null, release.forecastPeriod])]
  return [release.cropCode, ...ofCrop].flatMap((cropCode) =>
    periods.map((forecastPeriod) => ({ ...release, cropCode, forecastPeriod })),
  )
}

function keyOf({ product, countryCode, cropCode, forecastPeriod }: Series): string {
  return `${product} ${countryCode} ${cropCode} ${forecastPeriod}`
}

function comesBefore(a: Candidate, b: Candidate): boolean {
  if (a.synthetic !== b.synthetic) return b.synthetic
  return (a.forecastPeriod ?? '') > (b.forecastPeriod ?? '')
}
