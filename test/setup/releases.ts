import { findPrevious, publishRelease } from '#src/catalog/release-queries.ts'
import { deleteRelease } from '#src/catalog/removal-queries.ts'
import type { Database } from '#src/data/database.ts'
import type { App } from '#src/http/app.ts'
import type { CoverageSource, LayerSource, ReleaseSource, SourceDescription } from '#src/ingest/source.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { call } from './calls.ts'
import { rectangle } from './square.ts'

/** A release of fertilizers for Ethiopia's wheat, but for what is said of it. */
export function releaseDescription(changes: Partial<SourceDescription> = {}): SourceDescription {
  return {
    product: 'fertilizer',
    countryCode: 'eth',
    cropCode: 'wheat',
    forecastPeriod: '2026-07-01',
    synthetic: false,
    source: 'A test',
    licence: 'CC0-1.0',
    checksum: 'a test',
    ...changes,
  }
}

/** A layer whose pixels are stored as they are, but for what is said of it. */
export function layerOf(input: string, changes: Partial<LayerSource> = {}): LayerSource {
  return {
    input,
    scenario: 'Normal',
    unit: 'kg/ha',
    scale: 1,
    offset: 0,
    decimals: 2,
    pixelType: '32BF',
    nodata: undefined,
    origin: 'the test',
    ...changes,
  }
}

/** A grid by its corner, the size of its pixels and their number. */
export function gridOf(
  srid: number,
  [originX, originY]: [number, number],
  [pixelWidth, pixelHeight]: [number, number],
  [width, height]: [number, number],
): CoverageSource['grid'] {
  return { srid, originX, originY, pixelWidth, pixelHeight, width, height }
}

/** A release of one grid that is read as a whole: the pixels of each layer, row by row. */
export function releaseOn(
  grid: CoverageSource['grid'],
  layers: LayerSource[],
  pixels: Pixels[],
  changes: Partial<SourceDescription> = {},
): ReleaseSource {
  const { width, height } = grid
  const windows = [{ column: 0, row: 0, width, height }]
  return {
    description: releaseDescription(changes),
    coverages: [{ grid, layers, windows, read: async () => pixels }],
  }
}

/** The pixel of {@link onePixelRelease}: 38..39 E, 9..10 N. */
export const PIXEL_CENTRE = { lat: 9.5, lng: 38.5 }

/** A field within it. */
export const FIELD_IN_PIXEL = rectangle(38.4, 9.4, 38.5, 9.5)

/** A release that agronomists might have published: one pixel, a rate for each fertilizer. */
export function onePixelRelease(
  rates: Record<string, number>,
  changes: Partial<SourceDescription> = {},
): ReleaseSource {
  const values = Object.values(rates)
  const grid = gridOf(4326, [38, 10], [1, -1], [1, 1])
  const layers = Object.keys(rates).map((input) => layerOf(input))
  const pixels = values.map((value) => Float32Array.of(value))
  return releaseOn(grid, layers, pixels, { checksum: values.join(), ...changes })
}

/** A yield that agronomists might have published, which answers before the demo's where the examples ask. */
export function realYield(changes: Partial<SourceDescription> = {}): ReleaseSource {
  const { description, coverages } = onePixelRelease({ '': 2464 }, { product: 'yield', ...changes })
  const scenarios = ['Above Normal', 'Normal', 'Below Normal', 'Dominant'] as const
  return {
    description,
    coverages: coverages.map((coverage) => ({
      ...coverage,
      layers: scenarios.map((scenario) => ({ ...layerOf(''), input: null, scenario })),
      read: async () => scenarios.map(() => Float32Array.of(2464)),
    })),
  }
}

/** What an operator does with releases that are loaded; each in a transaction of its own. */
export function operatorOf({ writer }: Database) {
  return {
    publish: (code: string) => writer.transaction().execute((trx) => publishRelease(trx, code)),
    rollback: (code: string) =>
      writer.transaction().execute(async (trx) => {
        const previous = await findPrevious(trx, code)
        await publishRelease(trx, previous)
        return previous
      }),
    remove: (code: string, force = false) =>
      writer.transaction().execute((trx) => deleteRelease(trx, code, force)),
  }
}

/** Which release answers for fertilizers at a point, and with which rates; or the error's code. */
export async function askFertilizer(app: App, payload: object) {
  const response = await call(app, 'POST /advisory/fertilizer/point', { payload })
  const body = response.body
  return {
    status: response.status,
    release: response.headers['advisory-release'],
    values: body.fertilizer_data?.map(({ rate_kg_ha }: { rate_kg_ha: number }) => rate_kg_ha),
    code: body.code,
  }
}
