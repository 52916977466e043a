import type { BatchPoint } from '#schemas/batch-forms.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS } from '#schemas/point-request.ts'
import { csvCell } from '#src/http/csv.ts'
import type { Form } from '#src/http/forms.ts'
import { readNumber } from '#src/http/parameters.ts'
import { closedWith, memberTexts, openText } from '#src/lib/json-text.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { type ItemWriter, idMember, itemWriter } from '../lookup/item-writer.ts'
import { columnOf, locationOf, releaseMembers } from '../lookup/products.ts'
import type { ReleaseLabels } from '../lookup/queries.ts'
import type { LayerValues } from '../lookup/values.ts'
import type { QuantityCell, QuantityColumns } from '../quantities/columns.ts'
import type { Area } from '../quantities/plan.ts'
import type { QuantityRules } from '../quantities/rules.ts'
import { dataWithQuantities, quantitiesAt } from '../quantities/sections.ts'
import type { Passed } from './passage.ts'
import type { Scalar } from './scalars.ts'

/**
 * Writes the answer to many points in one form. Whatever is the same for all points of a release is
 * turned into text once; the rest is put between, in about a third of the time that making the objects
 * and JSON.stringify take.
 */
export interface Writer extends ItemWriter {
  opening: string
  /** Between two items. */
  separator: string
  closing: string
  /** An item with what is passed through. */
  passing(item: string, passed: Passed): string
}

/** What it takes to tell the quantities of a call's points. */
export interface QuantitiesInBatch {
  rules: QuantityRules
  columns: QuantityColumns
  areaOf(point: BatchPoint): Area
}

/**
 * The writer of a form, for the answers of a release.
 *
 * @param names of what is passed through
 * @param quantities null where none are asked for
 */
export function createWriter(
  form: Form,
  product: ProductDefinition,
  release: ReleaseLabels,
  names: readonly string[],
  quantities: QuantitiesInBatch | null,
): Writer {
  switch (form) {
    case 'application/json':
      return {
        ...passingItemWriter(product, release, names, quantities),
        opening: `{${memberTexts(releaseMembers(release)).join(',')},"items":[`,
        separator: ',',
        closing: ']}',
      }
    case 'application/x-ndjson':
      return {
        ...passingItemWriter(product, release, names, quantities),
        opening: '',
        separator: '\n',
        closing: '\n',
      }
    case 'text/csv':
      return tableWriter(product, release, names, quantities)
    case 'application/geo+json':
      return featureWriter(product, release, names, quantities)
  }
}

/** What is passed through has a member of its own, where no name can be one of ours. */
function passingItemWriter(
  product: ProductDefinition,
  release: ReleaseLabels,
  names: readonly string[],
  quantities: QuantitiesInBatch | null,
) {
  const membersOf = passedMembers(names)
  return {
    ...itemWriter(product, release),
    ...(quantities && { answered: itemsWith(product, release, quantities) }),
    passing: (item: string, passed: Passed) => closedWith(openText(item), `"pass":{${membersOf(passed)}}`),
  }
}

/** What writes the members that a point has of those that are passed through. */
function passedMembers(names: readonly string[]): (passed: Passed) => string {
  const fragments = names.map((name) => `${JSON.stringify(name)}:`)
  return (passed) =>
    passed
      .flatMap((value, index) => (value === undefined ? [] : fragments[index] + JSON.stringify(value)))
      .join(',')
}

/** Properties are flat, as map programs want them: one a layer, and those that are passed through. */
function featureWriter(
  product: ProductDefinition,
  release: ReleaseLabels,
  names: readonly string[],
  quantities: QuantitiesInBatch | null,
): Writer {
  const fragments = columnsOf(product, release).map((column) => `,${JSON.stringify(column)}:`)
  const members = memberTexts(releaseMembers(release)).join(',')
  const start = ({ id, name = POINT_DEFAULTS.name, lat, lng }: BatchPoint) =>
    `{"type":"Feature",${idMember(id)}"geometry":{"type":"Point","coordinates":[${lng},${lat}]},"properties":{"name":${JSON.stringify(name)},${members}`
  const reasonText = ({ error, code }: ErrorBody) => `"error":${JSON.stringify(error)},"code":"${code}"}}`
  const further = (quantities?.columns.names ?? []).map((column) => `,${JSON.stringify(column)}:`)
  const withoutValues = [...fragments, ...further].map((fragment) => `${fragment}null`).join('')
  const membersOf = passedMembers(names)
  return {
    opening: `{"type":"FeatureCollection",${members},"features":[`,
    separator: ',',
    closing: ']}',
    answered(point, values) {
      let text = start(point)
      for (let index = 0; index < fragments.length; index++)
        text += `${fragments[index]}${textOf(values[index] as number, 'null')}`
      const cells = quantities ? cellsOf(product, release, quantities, point, values) : []
      for (const [index, cell] of cells.entries()) text += `${further[index]}${JSON.stringify(cell)}`
      return `${text}}}`
    },
    without: (point, reason) => `${start(point)}${withoutValues},${reasonText(reason)}`,
    refused({ id, sent, reason }) {
      const labels = memberTexts(sent).map((member) => `${member},`)
      return `{"type":"Feature",${idMember(id)}"geometry":null,"properties":{${labels.join('')}${reasonText(reason)}`
    },
    passing(item, passed) {
      const members = membersOf(passed)
      return members === '' ? item : `${item.slice(0, -2)},${members}}}`
    },
  }
}

