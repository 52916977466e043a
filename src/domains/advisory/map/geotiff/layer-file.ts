import { overloaded } from '#src/http/plugins/overload.ts'
import { monthAndYear } from '#src/lib/month.ts'
import type { Products } from '#src/products/define.ts'
import { pixelTypeOf, storedNodata, withType } from '#src/raster/pixels.ts'
import type { GeotiffLayer } from '#src/tiles/geotiff/fields.ts'
import { type LayerWindow, type WrittenGeotiff, writeGeotiff } from '#src/tiles/geotiff/write.ts'
import { sampleTypeOf } from '#src/tiles/granule.ts'
import type { StoredWindow } from '#src/tiles/store.ts'
import type { TileStores } from '#src/tiles/stores.ts'
import type { MapLayer, MapRelease } from '../queries.ts'

/** What a file is made of. */
export interface LayerFile {
  code: string
  release: MapRelease
  layer: MapLayer
}

/**
 * Writes the pixels of a layer as they are stored, with what is known of them.
 *
 * @throws {ApiError} OVERLOADED where not all were there: they may be on their way to another store, or to a replica
 */
export async function writeLayerFile(
  path: string,
  { stores, products }: { stores: TileStores; products: Products },
  { code, release, layer }: LayerFile,
  pause: () => Promise<void>,
): Promise<WrittenGeotiff> {
  const { coverage, band, pixelType } = layer
  const windows = stores[coverage.store].windows(coverage.id)[Symbol.asyncIterator]()
  const first = await windows.next()
  const stored = first.done ? undefined : first.value.bands[band - 1]
  const nodata = stored ? stored.nodata : storedNodata(pixelType, 0)
  const type = sampleTypeOf([{ pixelType: stored ? pixelTypeOf(stored.pixels) : pixelType, nodata }])

  let valid = 0
  async function* ofBand(): AsyncGenerator<LayerWindow> {
    for await (const { window, bands } of resumed(first, windows)) {
      await pause()
      const one = bands[band - 1]
      if (!one) continue
      for (const pixel of one.pixels) if (pixel !== nodata) valid++
      yield { window, pixels: withType(one.pixels, type) }
    }
  }
  const described = { ...describe(products, code, release, layer), type, nodata }
  const written = await writeGeotiff(path, described, ofBand(), pause)
  if (valid !== layer.validCount) throw overloaded()
  return written
}

/** What a reader has read of, from the beginning. */
async function* resumed(
  first: IteratorResult<StoredWindow>,
  rest: AsyncIterator<StoredWindow>,
): AsyncGenerator<StoredWindow> {
  if (first.done) return
  yield first.value
  yield* { [Symbol.asyncIterator]: () => rest }
}

function describe(
  products: Products,
  code: string,
  release: MapRelease,
  { coverage, number, input, scenario, unit, scale, offset }: MapLayer,
): Omit<GeotiffLayer, 'type' | 'nodata'> {
  const { product, countryCode, cropCode, forecastPeriod, synthetic, source, licence } = release
  const { title } = products.of(product).names
  const name = [input, scenario].filter((part) => part !== null).join(', ') || title
  const month = forecastPeriod === null ? '' : `, ${monthAndYear(forecastPeriod)}`
  const subject = [title, cropCode, countryCode].filter((part) => part !== null).join(', ')
  const madeUp = synthetic ? ' The values are synthetic: made by a formula, not by agronomists.' : ''
  return {
    grid: coverage,
    geographic: coverage.geographic,
    ...{ unit, scale, offset, name, licence },
    description: `${subject}${month}: ${name} (${unit}).${madeUp}`,
    facts: {
      RELEASE: code,
      LAYER: String(number),
      PRODUCT: product,
      COUNTRY: countryCode,
      ...(cropCode !== null && { CROP: cropCode }),
      ...(forecastPeriod !== null && { FORECAST_PERIOD: forecastPeriod.slice(0, 7) }),
      ...(input !== null && { INPUT: input }),
      ...(scenario !== null && { SCENARIO: scenario }),
      SYNTHETIC: synthetic ? 'YES' : 'NO',
      SOURCE: source,
      LICENCE: licence,
    },
  }
}
