import type { ErrorBody } from '#schemas/common.ts'
import type { Dhis2Mapping } from '#schemas/dhis2.ts'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import { QuantityFields, type QuantityRequest } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import { type CsvValue, csvCell, type Form } from '#src/http/formats.ts'
import { databaseError } from '#src/http/plugins/error-handler.ts'
import { isoMonth } from '#src/lib/dates.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { memberTexts } from '#src/lib/json.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { ReleaseLabels } from '#src/lookup/queries.ts'
import type { Reasons } from '#src/lookup/reasons.ts'
import { type ReleaseMembers, releaseMembers } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { type Source, sharedMembers } from '#src/lookup/sources.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import { type Advice, locationOf } from '../polygon/advisors.ts'
import {
  columnsOf,
  entriesOf,
  figureKeysOf,
  figuresIn,
  hasValues,
  type PolygonAdvice,
  quantitiesIn,
} from '../polygon/answer.ts'
import { type QuantityCell, quantityColumns } from '../quantities/columns.ts'
import { entriesWith } from '../quantities/compute.ts'
import { asksForQuantities } from '../quantities/plan.ts'
import type { QuantityRules } from '../quantities/rules.ts'
import type { PolygonId } from './sent.ts'

/** One of many polygons or areas, and what has come of it. */
export interface Item {
  id: PolygonId
  /** The name that was sent. */
  name: string | undefined
  /** What is said of its release. */
  members: ReleaseMembers
  /** Its shape as the text of GeoJSON, where the answer has it. */
  geometry: string | null
  /** Null where it is not valid, or took too long. */
  advice: Advice | null
  /** Why there is no value; null where there is one. */
  reason: ErrorBody | null
}

/** Where items get their reasons from. */
export interface ReasonSource {
  reasons: Reasons
  snapshot: Snapshot
  series: Series
  clientKey: ClientKey
  /** For the database. */
  wait: Wait
}

/**
 * What has come of one polygon or area. Errors that are its own are told of it; others fail the call.
 *
 * @param advise throws an ApiError where there is no advice
 * @param isFirst whether nothing of the answer has been sent: it is the call that is refused then
 */
export async function outcomeOf(
  { reasons, snapshot, series, clientKey, wait }: ReasonSource,
  advise: () => Promise<Advice>,
  isFirst: boolean,
): Promise<Pick<Item, 'advice' | 'reason'>> {
  try {
    const advice = await advise()
    if (hasValues(advice)) return { advice, reason: null }
    const reason = await wait(() => reasons.noValue(snapshot, series, advice.position, 'polygon', clientKey))
    return { advice, reason: reason.body }
  } catch (error) {
    if (error instanceof ApiError && isOwn(error, isFirst)) return { advice: null, reason: error.body }
    throw error
  }
}

/** Whether an error is that of a polygon: where the service fails, it does so for all of them. */
function isOwn({ code, status }: ApiError, isFirst: boolean): boolean {
  return status < 500 || code === 'QUERY_TIMEOUT' || (code === 'OVERLOADED' && !isFirst)
}

/** What stands for the rest where the service has no time for it, or the database is away; undefined for other errors. */
export function itemAtFault(error: unknown): Item | undefined {
  const fault = error instanceof ApiError ? error : databaseError(error)
  return (
    fault && { id: undefined, name: undefined, members: {}, geometry: null, advice: null, reason: fault.body }
  )
}

/** What is told of a polygon in columns. */
interface Columns {
  names: string[]
  /** What stands in them; null where a layer has no value, or the release of the polygon no such layer. */
  cellsOf(advice: Pick<PolygonAdvice, 'release' | 'statistics'>): QuantityCell[]
}

/**
 * A column for each number of each layer of any release, and behind them those of quantities.
 *
 * @param rules null where no quantities are asked for
 */
