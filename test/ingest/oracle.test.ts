import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import type { Database } from '#src/data/client.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { hasSharedRasters, SHARED_RASTERS } from '#test/setup/shared-data.ts'
import { ingestManifest, manifestText, writeManifest } from './fixtures.ts'

interface Raster {
  file: string
  product: string
  period?: string
  input?: string
  scenario?: string
  /** Undefined: what the product rounds to by itself. */
  decimals?: number
  /** The key of the answer that has the value. */
  key: string
}

/** Each raster where it belongs; the population, which is no advice, is a yield of another month. */
const RASTERS: Raster[] = [
  {
    file: 'et_wheat_yieldtypes_optimal_jja_probabilistic_normal_202207.tif',
    product: 'yield',
    period: '2022-07',
    scenario: 'Normal',
    key: 'yield_kg_ha',
  },
  {
    file: 'et_wheat_nps_jja_probabilistic_below_202207.tif',
    product: 'fertilizer',
    period: '2022-07',
    input: 'NPS',
    scenario: 'Below Normal',
    decimals: 10,
    key: 'rate_kg_ha',
  },
  {
    file: 'et_wheat_optimal_nutrients_p_jja_probablistic_normal_202207.tif',
    product: 'fertilizer',
    period: '2022-07',
    input: 'P',
    scenario: 'Normal',
    decimals: 10,
    key: 'rate_kg_ha',
  },
  {
    file: 'biomass_20240218.tif',
    product: 'forage',
    input: 'All species',
    decimals: 10,
    key: 'suitability_score',
  },
  {
    file: 'afripop2020.tif',
    product: 'yield',
    period: '2020-01',
    scenario: 'Normal',
    decimals: 10,
    key: 'yield_kg_ha',
  },
]

const ENTRIES: Record<string, string> = {
  yield: 'yield_data',
  fertilizer: 'fertilizer_data',
  forage: 'forage_data',
}

async function ingestAll(database: Database): Promise<void> {
  const folder = await newFolder()
  const series = new Set(RASTERS.map(({ product, period }) => `${product} ${period}`))
  for (const name of series) {
    const rasters = RASTERS.filter((raster) => `${raster.product} ${raster.period}` === name)
    const { product, period } = rasters[0] as Raster
    const layers = rasters.map(({ file, input, scenario, decimals }) => ({
      file: join(SHARED_RASTERS, file),
      unit: PRODUCTS.of(product).unit,
      ...(input && { input }),
      ...(scenario && { scenario }),
      ...(decimals && { decimals }),
    }))
    const settings = { product, forecast_period: period, ...(product === 'forage' && { crop: undefined }) }
    await ingestManifest(database, await writeManifest(folder, manifestText(layers, settings)))
  }
}

describe.skipIf(!hasSharedRasters)('the real rasters answer as GDAL does', () => {
  let service: TestApp
  beforeAll(async () => {
    service = await createTestApp({ template: 'empty', prepare: ingestAll })
  }, 300_000)
  afterAll(() => service.close())

  /** The value that the service answers, or why it has none. */
  async function ask(raster: Raster, lng: number, lat: number): Promise<number | string> {
    const response = await service.app.inject({
      method: 'POST',
      url: `/advisory/${raster.product}/point`,
      payload: { lng, lat, forecast_period: raster.period },
    })
    const body = response.json()
    if (response.statusCode !== 200) return `${response.statusCode} ${body.code}`
    const entry = body[ENTRIES[raster.product] as string].find(
      (candidate: Record<string, unknown>) =>
        [candidate.fertilizer_type, candidate.forage_variety].includes(raster.input) &&
        candidate.scenario === raster.scenario,
    )
    return entry ? entry[raster.key] : 'left out'
  }

  const rows = hasSharedRasters
    ? readFileSync(join(SHARED_RASTERS, 'oracle_points.csv'), 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(',') as [string, string, string, string, string, string])
    : []

  test.each(RASTERS)('$file', async (raster) => {
    const asked = rows.filter(([file]) => file === raster.file)
    expect(asked).toHaveLength(200)
    const decimals = raster.decimals ?? PRODUCTS.of(raster.product).decimals
    const differences: unknown[] = []
    for (const [, lat, lng, , , value] of asked) {
      const found = await ask(raster, Number(lng), Number(lat))
      const expected = Number(value)
      const right =
        Number.isNaN(expected) || typeof found === 'string'
          ? Number.isNaN(expected) && ['404 NO_DATA', 'left out'].includes(found as string)
          : Math.abs(found - expected) <= 0.5001 * 10 ** -decimals + 1e-9 * Math.abs(expected)
      if (!right) differences.push({ lat, lng, value, found })
    }
    expect(differences).toEqual([])
  })
})
