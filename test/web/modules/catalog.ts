import type { Catalog, CatalogRelease, Tileset } from '../../../web/api-types.ts'

type Said = Partial<CatalogRelease> & Pick<CatalogRelease, 'product' | 'country_code'>

/** A release as the catalog has it; what is not said is of no matter. */
export function releaseOf(said: Said): CatalogRelease {
  const { product, country_code, crop = null, forecast_period = null } = said
  return {
    release: [product, country_code, crop, forecast_period].filter(Boolean).join('-'),
    crop,
    forecast_period,
    synthetic: true,
    valid_until: null,
    grids: [],
    source: 'A formula',
    licence: 'CC0',
    ...said,
  }
}

/** A catalog of two products in two countries. */
export function catalogOf(releases: CatalogRelease[]): Catalog {
  const product = (code: string, unit: string, key: string, needs_crop: boolean) => ({
    product: code,
    unit,
    value: { key, unit, description: '' },
    needs_crop,
  })
  return {
    countries: [
      { code: 'eth', name: 'Ethiopia', crops: ['wheat', 'maize'] },
      { code: 'ken', name: 'Kenya', crops: [] },
    ],
    crops: [],
    products: [
      product('yield', 'kg/ha', 'yield_kg_ha', true),
      product('forage', 'score', 'suitability_score', false),
    ],
    scenarios: [],
    releases,
    boundaries: [],
  }
}

export function tilesetOf(input: string | null, scenario: string | null, layer = 1): Tileset {
  return {
    tiles: [],
    minzoom: 0,
    maxzoom: 8,
    bounds: [0, 0, 1, 1],
    attribution: '',
    release: 'one',
    layer,
    input,
    scenario,
    unit: 'kg/ha',
    cut: 'quantiles',
    classes: [],
  }
}
