/** A price, and who said so when. Euro a month, without VAT. */
export interface Price {
  euro: number
  what: string
  source: string
  at: string
}

const SERVERS_SOURCE = 'list prices of providers, collected in moveinfra/eu-cloud-prices'
const SERVERS_AT = '2026-10-28'

/** Servers with cores of their own, by their number of cores: 4 GB of memory each. */
export const SERVERS: Record<2 | 4 | 8, Price> = {
  2: { euro: 42.99, what: '2 cores, 8 GB (Hetzner CCX13)', source: SERVERS_SOURCE, at: SERVERS_AT },
  4: { euro: 85.99, what: '4 cores, 16 GB (Hetzner CCX23)', source: SERVERS_SOURCE, at: SERVERS_AT },
  8: { euro: 138.49, what: '8 cores, 32 GB (Hetzner CCX33)', source: SERVERS_SOURCE, at: SERVERS_AT },
}

/** The same with the most expensive provider of that list, as a factor. */
export const DEAREST = {
  factor: 271.46 / 138.49,
  what: '8 cores, 32 GB cost 271.46 (AWS m6a.2xlarge in Frankfurt)',
}

export const VOLUME_GB: Price = {
  euro: 0.0572,
  what: 'a GB of a volume (Hetzner)',
  source: "the provider's price API, as devantler-tech/platform has recorded it",
  at: '2026-05-27',
}

const EURO_A_DOLLAR = 1 / 1.1133

export const OBJECT_TB: Price = {
  euro: 7.99 * EURO_A_DOLLAR,
  what: 'a TB of object storage, requests and traffic included (Wasabi, 7.99 USD; 1 EUR was 1.1133 USD)',
  source: "the provider's plans, as api-evangelist/wasabi has recorded them",
  at: '2026-07-01',
}

export const PRICES: Price[] = [...Object.values(SERVERS), VOLUME_GB, OBJECT_TB]
