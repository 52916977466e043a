import { countYears, ODDS_YEARS } from '#schemas/glossary.ts'
import type { LayerName } from '#schemas/map.ts'
import type { CatalogRelease, Conditions, Tileset } from '../api-types.ts'
import { TEXTS } from './en.ts'

/** The name of the map of the likeliest season. */
export const MOST_LIKELY = 'most-likely' satisfies LayerName

/** @param code of a product that the texts may not know */
export function nameOfProduct(code: string) {
  return TEXTS.products[code] ?? code.charAt(0).toUpperCase() + code.slice(1)
}

/** Of a country or a crop. */
export function nameIn(named: { code: string; name: string }[], code: string) {
  return named.find((one) => one.code === code)?.name ?? code
}

/** @param country of a code that the texts may not know */
export function nameOfLevel(country: string, level: number) {
  return TEXTS.levels[country]?.[level - 1] ?? TEXTS.level(level)
}

/** @param month as `YYYY-MM` */
export function nameOfMonth(month: string) {
  const first = new Date(`${month}-01T00:00:00Z`)
  return first.toLocaleDateString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })
}

type Labels = Pick<Tileset, 'input' | 'scenario'> & { condition?: string | null }

/** A layer in words. */
export function nameOfLayer(product: string, { input, scenario, condition = null }: Labels) {
  return [nameOfProduct(product), input, scenario, condition].filter((part) => part !== null).join(', ')
}

/** A condition of a field as people call it. */
export function titleOfCondition(conditions: Conditions | undefined, name: string) {
  return conditions?.list.find(({ condition }) => condition === name)?.title ?? name
}

/**
 * Probabilities as people count: of ten years, which those of all seasons add up to.
 *
 * @param entries of all seasons
 */
export function yearsTexts(entries: readonly { scenario?: unknown; probability: number | null }[]) {
  const odds = entries.flatMap(({ scenario, probability }) =>
    probability === null ? [] : [[String(scenario), probability] as const],
  )
  const [years, probabilities] = [countYears(odds), new Map(odds)]
  return (scenario: unknown) => {
    const [count, odds] = [years.get(String(scenario)), probabilities.get(String(scenario))]
    if (count === undefined) return ''
    return count === ODDS_YEARS && odds !== 1 ? TEXTS.odds.almostAll : TEXTS.odds.years(count)
  }
}

/** A share in percent, with a decimal where it has one. */
export const percentText = (share: number) => TEXTS.odds.percent(numberText(Math.round(share * 1000) / 10))

/** @param odds a season, or that of the map of the likeliest */
export function nameOfOdds(odds: string) {
  return odds === MOST_LIKELY ? TEXTS.odds.mostLikely : TEXTS.odds.of(odds)
}

/** Where a release comes from. Of demonstration data the page says so already. */
export function nameOfSource(release: Pick<CatalogRelease, 'synthetic' | 'source' | 'licence'>) {
  const { synthetic, source, licence } = release
  return synthetic ? TEXTS.place.licence(licence) : TEXTS.place.source(source, licence)
}

const AGES = new Intl.RelativeTimeFormat('en')

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/**
 * How long ago something was, in the largest unit of which it is two or more.
 *
 * @param time in milliseconds since 1970
 */
export function agoText(time: number, now: number = Date.now()) {
  const age = Math.max(0, now - time)
  const [unit, length] = UNITS.find(([, one]) => age >= 2 * one) ?? ['second', 1000]
  return AGES.format(-Math.floor(age / length), unit)
}

const NUMBERS = new Intl.NumberFormat('en', { maximumFractionDigits: 4 })

export const numberText = (value: number) => NUMBERS.format(value)

/** Counts, and milliseconds: of what takes long, nobody needs the parts of one. */
export const wholeText = (value: number) => numberText(value >= 10 ? Math.round(value) : value)
