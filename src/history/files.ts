import type { HistoryItem } from '#schemas/history.ts'
import type { PolygonRequest } from '#schemas/polygon.ts'
import { observableKeysOf, type ProductDefinition } from '#schemas/products/define.ts'
import { findOutlines } from '#src/catalog/area-queries.ts'
import type { Db } from '#src/data/tables.ts'
import { type CsvValue, csvRow, type Items } from '#src/http/formats.ts'
import { isoMonthNamed } from '#src/lib/dates.ts'
import type { AdvisoryRecord } from './keep-answer.ts'
import type { HistoryFilter, HistoryRow } from './queries.ts'

type Cell = CsvValue | undefined

type Section = ReleaseSection & Record<string, unknown>

interface ItemSource {
  row: HistoryRow
  answer: RecordedAnswer
  area: RecordedArea | undefined
}

interface EntrySource extends ItemSource {
  product: ProductDefinition
  /** The part of the answer for the product. */
  section: Section
  entry: Record<string, CsvValue> & { range?: Record<'low' | 'high', number> }
}

/** The values of an answer in its order; where it is of several products, one product after the other. */
function listEntries(products: readonly ProductDefinition[], row: HistoryRow): EntrySource[] {
  const answer = row.answer as RecordedAnswer & Section
  const area = readRecordedArea(row)
  return products.flatMap((product) => {
    // Where one call asked for every product, each has its part of the answer, or the reason for none.
    const section = (product.code in answer ? answer[product.code] : answer) as Section
    const entries = (section[product.entries] ?? []) as EntrySource['entry'][]
    return entries.map((entry) => ({ row, answer, area, product, section, entry }))
  })
}

/** The columns of CSV, a row for each value: the same for all products. Statistics are of polygons. */
const CSV_COLUMNS = {
  id: ({ row }) => row.id,
  created_at: ({ row }) => row.created_at,
  kind: ({ row }) => row.kind,
  product: ({ product }) => product.code,
  country_code: ({ row }) => row.country_code,
  crop: ({ row }) => row.crop_code,
  name: ({ answer }) => answer.location.name,
  lat: ({ answer }) => answer.location.lat,
  lng: ({ answer }) => answer.location.lng,
  area_ha: ({ answer }) => answer.location.area_ha,
  admin_level: ({ area }) => area?.level,
  admin_code: ({ area }) => area?.code,
  admin_name: ({ area }) => area?.name,
  forecast_period: ({ section }) => section.forecast_period,
  forecast_month: ({ section }) => readMonth(section),
  release: ({ row, section }) => section.release ?? row.releases.join(' '),
  synthetic: ({ row, section }) => isSynthetic(section, row),
  input: ({ product, entry }) => product.input && entry[product.input.key],
  scenario: ({ entry }) => entry.scenario,
  value: ({ product, entry }) => entry[product.value.key],
  unit: ({ product }) => product.unit,
  min: ({ entry }) => entry.min,
  max: ({ entry }) => entry.max,
  stddev: ({ entry }) => entry.stddev,
  covered_percent: ({ entry }) => entry.covered_percent,
  total: ({ product, entry }) => product.total && entry[product.total.key],
  rating: ({ row }) => row.feedback?.rating,
  comment: ({ row }) => row.feedback?.comment,
  condition: ({ entry }) => entry.condition,
  probability: ({ entry }) => entry.probability,
  low: ({ entry }) => entry.range?.low,
  high: ({ entry }) => entry.range?.high,
  scenario_of: ({ entry }) => entry.scenario_of,
} as const satisfies Record<string, (source: EntrySource) => Cell>

/** Names of columns in Shapefiles have ten characters: longer ones are cut, and those cut to the same renamed. */
const LONGEST_NAME = 10

/** Statistics of an entry by their columns of CSV, and the prefixes of their columns of Features. */
const STATISTICS = [
  ['value', ''],
  ['min', 'min_'],
  ['max', 'max_'],
  ['stddev', 'sd_'],
  ['covered_percent', 'cov_'],
  ['total', 'tot_'],
  ['probability', 'p_'],
  ['low', 'lo_'],
  ['high', 'hi_'],
] as const

