import { placeInside, ROUGH_DEGREES } from '../geo/areas.ts'
import { short } from '../geo/places.ts'
import { valueFormat } from '../parts/numbers.ts'
import { csvText } from '../points/csv.ts'
import { get } from '../shell/api.ts'

/** As many as a page may have. */
const MOST_AREAS = 1000

/**
 * @typedef {object} Row
 * @property {import('../api-types.ts').Area} area
 * @property {import('../api-types.ts').Place} place inside of it
 * @property {(number | null)[]} values one for each column
 */

/**
 * What a release comes to in each area of a level, by the codes of areas. Pages end early where they have to be computed
 * first.
 *
 * @param {import('../api-types.ts').Area[]} areas of one level
 * @param {import('../api-types.ts').CatalogRelease} release
 * @param {(found: number, all: number) => void} progress
 * @returns {Promise<Map<string, Record<string, any>>>}
 */
export async function figuresIn(areas, { release }, progress) {
  const path = `ogc/collections/advisory-${release}-${areas[0]?.level}/items`
  /** @type {Map<string, Record<string, any>>} */
  const found = new Map()
  for (let offset = 0, all = areas.length; offset < all; ) {
    const page = await get(path, { limit: MOST_AREAS, offset, 'max-allowable-offset': ROUGH_DEGREES })
    for (const { properties } of page.features) found.set(properties.code, properties)
    // Fewer than there were: boundaries are being replaced.
    if (page.features.length === 0) break
    offset += page.features.length
    all = page.numberMatched
    progress(offset, all)
  }
  return found
}

/**
 * One figure of each area, such as its mean, for an input.
 *
 * @param {import('../api-types.ts').Area[]} areas
 * @param {Map<string, Record<string, any>>} found
 * @param {string} figure the name that its properties begin with
 * @param {string | null} input
 * @param {readonly (string | null)[]} scenarios the columns
 * @returns {Row[]}
 */
export function rowsOf(areas, found, figure, input, scenarios) {
  const columns = scenarios.map((scenario) => [figure, input, scenario].filter(Boolean).join(' '))
  return areas.map((area) => ({
    area,
    place: placeInside(area),
    values: columns.map((column) => found.get(area.code)?.[column] ?? null),
  }))
}

/**
 * Rows in order: of a column of values, or of names (-1). What has no value comes last.
 *
 * @param {Row[]} rows
 * @param {number} column
 * @param {boolean} descending
 */
export function sorted(rows, column, descending) {
  const sign = descending ? -1 : 1
  return [...rows].sort((a, b) => {
    if (column < 0) return sign * a.area.name.localeCompare(b.area.name)
    const [one, other] = [a.values[column] ?? null, b.values[column] ?? null]
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return sign * (one - other)
  })
}

/**
 * The table as a file, with the numbers that the page shows.
 *
 * @param {string[]} columns
 * @param {Row[]} rows
 */
export function csvOf(columns, rows) {
  const text = formatOf(rows, { grouped: false })
  const lines = rows.map(({ area, place, values }) => [
    ...[area.code, area.name, short(place.lat), short(place.lng)],
    ...values.map((value) => (value === null ? null : text(value))),
  ])
  return csvText([['code', 'name', 'lat', 'lng', ...columns], ...lines])
}

/**
 * How the values of a table are written.
 *
 * @param {Row[]} rows
 * @param {{ grouped?: boolean }} [form]
 */
export const formatOf = (rows, form) =>
  valueFormat(
    rows.flatMap(({ values }) => values),
    form,
  )