/** The columns of a table; what else the forms of answers have of a point is called the same. */
export function headerOf(
  product: ProductDefinition,
  release: ReleaseLabels,
  quantities: QuantitiesInBatch | null,
): string[] {
  const members = Object.keys(releaseMembers(release))
  const columns = [...columnsOf(product, release), ...(quantities?.columns.names ?? [])]
  return ['id', 'name', 'lat', 'lng', ...members, ...columns, 'error', 'code']
}

/**
 * One row a point and one column a layer: what a data frame or a spreadsheet takes as it is. What is passed
 * through comes last.
 */
function tableWriter(
  product: ProductDefinition,
  release: ReleaseLabels,
  names: readonly string[],
  quantities: QuantitiesInBatch | null,
): Writer {
  const members = releaseMembers(release)
  const columns = columnsOf(product, release)
  const header = [...headerOf(product, release, quantities), ...names]
  const cells = Object.values(members).map((cell) => `,${csvCell(cell)}`)
  const afterLng = cells.join('')
  const start = ({ id, name = POINT_DEFAULTS.name, lat, lng }: BatchPoint) =>
    `${csvCell(id ?? null)},${csvCell(name)},${lat},${lng}${afterLng}`
  const empty = ','.repeat(columns.length + (quantities?.columns.names.length ?? 0))
  const emptyMembers = ','.repeat(cells.length)
  const reasonCells = ({ error, code }: ErrorBody) => `${csvCell(error)},${code}`
  return {
    opening: `${header.map(csvCell).join(',')}\r\n`,
    separator: '\r\n',
    closing: '\r\n',
    answered(point, values) {
      let text = start(point)
      for (let index = 0; index < columns.length; index++) text += `,${textOf(values[index] as number, '')}`
      const cells = quantities ? cellsOf(product, release, quantities, point, values) : []
      for (const cell of cells) text += `,${csvCell(cell)}`
      return `${text},,`
    },
    without: (point, reason) => `${start(point)}${empty},${reasonCells(reason)}`,
    refused: ({ id, sent: { name, lat, lng }, reason }) =>
      `${csvCell(id ?? null)},${sentCell(name)},${numberCell(lat)},${numberCell(lng)}${emptyMembers}${empty},${reasonCells(reason)}`,
    passing: (item, passed) => `${item},${passed.map(numberCell)}`,
  }
}

/** The items of an answer, with what their entries come to. */
function itemsWith(
  product: ProductDefinition,
  release: ReleaseLabels,
  { rules, areaOf }: QuantitiesInBatch,
): ItemWriter['answered'] {
  return (point, values) => {
    const data = dataWithQuantities(rules, product, release, values, areaOf(point))
    return `{${idMember(point.id)}${JSON.stringify({ location: locationOf(point), ...data }).slice(1)}`
  }
}

/** What stands in the columns of quantities. */
function cellsOf(
  product: ProductDefinition,
  release: ReleaseLabels,
  { rules, columns, areaOf }: QuantitiesInBatch,
  point: BatchPoint,
  values: LayerValues,
): QuantityCell[] {
  return columns.cellsOf(quantitiesAt(rules, product, release, values, areaOf(point)))
}

/** A cell with what was sent, if anything was. */
function sentCell(value: Scalar | undefined): string {
  return csvCell(typeof value === 'boolean' ? String(value) : (value ?? null))
}

/** The same, where the text of a number is a number as somebody wrote it: no formula, whatever it begins with. */
function numberCell(value: Scalar | undefined): string {
  return typeof value === 'string' && typeof readNumber(value) === 'number' ? value : sentCell(value)
}

/** A value as text; NaN is none. */
function textOf(value: number, none: string): number | string {
  return Number.isNaN(value) ? none : value
}

/** A column a layer. */
function columnsOf(product: ProductDefinition, { layers }: ReleaseLabels): string[] {
  return layers.map((layer) => columnOf(product, layer, product.value.key))
}
