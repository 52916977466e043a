import { SERVICE_NAME } from '#schemas/service.ts'
import { STAC_VERSION, type StacCatalog, type StacCollection } from '#schemas/stac.ts'
import { bboxOf, periodOf } from './extents.ts'
import { collectionIdOf, JSON_TYPE, licenseLinks, licenseOf, providersOf, stacLink } from './links.ts'
import type { StacRelease, StacSeries } from './queries.ts'

/** The whole catalog: a child a product and country. */
export function catalogOf(
  root: string,
  series: readonly StacSeries[],
  titleOf: (product: string) => string,
): StacCatalog {
  const self = `${root}/stac`
  return {
    type: 'Catalog',
    stac_version: STAC_VERSION,
    id: 'agro-advisory',
    title: SERVICE_NAME,
    description:
      'What is published: a collection for each product and country, in it an item for each release.',
    links: [
      stacLink('self', self, JSON_TYPE),
      stacLink('root', self, JSON_TYPE),
      ...series.map((one) =>
        stacLink(
          'child',
          `${self}/collections/${collectionIdOf(one)}`,
          JSON_TYPE,
          `${titleOf(one.product)} in ${one.country}`,
        ),
      ),
      stacLink('service-desc', `${root}/openapi.json`, JSON_TYPE, 'The OpenAPI document'),
      stacLink('service-doc', `${root}/docs`, 'text/html', 'The page on which operations can be tried'),
    ],
  }
}

/** @param releases those of a product in a country, of which there is one at least */
export function collectionOf(
  root: string,
  product: string,
  releases: readonly StacRelease[],
): StacCollection {
  const [first] = releases as [StacRelease]
  const id = collectionIdOf(first)
  const self = `${root}/stac/collections/${id}`
  const licences = releases.map(({ licence }) => licence)
  const periods = releases.map(periodOf)
  const start = periods.map(([from]) => from).reduce((one, other) => (other < one ? other : one))
  const end = periods.map(([, to]) => to).reduce((one, other) => (other > one ? other : one))
  const title = `${product} in ${first.country}`
  return {
    type: 'Collection',
    stac_version: STAC_VERSION,
    id,
    title,
    description: `${title}: the releases that are published.`,
    license: licenseOf(licences),
    providers: providersOf(
      root,
      releases.map(({ source }) => source),
    ),
    extent: {
      spatial: { bbox: [bboxOf(releases.flatMap(({ layers }) => layers))] },
      temporal: { interval: [[start, end]] },
    },
    links: [
      stacLink('self', self, JSON_TYPE),
      stacLink('root', `${root}/stac`, JSON_TYPE),
      stacLink('parent', `${root}/stac`, JSON_TYPE),
      ...releases.map(({ code }) =>
        stacLink('item', `${self}/items/${encodeURIComponent(code)}`, 'application/geo+json', code),
      ),
      ...licenseLinks(root, licences),
    ],
  }
}
