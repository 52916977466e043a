import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { isStale, type ProductDefinition, type Series } from '#schemas/products/define.ts'
import { describeRelease } from '#schemas/release.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { isoMonth, isoMonthNamed, monthAndYear } from '#src/lib/dates.ts'
import { wordKey } from '#src/lib/names.ts'
import { createReleaseWriter, type ReleaseWriter } from './answer-text.ts'
import { prepareCertainty } from './certainty.ts'
import { type InCoverage, type LayerValues, makeValueMembers, type ReleaseLabels } from './entries.ts'
import type { Band, Companion, Coverage, Layer, Position, Release } from './layers.ts'

export type ReleaseMembers = Record<string, string | boolean | null>

export function makeReleaseMembers(release: ReleaseLabels): ReleaseMembers {
  const { forecastPeriod, stale = false } = release
  return describeRelease({
    ...release,
    forecastMonth: forecastPeriod && isoMonth(forecastPeriod),
    forecastName: forecastPeriod && monthAndYear(forecastPeriod),
    stale,
  })
}

export function makePointData(
  product: ProductDefinition,
  release: ReleaseLabels,
  values: LayerValues,
): Record<string, unknown> {
  return { ...makeReleaseMembers(release), ...makeValueMembers(product, release, values) }
}

export function describeLocation({ lat, lng, name = POINT_DEFAULTS.name }: PointRequest) {
  return { name, lat, lng, type: 'point' }
}

export interface NumberedCoverage extends Coverage {
  tileColumns: number
  /** Key of the first tile; keys are unique in a process. */
  firstTile: number
}

/** A release with all parts of its answers but the pixels. */
export interface PublishedRelease extends Release, ReleaseLabels {
  writer: ReleaseWriter
  coverages: NumberedCoverage[]
  layers: InCoverage<Layer>[]
  companions: InCoverage<Companion>[]
  /** Not published: its tiles have a cache of their own. */
  archived?: true
}

/** Prepares releases for answers, with unique keys of tiles. */
export function createNumbering(): (release: Release, product: ProductDefinition) => PublishedRelease {
  let nextTile = 0

  function numbered(coverage: Coverage): NumberedCoverage {
    const tileColumns = Math.ceil(coverage.width / coverage.tileSize)
    const firstTile = nextTile
    nextTile += tileColumns * Math.ceil(coverage.height / coverage.tileSize)
    return { ...coverage, tileColumns, firstTile }
  }

  return (release, product) => {
    const inCoverage = <Of extends Band>(band: Of): InCoverage<Of> => ({
      ...band,
      coverage: release.coverages.findIndex(({ id }) => id === band.coverageId),
    })
    const known = {
      ...release,
      certainty: prepareCertainty(product, release),
      coverages: release.coverages.map(numbered),
      layers: release.layers.map(inCoverage),
      companions: release.companions.map(inCoverage),
    }
    return withAge(
      { ...known, writer: createReleaseWriter(product, known, makeReleaseMembers(known)) },
      product,
    )
  }
}

/** A release with the present store of its tiles. */
export function withStore(release: PublishedRelease, store: TileStoreName): PublishedRelease {
  if (release.coverages.every((coverage) => coverage.store === store)) return release
  return { ...release, coverages: release.coverages.map((coverage) => ({ ...coverage, store })) }
}

/** A release whose answers say whether its season is over. */
export function withAge(
  release: PublishedRelease,
  product: ProductDefinition,
  stale = isStale(release, Date.now()),
): PublishedRelease {
  const { stale: before = false, ...timeless } = release
  if (stale === before) return release
  const aged = { ...timeless, ...(stale && { stale }) }
  return { ...aged, writer: createReleaseWriter(product, aged, makeReleaseMembers(aged)) }
}

/** Version of the answers of a release: it never changes, but its season ends. */
export function versionOf({ code, stale }: Pick<ReleaseLabels, 'code' | 'stale'>): string {
  return stale ? `${code} stale` : code
}

export interface RequestedSeries extends Series {
  /** Code of a release; by default the published one answers. */
  release?: string | undefined
  /** Of a field, where the release has conditions. */
  condition?: string | undefined
}

/** The series of a request, with defaults and names in small letters. */
export function readSeries(
  { code: product, seasonal }: Pick<ProductDefinition, 'code' | 'seasonal'>,
  request: Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'release' | 'condition'>,
): RequestedSeries {
  const { crop = POINT_DEFAULTS.crop, country_code = POINT_DEFAULTS.country_code, forecast_period } = request
  return {
    product,
    countryCode: country_code.trim().toLowerCase(),
    cropCode: seasonal ? wordKey(crop) : null,
    forecastPeriod: seasonal && forecast_period !== undefined ? firstDayOf(forecast_period) : null,
    release: request.release,
    condition: request.condition,
  }
}

export function positionOf({ lat, lng }: Pick<PointRequest, 'lat' | 'lng'>): Position {
  return { longitude: lng, latitude: lat }
}

/** ISO date of the first day of a month; the schema has checked the text. */
export function firstDayOf(period: string): string {
  return `${isoMonthNamed(period) ?? period.trim()}-01`
}
