import { placeInside } from '../geo/areas.js'
import { entriesOf } from '../place/sections.js'
import { send } from '../shell/api.js'
import { TEXTS } from '../texts/en.js'

/** As many as anybody may ask for in one call. */
const MOST_POINTS = 1000

/**
 * @typedef {object} Row
 * @property {import('../api-types').Area} area
 * @property {import('../api-types').Place} place inside of it
 * @property {(number | null)[]} values one for each column
 */

/**
 * The values of a release at one place in each area.
 *
 * @param {import('../api-types').Area[]} areas
 * @param {import('../api-types').CatalogProduct} product
 * @param {import('../api-types').CatalogRelease} release
 * @param {string | null} input
 * @param {readonly (string | null)[]} scenarios the columns
 * @returns {Promise<Row[]>}
 */
export async function valuesIn(areas, { product, value }, release, input, scenarios) {
  const places = areas.map(placeInside)
  const { country_code, crop, forecast_period } = release
  const answers = []
  for (let from = 0; from < places.length; from += MOST_POINTS) {
    const points = places.slice(from, from + MOST_POINTS)
    answers.push(await send(`advisory/${product}/points`, { points, country_code, crop, forecast_period }))
  }
  // Something new was published between two calls.
  if (new Set(answers.map((answer) => answer.release)).size > 1) throw new Error(TEXTS.table.published)
  const items = answers.flatMap((answer) => answer.items)
  return items.map((item, at) => {
    const entries = entriesOf(item, value.key)
    const valueFor = (/** @type {string | null} */ scenario) =>
      entries.find((entry) => entry.input === input && entry.scenario === scenario)?.value ?? null
    return {
      area: /** @type {Row['area']} */ (areas[at]),
      place: /** @type {Row['place']} */ (places[at]),
      values: scenarios.map(valueFor),
    }
  })
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
