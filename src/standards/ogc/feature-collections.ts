import type { ProductDefinition } from '#schemas/products/define.ts'
import type { AreaRow, LoadedLevel } from '#src/catalog/area-queries.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { makeReleaseMembers, type PublishedRelease } from '#src/lookup/releases.ts'
import { countryNamed } from '#src/lookup/snapshot.ts'
import type { Areas } from '../areas.ts'
import { nameMonth, sortByCode } from '../published.ts'
import { type Api, type Call, GEOJSON_TYPE, HTML_TYPE, jsonLink, OGC_PATH, pageOf, withQuery } from './api.ts'
import { type CollectionApi, mapsLink } from './collections.ts'
import { CRS_URIS, DEFAULT_CRS, makeMonthPeriod, type Period } from './parameters.ts'

/** Levels with more areas are no collections: a map program could not hold them. */
const MOST_AREAS = 50_000

/** A collection of features: the areas of one level of a country, or a release in them. */
export interface Collection {
  id: string
  title: string
  description: string
  loaded: LoadedLevel
  countryName: string
  /** The month of its release; null for areas alone. */
  period: Period | null
  /** The release with statistics in the areas; null for areas alone. */
  release: PublishedRelease | null
}

function describeAreas(loaded: LoadedLevel, countryName: string): Collection {
  const { countryCode, level, approximate } = loaded
  const title = level === 0 ? `Outline of ${countryName}` : `Areas of level ${level} of ${countryName}`
  const warning = approximate ? ' They are approximate: made for the demo, not boundaries.' : ''
  return {
    id: `areas-${countryCode}-${level}`,
    title,
    description: `${title}, in the order of their codes.${warning}`,
    loaded,
    countryName,
    period: null,
    release: null,
  }
}

function describeAdvice(
  areas: Collection,
  release: PublishedRelease,
  { names }: ProductDefinition,
): Collection {
  const { loaded, countryName } = areas
  const { code, cropCode, forecastPeriod, synthetic } = release
  const crop = cropCode === null ? '' : ` of ${cropCode}`
  const title = `${names.title}${crop}${nameMonth(forecastPeriod)}, by areas of level ${loaded.level} of ${countryName}`
  const warning = synthetic ? ' The values are synthetic: made by a formula, not by agronomists.' : ''
  return {
    ...areas,
    id: `advisory-${code}-${loaded.level}`,
    title,
    description: `${title}: for each layer of the release ${code} the mean, the least and the greatest value, the standard deviation and how much of the area has values. Each pixel counts by the part of it that lies inside.${warning}`,
    period: forecastPeriod === null ? null : makeMonthPeriod(forecastPeriod),
    release,
  }
}

const ADVICE_ID = /^advisory-(.+)-(\d)$/

export type FeatureCollections = ReturnType<typeof createFeatureCollections>

/** The collections of features: the areas of each level, then each release in them. */
export function createFeatureCollections({ app: { products } }: Api, areas: Areas) {
  async function ofAreas(call: Call): Promise<Collection[]> {
    const loaded = await areas.loaded(call)
    return loaded
      .filter((level) => level.areas <= MOST_AREAS)
      .flatMap((level) => {
        const name = countryNamed(call.snapshot, level.countryCode)
        return name === undefined ? [] : [describeAreas(level, name)]
      })
  }

  function ofRelease(all: readonly Collection[], release: PublishedRelease): Collection[] {
    return all
      .filter(({ loaded }) => loaded.countryCode === release.countryCode)
      .map((one) => describeAdvice(one, release, products.of(release.product)))
  }

  return {
    /** There may be thousands: each is described when it is taken. */
    async list(call: Call): Promise<Iterable<Collection>> {
      const all = await ofAreas(call)
      const { published } = call.snapshot
      return (function* () {
        yield* all
        for (const release of sortByCode(published)) yield* ofRelease(all, release)
      })()
    },
    /** The levels of the country of a release. */
    async levels(call: Call, { countryCode }: PublishedRelease): Promise<number[]> {
      const all = await ofAreas(call)
      return all.flatMap(({ loaded }) => (loaded.countryCode === countryCode ? [loaded.level] : []))
    },
    /** @throws {ApiError} NOT_FOUND for another id */
    async one(call: Call, id: string): Promise<Collection> {
      const all = await ofAreas(call)
      const [, code] = ADVICE_ID.exec(id) ?? []
      const release = call.snapshot.published.find((one) => one.code === code)
      const found = (release ? ofRelease(all, release) : all).find((collection) => collection.id === id)
      if (found) return found
      const list = `\`GET ${BASE}${OGC_PATH}/collections\` lists those that there are`
      throw new ApiError('NOT_FOUND', `There is no collection ${id}; ${list}.`)
    },
  }
}

