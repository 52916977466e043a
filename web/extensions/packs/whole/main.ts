import { inflateSync } from 'fflate'
import { decodePack, type Pack } from '#src/extensions/packs/reading.ts'
import type { Place } from '../../../api-types.ts'
import { searchForm } from '../../../map/search.ts'
import { createTyped } from '../../../place/quantities.ts'
import { button, element, labelled, select } from '../../../shell/element.ts'
import { TEXTS } from '../../../texts/en.ts'
import { nameOfMonth, nameOfProduct } from '../../../texts/names.ts'
import { findPlaces } from './find.ts'
import { legendOf, packMap, type ShownMap } from './map.ts'
import { newerSwitch } from './newer.ts'
import { type Asked, placeParts } from './place.ts'
import { texts } from './texts.ts'

/** The page of a pack: it asks nobody, and keeps nothing. */

function readPack(): Pack {
  const text = atob(document.getElementById('pack')?.textContent ?? '')
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return decodePack(inflateSync(bytes))
}

function headOf(pack: Pack) {
  const { area, madeAt, releases } = pack
  const demo = describeDemo(pack)
  const when = new Date(madeAt).toLocaleDateString('en', { dateStyle: 'long' })
  const months = [...new Set(releases.flatMap(({ members }) => members.forecast_month ?? []))].sort()
  const above = area.parents.map(({ name }) => name).reverse()
  return element(
    'header',
    { className: 'pack-head' },
    element('h1', {}, area.name),
    element(
      'p',
      { className: 'small' },
      [
        ...(above.length > 0 ? above : [area.country]),
        ...months.map((month) => nameOfMonth(String(month))),
      ].join(', '),
    ),
    element('p', { className: 'small' }, texts.made(when)),
    demo !== undefined && element('p', { className: 'notice' }, demo),
  )
}

/** Whether values are made up, of which products where not all are; undefined where none is. */
function describeDemo(pack: Pack): string | undefined {
  const { releases, series } = pack
  const synthetic = releases.filter((release) => release.synthetic)
  if (synthetic.length === 0) return undefined
  if (synthetic.length === releases.length) return texts.demo
  const made = series.filter(({ release }) => release !== null && releases[release]?.synthetic)
  return texts.demoInPart(made.map((one) => nameOfSeries(pack, one)).join('; '))
}

function nameOfSeries({ products }: Pack, { product, crop }: Pack['series'][number]): string {
  return [nameOfProduct(products[product]?.code ?? ''), crop].filter(Boolean).join(', ')
}

/** The maps of the releases that answer for a crop. */
function mapsOf({ releases }: Pack, crop: string): ShownMap[] {
  return releases
    .filter(({ members }) => members.crop === null || members.crop === crop)
    .flatMap((release) => release.maps.map((map) => ({ release, map })))
}

/** Of probabilities. */
const NO_UNIT = '1'

function nameOfMap(pack: Pack, { release, map }: ShownMap) {
  const { product = 0 } = pack.series.find((one) => one.release === pack.releases.indexOf(release)) ?? {}
  const name = [nameOfProduct(pack.products[product]?.code ?? ''), map.label].filter(Boolean).join(', ')
  return map.unit === NO_UNIT ? name : `${name} (${map.unit})`
}

function aboutOf(pack: Pack) {
  const { releases, series, serviceUrl } = pack
  const rows = series.map((one) => {
    const release = one.release === null ? undefined : releases[one.release]
    const said = release
      ? [
          release.code,
          release.members.forecast_month,
          release.synthetic && texts.demo,
          `${release.source} (${release.licence})`,
        ]
      : [one.leftOut ?? one.reason?.error]
    return element(
      'li',
      {},
      element('strong', {}, nameOfSeries(pack, one)),
      `: ${said.filter(Boolean).join('; ')}`,
    )
  })
  return element(
    'details',
    { className: 'about' },
    element('summary', {}, texts.about),
    element('ul', {}, ...rows),
    serviceUrl !== null &&
      element('p', {}, `${texts.service}: `, element('a', { href: serviceUrl }, serviceUrl)),
    newerSwitch(pack),
  )
}

