import type { Area, Place } from '../api-types.ts'
import { type Figures, placeInside, short } from '../geo/areas.ts'
import { csvText } from '../parts/csv.ts'
import { valueFormat } from '../parts/values.ts'

export interface Row {
  area: Area
  /** Inside of it. */
  place: Place
  /** One for each column. */
  values: (number | null)[]
}

/**
 * One figure of each area, such as its mean, for an input.
 *
 * @param figure the name that its properties begin with
 * @param scenarios the columns
 * @param condition of the field
 */
export function rowsOf(
  areas: Area[],
  found: Figures,
  figure: string,
  input: string | null,
  scenarios: readonly (string | null)[],
  condition: string | null = null,
): Row[] {
  const columns = scenarios.map((scenario) => [figure, input, scenario, condition].filter(Boolean).join(' '))
  return areas.map((area) => ({
    area,
    place: placeInside(area),
    values: columns.map((column) => (found.get(area.code)?.[column] ?? null) as number | null),
  }))
}

/** The table as a file, with the numbers that the page shows. */
export function csvOf(columns: string[], rows: Row[]) {
  const text = formatOf(rows, { grouped: false })
  const lines = rows.map(({ area, place, values }) => [
    ...[area.code, area.name, short(place.lat), short(place.lng)],
    ...values.map((value) => (value === null ? null : text(value))),
  ])
  return csvText([['code', 'name', 'lat', 'lng', ...columns], ...lines])
}

/** How the values of a table are written. */
export const formatOf = (rows: Row[], form?: { grouped?: boolean }) =>
  valueFormat(
    rows.flatMap(({ values }) => values),
    form,
  )
