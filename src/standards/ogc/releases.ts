import type { Products } from '#schemas/products/define.ts'
import { BASE } from '#src/errors.ts'
import { nameColumn, type PublishedRelease } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { boundReleases, nameRelease, selectPublished, sortByCode } from '../published.ts'
import { type Api, OGC_PATH } from './api.ts'
import { type CollectionApi, mapsLink } from './collections.ts'
import { DEFAULT_CRS, makeMonthPeriod, VALUE_FORMATS } from './parameters.ts'

/** The paths of EDR begin with it, below those of the OGC API. */
export const EDR_PATH = '/edr'

/** CRS84 as well-known text (OGC 01-009), with the longitude first. */
const CRS84_WKT =
  'GEOGCS["WGS 84 (CRS84)",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AXIS["Longitude",EAST],AXIS["Latitude",NORTH]]'

/** A layer of a release as EDR has it. */
export interface ReleaseParameter {
  id: string
  /** The place of its layer in the release. */
  layer: number
  title: string
  unit: string
}

export interface ReleaseCollection {
  release: PublishedRelease
  title: string
  parameters: readonly ReleaseParameter[]
  /** The first moment of its month; null for a release without one. */
  time: string | null
}

/** A parameter a layer. Ids are words that need no escaping. */
function listParameters({ of }: Products, release: PublishedRelease): ReleaseParameter[] {
  const product = of(release.product)
  const taken = new Set<string>()
  return release.layers.map((layer, at) => {
    const word = nameColumn(product, layer, product.value.key)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
    const id = taken.has(word) ? `${word}_${at + 1}` : word
    taken.add(id)
    const labels = [layer.input, layer.scenario].filter((label) => label !== null)
    return { id, layer: at, title: [product.names.title, ...labels].join(', '), unit: product.unit }
  })
}

function describeRelease(
  products: Products,
  release: PublishedRelease,
  snapshot: Snapshot,
): ReleaseCollection {
  return {
    release,
    title: nameRelease(products.of(release.product).names.title, release, snapshot),
    parameters: listParameters(products, release),
    time: release.forecastPeriod && `${release.forecastPeriod.slice(0, 10)}T00:00:00Z`,
  }
}

/** @throws {ApiError} NOT_FOUND for a code that is not published */
export function findCollectionRelease(snapshot: Snapshot, code: string): PublishedRelease {
  const list = `\`GET ${BASE}${OGC_PATH}${EDR_PATH}/collections\` lists those that there are`
  return selectPublished(snapshot, code, `There is no collection ${code}; ${list}.`)
}

const EDR = 'http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf'

const QUERIES = {
  position: 'The values of the pixel at a point, or at each of several',
  area: 'The means in a polygon, each pixel by the part of it that lies inside',
  locations: 'The means in administrative areas, by their codes',
}

const FORMAT_NAMES = Object.keys(VALUE_FORMATS)

function describeQueries(address: string) {
  return Object.entries(QUERIES).map(([name, title]) => ({
    name,
    link: {
      href: `${address}/${name}`,
      rel: 'data',
      type: VALUE_FORMATS.CoverageJSON,
      title,
      variables: {
        title,
        query_type: name,
        output_formats: FORMAT_NAMES,
        default_output_format: FORMAT_NAMES[0],
        crs_details: [{ crs: 'CRS84', wkt: CRS84_WKT }],
      },
    },
  }))
}

function describeExtent({ release, time }: ReleaseCollection) {
  const spatial = { bbox: [boundReleases([release])], crs: DEFAULT_CRS.uri }
  if (time === null) return { spatial }
  const last = new Date(makeMonthPeriod(time)[1]).toISOString().replace('.000', '')
  return { spatial, temporal: { interval: [[time, last]], values: [time], trs: 'Gregorian' } }
}

/** The declaration of releases: OGC API Environmental Data Retrieval. */
export function declareReleases({ app: { products } }: Api): CollectionApi<ReleaseCollection> {
  const addressOf = (root: string, { release }: ReleaseCollection) =>
    `${root}${EDR_PATH}/collections/${release.code}`
  const describeSource = ({ release: { source, licence } }: ReleaseCollection) => `${source} (${licence})`
  const describe = (collection: ReleaseCollection) => {
    const { title, release } = collection
    const warning = release.synthetic
      ? 'The values are synthetic: made by a formula, not by agronomists. '
      : ''
    return `${title}. ${warning}Source: ${describeSource(collection)}.`
  }
  return {
    base: EDR_PATH,
    name: 'OGC API EDR',
    description:
      'What the published releases say at a point, in a polygon and in administrative areas: OGC API Environmental Data Retrieval, open to all, without a token.',
    // The tests try each class. Values are no pages: the class of HTML is not among them.
    conformance: [
      'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
      'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
      ...['core', 'collections', 'json', 'geojson', 'covjson', 'oas30', 'queries'].map(
        (name) => `${EDR}/${name}`,
      ),
    ],
    tag: 'EDR',
    operations: {
      landing: ['getEdrLandingPage', 'The landing page of EDR'],
      conformance: ['getEdrConformance', 'What of EDR is kept'],
      list: ['getReleases', 'The published releases'],
      one: ['describeRelease', 'Get a release'],
    },
    idParameter: 'releaseId',
    related: () => [],
    async list({ snapshot }) {
      const releases = sortByCode(snapshot.published)
      return (function* () {
        for (const release of releases) yield describeRelease(products, release, snapshot)
      })()
    },
    one: async ({ snapshot }, code) =>
      describeRelease(products, findCollectionRelease(snapshot, code), snapshot),
    describe(root, collection) {
      const { release, title, parameters } = collection
      const queries = describeQueries(addressOf(root, collection))
      return {
        id: release.code,
        title,
        description: describe(collection),
        extent: describeExtent(collection),
        data_queries: Object.fromEntries(queries.map(({ name, link }) => [name, { link }])),
        crs: ['CRS84'],
        output_formats: FORMAT_NAMES,
        parameter_names: Object.fromEntries(parameters.map((one) => [one.id, describeParameter(one)])),
      }
    },
    links: (root, collection) => [
      ...describeQueries(addressOf(root, collection)).map(({ link: { href, rel, type, title } }) => ({
        ...{ href, rel, type, title },
      })),
      mapsLink(root, collection.release.code),
    ],
    facts: ({ parameters }) =>
      Object.fromEntries(parameters.map(({ id, title, unit }) => [id, `${title} (${unit})`])),
  }
}

function describeParameter({ id, title, unit }: ReleaseParameter) {
  return {
    id,
    type: 'Parameter',
    description: title,
    'data-type': 'float',
    unit: { label: unit, symbol: unit },
    observedProperty: { label: title },
  }
}
