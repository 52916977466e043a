import type { COVERAGE_REASONS } from '#schemas/coverage.ts'
import type { Country } from '#src/domains/reference/queries.ts'
import { isoMonth } from '#src/lib/month.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import { sayNotPublished } from '../lookup/sentences.ts'
import type { Extent } from './queries.ts'
import type { ReleaseShares } from './shares.ts'

/** How much of an area has values of a release, and why it has none. */
export interface CoverageEntry {
  product: string
  crop: string | null
  release: string | null
  forecast_period: string | null
  covered_percent: number
  code?: (typeof COVERAGE_REASONS)[number]
  reason?: string
}

/** What is told of every area of a country: a release of a product, or why there is none. */
export type CoverageColumn = { release: PublishedRelease } | { entry: CoverageEntry }

/** What requests may ask for alone. */
export interface ColumnFilter {
  product: string | null
  /** The code of a crop. */
  crop: string | null
}

/**
 * The columns of a country, by product and crop, the newest month first; where nothing is published, one that says so.
 *
 * @param releases those that may be told of, in any order
 */
export function columnsOfCountry(
  products: readonly ProductDefinition[],
  country: Country,
  releases: readonly PublishedRelease[],
  { product: only, crop: onlyCrop }: ColumnFilter,
): CoverageColumn[] {
  const ofCountry = releases.filter(({ countryCode }) => countryCode === country.code)
  return products
    .filter(({ code }) => only === null || code === only)
    .flatMap((product) => {
      const found = ofCountry.filter((release) => release.product === product.code)
      return cropsOf(product, country, found, onlyCrop).flatMap((crop): CoverageColumn[] => {
        const ofCrop = found.filter(({ cropCode }) => cropCode === crop).toSorted(newestFirst)
        if (ofCrop.length > 0) return ofCrop.map((release) => ({ release }))
        return [{ entry: nothingPublished(product, country, crop) }]
      })
    })
}

function cropsOf(
  { seasonal }: ProductDefinition,
  { crops }: Country,
  found: readonly PublishedRelease[],
  only: string | null,
): (string | null)[] {
  if (!seasonal) return [null]
  if (only !== null) return [only]
  const all = [...new Set([...crops, ...found.flatMap(({ cropCode }) => cropCode ?? [])])].toSorted()
  return all.length > 0 ? all : [null]
}

function newestFirst(one: PublishedRelease, other: PublishedRelease): number {
  return (
    (other.forecastPeriod ?? '').localeCompare(one.forecastPeriod ?? '') || (one.code < other.code ? -1 : 1)
  )
}

function nothingPublished(product: ProductDefinition, country: Country, crop: string | null): CoverageEntry {
  const none = { product: product.code, crop, release: null, forecast_period: null, covered_percent: 0 }
  const isOffered = !product.seasonal || (crop !== null && country.crops.includes(crop))
  if (!isOffered) {
    const offered = country.crops.length > 0 ? `its crops are: ${country.crops.join(', ')}` : 'it has none'
    const reason = `The crop is not available for ${country.name}; ${offered}.`
    return { ...none, code: 'CROP_NOT_AVAILABLE', reason }
  }
  const what = { values: product.names.values, crop, country: country.name }
  return { ...none, code: 'NO_RELEASE', reason: sayNotPublished(what, null, []) }
}

/** What a release has in an area. */
export function entryOf(
  { release, extents }: Omit<ReleaseShares, 'percents'>,
  area: Extent,
  percent: number,
): CoverageEntry {
  const { code, product, cropCode, forecastPeriod } = release
  const entry = {
    product,
    crop: cropCode,
    release: code,
    forecast_period: forecastPeriod && isoMonth(forecastPeriod),
    covered_percent: percent,
  }
  if (percent > 0) return entry
  if (!extents.some((extent) => meet(extent, area))) {
    return { ...entry, code: 'OUTSIDE_GRID', reason: `The area lies outside the grid of ${code}.` }
  }
  const reason = `No pixel of ${code} in the area has a value: its source has left them out.`
  return { ...entry, code: 'NO_DATA', reason }
}

function meet([west, south, east, north]: Extent, [left, bottom, right, top]: Extent): boolean {
  return left <= east && right >= west && bottom <= north && top >= south
}
