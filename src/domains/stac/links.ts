import { SERVICE_NAME } from '#schemas/service.ts'
import type { StacLink, StacProvider } from '#schemas/stac.ts'
import type { StacSeries } from './queries.ts'

export const JSON_TYPE = 'application/json'

export function stacLink(rel: string, href: string, type: string, title?: string): StacLink {
  return { rel, href, type, ...(title !== undefined && { title }) }
}

/** A collection is a product and a country; no code of a country has a dash in it. */
export function collectionIdOf({
  product,
  countryCode,
}: Pick<StacSeries, 'product' | 'countryCode'>): string {
  return `${product}-${countryCode}`
}

/** What may be a code of SPDX. */
const CODE = /^[\w\-.+]+$/

/** A licence as STAC has it: a code where all have the same, and `other` for texts. */
export function licenseOf(licences: readonly string[]): string {
  const [first = '', ...others] = new Set(licences)
  return others.length === 0 && CODE.test(first) ? first : 'other'
}

/** Where licences are that have no code. */
export function licenseLinks(root: string, licences: readonly string[]): StacLink[] {
  if (licenseOf(licences) !== 'other') return []
  return [stacLink('license', `${root}/catalog`, JSON_TYPE, 'The licence of each release')]
}

export function providersOf(root: string, sources: readonly string[]): StacProvider[] {
  return [
    ...[...new Set(sources)].map((name): StacProvider => ({ name, roles: ['producer', 'licensor'] })),
    { name: SERVICE_NAME, roles: ['host'], url: `${root}/` },
  ]
}
