import { besides } from '../../account/besides.ts'
import { entrance } from '../../account/enter.ts'
import type { Catalog, CatalogProduct, Position } from '../../api-types.ts'
import { labelsIn } from '../../districts/shown.ts'
import { contains, createAreas, outlinesOf } from '../../geo/areas.ts'
import { featuresMap } from '../../map/features-map.ts'
import { loaded, section, syntheticNotice } from '../../parts/blocks.ts'
import { createLayers, releaseIn } from '../../parts/choices.ts'
import { type Series, seriesChoosers, seriesIn } from '../../parts/series.ts'
import type { Session } from '../../parts/session.ts'
import { type Page, startPage } from '../../parts/start.ts'
import { cacheOf } from '../../shell/api.ts'
import { element } from '../../shell/element.ts'
import { changesForm } from './changes.ts'
import { cornerOf, type FieldShape, fieldsShown } from './shown.ts'
import { savedFields } from './texts.ts'

const OWN: [path: string, title: string] = ['account/fields', savedFields.pageTitle]

/** The shapes of collections: another product is asked for without them. */
const shapesOf = cacheOf<FieldShape[]>()

/** All fields of a collection, each with its advice: a map and a table. */
async function open({ session, view, remember, note, left }: Page) {
  const user = await session.resume()
  if (!user) return entrance(session, savedFields.login)
  const collection = view.get('collection')
  if (collection === null) {
    const choose = element('p', {}, element('a', { href: 'account' }, savedFields.choose))
    return besides(session, [choose], OWN)
  }
  const [catalog, shapes] = await Promise.all([
    session.get<Catalog>('catalog'),
    shapesOf(`${user.id} ${collection}`, () => loadShapes(session, collection)),
  ])
  const wanted = view.has('country') ? seriesIn(view) : await seriesAt(catalog, shapes, seriesIn(view))
  let layer = labelsIn(view)
  const {
    release,
    chosen: series,
    place,
  } = seriesChoosers(catalog, wanted, (chosen) => remember({ collection, ...chosen, ...layer }))
  if (!release) return place

  function keep(chosen: typeof layer) {
    layer = chosen
    note({ collection, ...series, ...layer })
  }

  const product = catalog.products.find((one) => one.product === release.product) as CatalogProduct
  const tilesets = await createLayers()(release.release, 'quantiles')
  const map = featuresMap(catalog, { label: savedFields.map, left })
  const source = { session, collection, catalog, product, release, left }
  const parts = fieldsShown({ ...source, tilesets, shapes }, layer, map, keep)
  keep(layer)
  place.append(...parts.choosers)
  const sections = [
    syntheticNotice(release.synthetic),
    section(savedFields.of(collection, savedFields.count(shapes.length)), place),
    map && element('section', { class: 'card map-card' }, map.place, parts.chosen, parts.legend),
    element('section', { class: 'card' }, parts.progress, loaded(parts.load)),
    section(
      savedFields.changes,
      loaded(() => changesForm(source)),
    ),
  ]
  return besides(session, sections, OWN)
}

/** @throws {ApiFailure} where the account has no such collection */
async function loadShapes(session: Session, collection: string) {
  const path = `fields/${encodeURIComponent(collection)}`
  const headers = { accept: 'application/geo+json' }
  return (await session.get<{ features: FieldShape[] }>(path, {}, { headers })).features
}

/** A series of the country that the first field lies in, as far as anything is published there. */
async function seriesAt(catalog: Catalog, [first]: FieldShape[], series: Series): Promise<Series> {
  const outlines = await outlinesOf(catalog, createAreas(catalog))
  const [lng, lat] = (first ? cornerOf(first) : [0, 0]) as Position
  const country = outlines.find((area) => contains(area, { lat, lng }))?.country_code
  const release = country === undefined ? undefined : releaseIn(catalog, country, series)
  if (!release) return series
  return { product: release.product, country: release.country_code, crop: release.crop, month: null }
}

startPage('account', savedFields.pageTitle, open)
