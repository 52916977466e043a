import type { BatchPoint } from '#schemas/batch-forms.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS } from '#schemas/point-request.ts'
import { csvCell } from '#src/http/csv.ts'
import type { Form } from '#src/http/forms.ts'
import { readNumber } from '#src/http/parameters.ts'
import { closedWith, memberTexts, openText } from '#src/lib/json-text.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import { type ItemWriter, idMember, itemWriter } from '../lookup/item-writer.ts'
import { locationOf } from '../lookup/products.ts'
import type { ReleaseLabels } from '../lookup/queries.ts'
import { type Source, sharedMembers } from '../lookup/sources.ts'
import { dataWithQuantities } from '../quantities/sections.ts'
import { type Columns, headerOf, placesOf, type QuantitiesInBatch, quantityCells } from './columns.ts'
import type { Passed } from './passage.ts'
import type { Scalar } from './scalars.ts'

/** Writes the answers to points of one source. */
type OwnWriter = Pick<ItemWriter, 'answered' | 'without'>

/**
 * Writes the answer to many points in one form. Whatever is the same for all points of a release is
 * turned into text once; the rest is put between, in about a third of the time that making the objects
 * and JSON.stringify take.
 */
export interface Writer extends Pick<ItemWriter, 'refused'> {
  opening: string
  /** Between two items. */
  separator: string
  closing: string
  of(source: Source): OwnWriter
  /** An item with what is passed through. */
  passing(item: string, passed: Passed): string
}

/** What an answer is written of. */
export interface Written {
  product: ProductDefinition
  sources: readonly Source[]
  columns: Columns
  /** The names of what is passed through. */
  names: readonly string[]
  /** Null where none are asked for. */
  quantities: QuantitiesInBatch | null
  /** What is said of the whole call. */
  ofCall: object
}

export function createWriter(form: Form, written: Written): Writer {
  switch (form) {
    case 'application/json': {
      const { sources, ofCall } = written
      const members = memberTexts({ ...sharedMembers(sources), ...ofCall }).map((member) => `${member},`)
      return {
        ...itemsWriter(written),
        opening: `{${members.join('')}"items":[`,
        separator: ',',
        closing: ']}',
      }
    }
    case 'application/x-ndjson':
      return { ...itemsWriter(written), opening: '', separator: '\n', closing: '\n' }
    case 'text/csv':
      return tableWriter(written)
    case 'application/geo+json':
      return featureWriter(written)
  }
}

/** Makes what is made of each source once. Most points have that of the one before. */
function ofEachSource(make: (source: Source) => OwnWriter): Writer['of'] {
  const known = new Map<Source, OwnWriter>()
  let last: Source | undefined
  let own: OwnWriter
  return (source) => {
    if (source !== last) {
      own = known.get(source) ?? make(source)
      known.set(source, own)
      last = source
    }
    return own
  }
}