function createColumns(
  product: ProductDefinition,
  releases: readonly ReleaseLabels[],
  keys: string[],
  rules: QuantityRules | null,
): Columns {
  const own = new Map(releases.map((release) => [release.code, columnsIn(product, release, keys, rules)]))
  const names = [...new Set([...own.values()].flatMap((columns) => columns.names))]
  return {
    names,
    cellsOf(advice) {
      const columns = own.get(advice.release.code) as Columns
      const cells = columns.cellsOf(advice)
      if (own.size === 1) return cells
      return names.map((name) => cells[columns.names.indexOf(name)] ?? null)
    },
  }
}

/** The columns of one release. */
function columnsIn(
  product: ProductDefinition,
  release: ReleaseLabels,
  keys: string[],
  rules: QuantityRules | null,
): Columns {
  const names = columnsOf(product, release, keys)
  const figures = (advice: Pick<PolygonAdvice, 'statistics'>) => figuresIn(product, release, keys, advice)
  if (!rules) return { names, cellsOf: figures }
  const further = quantityColumns(rules, product, release)
  return {
    names: [...names, ...further.names],
    cellsOf: (advice) => [
      ...figures(advice),
      ...further.cellsOf(quantitiesIn(rules, product, release, advice.statistics)),
    ],
  }
}

/** Writes the answer for many polygons in one form. */
export interface Writer {
  opening: string
  /** Between two items. */
  separator: string
  closing: string
  /** An item, with the end of its line where the form has lines. */
  write(item: Item): string
}

/**
 * The writer of a form, for the answers of some sources.
 *
 * @param ofCall what is said of the whole call
 */
export function createWriter(
  form: Form,
  product: ProductDefinition,
  sources: readonly Source[],
  wanted: DistributionWanted | null,
  rules: QuantityRules | null,
  ofCall: object,
): Writer {
  const releases = sources.flatMap(({ release }) => release ?? [])
  const columns = createColumns(product, releases, figureKeysOf(product, wanted), rules)
  const head = { ...sharedMembers(sources), ...ofCall }
  switch (form) {
    case 'application/json': {
      const members = memberTexts(head).map((member) => `${member},`)
      const opening = `{${members.join('')}"items":[`
      return { opening, separator: ',', closing: ']}', write: itemWriter(product, rules) }
    }
    case 'application/x-ndjson': {
      const write = itemWriter(product, rules)
      return { opening: '', separator: '', closing: '', write: (item) => `${write(item)}\n` }
    }
    case 'text/csv':
      return tableWriter(sources, columns)
    case 'application/geo+json': {
      const members = JSON.stringify({ type: 'FeatureCollection', ...head }).slice(0, -1)
      const opening = `${members},"features":[`
      return { opening, separator: ',', closing: ']}', write: featureWriter(columns) }
    }
  }
}

/** Items are what is answered for one polygon, behind their id where they have one. */
function itemWriter(product: ProductDefinition, rules: QuantityRules | null): Writer['write'] {
  const { entries } = product
  function dataOf({ release, statistics }: Advice) {
    const own = entriesOf(product, release, statistics)
    if (!rules) return { [entries]: own }
    const figures = quantitiesIn(rules, product, release, statistics)
    return { [entries]: entriesWith(own, figures), quantities: figures.quantities }
  }
  return ({ id, name, members, advice, reason }) =>
    JSON.stringify({
      id,
      ...(advice
        ? {
            location: locationOf(name, advice),
            ...members,
            ...(reason ? { [entries]: null } : dataOf(advice)),
          }
        : name !== undefined && { sent: { name } }),
      ...reason,
    })
}

/** Properties are flat, as map programs want them: named as the columns of a table. */
function featureWriter({ names, cellsOf }: Columns): Writer['write'] {
  return ({ id, name, members, geometry, advice, reason }) => {
    const figures = advice && cellsOf(advice)
    const properties = {
      ...(advice
        ? {
            ...placeOf(name, advice),
            ...members,
            ...Object.fromEntries(names.map((column, index) => [column, figures?.[index]])),
          }
        : { name }),
      ...(reason && { error: reason.error, code: reason.code }),
    }
    const start = JSON.stringify({ type: 'Feature', id }).slice(0, -1)
    const shape = (advice && geometry) ?? 'null'
    return `${start},"geometry":${shape},"properties":${JSON.stringify(properties)}}`
  }
}

