import { POINT_DEFAULTS } from '#schemas/advisory.ts'
import type { BatchPoint } from '#schemas/batch-forms.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { csvCell } from '#src/http/csv.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { type ItemWriter, idMember, itemWriter, memberTexts } from '../lookup/item-writer.ts'
import { labelsOf, releaseMembers } from '../lookup/products.ts'
import type { LayerLabel, ReleaseLabels } from '../lookup/queries.ts'
import type { Form } from './sent.ts'

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
}

/** The writer of a form, for the answers of a release. */
export function createWriter(form: Form, product: ProductDefinition, release: ReleaseLabels): Writer {
  switch (form) {
    case 'application/json':
      return {
        ...itemWriter(product, release),
        opening: `{${memberTexts(releaseMembers(release)).join(',')},"items":[`,
        separator: ',',
        closing: ']}',
      }
    case 'application/x-ndjson':
      return { ...itemWriter(product, release), opening: '', separator: '\n', closing: '\n' }
    case 'text/csv':
      return tableWriter(product, release)
    case 'application/geo+json':
      return featureWriter(product, release)
  }
}

/** Properties are flat, as map programs want them: one a layer. */
function featureWriter(product: ProductDefinition, release: ReleaseLabels): Writer {
  const fragments = columnsOf(product, release).map((column) => `,${JSON.stringify(column)}:`)
  const members = memberTexts(releaseMembers(release)).join(',')
  const start = ({ id, name = POINT_DEFAULTS.name, lat, lng }: BatchPoint) =>
    `{"type":"Feature",${idMember(id)}"geometry":{"type":"Point","coordinates":[${lng},${lat}]},"properties":{"name":${JSON.stringify(name)},${members}`
  const reasonText = ({ error, code }: ErrorBody) => `"error":${JSON.stringify(error)},"code":"${code}"}}`
  const withoutValues = fragments.map((fragment) => `${fragment}null`).join('')
  return {
    opening: `{"type":"FeatureCollection",${members},"features":[`,
    separator: ',',
    closing: ']}',
    answered(point, values) {
      let text = start(point)
      for (let index = 0; index < fragments.length; index++)
        text += `${fragments[index]}${textOf(values[index] as number, 'null')}`
      return `${text}}}`
    },
    without: (point, reason) => `${start(point)}${withoutValues},${reasonText(reason)}`,
    refused: ({ id, reason }) =>
      `{"type":"Feature",${idMember(id)}"geometry":null,"properties":{${reasonText(reason)}`,
  }
}

/** One row a point and one column a layer: what a data frame or a spreadsheet takes as it is. */
function tableWriter(product: ProductDefinition, release: ReleaseLabels): Writer {
  const members = releaseMembers(release)
  const columns = columnsOf(product, release)
  const header = ['id', 'name', 'lat', 'lng', ...Object.keys(members), ...columns, 'error', 'code']
  const cells = Object.values(members).map((cell) => `,${csvCell(cell)}`)
  const afterLng = cells.join('')
  const start = ({ id, name = POINT_DEFAULTS.name, lat, lng }: BatchPoint) =>
    `${csvCell(id ?? null)},${csvCell(name)},${lat},${lng}${afterLng}`
  const empty = ','.repeat(columns.length)
  const emptyPlace = ','.repeat(3 + cells.length)
  const reasonCells = ({ error, code }: ErrorBody) => `${csvCell(error)},${code}`
  return {
    opening: `${header.map(csvCell).join(',')}\r\n`,
    separator: '\r\n',
    closing: '\r\n',
    answered(point, values) {
      let text = start(point)
      for (let index = 0; index < columns.length; index++) text += `,${textOf(values[index] as number, '')}`
      return `${text},,`
    },
    without: (point, reason) => `${start(point)}${empty},${reasonCells(reason)}`,
    refused: ({ id, reason }) => `${csvCell(id ?? null)}${emptyPlace}${empty},${reasonCells(reason)}`,
  }
}

/** A value as text; NaN is none. */
function textOf(value: number, none: string): number | string {
  return Number.isNaN(value) ? none : value
}

/** A column a layer: its value's key, which says the unit, and what tells it from the others. */
function columnsOf(product: ProductDefinition, { layers }: ReleaseLabels): string[] {
  return layers.map((layer: LayerLabel) =>
    [product.value.key, ...Object.values(labelsOf(product, layer)).filter((label) => label !== null)].join(
      ' ',
    ),
  )
}
