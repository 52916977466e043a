import { type TSchema, Type } from 'typebox'
import * as t from './common.ts'
import { FORECAST_MONTH, STALE, SYNTHETIC } from './glossary.ts'
import { examplePlaceOf, type ProductContract } from './product.ts'

/** What answers say of the release that they are from. */

export interface AnsweredRelease {
  code: string
  countryCode: string
  /** Null for products that need no crop. */
  cropCode: string | null
  /** ISO month; null for products without seasons. */
  forecastMonth: string | null
  /** As in `July 2026`. */
  forecastName: string | null
  synthetic: boolean
  /** ISO date of the last day of its season; null without one. */
  validUntil: string | null
  stale: boolean
}

interface ReleaseMember {
  name: string
  schema: TSchema
  /** Whether products without seasons lack it. */
  seasonal?: true
  /** @returns undefined where an answer lacks it */
  value(release: AnsweredRelease): string | boolean | null | undefined
}

/** The members of an answer about its release, in order. */
const RELEASE_MEMBERS: readonly ReleaseMember[] = [
  {
    name: 'country_code',
    schema: t.string('The code of the country that was answered for.', 'eth'),
    value: ({ countryCode }) => countryCode,
  },
  {
    name: 'crop',
    schema: t.stringOrNull(
      'The code of the crop that was answered for; null where the answer is of no crop.',
      'wheat',
    ),
    value: ({ cropCode }) => cropCode,
  },
  {
    name: 'forecast_period',
    schema: t.string(`${FORECAST_MONTH} In English.`, 'July 2026'),
    seasonal: true,
    value: ({ forecastName }) => forecastName ?? undefined,
  },
  {
    name: 'forecast_month',
    schema: t.string('The same month as `YYYY-MM`, as requests take it in `forecast_period`.', '2026-07'),
    seasonal: true,
    value: ({ forecastMonth }) => forecastMonth ?? undefined,
  },
  {
    name: 'release',
    schema: t.string(
      'The code of the release that answered, as in `GET /catalog`.',
      'yield-eth-wheat-2026-07-v1',
    ),
    value: ({ code }) => code,
  },
  { name: 'synthetic', schema: t.boolean(SYNTHETIC), value: ({ synthetic }) => synthetic },
  { name: 'stale', schema: Type.Optional(t.boolean(STALE)), value: ({ stale }) => stale || undefined },
]

export function releaseMembers(product: Pick<ProductContract, 'seasonal'>): Record<string, TSchema> {
  const members = RELEASE_MEMBERS.filter(({ seasonal }) => product.seasonal || !seasonal)
  return Object.fromEntries(members.map(({ name, schema }) => [name, schema]))
}

export function describeRelease(release: AnsweredRelease): Record<string, string | boolean | null> {
  const members: Record<string, string | boolean | null> = {}
  for (const { name, value } of RELEASE_MEMBERS) {
    const found = value(release)
    if (found !== undefined) members[name] = found
  }
  return members
}

/** The members of an answer that all of its items share. */
export function sharedMembers(product: Pick<ProductContract, 'seasonal'>): Record<string, TSchema> {
  const members = Object.entries(releaseMembers(product))
  return {
    ...Object.fromEntries(members.map(([name, schema]) => [name, Type.Optional(schema)])),
    country_source: t.CountrySource,
  }
}

/** The same as the members of a release, as the examples of a product have it. */
export function exampleMembers(product: ProductContract): Record<string, string | boolean | null> {
  const { code, seasonal } = product
  const { country_code } = examplePlaceOf(product)
  const subject = seasonal ? `${country_code}-wheat-2026-07` : country_code
  return {
    country_code,
    crop: seasonal ? 'wheat' : null,
    ...(seasonal && { forecast_period: 'July 2026', forecast_month: '2026-07' }),
    release: `${code}-${subject}-v1`,
    synthetic: false,
  }
}
