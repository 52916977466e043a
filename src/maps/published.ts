import type { CompanionRole } from '#schemas/certainty.ts'
import { SEASONS } from '#schemas/glossary.ts'
import { ApiError } from '#src/errors.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { monthAndYear } from '#src/lib/dates.ts'
import { roundDegrees } from '#src/lib/round.ts'
import { VERSION } from '#src/lib/version.ts'
import type { Band, LayerLabel } from '#src/lookup/layers.ts'
import { type NumberedCoverage, type PublishedRelease, versionOf } from '#src/lookup/releases.ts'
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

/** A layer of a release with its grid, or a band about layers, as maps, files and catalogs have it. */
export interface Layer extends Band {
  /** From 1, in the order of the answers; bands about layers follow the layers. */
  number: number
  coverage: NumberedCoverage
  /** Of a band about layers. */
  role: CompanionRole | undefined
}

/** The layers of a release, in the order of the answers, then the bands about them. */
export function listLayers({ layers, companions, coverages }: PublishedRelease): Layer[] {
  return [...layers, ...companions].map((band, at) => ({
    ...band,
    number: at + 1,
    coverage: coverages[band.coverage] as NumberedCoverage,
    role: 'role' in band ? band.role : undefined,
  }))
}

const ROLE_NAMES: Record<CompanionRole, string> = {
  probability: 'Probability',
  low: 'Low end',
  high: 'High end',
  stddev: 'Standard deviation',
  landscape: 'Condition of the field',
  share: 'Where values are taken',
}

/**
 * The label of a layer: its input, scenario and condition; empty for a release of one layer without any. Of a band about
 * layers also what it says of them.
 */
export function labelLayer({ input, scenario, condition, role }: LayerLabel & Pick<Layer, 'role'>): string {
  const label = [input, scenario, condition].filter((part) => part !== null).join(', ')
  if (role === undefined) return label
  return label === '' ? ROLE_NAMES[role] : `${ROLE_NAMES[role]} of ${label}`
}

/** What a band about layers says of them, as a sentence; undefined for a layer. */
export function describeCompanion(
  { layers, conditions }: PublishedRelease,
  band: LayerLabel & Pick<Layer, 'role'>,
): string | undefined {
  const { input, scenario, condition, role } = band
  if (role === undefined) return undefined
  const label = labelLayer(band)
  if (role === 'landscape') return `${label}: ${listCodes(conditions).map(nameCode).join(', ')}.`
  if (role !== 'low' && role !== 'high') return `${label}.`
  const { range } =
    layers.find((one) => one.input === input && one.scenario === scenario && one.condition === condition) ??
    {}
  return range ? `${label}: its ${role === 'low' ? range[0] : range[1]} quantile.` : `${label}.`
}

const nameCode = ({ code, title }: ReturnType<typeof listCodes>[number]) => `${code} ${title}`

/** The pixels of a landscape raster, ascending, with the titles of their conditions. */
export function listCodes(conditions: PublishedRelease['conditions']): { code: number; title: string }[] {
  return Object.entries(conditions?.codes ?? {})
    .map(([code, name]) => ({
      code: Number(code),
      title: conditions?.list.find(({ condition }) => condition === name)?.title ?? name,
    }))
    .sort((one, other) => one.code - other.code)
}

/** The odds of the three seasons, where each is a raster on the same grid; undefined otherwise. */
export function findSeasonOdds(layers: readonly Layer[]): readonly [Layer, ...Layer[]] | undefined {
  const found = SEASONS.flatMap(
    (season) => layers.find(({ role, scenario }) => role === 'probability' && scenario === season) ?? [],
  )
  const [first, ...others] = found
  const isWhole = first && found.length === SEASONS.length
  return isWhole && others.every(({ coverageId }) => coverageId === first.coverageId)
    ? [first, ...others]
    : undefined
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
