import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import { fillCountry, type LocatableRequest, needsCountry, sourceMember } from './places.ts'
import {
  makeReleaseMembers,
  type PublishedRelease,
  type ReleaseMembers,
  type RequestedSeries,
  readSeries,
} from './releases.ts'
import type { Snapshot } from './snapshot.ts'

/** Release of some places of a call, or none. */
export interface SourceRelease {
  series: RequestedSeries
  release: PublishedRelease | undefined
  /** Members of each answer. */
  members: ReleaseMembers
}

/** The sources of a call, each created once. */
export interface SourceReleases {
  /** Whether each place is answered for its own country. */
  byPlace: boolean
  /** @param country of the places; null outside all countries, or where it does not matter */
  of(country: Country | null): SourceRelease
}

type SeriesRequest = Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'release'>

/** @param release of the request, without regard to its places */
export function createSources(
  product: ProductDefinition,
  request: SeriesRequest,
  snapshot: Snapshot,
  release: PublishedRelease | undefined,
): SourceReleases {
  function createSource(
    placed: SeriesRequest & LocatableRequest,
    releaseOf: (series: RequestedSeries) => PublishedRelease | undefined,
  ): SourceRelease {
    const series = readSeries(product, placed)
    const found = releaseOf(series)
    const members = found
      ? makeReleaseMembers(found)
      : { country_code: series.countryCode, crop: snapshot.cropNamed(series.cropCode) }
    return { series, release: found, members: { ...members, ...sourceMember(placed) } }
  }

  const general = createSource(request, () => release)
  const byCountry = new Map<Country, SourceRelease>()
  return {
    byPlace: needsCountry(request),
    of(country) {
      if (!country) return general
      const stored = byCountry.get(country)
      if (stored) return stored
      const placed = { ...request }
      fillCountry(country, placed)
      const source = createSource(placed, snapshot.releaseOf)
      byCountry.set(country, source)
      return source
    },
  }
}

export function listReleaseCodes(sources: readonly SourceRelease[]): string[] {
  return [...new Set(sources.flatMap(({ release }) => release?.code ?? []))]
}

/** Members that are the same in all sources. */
export function makeSharedMembers([first, ...others]: readonly SourceRelease[]): ReleaseMembers {
  const members = Object.entries(first?.members ?? {})
  return Object.fromEntries(
    members.filter(([name, value]) => others.every((other) => other.members[name] === value)),
  )
}