/** What is passed through has a member of its own, where no name can be one of ours. */
function itemsWriter({ product, names, quantities }: Written) {
  const membersOf = passedMembers(names)
  return {
    of: ofEachSource(({ release, members }) => ({
      ...itemWriter(product, release?.layers ?? [], members),
      ...(release && quantities && { answered: itemsWith(product, release, members, quantities) }),
    })),
    refused: itemWriter(product, [], {}).refused,
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
function featureWriter({ product, sources, columns, names, quantities, ofCall }: Written): Writer {
  const fragmentsOf = (list: string[]) => list.map((column) => `,${JSON.stringify(column)}:`)
  const [fragments, further] = [fragmentsOf(columns.layers), fragmentsOf(columns.quantities)]
  const reasonText = ({ error, code }: ErrorBody) => `"error":${JSON.stringify(error)},"code":"${code}"}}`
  const withoutValues = [...fragments, ...further].map((fragment) => `${fragment}null`).join('')
  const membersOf = passedMembers(names)
  const head = memberTexts({ type: 'FeatureCollection', ...sharedMembers(sources), ...ofCall })
  return {
    opening: `{${head.join()},"features":[`,
    separator: ',',
    closing: ']}',
    of: ofEachSource((source) => {
      const members = memberTexts(source.members).join(',')
      const start = ({ id, name = POINT_DEFAULTS.name, lat, lng }: BatchPoint) =>
        `{"type":"Feature",${idMember(id)}"geometry":{"type":"Point","coordinates":[${lng},${lat}]},"properties":{"name":${JSON.stringify(name)},${members}`
      const places = placesOf(product, columns, source)
      const cellsOf = quantityCells(product, columns, source, quantities)
      return {
        answered(point, values) {
          let text = start(point)
          for (let index = 0; index < fragments.length; index++)
            text += `${fragments[index]}${textOf(values[places[index] as number], 'null')}`
          const cells = cellsOf(point, values)
          for (const [index, cell] of cells.entries()) text += `${further[index]}${JSON.stringify(cell)}`
          return `${text}}}`
        },
        without: (point, reason) => `${start(point)}${withoutValues},${reasonText(reason)}`,
      }
    }),
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

/**
 * One row a point and one column a layer: what a data frame or a spreadsheet takes as it is. What is passed
 * through comes last.
 */
function tableWriter({ product, columns, names, quantities }: Written): Writer {
  const header = [...headerOf(columns), ...names]
  const empty = ','.repeat(columns.layers.length + columns.quantities.length)
  const emptyMembers = ','.repeat(columns.members.length)
  const reasonCells = ({ error, code }: ErrorBody) => `${csvCell(error)},${code}`
  return {
    opening: `${header.map(csvCell).join(',')}\r\n`,
    separator: '\r\n',
    closing: '\r\n',
    of: ofEachSource((source) => {
      const afterLng = columns.members.map((name) => `,${csvCell(source.members[name] ?? null)}`).join('')
      const start = ({ id, name = POINT_DEFAULTS.name, lat, lng }: BatchPoint) =>
        `${csvCell(id ?? null)},${csvCell(name)},${lat},${lng}${afterLng}`
      const places = placesOf(product, columns, source)
      const cellsOf = quantityCells(product, columns, source, quantities)
      return {
        answered(point, values) {
          let text = start(point)
          for (const place of places) text += `,${textOf(values[place], '')}`
          for (const cell of cellsOf(point, values)) text += `,${csvCell(cell)}`
          return `${text},,`
        },
        without: (point, reason) => `${start(point)}${empty},${reasonCells(reason)}`,
      }
    }),
    refused: ({ id, sent: { name, lat, lng }, reason }) =>
      `${csvCell(id ?? null)},${sentCell(name)},${numberCell(lat)},${numberCell(lng)}${emptyMembers}${empty},${reasonCells(reason)}`,
    passing: (item, passed) => `${item},${passed.map(numberCell)}`,
  }
}

/** The items of an answer, with what their entries come to. */
function itemsWith(
  product: ProductDefinition,
  release: ReleaseLabels,
  members: object,
  { rules, areaOf }: QuantitiesInBatch,
): ItemWriter['answered'] {
  return (point, values) => {
    const data = dataWithQuantities(rules, product, release, values, areaOf(point))
    return `{${idMember(point.id)}${JSON.stringify({ location: locationOf(point), ...members, ...data }).slice(1)}`
  }
}

/** A cell with what was sent, if anything was. */
function sentCell(value: Scalar | undefined): string {
  return csvCell(typeof value === 'boolean' ? String(value) : (value ?? null))
}

/** The same, where the text of a number is a number as somebody wrote it: no formula, whatever it begins with. */
function numberCell(value: Scalar | undefined): string {
  return typeof value === 'string' && typeof readNumber(value) === 'number' ? value : sentCell(value)
}

/** A value as text; NaN is none, and so is one of a column of other sources. */
function textOf(value: number | undefined, none: string): number | string {
  return value === undefined || Number.isNaN(value) ? none : value
}
