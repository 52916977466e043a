import type { Kysely } from 'kysely'
import type { HistoryItem } from '#schemas/history.ts'
import { observableKeysOf, type ProductDefinition } from '#schemas/products/define.ts'
import { findOutlines } from '#src/catalog/area-queries.ts'
import type { Tables } from '#src/data/tables.ts'
import type { Items } from '#src/http/format.ts'
import { type CsvValue, csvRow } from '#src/http/formats.ts'
import type { AdvisoryRecord, HistoryFilter, HistoryRow } from './queries.ts'
import {
  isSynthetic,
  type RecordedAnswer,
  type RecordedArea,
  type ReleaseSection,
  readMonth,
  readRecordedArea,
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
function listEntries(products: readonly ProductDefinition[], row: HistoryRow): Entry[] {
  const whole = row.answer as Section
  return products.flatMap((product) => {
    // Where one call asked for every product, each has its part of the answer, or the reason for none.
    const section = (product.code in whole ? whole[product.code] : whole) as Section
    const entries = (section[product.entries] ?? []) as Section[]
    return entries.map((entry) => readEntry(product, row, section, entry))
  })
}

function readEntry(
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
    forecastMonth: readMonth(section) ?? null,
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

/** Statistics of an entry, and the prefixes of their columns. */
const STATISTICS = [
  ['value', ''],
  ['min', 'min_'],
  ['max', 'max_'],
  ['stddev', 'sd_'],
  ['coveredPercent', 'cov_'],
  ['total', 'tot_'],
] as const

/**
 * Names the columns of a file: `AN_Urea` is Urea for Above Normal, `tot_AN_Urea` its total. Within the file
 * no two layers have one name, in any case.
 *
 * @param others names that the file has already
 */
function createLayerColumns(others: readonly string[]) {
  const taken = new Set(others)
  const names = new Map<string, string>()

  function findName(entry: Entry, prefix: string): string {
    const key = JSON.stringify([prefix, entry.product, entry.scenario, entry.input])
    const name = names.get(key) ?? unusedName(`${prefix}${shortName(entry)}`)
    names.set(key, name)
    return name
  }

  function unusedName(preferred: string): string {
    let name = preferred.slice(0, LONGEST_NAME)
    for (let count = 2; taken.has(name.toLowerCase()); count++) {
      name = `${preferred.slice(0, LONGEST_NAME - `_${count}`.length)}_${count}`
    }
    taken.add(name.toLowerCase())
    return name
  }

  return (entry: Entry): [name: string, value: Cell][] =>
    STATISTICS.flatMap(([statistic, prefix]) => {
      const value = entry[statistic]
      return value === null ? [] : [[findName(entry, prefix), value]]
    })
}

/** The initials of the scenario and a short form of the input, as far as the layer has them: `AN_Urea`. */
function shortName({ product, scenario, input }: Entry): string {
  const initials = splitWords(scenario).map(([initial]) => initial?.toUpperCase())
  const subject = splitWords(input ?? product)
  // Species of one genus differ in their last word, which would be cut: Brachiaria brizantha is B_brizantha.
  const short = subject.map((word, index) => (index < subject.length - 1 ? word.charAt(0) : word))
  return [initials.join(''), ...short].filter((part) => part !== '').join('_') || product
}

/** The words of a label in letters and digits that every format has. */
function splitWords(label: Entry['input']): string[] {
  const plain = String(label ?? '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
  return plain.match(/[A-Za-z0-9]+/g) ?? []
}

interface FeatureSource {
  row: HistoryRow
  answer: RecordedAnswer
  area: RecordedArea | undefined
  entries: Entry[]
}

/**
 * The columns beside those of layers, for Shapefiles: short names, and dates without times. The time is beside the
 * properties.
 */
const FEATURE_COLUMNS: Record<string, (item: FeatureSource) => Cell | boolean> = {
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
  month: ({ entries }) => commonValue(entries.map(({ forecastMonth }) => forecastMonth)),
  release: ({ row }) => row.releases.join(' '),
  synthetic: ({ row, answer }) => isSynthetic(answer, row) ?? null,
  unit: ({ entries }) => commonValue(entries.map(({ unit }) => unit)),
  rating: ({ row }) => row.feedback?.rating ?? null,
  comment: ({ row }) => row.feedback?.comment ?? null,
}

/** Names of columns that file formats have themselves. */
const COLUMNS_OF_FORMATS = ['id', 'fid', 'ogc_fid', 'geom', 'geometry', 'shape']

/**
 * Makes the properties of the Features of one file: flat, each of one type. Nulls are left out: map programs take a
 * column of nulls for text.
 */
function createPropertyWriter(
  products: readonly ProductDefinition[],
): (row: HistoryRow) => Record<string, string | number | boolean> {
  const listColumns = createLayerColumns([...Object.keys(FEATURE_COLUMNS), ...COLUMNS_OF_FORMATS])
  return (row) => {
    const entries = listEntries(products, row)
    const item = { row, answer: row.answer as RecordedAnswer, area: readRecordedArea(row), entries }
    const others = Object.entries(FEATURE_COLUMNS).map(([name, cellOf]) => [name, cellOf(item)])
    const cells = [...others, ...entries.flatMap(listColumns)]
    return Object.fromEntries(cells.filter(([, cell]) => cell !== null))
  }
}

/** The common value; null where the values differ. */
function commonValue(values: Cell[]): Cell {
  const found = new Set(values.filter((value) => value !== null))
  return found.size === 1 ? ([...found][0] as Cell) : null
}

/** An item, and the outline of its area as GeoJSON; undefined where it has none. */
interface ExportedItem {
  row: HistoryRow
  outline: string | undefined
}

/** Items of a slice: their outlines are in memory together. */
const SLICE = 20

/** The least characters of a piece of a file: worth sending, and small enough to wait for a slow client. */
export const PIECE_LENGTH = 65_536

/** The pages of a history. New items are newer than all of them, so none appears in between. */
export async function* listPages(
  list: (filter: HistoryFilter) => Promise<HistoryRow[]>,
  filter: Omit<HistoryFilter, 'after'>,
): AsyncGenerator<HistoryRow[]> {
  let after: HistoryFilter['after'] = null
  for (;;) {
    const rows = await list({ ...filter, after })
    yield rows
    const last = rows.at(-1)
    if (!last?.more) return
    after = last.id
  }
}

/** @param findOutlines finds the outlines of a slice, for formats with shapes */
export async function* listSlices(
  pages: AsyncIterable<HistoryRow[]> | HistoryRow[][],
  findOutlines: ((rows: HistoryRow[]) => Promise<(string | undefined)[]>) | undefined,
): AsyncGenerator<ExportedItem[]> {
  for await (const rows of pages) {
    for (let from = 0; from < rows.length; from += SLICE) {
      const slice = rows.slice(from, from + SLICE)
      const outlines = (await findOutlines?.(slice)) ?? []
      yield slice.map((row, index) => ({ row, outline: outlines[index] }))
    }
  }
}

/**
 * Items of a history in the shapes of files.
 *
 * @param kind the kind of all items, if they have one
 * @param next the cursor of the next page
 */
export function createHistoryItems(
  products: readonly ProductDefinition[],
  kind: AdvisoryRecord['kind'] | null,
  next: string | null,
): Items<ExportedItem> {
  const createProperties = createPropertyWriter(products)
  const observable = observableKeysOf(products)
  return {
    members: {},
    lastMembers: { next_cursor: next },
    columns: [...Object.keys(CSV_COLUMNS), ...observable.map((key) => `observed_${key}`), 'harvested_on'],
    object: ({ row }) => JSON.stringify(formatItem(row)),
    feature({ row, outline }) {
      const geometry = outline ?? JSON.stringify(findGeometry(row, kind))
      const properties = JSON.stringify(createProperties(row))
      return `{"type":"Feature","id":"${row.id}","created_at":"${row.created_at}","geometry":${geometry},"properties":${properties}}`
    },
    rows: ({ row }) =>
      listCells(row, listEntries(products, row), observable)
        .map((cells) => csvRow(cells))
        .join(''),
  }
}

/** An item of the history as the API shows it. */
export function formatItem(row: HistoryRow): HistoryItem {
  const answer = row.answer as RecordedAnswer
  const { location, forecast_period } = answer
  const month = readMonth(answer)
  const synthetic = isSynthetic(answer, row)
  return {
    id: row.id,
    created_at: row.created_at,
    kind: row.kind,
    product: row.product,
    country_code: row.country_code,
    crop: row.crop_code,
    releases: row.releases,
    ...(synthetic !== undefined && { synthetic }),
    location,
    ...(forecast_period !== undefined && { forecast_period }),
    ...(month !== undefined && { forecast_month: month }),
    request: row.request,
    answer: row.answer,
    feedback: row.feedback,
  }
}

/** The present outlines of the areas of items, as text; undefined where there is none. */
export async function findItemOutlines(
  db: Kysely<Tables>,
  rows: HistoryRow[],
): Promise<(string | undefined)[]> {
  const areas = rows.map((row) => {
    const area = readRecordedArea(row)
    return area && { countryCode: row.country_code, code: area.code, level: area.level }
  })
  const distinct = new Map(areas.flatMap((area) => (area ? [[JSON.stringify(area), area] as const] : [])))
  if (distinct.size === 0) return []
  const found = await findOutlines(db, [...distinct.values()])
  const byArea = new Map([...distinct.keys()].map((key, index) => [key, found[index] ?? undefined]))
  return areas.map((area) => byArea.get(JSON.stringify(area)))
}

type Position = number[]

/** A polygon in a request. */
type SentGeometry =
  | { type: 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'Feature'; geometry: SentGeometry }
  | { type: 'FeatureCollection'; features: [{ geometry: SentGeometry }] }

/**
 * The place of the request, without heights, and polygons as MultiPolygons: map programs need one type of geometry in a
 * file. An area without outline is the point of the answer, and in a file of polygons no geometry.
 */
function findGeometry({ request, answer }: HistoryRow, kind: AdvisoryRecord['kind'] | null): object | null {
  const { geometry } = request as { geometry?: SentGeometry }
  if (geometry) return toMultiPolygon(geometry)
  if (kind === 'polygon') return null
  const { lat, lng } = (answer as RecordedAnswer).location
  return { type: 'Point', coordinates: [lng, lat] }
}

function toMultiPolygon(sent: SentGeometry): object {
  if (sent.type === 'Feature') return toMultiPolygon(sent.geometry)
  if (sent.type === 'FeatureCollection') return toMultiPolygon(sent.features[0].geometry)
  const polygons = sent.type === 'Polygon' ? [sent.coordinates] : sent.coordinates
  const coordinates = polygons.map((rings) => rings.map((ring) => ring.map(([lng, lat]) => [lng, lat])))
  return { type: 'MultiPolygon', coordinates }
}

interface CsvSource {
  row: HistoryRow
  entry: Entry
  location: RecordedAnswer['location']
  area: RecordedArea | undefined
}

const CSV_COLUMNS: Record<string, (source: CsvSource) => CsvValue> = {
  id: ({ row }) => row.id,
  created_at: ({ row }) => row.created_at,
  kind: ({ row }) => row.kind,
  product: ({ entry }) => entry.product,
  country_code: ({ row }) => row.country_code,
  crop: ({ row }) => row.crop_code,
  name: ({ location }) => location.name,
  lat: ({ location }) => location.lat,
  lng: ({ location }) => location.lng,
  area_ha: ({ location }) => location.area_ha ?? null,
  admin_level: ({ area }) => area?.level ?? null,
  admin_code: ({ area }) => area?.code ?? null,
  admin_name: ({ area }) => area?.name ?? null,
  forecast_period: ({ entry }) => entry.forecastPeriod,
  forecast_month: ({ entry }) => entry.forecastMonth,
  release: ({ row, entry }) => entry.release ?? row.releases.join(' '),
  synthetic: ({ entry }) => entry.synthetic,
  input: ({ entry }) => entry.input,
  scenario: ({ entry }) => entry.scenario,
  value: ({ entry }) => entry.value,
  unit: ({ entry }) => entry.unit,
  min: ({ entry }) => entry.min,
  max: ({ entry }) => entry.max,
  stddev: ({ entry }) => entry.stddev,
  covered_percent: ({ entry }) => entry.coveredPercent,
  total: ({ entry }) => entry.total,
  rating: ({ row }) => row.feedback?.rating ?? null,
  comment: ({ row }) => row.feedback?.comment ?? null,
}

/** The cells of a row of CSV for each entry. @param observable the keys of observations */
function listCells(row: HistoryRow, entries: Entry[], observable: string[]): CsvValue[][] {
  const { location } = row.answer as RecordedAnswer
  const area = readRecordedArea(row)
  const observed = row.feedback?.observed
  const last = [...observable.map((key) => observed?.[key] ?? null), observed?.harvested_on ?? null]
  return entries.map((entry) => {
    const source = { row, entry, location, area }
    return [...Object.values(CSV_COLUMNS).map((cellOf) => cellOf(source)), ...last]
  })
}
