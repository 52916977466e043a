import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import { isLeftToPlace, type Placeable, placeIn, sourceMember } from './places.ts'
import {
  type PublishedRelease,
  type ReleaseMembers,
  type RequestedSeries,
  releaseMembers,
  seriesOf,
} from './releases.ts'
import type { Snapshot } from './snapshot.ts'

/** Release of some places of a call, or none. */
export interface Source {
  series: RequestedSeries
  release: PublishedRelease | undefined
  /** Members of each answer. */
  members: ReleaseMembers
}

/** The sources of a call, each created once. */
export interface Sources {
  /** Whether each place is answered for its own country. */
  byPlace: boolean
  /** @param country of the places; null outside all countries, or where it does not matter */
  of(country: Country | null): Source
}

type SeriesRequest = Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'release'>

/** @param release of the request, without regard to its places */
export function createSources(
  product: ProductDefinition,
  request: SeriesRequest,
  snapshot: Snapshot,
  release: PublishedRelease | undefined,
): Sources {
  function createSource(
    placed: SeriesRequest & Placeable,
    releaseOf: (series: RequestedSeries) => PublishedRelease | undefined,
  ): Source {
    const series = seriesOf(product, placed)
    const found = releaseOf(series)
    const members = found
      ? releaseMembers(found)
      : { country_code: series.countryCode, crop: snapshot.cropNamed(series.cropCode) }
    return { series, release: found, members: { ...members, ...sourceMember(placed) } }
  }

  const general = createSource(request, () => release)
  const byCountry = new Map<Country, Source>()
  return {
    byPlace: isLeftToPlace(request),
    of(country) {
      if (!country) return general
      const stored = byCountry.get(country)
      if (stored) return stored
      const placed = { ...request }
      placeIn(country, placed)
      const source = createSource(placed, snapshot.releaseOf)
      byCountry.set(country, source)
      return source
    },
  }
}

export function releasesOf(sources: readonly Source[]): string[] {
  return [...new Set(sources.flatMap(({ release }) => release?.code ?? []))]
}

/** Members that are the same in all sources. */
export function sharedMembers([first, ...others]: readonly Source[]): ReleaseMembers {
  const members = Object.entries(first?.members ?? {})
  return Object.fromEntries(
    members.filter(([name, value]) => others.every((other) => other.members[name] === value)),
  )
}
