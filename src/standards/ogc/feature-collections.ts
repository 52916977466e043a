import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { anchor, paragraph, renderCells } from '#src/http/plain-page.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { makeReleaseMembers, type PublishedRelease, versionOf } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { LoadedLevel } from '../area-queries.ts'
import type { AreaLevel, Areas } from '../areas.ts'
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
  attribution: string
  loaded: LoadedLevel
  countryName: string
  /** The month of its release; null for areas alone. */
  period: Period | null
  /** Changes with its features. */
  version: string
  /** The release with statistics in the areas; null for areas alone. */
  release: PublishedRelease | null
}

function describeAreas(loaded: LoadedLevel, countryName: string): Collection {
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

/** @param statisticsVersion changes with the computing of statistics */
function describeAdvice(
  areas: Collection,
  release: PublishedRelease,
  { names }: ProductDefinition,
  statisticsVersion: string,
): Collection {
  const { loaded, countryName, version } = areas
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
    version: `${version} ${versionOf(release)} ${statisticsVersion}`,
    release,
  }
}

export type FeatureCollections = ReturnType<typeof createFeatureCollections>

/** The declared collections of features: the areas of each level, then each release in them. */
export function createFeatureCollections(
  { app: { products } }: Api,
  lookup: Lookup,
  areas: Areas,
  statisticsVersion: string,
) {
  interface Declared {
    loaded: readonly LoadedLevel[]
    all: readonly Collection[]
    byId: ReadonlyMap<string, Collection>
  }
  const bySnapshot = new WeakMap<Snapshot, Declared>()

  /** There may be thousands: they are described once. */
  async function declare({ request, reply, inTurn }: Call): Promise<Declared> {
    const snapshot = await withTimeout(request, reply, lookup.current)
    const loaded = await areas.loaded(snapshot, inTurn)
    const before = bySnapshot.get(snapshot)
    if (before?.loaded === loaded) return before
    const ofAreas = loaded
      .filter((level) => level.areas <= MOST_AREAS)
      .flatMap((level) => {
        const country = snapshot.countries.find(({ code }) => code === level.countryCode)
        return country ? [describeAreas(level, country.name)] : []
      })
    const ofReleases = sortByCode(snapshot.published).flatMap((release) =>
      ofAreas
        .filter((collection) => collection.loaded.countryCode === release.countryCode)
        .map((one) => describeAdvice(one, release, products.of(release.product), statisticsVersion)),
    )
    const all = [...ofAreas, ...ofReleases]
    const declared = { loaded, all, byId: new Map(all.map((collection) => [collection.id, collection])) }
    bySnapshot.set(snapshot, declared)
    return declared
  }

  return {
    /** The same array as long as nothing has changed. */
    all: async (call: Call) => (await declare(call)).all,
    /** @throws {ApiError} NOT_FOUND for another id */
    async one(call: Call, id: string): Promise<Collection> {
      const found = (await declare(call)).byId.get(id)
      if (found) return found
      const list = `\`GET ${BASE}${OGC_PATH}/collections\` lists those that there are`
      throw new ApiError('NOT_FOUND', `There is no collection ${id}; ${list}.`)
    },
  }
}

/** The properties of a feature. Programs that draw maps want them flat, and the same of every feature of a collection. */
export type Properties = Record<string, string | number | boolean | null>

/** The properties of some features in the order of their places; ends early where computing takes long. */
export async function* readProperties(
  areas: Areas,
  { loaded, countryName, release }: Collection,
  level: AreaLevel,
  places: readonly number[],
  call: Call,
): AsyncGenerator<Properties> {
  const ofArea = (place: number): Properties => {
    const { code = '', name = '', parent = null } = level.areas[place] ?? {}
    return { code, name, level: loaded.level, country_code: loaded.countryCode, country: countryName, parent }
  }
  if (release === null) {
    for (const place of places) yield ofArea(place)
    return
  }
  const members = makeReleaseMembers(release)
  const columns = areas.columnsOf(release)
  const until = performance.now() + COMPUTING_MS
  let at = 0
  for await (const statistics of areas.statistics(release, level, places, call, until)) {
    const ofRelease = Object.fromEntries(columns.map((column, index) => [column, statistics[index] ?? null]))
    yield { ...ofArea(places[at++] as number), ...members, ...ofRelease }
  }
}

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
    titles: { document: 'This API as a page', conformance: 'What of the standards is kept' },
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
    title: 'Collections',
    find: collections.all,
    one: collections.one,
    members: { crs: CRS_URIS },
    describe: (_root, { id, title, description, attribution, loaded: { extent }, period }) => ({
      id,
      title,
      description,
      attribution,
      extent: {
        ...(extent && { spatial: { bbox: [extent], crs: DEFAULT_CRS.uri } }),
        ...(period && { temporal: { interval: [period.map((time) => new Date(time).toISOString())] } }),
      },
      itemType: 'feature',
      crs: CRS_URIS,
      storageCrs: DEFAULT_CRS.uri,
    }),
    version: ({ id, version }) => JSON.stringify([id, version]),
    links(root, { id, title, release }) {
      const items = `${root}/collections/${id}/items`
      return [
        jsonLink('items', withQuery(items, { f: 'json' }), `${title}: features as GeoJSON`, GEOJSON_TYPE),
        jsonLink('items', pageOf(items), `${title}: features as a page`, HTML_TYPE),
        ...(release ? [mapsLink(root, release.code)] : []),
      ]
    },
    columns: ['id', 'title', 'features', 'source'],
    cells: (root, { id, title, loaded, attribution }) => [
      anchor(pageOf(`${root}/collections/${id}`), id),
      title,
      loaded.areas,
      attribution,
    ],
    parts: ({ id, description, loaded, attribution }) => [
      paragraph(description),
      renderCells(
        ['', ''],
        [
          ['id', id],
          ['features', loaded.areas],
          ['source', attribution],
          ['extent', loaded.extent?.join(', ') ?? ''],
        ],
      ),
    ],
  }
}
