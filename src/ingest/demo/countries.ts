/** A country that there are demo data for. */
export interface DemoCountry {
  /** ISO 3166-1, by which world-atlas knows it. */
  numericCode: string
  /** The crop that there are formulas for; null where there are none but those of forage. */
  crop: string | null
  /** Pixel size: about 5 km, and 1 km for Rwanda, which is small. */
  pixelDegrees: number
}

/** The demo has these, and of others nothing: it needs their seats, outlines and formulas. */
export const DEMO_COUNTRIES: Record<string, DemoCountry> = {
  eth: { numericCode: '231', crop: 'wheat', pixelDegrees: 0.05 },
  gha: { numericCode: '288', crop: null, pixelDegrees: 0.05 },
  ken: { numericCode: '404', crop: null, pixelDegrees: 0.05 },
  rwa: { numericCode: '646', crop: 'potato', pixelDegrees: 0.01 },
}
