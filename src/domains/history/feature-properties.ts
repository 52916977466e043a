import type { ProductDefinition } from '#src/products/define.ts'
import { type Cell, type Entry, entriesOf } from './entries.ts'
import { createLayerColumns } from './layer-columns.ts'
import type { HistoryRow } from './queries.ts'
import { areaOf, isSynthetic, type RecordedAnswer, type RecordedArea } from './recorded-answer.ts'

/** What the properties of a Feature are taken from. */
interface Item {
  row: HistoryRow
  answer: RecordedAnswer
  area: RecordedArea | undefined
  entries: Entry[]
}

/**
 * The columns beside those of layers. Their names are as short as Shapefiles want them, which have no times
 * either: so there is the date alone, and the time beside the properties.
 */
const COLUMNS: Record<string, (item: Item) => Cell | boolean> = {
  date: ({ row }) => row.created_at.slice(0, 'YYYY-MM-DD'.length),
  kind: ({ row }) => row.kind,
  product: ({ row }) => row.product,
  country: ({ row }) => row.country_code,
  crop: ({ row }) => row.crop_code,
  name: ({ answer }) => answer.location.name,
  lat: ({ answer }) => answer.location.lat,
  lng: ({ answer }) => answer.location.lng,
  area_ha: ({ answer }) => answer.location.area_ha ?? null,
  adm_level: ({ area }) => area?.level ?? null,
  adm_code: ({ area }) => area?.code ?? null,
  adm_name: ({ area }) => area?.name ?? null,
  month: ({ entries }) => theSame(entries.map(({ forecastMonth }) => forecastMonth)),
  release: ({ row }) => row.releases.join(' '),
  synthetic: ({ row, answer }) => isSynthetic(answer, row) ?? null,
  unit: ({ entries }) => theSame(entries.map(({ unit }) => unit)),
  rating: ({ row }) => row.feedback?.rating ?? null,
  comment: ({ row }) => row.feedback?.comment ?? null,
}

/** What formats call columns of their own. */
const COLUMNS_OF_FORMATS = ['id', 'fid', 'ogc_fid', 'geom', 'geometry', 'shape']

/**
 * Makes what writes the properties of the Features of one file: flat, and a column of one type in all of them.
 * What an item has nothing of is left out: map programs take a column of nothing but nulls for text.
 */
export function createPropertyWriter(
  products: readonly ProductDefinition[],
): (row: HistoryRow) => Record<string, string | number | boolean> {
  const layers = createLayerColumns([...Object.keys(COLUMNS), ...COLUMNS_OF_FORMATS])
  return (row) => {
    const entries = entriesOf(products, row)
    const item = { row, answer: row.answer as RecordedAnswer, area: areaOf(row), entries }
    const others = Object.entries(COLUMNS).map(([name, cellOf]) => [name, cellOf(item)])
    const cells = [...others, ...entries.flatMap((entry) => layers.of(entry))]
    return Object.fromEntries(cells.filter(([, cell]) => cell !== null))
  }
}

/** What all that have one agree on; null where they do not. */
function theSame(values: Cell[]): Cell {
  const found = new Set(values.filter((value) => value !== null))
  return found.size === 1 ? ([...found][0] as Cell) : null
}
