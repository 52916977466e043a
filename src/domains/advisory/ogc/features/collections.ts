import { monthAndYear } from '#src/lib/month.ts'
import type { ProductDefinition, Products } from '#src/products/define.ts'
import { type PublishedRelease, versionOf } from '../../lookup/published-release.ts'
import type { Snapshot } from '../../lookup/snapshot.ts'
import { CRSS, DEFAULT_CRS } from '../crs.ts'
import type { Period } from '../parameters.ts'
import type { AreaLevel } from './area-levels.ts'
import type { LoadedLevel } from './area-queries.ts'

/** What a feature says. Programs that draw maps want it flat, and the same of every feature of a collection. */
export type Properties = Record<string, string | number | boolean | null>

/** Gives the properties of features, in the order of their places, as they are taken; ends early where it takes long. */
export type PropertySource = (places: readonly number[]) => AsyncGenerator<Properties>

/** A collection of features: the areas of one level of a country, and what is said of each. */
export interface Collection {
  id: string
  title: string
  description: string
  attribution: string
  loaded: LoadedLevel
  countryName: string
  /** What it is about; null where it is of no time. */
  period: Period | null
  /** Changes with what it answers. */
  version: string
  /** What is said of the areas; null where it is nothing but what they are. */
  release: PublishedRelease | null
}

/** The collections of areas: one a level. */
export function areaCollectionsOf(snapshot: Snapshot, loaded: readonly LoadedLevel[]): Collection[] {
  return loaded.flatMap((level) => {
    const countryName = snapshot.countries.find(({ code }) => code === level.countryCode)?.name
    return countryName === undefined ? [] : [areaCollection(level, countryName)]
  })
}

function areaCollection(loaded: LoadedLevel, countryName: string): Collection {
  const { countryCode, level, version, approximate, source, licence } = loaded
  const title = level === 0 ? `Outline of ${countryName}` : `Areas of level ${level} of ${countryName}`
  const warning = approximate ? ' They are approximate: made for the demo, not boundaries.' : ''
  return {
    id: `areas-${countryCode}-${level}`,
    title,
    description: `${title}, in the order of their codes.${warning}`,
    attribution: `${source} (${licence})`,
    loaded,
    countryName,
    period: null,
    version: `${version} ${countryName}`,
    release: null,
  }
}

/**
 * The collections of what releases come to in areas: one a release and level, by the code of the release.
 *
 * @param figures changes with how they are computed
 */
export function adviceCollectionsOf(
  { published }: Pick<Snapshot, 'published'>,
  areas: readonly Collection[],
  { of }: Pick<Products, 'of'>,
  figures: string,
): Collection[] {
  return published
    .toSorted((one, other) => (one.code < other.code ? -1 : 1))
    .flatMap((release) =>
      areas
        .filter(({ loaded }) => loaded.countryCode === release.countryCode)
        .map((collection) => adviceCollection(collection, release, of(release.product)))
        .map((collection) => ({ ...collection, version: `${collection.version} ${figures}` })),
    )
}

function adviceCollection(
  { loaded, countryName, version, attribution }: Collection,
  release: PublishedRelease,
  { names }: ProductDefinition,
): Collection {
  const { code, cropCode, forecastPeriod, synthetic } = release
  const crop = cropCode === null ? '' : ` of ${cropCode}`
  const month = forecastPeriod === null ? '' : `, ${monthAndYear(forecastPeriod)}`
  const title = `${names.title}${crop}${month}, by areas of level ${loaded.level} of ${countryName}`
  const warning = synthetic ? ' The values are synthetic: made by a formula, not by agronomists.' : ''
  return {
    id: `advisory-${code}-${loaded.level}`,
    title,
    description: `${title}: for each layer of the release ${code} the mean, the least and the greatest value, the standard deviation and how much of the area has values. Each pixel counts by the part of it that lies inside.${warning}`,
    attribution,
    loaded,
    countryName,
    period: forecastPeriod === null ? null : monthOf(forecastPeriod),
    version: `${version} ${versionOf(release)}`,
    release,
  }
}

/** From the first moment to the last one of a month. */
function monthOf(firstDay: string): Period {
  const first = new Date(`${firstDay.slice(0, 10)}T00:00:00Z`)
  return [first.getTime(), Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1) - 1000]
}

/** What is said of an area itself. */
export function areaProperties({ loaded, countryName }: Collection, level: AreaLevel, place: number) {
  const { code = '', name = '', parent = null } = level.areas[place] ?? {}
  return { code, name, level: loaded.level, country_code: loaded.countryCode, country: countryName, parent }
}

/** Whether a collection is of a time that is asked for. */
export function meets({ period }: Collection, wanted: Period | null): boolean {
  return wanted === null || period === null || (period[0] <= wanted[1] && wanted[0] <= period[1])
}

/** A collection as its document has it. */
export function collectionBody({ id, title, description, attribution, loaded, period }: Collection) {
  return {
    id,
    title,
    description,
    attribution,
    extent: {
      ...(loaded.extent && { spatial: { bbox: [loaded.extent], crs: DEFAULT_CRS.uri } }),
      ...(period && { temporal: { interval: [period.map(momentOf)] } }),
    },
    itemType: 'feature',
    crs: CRSS.map(({ uri }) => uri),
    storageCrs: DEFAULT_CRS.uri,
  }
}

function momentOf(time: number): string | null {
  return Number.isFinite(time) ? new Date(time).toISOString() : null
}
