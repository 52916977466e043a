import type { Cut } from '#schemas/map.ts'
import type { Catalog, CatalogRelease, Conditions, Tileset } from '../api-types.ts'
import { cacheOf, get } from '../shell/api.ts'
import { MOST_LIKELY, nameOfMonth, nameOfOdds } from '../texts/names.ts'
import { normalFirst } from './values.ts'
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

/** What of the layers of a release is chosen. */
export type ChosenLayer = Pick<View, 'input' | 'scenario'> & Partial<Pick<View, 'condition' | 'odds'>>

/**
 * The inputs, scenarios and conditions of the layers of a release, the normal season first, and the layer of those that are
 * chosen; the maps of odds, and the one that is shown in place of the layer. The condition '' is that of each place.
 */
export function layerOf(tilesets: Tileset[], view: ChosenLayer) {
  const layers = tilesets.filter(({ role, layer }) => role === undefined && layer !== MOST_LIKELY)
  const inputs = different(layers.map(({ input }) => input))
  const input = oneOf(inputs, view.input) ?? null
  const ofInput = layers.filter((layer) => layer.input === input)
  const scenarios = normalFirst(different(ofInput.map(({ scenario }) => scenario)), (scenario) => ({
    scenario,
  }))
  const scenario = oneOf(scenarios, view.scenario) ?? null
  const ofScenario = ofInput.filter((layer) => layer.scenario === scenario)
  const named = different(ofScenario.map((layer) => layer.condition ?? null))
  const isMixed = ofScenario.some(({ condition }) => condition === undefined)
  const conditions = isMixed && named.length > 0 ? ['', ...named] : named
  const condition = oneOf(conditions, view.condition ?? null) || undefined
  const layer = ofScenario.find((one) => one.condition === condition)
  const odds = [
    ...tilesets.filter((one) => one.layer === MOST_LIKELY),
    ...tilesets.filter(({ role }) => role === 'probability'),
  ]
  const chosen = odds.find((one) => nameOdds(one) === view.odds)
  return { inputs, scenarios, conditions, layer, odds, shown: chosen ?? layer }
}

/** How the address names a map of odds; null for another one. */
export function nameOdds({ layer, role, scenario }: Tileset): string | null {
  if (layer === MOST_LIKELY) return MOST_LIKELY
  return role === 'probability' ? scenario : null
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
 * @returns undefined where nothing is, or there is no such layer
 */
export async function comparedWith(
  catalog: Catalog,
  view: View,
  { layer, shown }: Layers,
  layersOf: (release: string, cut: Cut) => Promise<Tileset[]>,
): Promise<Compared | undefined> {
  const [, kind, name = ''] = /^(scenario|month):(.+)$/.exec(view.compare ?? '') ?? []
  if (!layer || !shown || !kind) return undefined
  const ofMonth = kind === 'month'
  const choices = choicesOf(catalog, ofMonth ? { ...view, month: name } : view)
  if (!choices) return undefined
  const { release } = choices
  const { input, condition = null } = layer
  const wanted = ofMonth
    ? { input, condition, scenario: layer.scenario, odds: nameOdds(shown) }
    : { input, condition, scenario: name }
  const { shown: other } = layerOf(await layersOf(release.release, view.cut), wanted)
  if (!other || (other.release === shown.release && other.layer === shown.layer)) return undefined
  const own = catalog.releases.find((one) => one.release === layer.release)
  const names = ofMonth
    ? { left: nameOfMonth(own?.forecast_period ?? ''), right: nameOfMonth(name) }
    : { left: nameOfShown(shown), right: nameOfShown(other) }
  return { release, layer: other, names }
}

/** A season, or odds, in words. */
function nameOfShown(shown: Tileset): string {
  const odds = nameOdds(shown)
  return odds === null ? (shown.scenario ?? '') : nameOfOdds(odds)
}

/** Makes a cache of the conditions of releases. */
export function createConditions() {
  const cached = cacheOf<Conditions | undefined>()
  return (release: string) =>
    cached(release, async () => (await get<{ conditions?: Conditions }>(releasePath(release))).conditions)
}

/** Makes a cache of the layers of releases. */
export function createLayers() {
  const cached = cacheOf<Tileset[]>()
  return (release: string, cut: Cut) =>
    cached(
      `${cut} ${release}`,
      async () => (await get<{ layers: Tileset[] }>(`${releasePath(release)}/layers`, { cut })).layers,
    )
}

export const releasePath = (release: string) => `releases/${encodeURIComponent(release)}`
