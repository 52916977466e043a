import type { Kysely } from 'kysely'
import { observableKeysOf, type ProductDefinition } from '#schemas/products/define.ts'
import { findOutlines } from '#src/catalog/area-queries.ts'
import type { Tables } from '#src/data/tables.ts'
import { type CsvValue, csvRow } from '#src/http/formats.ts'
import type { AdvisoryRecord, HistoryFilter, HistoryRow } from './queries.ts'
import {
  areaOf,
  isSynthetic,
  monthOf,
  type RecordedAnswer,
  type RecordedArea,
  type ReleaseSection,
} from './recorded-answer.ts'

/** A value, or none. */
type Cell = string | number | null

/** One value of an advisory, the same for all products. */
interface Entry {
  product: string
  /** The release it is of, where the answer is of several. */
  release: Cell
  synthetic: boolean | null
  forecastPeriod: Cell
  forecastMonth: Cell
  input: Cell
  scenario: Cell
  value: Cell
  unit: string
  /** Of a polygon: over the pixels that it overlaps, in the unit. */
  min: Cell
  max: Cell
  stddev: Cell
  coveredPercent: Cell
  /** Over the covered area, in the unit that the product is totalled in. */
  total: Cell
}

type Section = ReleaseSection & Record<string, unknown>

/** The values of an answer in its order; where it is of several products, one product after the other. */
function entriesOf(products: readonly ProductDefinition[], row: HistoryRow): Entry[] {
  const whole = row.answer as Section
  return products.flatMap((product) => {
    // Where one call asked for every product, each has its part of the answer, or the reason for none.
    const section = (product.code in whole ? whole[product.code] : whole) as Section
    const entries = (section[product.entries] ?? []) as Section[]
    return entries.map((entry) => entryOf(product, row, section, entry))
  })
}

function entryOf(
  product: ProductDefinition,
  row: HistoryRow,
  section: Section,
  entry: Record<string, unknown>,
): Entry {
  const cell = (key: string | undefined) => (key === undefined ? null : (entry[key] ?? null)) as Cell
  return {
    product: product.code,
    release: section.release ?? null,
    synthetic: isSynthetic(section, row) ?? null,
    forecastPeriod: section.forecast_period ?? null,
    forecastMonth: monthOf(section) ?? null,
    input: cell(product.input?.key),
    scenario: cell('scenario'),
    value: cell(product.value.key),
    unit: product.unit,
    min: cell('min'),
    max: cell('max'),
    stddev: cell('stddev'),
    coveredPercent: cell('covered_percent'),
    total: cell(product.total?.key),
  }
}

/** Names of columns in Shapefiles have ten characters: longer ones are cut, and those cut to the same renamed. */
const LONGEST_NAME = 10

/** What an entry says of its layer, and what the names of these columns begin with. */
const STATISTICS = [
  ['value', ''],
  ['min', 'min_'],
  ['max', 'max_'],
  ['stddev', 'sd_'],
  ['coveredPercent', 'cov_'],
  ['total', 'tot_'],
] as const

/** Writes the values of layers as columns of their own. */
interface LayerColumns {
  /** The columns of an entry, with what it says. */
  of(entry: Entry): [name: string, value: Entry['value']][]
}

/**
 * Names the columns of a file: `AN_Urea` is Urea for Above Normal, `tot_AN_Urea` its total. Within the file
 * no two layers have one name, in any case.
 *
 * @param others names that the file has already
 */
function createLayerColumns(others: readonly string[]): LayerColumns {
  const taken = new Set(others)
  const names = new Map<string, string>()

  function nameOf(entry: Entry, prefix: string): string {
    const key = JSON.stringify([prefix, entry.product, entry.scenario, entry.input])
    const name = names.get(key) ?? unusedName(`${prefix}${shortName(entry)}`)
    names.set(key, name)
    return name
  }

  function unusedName(wanted: string): string {
    let name = wanted.slice(0, LONGEST_NAME)
    for (let count = 2; taken.has(name.toLowerCase()); count++) {
      name = `${wanted.slice(0, LONGEST_NAME - `_${count}`.length)}_${count}`
    }
    taken.add(name.toLowerCase())
    return name
  }

  return {
    of: (entry) =>
      STATISTICS.flatMap(([statistic, prefix]) => {
        const value = entry[statistic]
        return value === null ? [] : [[nameOf(entry, prefix), value]]
      }),
  }
}

