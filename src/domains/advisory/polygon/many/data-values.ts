import type { Dhis2Mapping } from '#schemas/dhis2.ts'
import { QuantityFields, type QuantityRequest } from '#schemas/quantities.ts'
import { ApiError } from '#src/errors.ts'
import { isoMonth } from '#src/lib/month.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import { releaseMembers } from '../../lookup/products.ts'
import type { ReleaseLabels } from '../../lookup/queries.ts'
import { asksForQuantities } from '../../quantities/plan.ts'
import { columnsOf, figuresIn } from '../columns.ts'
import { figureKeysOf } from '../entries.ts'
import type { Item } from './items.ts'
import type { Writer } from './writers.ts'

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
