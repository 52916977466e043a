import type { Cut } from '#schemas/map.ts'
import type { Catalog } from '../api-types.ts'
import { element, labelled, select } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfMonth, nameOfProduct } from '../texts/names.ts'
import type { Choices, Layers } from './choices.ts'
import type { View } from './view.ts'

interface State {
  catalog: Catalog
  view: View
  choices: Choices
  layers: Layers
}

/** @param setOpacity called while the slider is drawn */
export function choosers(
  { catalog, view, choices, layers }: State,
  change: (changes: Partial<View>) => void,
  setOpacity: (opacity: number) => void,
) {
  const { release } = choices
  const { layer, inputs, scenarios } = layers
  const texts = TEXTS.choosers
  const chooser = (
    label: string,
    options: readonly { value: string; text: string }[],
    chosen: string | null | undefined,
    choose: (value: string) => void,
  ) => {
    if (options.length === 0) return false
    const control = select(options, chosen ?? null, choose)
    control.name = label
    return labelled(label, control)
  }
  const named = (values: string[], name: (value: string) => string = (value) => value) =>
    values.map((value) => ({ value, text: name(value) }))
  const cropName = (code: string) => catalog.crops.find((crop) => crop.code === code)?.name ?? code
  const countryName = (code: string) =>
    catalog.countries.find((country) => country.code === code)?.name ?? code

  return element(
    'div',
    { className: 'choosers' },
    chooser(texts.product, named(choices.products, nameOfProduct), release.product, (product) =>
      change({ product, input: null, compare: null }),
    ),
    chooser(texts.country, named(choices.countries, countryName), release.country_code, (country) =>
      change({ country, crop: null, month: null, compare: null, camera: null, at: null }),
    ),
    chooser(texts.crop, named(choices.crops, cropName), release.crop, (crop) => change({ crop })),
    chooser(texts.month, named(choices.months, nameOfMonth), release.forecast_period, (month) =>
      change({ month }),
    ),
    chooser(texts.input, named(inputs), layer?.input, (input) => change({ input })),
    chooser(texts.scenario, named(scenarios), layer?.scenario, (scenario) => change({ scenario })),
    chooser(texts.compare, comparable(choices, layers), view.compare ?? '', (compare) =>
      change({ compare: compare || null }),
    ),
    chooser(
      texts.cut,
      named(['quantiles', 'equal'], (cut) => texts.cuts[cut as Cut]),
      view.cut,
      (cut) => change({ cut: cut as Cut }),
    ),
    labelled(texts.opacity, opacity(view.opacity, setOpacity)),
  )
}

/** What a layer can be compared with: its other scenarios, and other releases of the same series. */
function comparable({ months, release }: Choices, { layer, scenarios }: Layers) {
  const texts = TEXTS.choosers
  const others = [
    ...scenarios
      .filter((scenario) => scenario !== layer?.scenario)
      .map((scenario) => ({ value: `scenario:${scenario}`, text: texts.otherScenario(scenario) })),
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