/** The initials of the scenario and a short form of the input, as far as the layer has them: `AN_Urea`. */
function shortName({ product, scenario, input }: Entry): string {
  const initials = wordsOf(scenario).map(([initial]) => initial?.toUpperCase())
  const subject = wordsOf(input ?? product)
  // Species of one genus differ in their last word, which would be cut: Brachiaria brizantha is B_brizantha.
  const short = subject.map((word, index) => (index < subject.length - 1 ? word.charAt(0) : word))
  return [initials.join(''), ...short].filter((part) => part !== '').join('_') || product
}

/** The words of a label in letters and digits that every format has. */
function wordsOf(label: Entry['input']): string[] {
  const plain = String(label ?? '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
  return plain.match(/[A-Za-z0-9]+/g) ?? []
}

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
const FEATURE_COLUMNS: Record<string, (item: Item) => Cell | boolean> = {
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
function createPropertyWriter(
  products: readonly ProductDefinition[],
): (row: HistoryRow) => Record<string, string | number | boolean> {
  const layers = createLayerColumns([...Object.keys(FEATURE_COLUMNS), ...COLUMNS_OF_FORMATS])
  return (row) => {
    const entries = entriesOf(products, row)
    const item = { row, answer: row.answer as RecordedAnswer, area: areaOf(row), entries }
    const others = Object.entries(FEATURE_COLUMNS).map(([name, cellOf]) => [name, cellOf(item)])
    const cells = [...others, ...entries.flatMap((entry) => layers.of(entry))]
    return Object.fromEntries(cells.filter(([, cell]) => cell !== null))
  }
}

/** What all that have one agree on; null where they do not. */
function theSame(values: Cell[]): Cell {
  const found = new Set(values.filter((value) => value !== null))
  return found.size === 1 ? ([...found][0] as Cell) : null
}

/** A form of files that items of a history are written in. */
export interface ExportForm {
  opening: string
  /** Between two items. */
  separator: string
  /** @param next the cursor of the page that follows */
  closing(next: string | null): string
  /** The items as text, in their order. */
  textsOf(rows: HistoryRow[]): Promise<string[]>
}

/** So many items are turned into text at a time: their outlines are in memory together. */
const SLICE = 20

/** Pieces of a file: large enough to be worth sending, small enough to wait in memory for a slow client. */
const PIECE_LENGTH = 65_536

/**
 * The pages of a history, each read when the one before has been sent. Nothing that is added meanwhile is on
 * them, for it is newer.
 *
 * @param list finds a page
 */
export async function* pagesOf(
  list: (filter: HistoryFilter) => Promise<HistoryRow[]>,
  filter: Omit<HistoryFilter, 'after'>,
): AsyncGenerator<HistoryRow[]> {
  let after: HistoryFilter['after'] = null
  for (;;) {
    const rows = await list({ ...filter, after })
    yield rows
    const last = rows.at(-1)
    if (!last?.more) return
    after = { createdAt: last.created_us, id: last.id }
  }
}

/**
 * A file of items in pieces. It is written to its end or fails.
 *
 * @param next the cursor of the page that follows the last one
 */
export async function* writeExport(
  form: ExportForm,
  pages: AsyncIterable<HistoryRow[]> | HistoryRow[][],
  next: string | null,
): AsyncGenerator<string> {
  let text = form.opening
  let separator = ''
  for await (const rows of pages) {
    for (let from = 0; from < rows.length; from += SLICE) {
      for (const item of await form.textsOf(rows.slice(from, from + SLICE))) {
        text += separator + item
        separator = form.separator
        if (text.length < PIECE_LENGTH) continue
        yield text
        text = ''
      }
    }
  }
  yield text + form.closing(next)
}

/** Items as GeoJSON Features. */
export function featureForm(
  db: Kysely<Tables>,
  products: readonly ProductDefinition[],
  kind: AdvisoryRecord['kind'] | null,
): ExportForm {
  const propertiesOf = createPropertyWriter(products)
  return {
    opening: '{"type":"FeatureCollection","features":[',
    separator: ',',
    closing: (next) => `],"next_cursor":${JSON.stringify(next)}}`,
    async textsOf(rows) {
      const outlines = await outlinesOf(db, rows)
      return rows.map((row, index) => {
        const geometry = outlines[index] ?? JSON.stringify(geometryOf(row, kind))
        const properties = JSON.stringify(propertiesOf(row))
        return `{"type":"Feature","id":"${row.id}","created_at":"${row.created_at}","geometry":${geometry},"properties":${properties}}`
      })
    },
  }
}

/** The outlines that the areas of items have now, as text; undefined where there is none. */
async function outlinesOf(db: Kysely<Tables>, rows: HistoryRow[]): Promise<(string | undefined)[]> {
  const areas = rows.map((row) => {
    const area = areaOf(row)
    return area && { countryCode: row.country_code, code: area.code, level: area.level }
  })
  const wanted = new Map(areas.flatMap((area) => (area ? [[JSON.stringify(area), area] as const] : [])))
  if (wanted.size === 0) return []
  const found = await findOutlines(db, [...wanted.values()])
  const byArea = new Map([...wanted.keys()].map((key, index) => [key, found[index] ?? undefined]))
  return areas.map((area) => byArea.get(JSON.stringify(area)))
}

type Position = number[]

/** What may have been sent as a polygon. */
type SentGeometry =
  | { type: 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'Feature'; geometry: SentGeometry }
  | { type: 'FeatureCollection'; features: [{ geometry: SentGeometry }] }

/**
 * What was asked about, without heights, and polygons as MultiPolygons: map programs want one type of
 * geometry in a file. An area whose outline is gone is the point inside that was answered, and in a file of
 * polygons no geometry.
 */
function geometryOf({ request, answer }: HistoryRow, kind: AdvisoryRecord['kind'] | null): object | null {
  const { geometry } = request as { geometry?: SentGeometry }
  if (geometry) return multiPolygonOf(geometry)
  if (kind === 'polygon') return null
  const { lat, lng } = (answer as RecordedAnswer).location
  return { type: 'Point', coordinates: [lng, lat] }
}

function multiPolygonOf(sent: SentGeometry): object {
  if (sent.type === 'Feature') return multiPolygonOf(sent.geometry)
  if (sent.type === 'FeatureCollection') return multiPolygonOf(sent.features[0].geometry)
  const polygons = sent.type === 'Polygon' ? [sent.coordinates] : sent.coordinates
  const coordinates = polygons.map((rings) => rings.map((ring) => ring.map(([lng, lat]) => [lng, lat])))
  return { type: 'MultiPolygon', coordinates }
}

const COLUMNS = [
  'id',
  'created_at',
  'kind',
  'product',
  'country_code',
  'crop',
  'name',
  'lat',
  'lng',
  'area_ha',
  'admin_level',
  'admin_code',
  'admin_name',
  'forecast_period',
  'forecast_month',
  'release',
  'synthetic',
  'input',
  'scenario',
  'value',
  'unit',
  'min',
  'max',
  'stddev',
  'covered_percent',
  'total',
  'rating',
  'comment',
]

/** Items as CSV: a header, and a row for each value of each answer. */
export function tableForm(products: readonly ProductDefinition[]): ExportForm {
  const observable = observableKeysOf(products)
  const header = [...COLUMNS, ...observable.map((key) => `observed_${key}`), 'harvested_on']
  return {
    opening: csvRow(header),
    separator: '',
    closing: () => '',
    textsOf: async (rows) =>
      rows.map((row) =>
        entriesOf(products, row)
          .map((entry) => csvRow(cellsOf(row, entry, observable)))
          .join(''),
      ),
  }
}

/** @param observable the keys of what may have been observed */
function cellsOf(row: HistoryRow, entry: Entry, observable: string[]): CsvValue[] {
  const { location } = row.answer as RecordedAnswer
  const area = areaOf(row)
  const { rating = null, comment = null, observed } = row.feedback ?? {}
  return [
    row.id,
    row.created_at,
    row.kind,
    entry.product,
    row.country_code,
    row.crop_code,
    location.name,
    location.lat,
    location.lng,
    location.area_ha ?? null,
    area?.level ?? null,
    area?.code ?? null,
    area?.name ?? null,
    entry.forecastPeriod,
    entry.forecastMonth,
    entry.release ?? row.releases.join(' '),
    entry.synthetic,
    entry.input,
    entry.scenario,
    entry.value,
    entry.unit,
    entry.min,
    entry.max,
    entry.stddev,
    entry.coveredPercent,
    entry.total,
    rating,
    comment,
    ...observable.map((key) => observed?.[key] ?? null),
    observed?.harvested_on ?? null,
  ]
}
