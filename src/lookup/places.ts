import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import { type AreaFinder, firstCountryOf } from './areas.ts'
import type { Position } from './queries.ts'
import {
  makeReleaseMembers,
  type PublishedRelease,
  type ReleaseMembers,
  type RequestedSeries,
  readSeries,
} from './releases.ts'
import type { Snapshot, Snapshots } from './snapshot.ts'

/** Members of a request that its place may fill in. */
export interface LocatableRequest {
  crop?: string | undefined
  country_code?: string | undefined
  release?: string | undefined
  /** `place`: the country is that of the place. */
  country_source?: 'place'
}

/** Finds the countries of requests without one, by the outlines and not by the rasters. */
export function createRequestLocator(
  { known, current }: Pick<Snapshots, 'known' | 'current'>,
  areas: AreaFinder,
) {
  const countryOf = ({ countries }: Snapshot, found: string | null) =>
    countries.find(({ code }) => code === found) ?? null

  /** Null outside all countries, undefined for a miss. */
  const countryFromMemory = (snapshot: Snapshot, position: Position) => {
    const code = areas.countryFromMemory(position, snapshot.boundaries)
    return code === undefined ? undefined : countryOf(snapshot, code)
  }

  const country = async (snapshot: Snapshot, position: Position) =>
    countryOf(snapshot, firstCountryOf(await areas.find(position, snapshot.boundaries)))

  return {
    countryFromMemory,
    country,
    /** Fills in the country of a request without one, and its crop. False for a miss. */
    fillFromMemory(request: LocatableRequest, position: Position): boolean {
      if (!needsCountry(request)) return true
      const snapshot = known()
      const found = snapshot && countryFromMemory(snapshot, position)
      if (found === undefined) return false
      fillCountry(found, request)
      return true
    },
    async fill(request: LocatableRequest, position: Position): Promise<void> {
      if (needsCountry(request)) fillCountry(await country(await current(), position), request)
    },
    /** Fills in the crop of the country that a request names. */
    async fillCrop(request: LocatableRequest): Promise<void> {
      const { country_code: code, crop } = request
      if (code === undefined || crop !== undefined) return
      const [offered] = countryOf(known() ?? (await current()), code.trim().toLowerCase())?.crops ?? []
      if (offered !== undefined) request.crop = offered
    },
  }
}

export function needsCountry({ country_code, release }: LocatableRequest): boolean {
  return country_code === undefined && release === undefined
}

/** Fills in the country of a request, and its crop. */
export function fillCountry(country: Country | null, request: LocatableRequest): void {
  if (!country) return
  request.country_code = country.code
  request.country_source = 'place'
  const [crop] = country.crops
  if (request.crop === undefined && crop !== undefined) request.crop = crop
}

/** Member of an answer for the origin of its country. */
export function sourceMember({ country_source }: LocatableRequest): { country_source?: 'place' } {
  return country_source === undefined ? {} : { country_source }
}

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
