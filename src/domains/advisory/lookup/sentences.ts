import type { Position } from './queries.ts'

/** What a request is about, as sentences name it; of a polygon they give the position of a point inside. */
export type Place = 'point' | 'polygon'

/** What there might be: "yield predictions of wheat for Ethiopia". */
interface Wanted {
  /** What the product's values are called. */
  values: string
  crop: string | null
  country: string
}

/**
 * @param month the one that was asked for, such as 2026-07; null for the newest
 * @param months those that are published
 */
export function sayNotPublished(
  { values, crop, country }: Wanted,
  month: string | null,
  months: string[],
): string {
  const what = `${values}${crop ? ` of ${crop}` : ''} for ${country}`
  return month !== null && months.length > 0
    ? `There are no ${what} in ${month}; published are: ${months.join(', ')}.`
    : `No ${what} have been published yet.`
}

/**
 * @param other the name of the country that the place lies in, where it is known
 * @param working what to send instead, if anything answers there
 */
export function sayOutside(
  position: Position,
  what: Place,
  country: string | undefined,
  other: string | undefined,
  working = '',
): string {
  const where = other ? `lies in ${other}, not in ${country}${working}` : `lies outside ${country}`
  return `${nameOf(position, what)} ${where}.`
}

export function sayNoData(values: string, position: Position, what: Place): string {
  return `${nameOf(position, what)} has no ${values}: the published rasters have no value there.`
}

function nameOf({ latitude, longitude }: Position, what: Place): string {
  return `The ${what} at latitude ${latitude}, longitude ${longitude}`
}