const PLACE_COLUMNS = ['name', 'lat', 'lng', 'area_ha'] as const

/** One row a polygon and a column for each number of each layer: what a data frame or a spreadsheet takes as it is. */
function tableWriter(sources: readonly Source[], { names: columns, cellsOf }: Columns): Writer {
  const memberNames = [...new Set(sources.flatMap(({ members }) => Object.keys(members)))]
  const row = (cells: CsvValue[]) => `${cells.map(csvCell).join(',')}\r\n`
  const empty = (names: readonly unknown[]) => names.map(() => null)
  return {
    opening: row(['id', ...PLACE_COLUMNS, ...memberNames, ...columns, 'error', 'code']),
    separator: '',
    closing: '',
    write({ id = null, name = null, members, advice, reason }) {
      const of = advice
        ? [
            ...Object.values(placeOf(name ?? undefined, advice)),
            ...memberNames.map((member) => members[member] ?? null),
            ...cellsOf(advice),
          ]
        : [name, ...empty(PLACE_COLUMNS.slice(1)), ...empty(memberNames), ...empty(columns)]
      return row([id, ...of, reason?.error ?? null, reason?.code ?? null])
    },
  }
}

/** Where a polygon is, in the order of the columns. */
function placeOf(
  sent: string | undefined,
  advice: Advice,
): Record<(typeof PLACE_COLUMNS)[number], string | number> {
  const { name, lat, lng, area_ha } = locationOf(sent, advice)
  return { name, lat, lng, area_ha }
}

/**
 * The answer in pieces, an item each, in their order.
 *
 * @param pause lets others go on before an item is written
 */
export async function* writeAnswer(
  items: AsyncIterable<Item>,
  writer: Writer,
  pause: Pause,
): AsyncGenerator<Buffer> {
  let isFirst = true
  for await (const item of items) {
    await pause()
    yield Buffer.from((isFirst ? writer.opening : writer.separator) + writer.write(item))
    isFirst = false
  }
  const end = (isFirst ? writer.opening : '') + writer.closing
  if (end !== '') yield Buffer.from(end)
}

/** What a generator yields, of which the first piece has been taken. */
export async function* withFirst(
  { done, value }: IteratorResult<Buffer>,
  rest: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  if (done) return
  yield value
  yield* rest
}

/**
 * Refuses quantities, which data value sets have no place for.
 *
 * @returns INVALID_PARAMETERS, naming the first field that asks for them
 */
export function quantitiesRefused(asked: QuantityRequest): ApiError {
  const fields = Object.keys(QuantityFields) as (keyof QuantityRequest)[]
  const field = fields.find((name) => asksForQuantities({ [name]: asked[name] }))
  return ApiError.invalid(field as string, 'must be left out for DHIS2, whose values are those of rasters')
}

/** Why an item has no values. */
interface LeftOut {
  id: Item['id']
  error: string
  code?: string
}

/**
 * Writes the answer as a data value set, which DHIS2 reads as a stream: members that are texts, then the values, all of them
 * texts, too. What comes behind them it does not read: there are the places without values, for people.
 *
 * @throws {ApiError} INVALID_PARAMETERS, where the mapping is missing, names a column that there is not, has no period, or
 * gives two of something one name: DHIS2 would keep the last of their values
 */
