import { DHIS2, type Dhis2Mapping } from '#schemas/dhis2.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { QuantityFields, type QuantityRequest } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import { FORMATS, type Format, type Writer } from '#src/http/formats.ts'
import { monthOfCalendar } from '#src/lib/dates.ts'
import type { ReleaseLabels } from '#src/lookup/entries.ts'
import { makeReleaseMembers } from '#src/lookup/releases.ts'
import { statisticColumns } from '../polygon/figures.ts'
import { asksForQuantities } from '../quantities/plan.ts'
import type { PolygonItem, PolygonItems } from './items.ts'

/** The formats of answers on many polygons: those of lists, and data value sets of DHIS2. */

interface PolygonFormat extends Omit<Format, 'write'> {
  write(items: PolygonItems): Writer<PolygonItem>
}

/** Data value sets of DHIS2, which have one release and a mapping of columns and places. */
export const DATA_VALUE_SET: PolygonFormat = {
  name: 'dhis2',
  mediaType: DHIS2,
  contentType: DHIS2,
  write: ({ product, release, keys, mapping }) => dataValueWriter(product, release, keys, mapping),
}

export const POLYGON_FORMATS: readonly PolygonFormat[] = [...FORMATS, DATA_VALUE_SET]

/** The error for quantities, which data value sets have no room for. */
export function refuseQuantities(request: QuantityRequest): ApiError {
  const fields = Object.keys(QuantityFields) as (keyof QuantityRequest)[]
  const field = fields.find((name) => asksForQuantities({ [name]: request[name] }))
  return ApiError.invalid(field as string, 'must be left out for DHIS2, whose values are those of rasters')
}

/**
 * Writes a data value set, which DHIS2 reads as a stream: members, then the values, all of them texts. The places
 * without values come last, for people: DHIS2 does not read them.
 *
 * @throws {ApiError} INVALID_PARAMETERS for a missing mapping, an unknown column, a missing period, or a repeated
 *   name, of which DHIS2 would keep the last value
 */
function dataValueWriter(
  product: ProductDefinition,
  release: ReleaseLabels,
  keys: string[],
  mapping: Dhis2Mapping | undefined,
): Writer<PolygonItem> {
  if (!mapping) throw ApiError.invalid('dhis2', 'must be sent for this form, in a JSON body')
  refuseRepeated(mapping)
  const { org_units, data_set, attribute_option_combo } = mapping
  const { names, cellsOf } = statisticColumns(product, release, keys)
  const elements = findElements(mapping, names)
  const period = findPeriod(product, release, mapping)
  const units = org_units && new Map(org_units.map(({ id, org_unit }) => [id, org_unit]))
  const { crop, ...members } = makeReleaseMembers(release)
  const head = JSON.stringify({
    ...members,
    ...(crop !== null && { crop }),
    ...(data_set && { dataSet: data_set }),
    ...(!units && { orgUnitIdScheme: 'CODE' }),
  })
  /** The items without values, and the reasons. */
  const leftOut: object[] = []
  let separator = ''

  function formatValues({ id, advice, reason }: PolygonItem): string[] {
    if (!advice || reason) return leave(id, reason?.error ?? 'It has no value.', reason?.code)
    if (id === undefined) return leave(id, 'It has no id.')
    const orgUnit = units ? units.get(String(id)) : String(id)
    if (orgUnit === undefined) return leave(id, 'The mapping names no organisation unit for it.')
    const figures = cellsOf(advice.statistics)
    const values = elements.flatMap(({ index, dataElement, categoryOptionCombo }) => {
      const figure = figures[index] ?? null
      if (figure === null) return []
      const where = { dataElement, period, orgUnit, categoryOptionCombo }
      const attributeOptionCombo = attribute_option_combo ?? undefined
      return [JSON.stringify({ ...where, attributeOptionCombo, value: String(figure) })]
    })
    return values.length > 0 ? values : leave(id, 'The columns of the mapping have no value there.')
  }

  function leave(id: PolygonItem['id'], error: string, code?: string): string[] {
    leftOut.push({ id, error, ...(code !== undefined && { code }) })
    return []
  }

  return {
    opening: `${head.slice(0, -1)},"dataValues":[`,
    separator: '',
    closing: () => `],"left_out":${JSON.stringify(leftOut)}}`,
    write(item) {
      const text = formatValues(item).join(',')
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

function findElements({ data_elements }: Dhis2Mapping, columns: string[]) {
  return data_elements.map(({ column, data_element, category_option_combo }, at) => {
    const index = columns.indexOf(column)
    if (index >= 0) {
      return { index, dataElement: data_element, categoryOptionCombo: category_option_combo ?? undefined }
    }
    const rule = 'must be a column of the answer as CSV'
    throw ApiError.invalid(`dhis2.data_elements[${at}].column`, rule, columns)
  })
}

/** What `Intl` calls the calendars of DHIS2 that both count alike. */
const CALENDARS: Record<string, string> = {
  gregorian: 'iso8601',
  iso8601: 'iso8601',
  ethiopian: 'ethiopic',
  coptic: 'coptic',
  persian: 'persian',
  thai: 'buddhist',
}

function findPeriod(
  { code }: ProductDefinition,
  { forecastPeriod }: ReleaseLabels,
  { period, calendar }: Dhis2Mapping,
): string {
  if (period) return period
  if (forecastPeriod === null) throw ApiError.invalid('dhis2.period', `is required: ${code} has no month`)
  const name = CALENDARS[calendar ?? 'gregorian']
  if (name === undefined) {
    const names = Object.keys(CALENDARS)
    const rule = `must be one of ${names.join(', ')}; for another calendar send dhis2.period`
    throw ApiError.invalid('dhis2.calendar', rule, names)
  }
  return monthOfCalendar(name, forecastPeriod)
}
