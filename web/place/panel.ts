import type { Area, Catalog, Grid, Place } from '../api-types.ts'
import { short } from '../geo/places.ts'
import { syntheticNotice, watchLink } from '../parts/blocks.ts'
import { seasonNote } from '../parts/values.ts'
import type { Query } from '../shell/api.ts'
import { copyButton, element } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfProduct, nameOfSource } from '../texts/names.ts'
import { addressOfPlace, calls } from './calls.ts'
import { chart } from './chart.ts'
import { quantities } from './quantities.ts'
import type { Section } from './sections.ts'

interface PlaceShown {
  place: Place
  /** From the smallest up, the country last. */
  areas: Area[]
  /** The one on the map. */
  product: string | null
  sections: Section[]
  /** What was asked. */
  query: Query
  catalog: Catalog
  /** Of the pixel that is outlined. */
  grid: Grid | undefined
  hectares: number | null
  /** Whether the page says already that values are made up. */
  synthetic: boolean
}

/** What the panel says where no place is chosen. */
export function emptyPanel() {
  return [element('h2', {}, TEXTS.place.title), element('p', { className: 'small' }, TEXTS.place.empty)]
}

/** What is known of a place. */
export function placePanel(
  { place, areas, product, sections, query, catalog, grid, hectares, synthetic }: PlaceShown,
  { close, setHectares }: { close: () => void; setHectares: (hectares: number | null) => void },
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

const asText = (value: Query[string]) => (value === undefined || value === null ? null : String(value))

/** The way to the table of all areas like this one. */
function districtsLink(area: Area | undefined, product: string | null): HTMLElement | false {
  if (!area || area.level === 0) return false
  const { country_code, level, code, name } = area
  const wanted = new URLSearchParams({ country: country_code, level: String(level), area: code })
  if (product) wanted.set('product', product)
  return element(
    'p',
    { className: 'small' },
    element('a', { href: `districts#${wanted}` }, TEXTS.place.districts(name)),
  )
}

function sectionOf(section: Section, { releases }: Catalog) {
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
