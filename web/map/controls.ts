import type { Cut } from '#schemas/map.ts'
import type { Catalog, Conditions } from '../api-types.ts'
import { syntheticNotice } from '../parts/blocks.ts'
import { type Choices, type Layers, nameOdds } from '../parts/choices.ts'
import type { View } from '../parts/view.ts'
import { chooser, element, labelled, optionsOf } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameIn, nameOfMonth, nameOfOdds, nameOfProduct, titleOfCondition } from '../texts/names.ts'

/** Narrower ones show the map first, and what to choose below it. */
const WIDE = '(min-width: 60rem)'

/** As many countries are named. */
const MOST_NAMED = 6

const LIST = new Intl.ListFormat('en-GB')

/** The parts of the page, each to be filled, below what it is for. */
export function layout(main: HTMLElement, catalog: Catalog) {
  const part = (className: string) => element('div', { className })
  const [search, mode, choosers, legend] = [part('part'), part('part'), part('part'), part('legends')]
  const canvas = part('canvas')
  const table = part('table-room')
  const message = element('p', { className: 'message', role: 'status' })
  const notice = syntheticNotice(false)
  const place = element('section', { className: 'place', 'aria-label': TEXTS.place.title })
  const chooserRoom = element(
    'details',
    { className: 'choosing', open: matchMedia(WIDE).matches },
    element('summary', {}, TEXTS.choosers.title),
    choosers,
  )
  main.className = 'map-page'
  const purpose = element(
    'p',
    { className: 'purpose', hidden: catalog.releases.length === 0 },
    TEXTS.purpose(listOffers(catalog)),
  )
  main.replaceChildren(
    purpose,
    element('div', { className: 'side' }, search, mode, chooserRoom),
    element('div', { className: 'stage' }, message, notice, canvas, legend, table),
    place,
  )
  return { search, mode, choosers, legend, canvas, table, message, notice, place }
}

/** What there is advice on, and in which countries. */
function listOffers({ products, countries, releases }: Catalog) {
  const groups = new Map<string, string[]>()
  for (const { code, name } of countries) {
    const offered = products
      .map(({ product }) => product)
      .filter((product) => releases.some((one) => one.product === product && one.country_code === code))
    if (offered.length === 0) continue
    const key = LIST.format(offered.map((product) => nameOfProduct(product).toLowerCase()))
    groups.set(key, [...(groups.get(key) ?? []), name])
  }
  return [...groups].map(([offered, names]) =>
    TEXTS.offer(offered, names.length > MOST_NAMED ? TEXTS.countries(names.length) : LIST.format(names)),
  )
}

/** A choice between the map and the table. */
export function modeChooser(chosen: 'map' | 'table', choose: (mode: 'map' | 'table') => void) {
  const options = (['map', 'table'] as const).map((mode) => {
    const input = element('input', { type: 'radio', name: 'mode', checked: mode === chosen })
    input.addEventListener('change', () => choose(mode))
    return element('label', {}, input, element('span', {}, TEXTS.choosers[mode]))
  })
  return element(
    'fieldset',
    { className: 'mode' },
    element('legend', { className: 'unseen' }, TEXTS.choosers.mode),
    ...options,
  )
}

/** What there is to choose from. */
export interface Offered {
  choices: Choices
  layers: Layers
  /** Undefined for a release without any. */
  conditions: Conditions | undefined
}

interface State extends Offered {
  catalog: Catalog
  view: View
}

/** @param setOpacity called while the slider is drawn */
export function choosers(
  { catalog, view, choices, layers, conditions }: State,
  change: (changes: Partial<View>) => void,
  setOpacity: (opacity: number) => void,
) {
  const { release } = choices
  const { layer, inputs } = layers
  const texts = TEXTS.choosers
  const chooserOf = (
    label: string,
    options: ReturnType<typeof optionsOf>,
    chosen: string | null | undefined,
    choose: (value: string) => void,
  ) => options.length > 0 && chooser(label, label, options, chosen ?? null, choose)
  const cropName = (code: string) => nameIn(catalog.crops, code)
  const countryName = (code: string) => nameIn(catalog.countries, code)

  return element(
    'div',
    { className: 'choosers' },
    chooserOf(texts.product, optionsOf(choices.products, nameOfProduct), release.product, (product) =>
      change({ product, input: null, compare: null }),
    ),
    chooserOf(texts.country, optionsOf(choices.countries, countryName), release.country_code, (country) =>
      change({ country, crop: null, month: null, condition: null, compare: null, camera: null, at: null }),
    ),
    chooserOf(texts.crop, optionsOf(choices.crops, cropName), release.crop, (crop) => change({ crop })),
    chooserOf(texts.month, optionsOf(choices.months, nameOfMonth), release.forecast_period, (month) =>
      change({ month }),
    ),
    chooserOf(texts.input, optionsOf(inputs), layer?.input, (input) => change({ input })),
    chooserOf(texts.scenario, seasonOptions(layers), chosenSeason(layers), (chosen) =>
      change(readSeason(chosen)),
    ),
    chooserOf(
      conditions?.question ?? '',
      optionsOf(layers.conditions, (name) => (name && titleOfCondition(conditions, name)) || texts.byPlace),
      layer?.condition ?? '',
      (condition) => change({ condition: condition || null }),
    ),
    chooserOf(texts.compare, comparable(choices, layers), view.compare ?? '', (compare) =>
      change({ compare: compare || null }),
    ),
    chooserOf(
      texts.cut,
      // Those of odds are always the same.
      optionsOf(layers.shown === layer ? ['quantiles', 'equal'] : [], (cut) => texts.cuts[cut as Cut]),
      view.cut,
      (cut) => change({ cut: cut as Cut }),
    ),
    labelled(texts.opacity, opacity(view.opacity, setOpacity)),
  )
}

/** Before the name of odds among seasons. */
const ODDS = 'odds:'

/** The seasons, then the maps of odds. */
function seasonOptions({ scenarios, odds }: Layers) {
  const named = odds.map((one) => nameOdds(one) ?? '')
  return [...optionsOf(scenarios), ...named.map((name) => ({ value: ODDS + name, text: nameOfOdds(name) }))]
}

function chosenSeason({ layer, shown }: Layers) {
  const odds = shown && nameOdds(shown)
  return odds ? ODDS + odds : layer?.scenario
}

function readSeason(chosen: string): Partial<View> {
  return chosen.startsWith(ODDS) ? { odds: chosen.slice(ODDS.length) } : { scenario: chosen, odds: null }
}

/** Options to compare a layer with: its other scenarios, and other releases of the same series. */
function comparable({ months, release }: Choices, { layer, shown, scenarios }: Layers) {
  const texts = TEXTS.choosers
  const others = [
    ...scenarios
      .filter((scenario) => shown !== layer || scenario !== layer?.scenario)
      .map((scenario) => ({ value: `scenario:${scenario}`, text: scenario })),
    ...months
      .filter((month) => month !== release.forecast_period)
      .map((month) => ({ value: `month:${month}`, text: texts.otherRelease(nameOfMonth(month)) })),
  ]
  return others.length > 0 ? [{ value: '', text: texts.nothing }, ...others] : []
}

function opacity(chosen: number, set: (opacity: number) => void) {
  const slider = element('input', {
    type: 'range',
    min: '0',
    max: '100',
    step: '5',
    value: String(chosen),
    name: TEXTS.choosers.opacity,
  })
  slider.addEventListener('input', () => set(Number(slider.value)))
  return slider
}