export function dataValueWriter(
  product: ProductDefinition,
  release: ReleaseLabels,
  wanted: DistributionWanted | null,
  mapping: Dhis2Mapping | undefined,
): Writer {
  if (!mapping) throw ApiError.invalid('dhis2', 'must be sent for this form, in a JSON body')
  refuseRepeated(mapping)
  const { org_units, data_set, attribute_option_combo } = mapping
  const keys = figureKeysOf(product, wanted)
  const elements = elementsOf(mapping, columnsOf(product, release, keys))
  const period = mapping.period ?? monthOf(product, release)
  const units = org_units && new Map(org_units.map(({ id, org_unit }) => [id, org_unit]))
  const { crop, ...members } = releaseMembers(release)
  const head = JSON.stringify({
    ...members,
    ...(crop !== null && { crop }),
    ...(data_set && { dataSet: data_set }),
    ...(!units && { orgUnitIdScheme: 'CODE' }),
  })
  const leftOut: LeftOut[] = []
  let separator = ''

  function valuesOf({ id, advice, reason }: Item): string[] {
    if (!advice || reason) return leave(id, reason?.error ?? 'It has no value.', reason?.code)
    if (id === undefined) return leave(id, 'It has no id.')
    const orgUnit = units ? units.get(String(id)) : String(id)
    if (orgUnit === undefined) return leave(id, 'The mapping names no organisation unit for it.')
    const figures = figuresIn(product, release, keys, advice)
    const values = elements.flatMap(({ index, dataElement, categoryOptionCombo }) => {
      const figure = figures[index] ?? null
      if (figure === null) return []
      const where = { dataElement, period, orgUnit, categoryOptionCombo }
      const attributeOptionCombo = attribute_option_combo ?? undefined
      return [JSON.stringify({ ...where, attributeOptionCombo, value: String(figure) })]
    })
    return values.length > 0 ? values : leave(id, 'The columns of the mapping have no value there.')
  }

  function leave(id: Item['id'], error: string, code?: string): string[] {
    leftOut.push({ id, error, ...(code !== undefined && { code }) })
    return []
  }

  return {
    opening: `${head.slice(0, -1)},"dataValues":[`,
    separator: '',
    get closing() {
      return `],"left_out":${JSON.stringify(leftOut)}}`
    },
    write(item) {
      const text = valuesOf(item).join(',')
      if (text === '') return ''
      const written = separator + text
      separator = ','
      return written
    },
  }
}

function refuseRepeated({ data_elements, org_units }: Dhis2Mapping): void {
  const elements = data_elements.map((element) =>
    JSON.stringify([element.data_element, element.category_option_combo ?? null]),
  )
  refuseSecond('data_elements', 'data_element', elements)
  for (const field of ['id', 'org_unit'] as const) {
    const values = (org_units ?? []).map((unit) => unit[field])
    refuseSecond('org_units', field, values)
  }
}

function refuseSecond(list: keyof Dhis2Mapping, field: string, values: string[]): void {
  const rule = 'must be another one than those before it: one value would replace the other'
  const seen = new Set<string>()
  for (const [at, value] of values.entries()) {
    if (seen.has(value)) throw ApiError.invalid(`dhis2.${list}[${at}].${field}`, rule)
    seen.add(value)
  }
}

interface Element {
  /** Of its column. */
  index: number
  dataElement: string
  categoryOptionCombo: string | undefined
}

function elementsOf({ data_elements }: Dhis2Mapping, columns: string[]): Element[] {
  return data_elements.map(({ column, data_element, category_option_combo }, at) => {
    const index = columns.indexOf(column)
    if (index >= 0) {
      return { index, dataElement: data_element, categoryOptionCombo: category_option_combo ?? undefined }
    }
    const rule = 'must be a column of the answer as CSV'
    throw ApiError.invalid(`dhis2.data_elements[${at}].column`, rule, columns)
  })
}

function monthOf({ code }: ProductDefinition, { forecastPeriod }: ReleaseLabels): string {
  if (forecastPeriod !== null) return isoMonth(forecastPeriod).replace('-', '')
  throw ApiError.invalid('dhis2.period', `is required: ${code} has no month`)
}