/** `AN_Urea` is Urea for Above Normal. Names of a file differ in any case. @param others taken names */
function createLayerColumns(others: readonly string[]) {
  const taken = new Set(others)
  const names = new Map<string, string>()

  function findName(source: EntrySource, prefix: string): string {
    const key = JSON.stringify([prefix, readLabels(source)])
    const name = names.get(key) ?? unusedName(`${prefix}${shortName(source)}`)
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

  return (source: EntrySource): [name: string, value: Cell][] =>
    STATISTICS.flatMap(([statistic, prefix]) => {
      const value = CSV_COLUMNS[statistic](source) ?? null
      return value === null ? [] : [[findName(source, prefix), value]]
    })
}

function readLabels(source: EntrySource) {
  const { input, scenario, condition } = CSV_COLUMNS
  return {
    product: source.product.code,
    input: input(source) ?? null,
    scenario: scenario(source) ?? null,
    condition: condition(source) ?? null,
  }
}

/** The initials of the scenario, a short form of the input and the initials of the condition, as far as the layer has them: `AN_Urea`. */
function shortName(source: EntrySource): string {
  const { product, scenario, input, condition } = readLabels(source)
  const initialsOf = (label: CsvValue) => splitWords(label).map(([initial]) => initial?.toUpperCase())
  const initials = initialsOf(scenario)
  const subject = splitWords(input ?? product)
  // Species of one genus differ in their last word, which would be cut: Brachiaria brizantha is B_brizantha.
  const short = subject.map((word, index) => (index < subject.length - 1 ? word.charAt(0) : word))
  return (
    [initials.join(''), ...short, initialsOf(condition).join('')].filter((part) => part !== '').join('_') ||
    product
  )
}

/** The words of a label in letters and digits that every format has. */
function splitWords(label: CsvValue): string[] {
  const plain = String(label ?? '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
  return plain.match(/[A-Za-z0-9]+/g) ?? []
}

/** The columns beside those of layers: short names, and dates without times, for Shapefiles. */
const FEATURE_COLUMNS: Record<string, (item: ItemSource & { entries: EntrySource[] }) => Cell> = {
  date: ({ row }) => row.created_at.slice(0, 'YYYY-MM-DD'.length),
  kind: ({ row }) => row.kind,
  product: ({ row }) => row.product,
  country: ({ row }) => row.country_code,
  crop: ({ row }) => row.crop_code,
  name: ({ answer }) => answer.location.name,
  lat: ({ answer }) => answer.location.lat,
  lng: ({ answer }) => answer.location.lng,
  area_ha: ({ answer }) => answer.location.area_ha,
  adm_level: ({ area }) => area?.level,
  adm_code: ({ area }) => area?.code,
  adm_name: ({ area }) => area?.name,
  month: ({ entries }) => commonValue(entries.map(({ section }) => readMonth(section))),
  release: ({ row }) => row.releases.join(' '),
  synthetic: ({ row, answer }) => isSynthetic(answer, row),
  unit: ({ entries }) => commonValue(entries.map(({ product }) => product.unit)),
  rating: ({ row }) => row.feedback?.rating,
  comment: ({ row }) => row.feedback?.comment,
}

/** Names of columns that file formats have themselves. */
const COLUMNS_OF_FORMATS = ['id', 'fid', 'ogc_fid', 'geom', 'geometry', 'shape']

/** Properties are flat. Nulls are left out: map programs take a column of nulls for text. */
function createPropertyWriter(
  products: readonly ProductDefinition[],
): (row: HistoryRow) => Record<string, string | number | boolean> {
  const listColumns = createLayerColumns([...Object.keys(FEATURE_COLUMNS), ...COLUMNS_OF_FORMATS])
  return (row) => {
    const entries = listEntries(products, row)
    const item = { row, answer: row.answer as RecordedAnswer, area: readRecordedArea(row), entries }
    const others = Object.entries(FEATURE_COLUMNS).map(([name, cellOf]) => [name, cellOf(item)])
    const cells = [...others, ...entries.flatMap(listColumns)]
    return Object.fromEntries(cells.filter(([, cell]) => (cell ?? null) !== null))
  }
}

/** The common value; undefined where the values differ. */
function commonValue(values: (string | undefined)[]): string | undefined {
  const found = new Set(values.filter((value) => value !== undefined))
  return found.size === 1 ? [...found][0] : undefined
}

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

/** @param kind of all items; null for several @param next the cursor of the next page */
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
    rows({ row }) {
      const observed: Record<string, CsvValue | undefined> = row.feedback?.observed ?? {}
      const last = [...observable, 'harvested_on'].map((key) => observed[key] ?? null)
      return listEntries(products, row)
        .map((source) => Object.values(CSV_COLUMNS).map((cellOf) => cellOf(source) ?? null))
        .map((cells) => csvRow([...cells, ...last]))
        .join('')
    },
  }
}

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

/** As text; undefined without an outline. */
export async function findItemOutlines(db: Db, rows: HistoryRow[]): Promise<(string | undefined)[]> {
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

type SentGeometry =
  | { type: 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'Feature'; geometry: SentGeometry }
  | { type: 'FeatureCollection'; features: [{ geometry: SentGeometry }] }

/** Without heights. Map programs need one type of geometry in a file: polygons are MultiPolygons. */
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

/** The members of an answer, or of the section of a product, about its release. Older answers lack some. */
interface ReleaseSection {
  forecast_period?: string
  forecast_month?: string
  release?: string
  synthetic?: boolean
}

export interface RecordedAnswer extends ReleaseSection {
  location: HistoryItem['location']
}

function readMonth({ forecast_month, forecast_period }: ReleaseSection): string | undefined {
  return forecast_month ?? (forecast_period === undefined ? undefined : isoMonthNamed(forecast_period))
}

/** Whether a release of the answer is demonstration data; undefined where unknown. */
function isSynthetic(
  { synthetic, release }: ReleaseSection,
  { releases, synthetic_by_release }: HistoryRow,
): boolean | undefined {
  if (synthetic !== undefined) return synthetic
  const known = (release === undefined ? releases : [release]).map((code) => synthetic_by_release[code])
  if (known.includes(true)) return true
  return known.includes(undefined) ? undefined : false
}

/** Null for unknown members. */
interface RecordedArea {
  code: string
  level: number | null
  name: string | null
}

/** The area of a request; undefined for points and polygons. */
function readRecordedArea({ request, answer }: HistoryRow): RecordedArea | undefined {
  const { location } = answer as RecordedAnswer
  if (location.admin) return location.admin
  const { admin, name } = request as PolygonRequest
  // Older answers do not say which area they are of, but what they were asked, and its name where no label was.
  return (
    admin && {
      code: admin.code.trim(),
      level: admin.level ?? null,
      name: name === undefined ? location.name : null,
    }
  )
}