/** The properties of a feature. Programs that draw maps want them flat, and the same of every feature of a collection. */
export type Properties = Record<string, string | number | boolean | null>

export function describeArea(
  { code, name, level, parents }: AreaRow,
  countryCode: string,
  country: string,
): Properties {
  const parent = parents.at(-1)?.code ?? null
  return { code, name, level, country_code: countryCode, country, parent }
}

/** The properties of features of some areas; of the first of them where computing takes long. */
export async function readProperties(
  areas: Areas,
  { loaded: { countryCode }, countryName, release }: Collection,
  found: readonly AreaRow[],
  call: Call,
): Promise<Properties[]> {
  const ofAreas = found.map((area) => describeArea(area, countryCode, countryName))
  if (release === null) return ofAreas
  const members = makeReleaseMembers(release)
  const columns = areas.columnsOf(release)
  const statistics = await areas.statistics(release, found, call, performance.now() + COMPUTING_MS)
  const properties: Properties[] = []
  for (const [at, values] of statistics.entries()) {
    if (at % FEATURES_A_SLICE === 0) await call.pause()
    const ofRelease = Object.fromEntries(columns.map((column, index) => [column, values[index] ?? null]))
    properties.push({ ...ofAreas[at], ...members, ...ofRelease })
  }
  return properties
}

/** Features that are written without letting others go on: a tenth of a millisecond. */
export const FEATURES_A_SLICE = 20

/** How long a page waits for computing; then it ends, and the next one goes on. */
const COMPUTING_MS = 5000

const FEATURES = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf'
const FEATURES_CRS = 'http://www.opengis.net/spec/ogcapi-features-2/1.0/conf'

/** The declaration of features: OGC API Features. */
export function declareFeatures(collections: FeatureCollections): CollectionApi<Collection> {
  return {
    base: '',
    name: 'OGC API',
    description:
      'Administrative areas as features, and what the published releases come to in them: for programs that draw maps, open to all, without a token.',
    // The tests try each class.
    conformance: [
      ...['core', 'oas30', 'html', 'geojson'].map((name) => `${FEATURES}/${name}`),
      `${FEATURES_CRS}/crs`,
    ],
    tag: 'Capabilities',
    operations: {
      landing: ['getLandingPage', 'The landing page'],
      conformance: ['getConformanceDeclaration', 'What of the standards is kept'],
      list: ['getCollections', 'The collections'],
      one: ['describeCollection', 'A collection'],
    },
    idParameter: 'collectionId',
    related: (root) => [
      jsonLink('related', `${root}/edr`, 'Releases at points and in areas: OGC API EDR'),
      {
        ...jsonLink(
          'related',
          `${root.slice(0, -OGC_PATH.length)}/releases/{release}/layers/{layer}/tiles.json`,
          'Layers as maps: TileJSON of XYZ tiles',
        ),
        templated: true,
      },
    ],
    list: collections.list,
    one: collections.one,
    members: { crs: CRS_URIS },
    describe: (_root, { id, title, description, loaded: { source, licence, extent }, period }) => ({
      ...{ id, title, description },
      attribution: `${source} (${licence})`,
      extent: {
        ...(extent && { spatial: { bbox: [extent], crs: DEFAULT_CRS.uri } }),
        ...(period && { temporal: { interval: [period.map((time) => new Date(time).toISOString())] } }),
      },
      itemType: 'feature',
      crs: CRS_URIS,
      storageCrs: DEFAULT_CRS.uri,
    }),
    links(root, { id, title, release }) {
      const items = `${root}/collections/${id}/items`
      return [
        jsonLink('items', withQuery(items, { f: 'json' }), `${title}: features as GeoJSON`, GEOJSON_TYPE),
        jsonLink('items', pageOf(items), `${title}: features as a page`, HTML_TYPE),
        ...(release ? [mapsLink(root, release.code)] : []),
      ]
    },
    facts: ({ loaded: { areas, source, licence, extent } }) => ({
      features: areas,
      source: `${source} (${licence})`,
      extent: extent?.join(', ') ?? '',
    }),
  }
}
