/** What a release answers for, and what a request asks for. At most one release is published for each. */
export interface Series {
  /** The code of the product. */
  product: string
  /** ISO 3166-1 alpha-3, in lower case. */
  countryCode: string
  /** Null for products that need no crop. */
  cropCode: string | null
  /** ISO date of the first day of the month. Null for products without seasons, and for the newest month. */
  forecastPeriod: string | null
}
