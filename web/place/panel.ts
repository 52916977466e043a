import { short } from '../geo/places.ts'
import { syntheticNotice } from '../parts/notice.ts'
import { seasonNote } from '../parts/seasons.ts'
import { watchLink } from '../parts/watch-link.ts'
import { copyButton } from '../shell/copy.ts'
import { element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfProduct, nameOfSource } from '../texts/names.ts'
import { addressOfPlace, calls } from './calls.ts'
import { chart } from './chart.ts'
import { quantities } from './quantities.ts'

/**
 * @typedef {object} PlaceShown
 * @property {import('../api-types.ts').Place} place
 * @property {import('../api-types.ts').Area[]} areas from the smallest up, the country last
 * @property {string | null} product the one on the map
 * @property {import('./sections.ts').Section[]} sections
 * @property {Record<string, string | number | null | undefined>} query what was asked
 * @property {import('../api-types.ts').Catalog} catalog
 * @property {import('../api-types.ts').Grid | undefined} grid of the pixel that is outlined
 * @property {number | null} hectares
 * @property {boolean} synthetic whether the page says already that values are made up
 */

/** What the panel says where no place is chosen. */
export function emptyPanel() {
  return [element('h2', {}, TEXTS.place.title), element('p', { className: 'small' }, TEXTS.place.empty)]
}

/**
 * What is known of a place.
 *
 * @param {PlaceShown} shown
 * @param {{ close: () => void, setHectares: (hectares: number | null) => void }} actions
 */
export function placePanel(
  { place, areas, product, sections, query, catalog, grid, hectares, synthetic },
  { close, setHectares },
) {
  const texts = TEXTS.place
  const [lat, lng] = [String(short(place.lat)), String(short(place.lng))]
  const { country_code: country, crop } = query
  const watched = {
    ...{ lat, lng, product },
    country: asText(country),
    crop: asText(crop),
    name: areas[0]?.name,
  }
  const { metres_x: across, metres_y: down } = grid?.resolution ?? { metres_x: null, metres_y: null }
  return [
    element(
      'header',
      { className: 'place-head' },
      element('h2', { tabIndex: -1 }, areas[0]?.name ?? texts.at(lat, lng)),
      element('button', { type: 'button', className: 'quiet', onclick: close }, TEXTS.close),
    ),
    areas.length > 1 &&
      element(
        'p',
        { className: 'areas' },
        areas
          .slice(1)
          .map(({ name }) => name)
          .join(', '),
      ),
    districtsLink(areas[0], product),
    element('p', { className: 'small' }, texts.coordinates(lat, lng)),
    across !== null && down !== null && element('p', { className: 'small' }, texts.pixel(across, down)),
    !synthetic && sections.some((section) => section.synthetic) && syntheticNotice(true),
    seasonNote(
      catalog,
      sections.flatMap(({ entries }) => entries.map(({ scenario }) => scenario)),
    ),
    ...sections.map((section) => sectionOf(section, catalog)),
    quantities(sections, hectares, setHectares),
    calls(addressOfPlace(query)),
    element('p', { className: 'small' }, watchLink(watched)),
    copyButton(texts.link, () => location.href),
  ].filter((part) => part !== false)
}

/** @param {string | number | null | undefined} value */
const asText = (value) => (value === undefined || value === null ? null : String(value))

/**
 * The way to the table of all areas like this one.
 *
 * @param {import('../api-types.ts').Area | undefined} area
 * @param {string | null} product
 */
function districtsLink(area, product) {
  if (!area || area.level === 0) return /** @type {const} */ (false)
  const { country_code, level, code, name } = area
  const wanted = new URLSearchParams({ country: country_code, level: String(level), area: code })
  if (product) wanted.set('product', product)
  return element(
    'p',
    { className: 'small' },
    element('a', { href: `districts#${wanted}` }, TEXTS.place.districts(name)),
  )
}

/**
 * @param {import('./sections.ts').Section} section
 * @param {import('../api-types.ts').Catalog} catalog
 */
function sectionOf(section, { releases }) {
  const texts = TEXTS.place
  const { product, unit, period, entries, reason, stale } = section
  const release = releases.find((one) => one.release === section.release)
  const title = element('h3', {}, nameOfProduct(product), element('span', { className: 'unit' }, ` ${unit}`))
  if (entries.length === 0) {
    return element(
      'section',
      { className: 'product none' },
      title,
      element('p', {}, element('strong', {}, texts.noValue), reason ? `: ${reason}` : ''),
    )
  }
  const said = [period, release?.valid_until && texts.validUntil(release.valid_until)].filter(Boolean)
  return element(
    'section',
    { className: 'product' },
    title,
    chart(section),
    stale && element('p', { className: 'small notice' }, texts.stale),
    element('p', { className: 'small' }, said.join(', ')),
    element(
      'p',
      { className: 'small source' },
      `${texts.release} `,
      element('code', {}, section.release ?? ''),
      release ? `. ${nameOfSource(release)}` : '',
    ),
  )
}
