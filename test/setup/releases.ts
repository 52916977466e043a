import type { ReleaseSource } from '#src/ingest/source.ts'

/** The pixel of {@link onePixelRelease}: 38..39 E, 9..10 N. */
export const PIXEL_CENTRE = { lat: 9.5, lng: 38.5 }

/** A release that agronomists might have published: of Urea for Ethiopia's wheat, one pixel, one value. */
export function onePixelRelease(rate: number, forecastPeriod = '2026-07-01'): ReleaseSource {
  return {
    description: {
      product: 'fertilizer',
      countryCode: 'eth',
      cropCode: 'wheat',
      forecastPeriod,
      synthetic: false,
      source: 'A test',
      licence: 'CC0-1.0',
      checksum: String(rate),
    },
    coverages: [
      {
        grid: { srid: 4326, originX: 38, originY: 10, pixelWidth: 1, pixelHeight: -1, width: 1, height: 1 },
        layers: [
          {
            input: 'Urea',
            scenario: 'Normal',
            unit: 'kg/ha',
            scale: 1,
            offset: 0,
            decimals: 2,
            pixelType: '32BF',
            nodata: undefined,
            origin: 'the test',
          },
        ],
        windows: [{ column: 0, row: 0, width: 1, height: 1 }],
        read: async () => [Float32Array.of(rate)],
      },
    ],
  }
}
