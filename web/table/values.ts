import type { Area, CatalogRelease, Place } from '../api-types.ts'
import { placeInside, ROUGH_DEGREES, short } from '../geo/areas.ts'
import { csvText } from '../parts/csv.ts'
import { valueFormat } from '../parts/values.ts'
import { get } from '../shell/api.ts'

/** As many as a page may have. */
const MOST_AREAS = 1000

export interface Row {
  area: Area
  /** Inside of it. */
  place: Place
  /** One for each column. */
  values: (number | null)[]
}

interface Properties {
  code: string
  [figure: string]: unknown
}

export type Figures = ReadonlyMap<string, Properties>

interface FigurePage {
  features: { properties: Properties }[]
  numberMatched: number
}

/**
 * The statistics of a release in each area of a level, by the codes of areas. Pages end early where they have to be computed
 * first.
 *
 * @param areas of one level
 */
export async function figuresIn(
  areas: Area[],
  { release }: CatalogRelease,
  progress: (found: number, all: number) => void,
): Promise<Figures> {
  const path = `ogc/collections/advisory-${release}-${areas[0]?.level}/items`
  const found = new Map<string, Properties>()
  for (let offset = 0, all = areas.length; offset < all; ) {
    const query = { limit: MOST_AREAS, offset, 'max-allowable-offset': ROUGH_DEGREES }
    const page = await get<FigurePage>(path, query)
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

/** Rows in order: of a column of values, or of names (-1). What has no value comes last. */
export function sorted(rows: Row[], column: number, descending: boolean) {
  const sign = descending ? -1 : 1
  return [...rows].sort((a, b) => {
    if (column < 0) return sign * a.area.name.localeCompare(b.area.name)
    const [one, other] = [a.values[column] ?? null, b.values[column] ?? null]
    if (one === null || other === null) return Number(one === null) - Number(other === null)
    return sign * (one - other)
  })
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
