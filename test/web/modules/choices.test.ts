import { describe, expect, test } from 'vitest'
import { choicesOf, layerOf, placeChoicesOf, releaseIn } from '../../../web/parts/choices.ts'
import { catalogOf, releaseOf, tilesetOf } from './catalog.ts'

const NOTHING = { product: null, country: null, crop: null, month: null }

const wheat = (forecast_period: string) =>
  releaseOf({ product: 'yield', country_code: 'eth', crop: 'wheat', forecast_period })
const CATALOG = catalogOf([
  wheat('2026-06'),
  wheat('2026-07'),
  releaseOf({ product: 'yield', country_code: 'eth', crop: 'maize', forecast_period: '2026-05' }),
  releaseOf({ product: 'forage', country_code: 'ken' }),
])

describe('what can be chosen on the map', () => {
  test('begins with the newest release of the first product', () => {
    expect(choicesOf(CATALOG, NOTHING)).toMatchObject({
      products: ['yield', 'forage'],
      countries: ['eth'],
      crops: ['wheat', 'maize'],
      months: ['2026-07', '2026-06'],
      release: { release: 'yield-eth-wheat-2026-07' },
    })
  })

  test.each([
    ['an older month', { month: '2026-06' }, 'yield-eth-wheat-2026-06'],
    ['a month that the crop does not have', { crop: 'maize', month: '2026-07' }, 'yield-eth-maize-2026-05'],
    ['a product that is in no such country', { product: 'forage', country: 'eth' }, 'forage-ken'],
    ['what does not exist', { product: 'x', country: 'y', crop: 'z' }, 'yield-eth-wheat-2026-07'],
  ])('follows the address where that can be: %s', (_, said, release) => {
    expect(choicesOf(CATALOG, { ...NOTHING, ...said })?.release.release).toBe(release)
  })

  test('is nothing where nothing is published', () => {
    expect(choicesOf(catalogOf([]), NOTHING)).toBeUndefined()
  })
})

test.each([
  ['eth', { product: 'yield', crop: 'maize' }, 'yield-eth-maize-2026-05'],
  ['eth', { product: 'forage', crop: null }, 'yield-eth-wheat-2026-07'],
  ['ken', { product: 'yield', crop: 'wheat' }, 'forage-ken'],
  ['rwa', { product: 'yield', crop: 'wheat' }, undefined],
])('who goes to %s keeps product and crop as far as it has them: %j', (country, view, release) => {
  expect(releaseIn(CATALOG, country, view)?.release).toBe(release)
})

describe('what can be chosen for a field', () => {
  test.each([
    ['the first country', {}, 'eth', ['wheat', 'maize'], 'wheat'],
    ['a crop of the country', { country: 'eth', crop: 'maize' }, 'eth', ['wheat', 'maize'], 'maize'],
    ['a country that has no product with crops', { country: 'ken', crop: 'wheat' }, 'ken', [], null],
  ])('is every country with any product: %s', (_, said, country, crops, crop) => {
    expect(placeChoicesOf(CATALOG, { ...NOTHING, ...said })).toMatchObject({
      countries: ['eth', 'ken'],
      ...{ country, crops, crop },
    })
  })

  test('is nothing where nothing is published', () => {
    expect(placeChoicesOf(catalogOf([]), NOTHING)).toBeUndefined()
  })
})

test('the layer is that of the input and the scenario, or else the normal season of the first', () => {
  const layers = [
    tilesetOf('DAP', 'Above Normal', 4),
    tilesetOf('DAP', 'Normal', 1),
    tilesetOf('Urea', 'Normal', 2),
    tilesetOf('Urea', 'Dominant', 3),
  ]
  expect(layerOf(layers, { input: null, scenario: null }).scenarios).toEqual(['Normal', 'Above Normal'])
  const chosen = (input: string | null, scenario: string | null) =>
    layerOf(layers, { input, scenario }).layer?.layer
  expect([
    chosen(null, null),
    chosen('Urea', 'Dominant'),
    chosen('DAP', 'Dominant'),
    chosen('x', 'x'),
  ]).toEqual([1, 3, 1, 1])
  expect(layerOf([], { input: null, scenario: null }).layer).toBeUndefined()
})

test('bands about layers are no layers, but their odds are shown where they are chosen', () => {
  const band = (role: string, scenario: string, layer: number) => ({
    ...tilesetOf(null, scenario, layer),
    role,
  })
  const likely = { ...tilesetOf(null, null, 9), layer: 'most-likely' as const }
  const layers = [
    tilesetOf(null, 'Normal', 1),
    tilesetOf(null, 'Below Normal', 2),
    band('low', 'Normal', 3),
    band('probability', 'Normal', 4),
    likely,
  ]
  const shown = (odds: string | null) => {
    const { layer, shown: drawn } = layerOf(layers, { input: null, scenario: 'Below Normal', odds })
    return [layer?.layer, drawn?.layer]
  }
  const { odds, scenarios } = layerOf(layers, { input: null, scenario: null })
  expect(scenarios).toEqual(['Normal', 'Below Normal'])
  expect(odds.map(({ layer }) => layer)).toEqual(['most-likely', 4])
  expect([shown(null), shown('most-likely'), shown('Normal'), shown('Below Normal')]).toEqual([
    [2, 2],
    [2, 'most-likely'],
    [2, 4],
    [2, 2],
  ])
})

test('the layer is that of the condition, or else of the first', () => {
  const layers = ['foot slope', 'hill'].map((condition, at) => ({
    ...tilesetOf('Urea', 'Normal', at + 1),
    condition,
  }))
  const chosen = (condition: string | null) =>
    layerOf(layers, { input: null, scenario: null, condition }).layer?.layer
  expect([chosen(null), chosen('hill'), chosen('valley')]).toEqual([1, 2, 1])
  expect(layerOf(layers, { input: null, scenario: null }).conditions).toEqual(['foot slope', 'hill'])
})
