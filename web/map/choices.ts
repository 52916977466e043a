import type { Cut } from '#schemas/map.ts'
import type { Catalog, CatalogRelease, Tileset } from '../api-types.ts'
import { normalFirst } from '../parts/values.ts'
import { cacheOf, get } from '../shell/api.ts'
import { nameOfMonth } from '../texts/names.ts'
import type { View } from './view.ts'

/** The options of each kind, and the chosen release: the view's option where it exists, else the first. */
export interface Choices {
  products: string[]
  countries: string[]
  /** None where the product needs none. */
  crops: string[]
  /** The newest first; none where the product has none. */
  months: string[]
  release: CatalogRelease
}

/** @returns undefined where nothing is published */
export function choicesOf(
  { products, countries, releases }: Catalog,
  view: Pick<View, 'product' | 'country' | 'crop' | 'month'>,
): Choices | undefined {
  const published = products
    .map(({ product }) => product)
    .filter((code) => releases.some((one) => one.product === code))
  // A change of the country keeps the product, where the country has it.
  const product = oneOf(published, view.product)
  if (product === undefined) return undefined
  const ofProduct = releases.filter((one) => one.product === product)
  const offered = countries
    .map(({ code }) => code)
    .filter((code) => ofProduct.some((one) => one.country_code === code))
  const country = oneOf(offered, view.country)
  const ofCountry = ofProduct.filter((one) => one.country_code === country)
  const crops = different(ofCountry.map(({ crop }) => crop))
  const crop = oneOf(crops, view.crop) ?? null
  const ofCrop = ofCountry.filter((one) => one.crop === crop)
  const months = different(ofCrop.map(({ forecast_period }) => forecast_period))
    .sort()
    .reverse()
  const month = oneOf(months, view.month) ?? null
  const release = ofCrop.find((one) => one.forecast_period === month)
  return release && { products: published, countries: offered, crops, months, release }
}

/**
 * The series of a country that keeps the product and the crop, as far as the country has them.
 *
 * @returns undefined where the country has nothing
 */
export function releaseIn(
  { products, releases }: Catalog,
  country: string,
  { product, crop }: Pick<View, 'product' | 'crop'>,
): CatalogRelease | undefined {
  const offered = releases.filter((one) => one.country_code === country)
  const first = products.find((one) => offered.some((release) => release.product === one.product))?.product
  const kept = offered.some((one) => one.product === product) ? product : first
  const ofProduct = offered.filter((one) => one.product === kept)
  const newestFirst = ofProduct.toSorted((a, b) =>
    (b.forecast_period ?? '').localeCompare(a.forecast_period ?? ''),
  )
  return newestFirst.find((one) => one.crop === crop) ?? newestFirst[0]
}

/**
 * The options for advice on all products: countries that have any of them, and the crops of products that need one; none
 * where no product of the country does.
 */
export function placeChoicesOf({ countries, releases }: Catalog, view: Pick<View, 'country' | 'crop'>) {
  const offered = countries
    .map(({ code }) => code)
    .filter((code) => releases.some((one) => one.country_code === code))
  const country = oneOf(offered, view.country)
  if (country === undefined) return undefined
  const ofCountry = releases.filter((one) => one.country_code === country)
  const crops = different(ofCountry.map(({ crop }) => crop))
  return { countries: offered, country, crops, crop: oneOf(crops, view.crop) ?? null, releases: ofCountry }
}

/** The inputs and scenarios of the layers of a release, the normal season first, and the layer of those that are chosen. */
export function layerOf(layers: Tileset[], view: Pick<View, 'input' | 'scenario'>) {
  const inputs = different(layers.map(({ input }) => input))
  const input = oneOf(inputs, view.input) ?? null
  const ofInput = layers.filter((layer) => layer.input === input)
  const scenarios = normalFirst(different(ofInput.map(({ scenario }) => scenario)), (scenario) => ({
    scenario,
  }))
  const scenario = oneOf(scenarios, view.scenario) ?? null
  return { inputs, scenarios, layer: ofInput.find((layer) => layer.scenario === scenario) }
}

export type Layers = ReturnType<typeof layerOf>

function oneOf(offered: readonly string[], wanted: string | null) {
  return wanted !== null && offered.includes(wanted) ? wanted : offered[0]
}

function different(values: (string | null)[]): string[] {
  return [...new Set(values.filter((value) => value !== null))]
}

export interface Compared {
  release: CatalogRelease
  layer: Tileset
  names: { left: string; right: string }
}

/**
 * @param layer the one that is shown
 * @returns undefined where nothing is, or there is no such layer
 */
export async function comparedWith(
  catalog: Catalog,
  view: View,
  layer: Tileset | undefined,
  layersOf: (release: string, cut: Cut) => Promise<Tileset[]>,
): Promise<Compared | undefined> {
  const [, kind, name = ''] = /^(scenario|month):(.+)$/.exec(view.compare ?? '') ?? []
  if (!layer || !kind) return undefined
  const ofMonth = kind === 'month'
  const choices = choicesOf(catalog, ofMonth ? { ...view, month: name } : view)
  if (!choices) return undefined
  const { release } = choices
  const wanted = { input: layer.input, scenario: ofMonth ? layer.scenario : name }
  const { layer: other } = layerOf(await layersOf(release.release, view.cut), wanted)
  if (!other || (other.release === layer.release && other.layer === layer.layer)) return undefined
  const shown = catalog.releases.find((one) => one.release === layer.release)
  const names = ofMonth
    ? { left: nameOfMonth(shown?.forecast_period ?? ''), right: nameOfMonth(name) }
    : { left: layer.scenario ?? '', right: other.scenario ?? '' }
  return { release, layer: other, names }
}

/** Makes a cache of the layers of releases. */
export function createLayers() {
  const cached = cacheOf<Tileset[]>()
  return (release: string, cut: Cut) =>
    cached(`${cut} ${release}`, async () => {
      const path = `releases/${encodeURIComponent(release)}/layers`
      return (await get<{ layers: Tileset[] }>(path, { cut })).layers
    })
}
