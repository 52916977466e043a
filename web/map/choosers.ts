import { element, labelled, select } from '../shell/element.ts'
import { TEXTS } from '../texts/en.ts'
import { nameOfMonth, nameOfProduct } from '../texts/names.ts'

/**
 * @typedef {import('./view.ts').View} View
 *
 * @param {object} state
 * @param {import('../api-types.ts').Catalog} state.catalog
 * @param {View} state.view
 * @param {import('./choices.ts').Choices} state.choices
 * @param {ReturnType<typeof import('./choices.ts').layerOf>} state.layers
 * @param {(changes: Partial<View>) => void} change
 * @param {(opacity: number) => void} setOpacity called while the slider is drawn
 */
export function choosers({ catalog, view, choices, layers }, change, setOpacity) {
  const { release } = choices
  const { layer, inputs, scenarios } = layers
  const texts = TEXTS.choosers
  /**
   * @param {string} label
   * @param {readonly { value: string, text: string }[]} options
   * @param {string | null | undefined} chosen
   * @param {(value: string) => void} choose
   */
  const chooser = (label, options, chosen, choose) => {
    if (options.length === 0) return false
    const control = select(options, chosen ?? null, choose)
    control.name = label
    return labelled(label, control)
  }
  /** @param {string[]} values @param {(value: string) => string} [name] */
  const named = (values, name = (value) => value) => values.map((value) => ({ value, text: name(value) }))
  /** @param {string} code */
  const cropName = (code) => catalog.crops.find((crop) => crop.code === code)?.name ?? code
  /** @param {string} code */
  const countryName = (code) => catalog.countries.find((country) => country.code === code)?.name ?? code

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
      named(['quantiles', 'equal'], (cut) => texts.cuts[/** @type {View['cut']} */ (cut)]),
      view.cut,
      (cut) => change({ cut: /** @type {View['cut']} */ (cut) }),
    ),
    labelled(texts.opacity, opacity(view.opacity, setOpacity)),
  )
}

/**
 * What a layer can be compared with: its other scenarios, and other releases of the same series.
 *
 * @param {import('./choices.ts').Choices} choices
 * @param {ReturnType<typeof import('./choices.ts').layerOf>} layers
 */
function comparable({ months, release }, { layer, scenarios }) {
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

/**
 * @param {number} chosen
 * @param {(opacity: number) => void} set
 */
function opacity(chosen, set) {
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
