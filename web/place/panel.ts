import type { Area, Catalog, Grid, Place } from '../api-types.ts'
import { short } from '../geo/areas.ts'
import { placeLinks, syntheticNotice } from '../parts/blocks.ts'
import { lengthText, seasonNote } from '../parts/values.ts'
import { addressOf, type Query } from '../shell/api.ts'
import { button, chooser, copyButton, element, optionsOf } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { type Section, scenariosOf } from './answered.ts'
import { quantities, type Typed } from './quantities.ts'
import { conditionChooser, sectionOf } from './section.ts'
import { pathOf } from './sections.ts'

/** The same call in the languages that people copy it in. */
export const CALLS: Record<string, (url: string) => string> = {
  curl: (url) => `curl '${url}'`,
  JavaScript: (url) => `const response = await fetch('${url}')
const advice = await response.json()
if (!response.ok) throw new Error(advice.error)
console.log(advice)`,
  Python: (url) => `import json
from urllib.request import urlopen

with urlopen('${url}') as response:
    advice = json.load(response)
print(advice)`,
  R: (url) => `library(jsonlite)

advice <- fromJSON('${url}')
str(advice)`,
}

/** The address of what all products say at a place. */
function addressOfPlace(query: Query) {
  // No language needs another way to write a quote then.
  return addressOf(pathOf(query), query).href.replaceAll("'", '%27')
}

function calls(url: string) {
  const code = element('code')
  const show = (language: string) => {
    code.textContent = CALLS[language]?.(url) ?? ''
  }
  show('curl')
  const languages = optionsOf(Object.keys(CALLS))
  return element(
    'details',
    { className: 'calls' },
    element('summary', {}, TEXTS.calls.title),
    chooser(TEXTS.calls.language, 'language', languages, 'curl', show),
    element('pre', { tabIndex: 0, 'aria-label': TEXTS.calls.title, role: 'region' }, code),
    copyButton(TEXTS.copy, () => code.textContent ?? ''),
  )
}

interface PlaceShown {
  /** Null for an area, whose means are shown. */
  place: Place | null
  /** From the smallest up, the country last. */
  areas: Area[]
  /** The one on the map. */
  product: string | null
  sections: Section[]
  /** The query of the answer. */
  query: Query
  catalog: Catalog
  /** Of the pixel that is outlined. */
  grid: Grid | undefined
  hectares: number | null
  typed: Typed
  /** Whether the page says already that values are made up. */
  synthetic: boolean
}

export interface PlaceActions {
  close: () => void
  setHectares: (hectares: number | null) => void
  /** @param condition of the field; null for that of the map of the landscape, or for all */
  setCondition: (condition: string | null) => void
}

/** The panel without a place. */
export function emptyPanel() {
  return [element('h2', {}, TEXTS.place.title), element('p', { className: 'small' }, TEXTS.place.empty)]
}

/** The panel of a place. */
export function placePanel(
  { place, areas, product, sections, query, catalog, grid, hectares, typed, synthetic }: PlaceShown,
  { close, setHectares, setCondition }: PlaceActions,
) {
  const texts = TEXTS.place
  const [lat = '', lng = ''] = place ? [place.lat, place.lng].map((degrees) => String(short(degrees))) : []
  const { country_code: country, crop } = query
  const watched = {
    ...(place ? { lat, lng } : { area: areas[0]?.code, level: String(areas[0]?.level ?? '') }),
    product,
    country: asText(country),
    crop: asText(crop),
    name: areas[0]?.name,
  }
  const above = areas.slice(1)
  const valued = sections.filter(({ entries }) => entries.length > 0)
  const isMixed = new Set(valued.map((section) => section.synthetic)).size > 1
  const { metres_x: across, metres_y: down } = grid?.resolution ?? { metres_x: null, metres_y: null }
  return [
    element(
      'header',
      { className: 'place-head' },
      element('h2', { tabIndex: -1 }, areas[0]?.name ?? texts.at(lat, lng)),
      button(TEXTS.close, close),
    ),
    above.length > 0 && element('p', { className: 'areas' }, above.map(({ name }) => name).join(', ')),
    place === null && element('p', { className: 'small' }, texts.means),
    !synthetic && !isMixed && sections.some((section) => section.synthetic) && syntheticNotice(true),
    ...answersFirst(sections, product).map((section) =>
      sectionOf(
        section,
        catalog,
        conditionChooser(section, asText(query.condition), setCondition),
        isMixed && TEXTS.synthetic,
      ),
    ),
    seasonNote(catalog, scenariosOf(sections)),
    quantities(sections, hectares, typed, setHectares),
    place !== null &&
      element(
        'details',
        { className: 'about' },
        element('summary', {}, texts.about),
        element('p', { className: 'small' }, texts.coordinates(lat, lng)),
        across !== null &&
          down !== null &&
          element('p', { className: 'small' }, texts.pixel(lengthText(across), lengthText(down))),
      ),
    calls(addressOfPlace(query)),
    districtsLink(areas[0], product),
    ...placeLinks(watched).map((link) => element('p', { className: 'small' }, link)),
    copyButton(texts.link, () => location.href),
  ].filter((part) => part !== false)
}

/** The product of the map comes first, what has no value last. */
function answersFirst(sections: Section[], product: string | null): Section[] {
  const rank = (one: Section) => (one.entries.length === 0 ? 2 : Number(one.product !== product))
  return sections.toSorted((one, other) => rank(one) - rank(other))
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
