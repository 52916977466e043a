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

/** Where the answers to some places of a call come from: the release of a series, or none. */
export interface Source {
  series: RequestedSeries
  release: PublishedRelease | undefined
  /** What each of the answers says of it. */
  members: ReleaseMembers
}

/** The sources of a call, each made once. */
export interface Sources {
  /** Whether each place is answered for the country that it lies in. */
  byPlace: boolean
  /**
   * The source of places.
   *
   * @param country that they lie in, where that matters; null for none of ours
   */
  of(country: Country | null): Source
}

/** What a call asks for at all of its places. */
type Asked = Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'release'>

/** @param release that answers for what is asked for, wherever the places lie */
export function createSources(
  product: ProductDefinition,
  request: Asked,
  snapshot: Snapshot,
  release: PublishedRelease | undefined,
): Sources {
  function sourceOf(
    placed: Asked & Placeable,
    releaseOf: (series: RequestedSeries) => PublishedRelease | undefined,
  ): Source {
    const series = seriesOf(product, placed)
    const found = releaseOf(series)
    const asked = { country_code: series.countryCode, crop: snapshot.cropNamed(series.cropCode) }
    const members = found ? releaseMembers(found) : asked
    return { series, release: found, members: { ...members, ...sourceMember(placed) } }
  }

  const asked = sourceOf(request, () => release)
  const byCountry = new Map<Country, Source>()
  return {
    byPlace: isLeftToPlace(request),
    of(country) {
      if (!country) return asked
      const known = byCountry.get(country)
      if (known) return known
      const placed = { ...request }
      placeIn(country, placed)
      const made = sourceOf(placed, snapshot.releaseOf)
      byCountry.set(country, made)
      return made
    },
  }
}

/** The codes of the releases among sources. */
export function releasesOf(sources: readonly Source[]): string[] {
  return [...new Set(sources.flatMap(({ release }) => release?.code ?? []))]
}

/** What all sources say alike. */
export function sharedMembers([first, ...others]: readonly Source[]): ReleaseMembers {
  const members = Object.entries(first?.members ?? {})
  return Object.fromEntries(
    members.filter(([name, value]) => others.every((other) => other.members[name] === value)),
  )
}
