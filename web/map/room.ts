import type { Area, Catalog, Place } from '../api-types.ts'
import { type AreasOf, contains, listLevels, orNone, outlinesOf } from '../geo/areas.ts'
import { createConditions } from '../parts/choices.ts'
import type { View } from '../parts/view.ts'
import { emptyPanel, type PlaceActions, placePanel } from '../place/panel.ts'
import { createTyped, readAmount } from '../place/quantities.ts'
import { askAt } from '../place/sections.ts'
import { element, replaceControls } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'

interface Source {
  catalog: Catalog
  areasOf: AreasOf
}

/** The area of a view, with those above it: the smallest first. */
async function areasOfView(view: View, { catalog, areasOf }: Source) {
  const [country = '', level = '', ...code] = (view.area ?? '').split('/')
  const areas: Area[] = []
  let wanted: string | null = code.join('/')
  for (const one of listLevels(catalog)
    .filter((one) => one <= Number(level))
    .reverse()) {
    const found: Area | undefined = (await orNone(areasOf(country, one))).find(({ code }) => code === wanted)
    if (!found) continue
    areas.push(found)
    wanted = found.parent
  }
  return { country, areas, query: { place: code.join('/'), level, country_code: country } }
}

/** Shows the place or the area that is chosen. */
export function createPlaceRoom(container: HTMLElement, { catalog, areasOf }: Source, actions: PlaceActions) {
  const conditionsOf = createConditions()
  let asking = new AbortController()
  let shown = ''
  let hectares: number | null = null
  const typed = createTyped()

  /** The area of a link that differs in it alone: no value is asked for again, and prices stay. */
  function fillHectares() {
    const field = container.querySelector('[name=hectares]') as HTMLInputElement | null
    if (!field || (readAmount(field.value) ?? null) === hectares) return
    field.value = String(hectares ?? '')
    field.dispatchEvent(new Event('input'))
    field.closest('details')?.toggleAttribute('open', true)
  }

  /** @param country where it lies in none of ours */
  async function areasAt(place: Place, country: string | null) {
    const outlines = await outlinesOf(catalog, areasOf)
    const code = outlines.find((area) => contains(area, place))?.country_code ?? country
    const levels = await Promise.all(listLevels(catalog).map((level) => orNone(areasOf(code ?? '', level))))
    const areas = levels.flatMap((level) => level.find((area) => contains(area, place)) ?? [])
    return { country: code, areas: areas.reverse() }
  }

  async function placeOf({ at, country: shown, ...view }: View) {
    if (!at) return areasOfView({ at, country: shown, ...view }, { catalog, areasOf })
    const { country, areas } = await areasAt(at, shown)
    return { country, areas, query: { lat: at.lat, lng: at.lng, country_code: country } }
  }

  async function load(view: View) {
    const { at: place, month } = view
    const { country, areas, query: where } = await placeOf(view)
    const crops = catalog.countries.find(({ code }) => code === country)?.crops ?? []
    const crop = crops.find((one) => one === view.crop) ?? crops[0]
    const query = { ...where, crop, forecast_period: month, condition: view.condition }
    const sections = await askAt(catalog, query, conditionsOf, asking.signal)
    const release = sections.find(({ product }) => product === view.product)?.release
    const grid = catalog.releases.find((one) => one.release === release)?.grids[0]
    return { place, areas, product: view.product, sections, query, catalog, grid }
  }

  return {
    /** @param synthetic whether the page says so */
    async show(view: View, synthetic: boolean) {
      const { at, area, country, crop, month, product, condition } = view
      const wanted = JSON.stringify([at, area, country, crop, month, product, condition, synthetic])
      hectares = view.hectares
      if (wanted === shown && container.querySelector('.place-head')) return fillHectares()
      shown = wanted
      asking.abort()
      asking = new AbortController()
      container.setAttribute('aria-busy', 'true')
      try {
        const found = await load(view)
        if (wanted !== shown) return
        replaceControls(container, ...placePanel({ ...found, hectares, typed, synthetic }, actions))
      } catch (error) {
        if (wanted !== shown) return
        const { message } = error as Error
        container.replaceChildren(element('p', { role: 'alert' }, TEXTS.failed(message)))
      }
      if (wanted === shown) container.removeAttribute('aria-busy')
    },
    /** Shows none, and gives up one that is still being asked for. */
    clear() {
      shown = ''
      asking.abort()
      container.removeAttribute('aria-busy')
      container.replaceChildren(...emptyPanel())
    },
    /** Brings it into view, where it lies below the map. */
    reveal() {
      container.scrollIntoView({ block: 'nearest' })
    },
    focus() {
      container.querySelector('h2')?.focus()
    },
  }
}