/** @param said says why a position is not found */
function actionsOf(choose: (place: Place) => void, said: HTMLElement) {
  const find = () =>
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude, longitude } }) =>
        choose({ lat: Number(latitude.toFixed(6)), lng: Number(longitude.toFixed(6)) }),
      ({ message }) => {
        said.textContent = texts.noPosition(message)
      },
      { enableHighAccuracy: true, timeout: POSITION_MS },
    )
  return element(
    'p',
    { className: 'actions' },
    'geolocation' in navigator && button(texts.position, find),
    button(texts.print, () => print()),
  )
}

const POSITION_MS = 30_000

/** The part of the window above a place's values, of which something is seen then. */
const MOST_ABOVE = 0.8

function open(pack: Pack, page: HTMLElement) {
  const [first = ''] = pack.crops
  let asked: Omit<Asked, 'place'> & { place: Place | null } = {
    ...{ place: null, name: null, crop: first, condition: null, hectares: null, typed: createTyped() },
  }
  const place = element('section', { className: 'place', 'aria-label': TEXTS.place.title })
  const said = element('p', { className: 'small', role: 'status' })
  const legend = element('div', {})
  const layers = element('div', {})
  const map = packMap(pack, (chosen) => choose(chosen, null))

  function show() {
    const { place: at, ...others } = asked
    const actions = {
      setCondition: (condition: string | null) => {
        asked = { ...asked, condition }
        show()
      },
      setHectares: (hectares: number | null) => {
        asked = { ...asked, hectares }
      },
    }
    place.replaceChildren(
      ...(at ? placeParts(pack, { ...others, place: at }, actions) : [element('p', {}, texts.empty)]),
    )
  }

  function choose(at: Place, name: string | null) {
    said.textContent = ''
    asked = { ...asked, place: at, name }
    map.mark(at)
    show()
    // On a phone it lies below the map.
    if (place.getBoundingClientRect().top > innerHeight * MOST_ABOVE) place.scrollIntoView()
  }

  function showMap(shown: ShownMap | undefined) {
    legend.replaceChildren(...(shown ? [legendOf(shown)] : []))
    map.show(shown ?? null)
  }

  function chooseCrop(crop: string) {
    asked = { ...asked, crop }
    const maps = mapsOf(pack, crop)
    const normal = maps.findIndex(
      ({ map: { label } }) => label.includes('Normal') && !label.includes('Above'),
    )
    const start = normal < 0 ? 0 : normal
    const options = maps.map((one, index) => ({ value: String(index), text: nameOfMap(pack, one) }))
    const control = select([...options, { value: '', text: texts.nothing }], String(start), (value) =>
      showMap(value === '' ? undefined : maps[Number(value)]),
    )
    layers.replaceChildren(labelled(texts.layer, control))
    showMap(maps[start])
    show()
  }

  const search = searchForm({
    find: async (text) => findPlaces(pack, text),
    countryNamed: () => pack.area.country,
    showArea: ({ lat, lng, name }) => choose({ lat, lng }, name),
    showPlace: (at) => choose(at, null),
  })
  const crops = pack.crops.map((value) => ({ value, text: value }))
  page.replaceChildren(
    headOf(pack),
    element(
      'main',
      { className: 'pack-main' },
      element(
        'div',
        { className: 'pack-side' },
        search,
        actionsOf((at) => choose(at, null), said),
        said,
        crops.length > 1 && labelled(TEXTS.choosers.crop, select(crops, first, chooseCrop)),
        layers,
        map.canvas,
        element('p', { className: 'small hint' }, texts.mapNote),
        legend,
      ),
      place,
    ),
    aboutOf(pack),
  )
  chooseCrop(first)
}

const page = document.getElementById('page') as HTMLElement
try {
  open(readPack(), page)
} catch (error) {
  page.replaceChildren(
    element('p', { role: 'alert' }, texts.damaged, ' ', element('code', {}, String(error))),
  )
}
