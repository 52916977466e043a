import { placeInside } from '../geo/areas.js'
import { get } from '../shell/api.js'

/** As many as a page may have. */
const MOST_AREAS = 1000

/** In degrees: shapes come with the values, and nobody looks at these. */
const ROUGHLY = 5

/**
 * @typedef {object} Row
 * @property {import('../api-types').Area} area
 * @property {import('../api-types').Place} place inside of it
 * @property {(number | null)[]} values one for each column
 */

/**
 * What a release comes to in each area of a level: means, each pixel weighed by what of it lies in the area. Pages end early
 * where they have to be computed first.
 *
 * @param {import('../api-types').Area[]} areas of one level
 * @param {import('../api-types').CatalogProduct} product
 * @param {import('../api-types').CatalogRelease} release
 * @param {string | null} input
 * @param {readonly (string | null)[]} scenarios the columns
 * @param {(found: number, all: number) => void} progress
 * @returns {Promise<Row[]>}
 */
export async function valuesIn(areas, { value }, { release }, input, scenarios, progress) {
  const path = `ogc/collections/advisory-${release}-${areas[0]?.level}/items`
  /** @type {Map<string, Record<string, any>>} */
  const found = new Map()
  for (let offset = 0, all = areas.length; offset < all; ) {
    const page = await get(path, { limit: MOST_AREAS, offset, 'max-allowable-offset': ROUGHLY })
    for (const { properties } of page.features) found.set(properties.code, properties)
    // Fewer than there were: boundaries are being replaced.
    if (page.features.length === 0) break
    offset += page.features.length
    all = page.numberMatched
    progress(offset, all)
  }
  const columns = scenarios.map((scenario) => [value.key, input, scenario].filter(Boolean).join(' '))
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
 * @param {string[]} columns
 * @param {Row[]} rows
 */
export function csvOf(columns, rows) {
  const head = ['code', 'name', 'lat', 'lng', ...columns]
  const lines = rows.map(({ area, place, values }) => [area.code, area.name, place.lat, place.lng, ...values])
  return [head, ...lines].map((line) => `${line.map(cellOf).join(',')}\r\n`).join('')
}

/** @param {string | number | null} value */
function cellOf(value) {
  let text = String(value ?? '')
  // Spreadsheets take these for formulas.
  if (typeof value === 'string' && /^[=+\-@\t\r]/.test(text)) text = `'${text}`
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
