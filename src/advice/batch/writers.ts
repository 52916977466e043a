import { type BatchPoint, PASS_LIMITS } from '#schemas/batch.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import { csvCell, type Form } from '#src/http/formats.ts'
import { readNumber } from '#src/http/parameters.ts'
import { closedWith, memberTexts, openText } from '#src/lib/json.ts'
import type { ReleaseLabels } from '#src/lookup/queries.ts'
import {
  columnOf,
  type ItemWriter,
  idMember,
  itemWriter,
  type LayerValues,
  locationOf,
} from '#src/lookup/releases.ts'
import { type Source, sharedMembers } from '#src/lookup/sources.ts'
import { type QuantityCell, quantityColumns } from '../quantities/columns.ts'
import { dataWithQuantities, quantitiesAt } from '../quantities/compute.ts'
import type { Area } from '../quantities/plan.ts'
import type { QuantityRules } from '../quantities/rules.ts'
import type { SentPoints } from './sent.ts'

/** What it takes to tell the quantities of a call's points. */
interface QuantitiesInBatch {
  rules: QuantityRules
  areaOf(point: BatchPoint): Area
}

/** What the forms of answers have of all points of a call, by the names that tables have for it. */
interface Columns {
  /** What is said of sources. */
  members: string[]
  layers: string[]
  quantities: string[]
}

export function columnsOf(
  product: ProductDefinition,
  sources: readonly Source[],
  quantities: QuantitiesInBatch | null,
): Columns {
  const ofEach = (names: (source: Source) => string[]) => [...new Set(sources.flatMap(names))]
  return {
    members: ofEach(({ members }) => Object.keys(members)),
    layers: ofEach(({ release }) => layersOf(product, release)),
    quantities: ofEach(({ release }) =>
      release && quantities ? quantityColumns(quantities.rules, product, release).names : [],
    ),
  }
}

/** The columns of a table; what else the forms of answers have of a point is called the same. */
export function headerOf({ members, layers, quantities }: Columns): string[] {
  return ['id', 'name', 'lat', 'lng', ...members, ...layers, ...quantities, 'error', 'code']
}

/** What stands in the columns of quantities. */
function quantityCells(
  product: ProductDefinition,
  { quantities: names }: Columns,
  { release }: Source,
  quantities: QuantitiesInBatch | null,
): (point: BatchPoint, values: LayerValues) => QuantityCell[] {
  if (!release || !quantities) return () => []
  const { rules, areaOf } = quantities
  const own = quantityColumns(rules, product, release)
  const places = names.map((name) => own.names.indexOf(name))
  return (point, values) => {
    const cells = own.cellsOf(quantitiesAt(rules, product, release, values, areaOf(point)))
    return places.map((place) => cells[place] ?? null)
  }
}

/** Where the values of a source are, column by column. */
function placesOf(product: ProductDefinition, { layers }: Columns, { release }: Source): number[] {
  const own = layersOf(product, release)
  return layers.map((column) => own.indexOf(column))
}

/** A column a layer. */
function layersOf(product: ProductDefinition, release: ReleaseLabels | undefined): string[] {
  return (release?.layers ?? []).map((layer) => columnOf(product, layer, product.value.key))
}

/** What is given back as it was sent. */
type Scalar = string | number | boolean | null

/** Whether a value is one that can be given back unchanged, and is not long. */
export function isScalar(value: unknown, mostCharacters: number): value is Scalar {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return value === null || typeof value === 'boolean' || isShort(value, mostCharacters)
}

/** Whether a value is text that can be stored and sent, and is not long. */
export function isShort(value: unknown, mostCharacters: number): value is string {
  return (
    typeof value === 'string' &&
    value.length <= mostCharacters &&
    !value.includes('\0') &&
    value.isWellFormed()
  )
}

/** What is passed through of a point, in the order of the names; undefined for what it does not have. */
type Passed = (Scalar | undefined)[]

/** Carries what else was sent of points to their answers: columns and properties that are none of ours. */
export interface Passage {
  names: readonly string[]
  /** Takes what a point has; the error where something cannot be passed, and is left behind. */
  take(index: number): ApiError | undefined
  /** Gives up what was taken of a point. */
  give(index: number): Passed
}

/**
 * Makes the passage of a call.
 *
 * @throws {ApiError} INVALID_PARAMETERS, where a name is of no column of a table, or of two
 */
export function createPassage(points: SentPoints, names: readonly string[]): Passage {
  refuseUnknown(points.columns, names)
  const taken = new Map<number, Passed>()
  return {
    names,
    take(index) {
      const members = points.membersOf(index, names)
      const passed = members.map((member) => (isPassable(member) ? member : undefined))
      taken.set(index, passed)
      const wrong = members.findIndex((member) => !isPassable(member))
      return wrong === -1 ? undefined : ApiError.invalid(names[wrong] as string, RULE)
    },
    give(index) {
      const passed = taken.get(index) as Passed
      taken.delete(index)
      return passed
    },
  }
}

const RULE = `must be a text of at most ${PASS_LIMITS.characters} characters, a number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, true, false or null to be passed`

function isPassable(member: unknown): member is Scalar | undefined {
  return member === undefined || isScalar(member, PASS_LIMITS.characters)
}

function refuseUnknown(columns: string[] | null, names: readonly string[]): void {
  for (const name of columns === null ? [] : names) {
    const count = (columns as string[]).filter((column) => column === name).length
    if (count === 1) continue
    throw ApiError.invalid(
      'pass',
      `names ${name}, which ${count === 0 ? 'no column is' : 'several columns are'} called`,
    )
  }
}

/**
 * Refuses what would stand beside something of ours by the same name, whatever its case: databases and
 * spreadsheets take both for one.
 *
 * @param own what answers call their own
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function refuseOwnNames(names: readonly string[], own: readonly string[]): void {
  const taken = new Set(own.map((name) => name.toLowerCase()))
  const name = names.find((candidate) => taken.has(candidate.toLowerCase()))
  if (name !== undefined) throw ApiError.invalid('pass', `must not name ${name}, which the answer has anyway`)
}

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
interface Written {
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
