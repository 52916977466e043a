import { ApiError } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { monthAndYear } from '#src/lib/dates.ts'
import { roundDegrees } from '#src/lib/round.ts'
import { VERSION } from '#src/lib/version.ts'
import {
  type LayerOfCoverage,
  type NumberedCoverage,
  type PublishedRelease,
  versionOf,
} from '#src/lookup/releases.ts'
import { countryNamed, type Snapshot } from '#src/lookup/snapshot.ts'

/** The published releases in the order of their codes. */
export function sortByCode(releases: readonly PublishedRelease[]): PublishedRelease[] {
  return releases.toSorted((one, other) => (one.code < other.code ? -1 : 1))
}

const versions = new WeakMap<Snapshot, string>()

/** The version of all answers about published data. */
export function versionOfAll(snapshot: Snapshot): string {
  const stored = versions.get(snapshot)
  if (stored !== undefined) return stored
  const releases = sortByCode(snapshot.published).map(versionOf)
  const version = entityTag(VERSION, snapshot.boundaries, JSON.stringify([releases, snapshot.countries]))
  versions.set(snapshot, version)
  return version
}

/** @throws {ApiError} NOT_FOUND for a code that is not published */
export function selectPublished(
  { published }: Pick<Snapshot, 'published'>,
  code: string,
  message: string,
): PublishedRelease {
  const release = published.find((one) => one.code === code)
  if (release) return release
  throw new ApiError('NOT_FOUND', message)
}

/** A layer of a release with its grid, as maps, files and catalogs have it. */
export interface Layer extends Omit<LayerOfCoverage, 'coverage'> {
  /** From 1, in the order of the answers. */
  number: number
  coverage: NumberedCoverage
}

/** The layers of a release, in the order of the answers. */
export function listLayers({ layers, coverages }: PublishedRelease): Layer[] {
  return layers.map((layer, at) => ({
    ...layer,
    number: at + 1,
    coverage: coverages[layer.coverage] as NumberedCoverage,
  }))
}

/** The label of a layer: its input and scenario; empty for a release of one layer without either. */
export function labelLayer({ input, scenario }: Pick<Layer, 'input' | 'scenario'>): string {
  return [input, scenario].filter((part) => part !== null).join(', ')
}

/** The title of a release: product, crop, country, month. */
export function nameRelease(product: string, release: PublishedRelease, snapshot: Snapshot): string {
  const { countryCode, cropCode, forecastPeriod } = release
  const country = countryNamed(snapshot, countryCode) ?? countryCode
  return `${product}${cropCode === null ? '' : ` of ${cropCode}`} in ${country}${nameMonth(forecastPeriod)}`
}

/** The month of a release behind other words; nothing for a release without one. */
export function nameMonth(forecastPeriod: string | null): string {
  return forecastPeriod === null ? '' : `, ${monthAndYear(forecastPeriod)}`
}

/** The rectangle around the grids of releases: west, south, east and north as all answers have them. */
export function boundReleases(releases: readonly PublishedRelease[]): [number, number, number, number] {
  const extents = releases.flatMap(({ coverages }) => coverages.map(({ extent }) => extent))
  return [
    Math.min(...extents.map(([west]) => west)),
    Math.min(...extents.map(([, south]) => south)),
    Math.max(...extents.map(([, , east]) => east)),
    Math.max(...extents.map(([, , , north]) => north)),
  ].map(roundDegrees) as [number, number, number, number]
}

/** The address of the layers of a release, for clients of a service. */
export function layersAddress(rootUrl: string, code: string): string {
  return `${rootUrl}/releases/${encodeURIComponent(code)}/layers`
}
