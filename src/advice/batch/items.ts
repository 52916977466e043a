import { type BatchPoint, PASS_LIMITS } from '#schemas/batch.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import type { Items } from '#src/http/format.ts'
import { type CsvValue, csvCell } from '#src/http/formats.ts'
import { readNumber } from '#src/http/parameters.ts'
import { closedWith, openText } from '#src/lib/json.ts'
import { makeSharedMembers, type SourceRelease } from '#src/lookup/places.ts'
import type { ReleaseLabels } from '#src/lookup/queries.ts'
import {
  describeLocation,
  type ItemWriter,
  idMember,
  itemWriter,
  type LayerValues,
  nameColumn,
} from '#src/lookup/releases.ts'
import { joinColumns, quantityColumns, writeFeature } from '../columns.ts'
import { dataWithQuantities, quantitiesAt } from '../quantities/compute.ts'
import type { FieldArea } from '../quantities/plan.ts'
import type { QuantityRules } from '../quantities/rules.ts'
import { isScalar, RefusedPoint, type Scalar, type SentPoints } from './sent.ts'

/** A point of a call, with the other values that the call needs of it. */
export interface ReadPoint {
  point: BatchPoint | RefusedPoint
  /** The values of `pass`; null without it. */
  passed: Passed | null
  /** For quantities; null without them. */
  area: FieldArea | null
}

/** A point and the answer to it. */
export interface PointItem extends ReadPoint {
  /** The source of the answer; undefined for an invalid point. */
  source: SourceRelease | undefined
  values: LayerValues | null
  /** The reason for no values. */
  reason: ErrorBody | undefined
}

/** Values of `pass`, in the order of its names; undefined for missing ones. */
type Passed = (Scalar | undefined)[]

/** The answers of a call. */
interface PointAnswers {
  product: ProductDefinition
  sources: readonly SourceRelease[]
  /** The names in `pass`. */
  passNames: readonly string[]
  rules: QuantityRules | null
  /** Members of the whole answer beside those of the sources. */
  members: object
}

/** JSON is put together from texts that all points of a source share, in a third of the time of JSON.stringify. */
export function createPointItems(answers: PointAnswers): Items<PointItem> {
  const { product, sources, passNames, rules, members } = answers
  const memberNames = [...new Set(sources.flatMap((source) => Object.keys(source.members)))]
  const layers = joinColumns<LayerValues>(sources, (release) => ({
    names: release.layers.map((layer) => nameColumn(product, layer, product.value.key)),
    cellsOf: (values) => values.map((value) => (Number.isNaN(value) ? null : value)),
  }))
  const quantities = joinColumns(rules ? sources : [], (release) =>
    quantityColumns(rules as QuantityRules, product, release),
  )
  const own = [
    'id',
    'name',
    'lat',
    'lng',
    ...memberNames,
    ...layers.names,
    ...quantities.names,
    'error',
    'code',
  ]
  refuseOwnNames(passNames, own)
  const formatPassed = createPassedMembers(passNames)

  /** The cells of an item by their columns. */
  function listCells({ point, source, values, reason, area }: PointItem): Record<string, CsvValue> {
    if (point instanceof RefusedPoint) return { ...point.sent, ...pickReason(point.reason) }
    const { name = POINT_DEFAULTS.name, lat, lng } = point
    const { release, members } = source as SourceRelease
    const figures =
      rules && release && values ? quantitiesAt(rules, product, release, values, area as FieldArea) : null
    return {
      name,
      lat,
      lng,
      ...members,
      ...layers.readCells(release, values),
      ...quantities.readCells(release, figures),
      ...(reason && pickReason(reason)),
    }
  }

  function makeFeature(item: PointItem): string {
    const { point } = item
    if (point instanceof RefusedPoint) return writeFeature(point.id, 'null', listCells(item))
    const { lat, lng, ...properties } = listCells(item)
    return writeFeature(point.id, `{"type":"Point","coordinates":[${lng},${lat}]}`, properties)
  }

  return {
    members: { ...makeSharedMembers(sources), ...members },
    columns: [...own, ...passNames],
    object: createObjectWriter(answers, formatPassed),
    feature(item) {
      const feature = makeFeature(item)
      const passed = item.passed && formatPassed(item.passed)
      return passed ? `${feature.slice(0, -2)},${passed}}}` : feature
    },
    rows(item) {
      const cells: Record<string, CsvValue> = { ...listCells(item), id: item.point.id ?? null }
      const formatCell = (column: string) =>
        NUMBERS.includes(column) ? formatNumberCell(cells[column]) : csvCell(cells[column] ?? null)
      return `${[...own.map(formatCell), ...(item.passed ?? []).map(formatNumberCell)].join()}\r\n`
    },
  }
}

/** The columns that repeat numbers as they were sent. */
const NUMBERS = ['lat', 'lng']

const pickReason = ({ error, code }: ErrorBody) => ({ error, code })

/** Refuses names that differ from others by case alone, as databases and spreadsheets ignore it. */
function refuseOwnNames(names: readonly string[], own: readonly string[]): void {
  const taken = new Set(own.map((name) => name.toLowerCase()))
  const name = names.find((candidate) => taken.has(candidate.toLowerCase()))
  if (name !== undefined) throw ApiError.invalid('pass', `must not name ${name}, which the answer has anyway`)
}

/** Makes the writer of items as objects of JSON. */
function createObjectWriter(
  { product, rules }: PointAnswers,
  formatPassed: (passed: Passed) => string,
): Items<PointItem>['object'] {
  const writers = new Map<SourceRelease, ItemWriter>()
  const { refused } = itemWriter(product, [], {})

  function writerOf(source: SourceRelease): ItemWriter {
    const known = writers.get(source)
    if (known) return known
    const writer = itemWriter(product, source.release?.layers ?? [], source.members)
    writers.set(source, writer)
    return writer
  }

  function writeAnswer({ point, source, values, reason, area }: PointItem): string {
    if (point instanceof RefusedPoint) return refused(point)
    const { release, members } = source as SourceRelease
    const writer = writerOf(source as SourceRelease)
    if (!values) return writer.without(point, reason as ErrorBody)
    if (!rules) return writer.answered(point, values)
    const data = dataWithQuantities(rules, product, release as ReleaseLabels, values, area as FieldArea)
    const answer = { location: describeLocation(point), ...members, ...data }
    return `{${idMember(point.id)}${JSON.stringify(answer).slice(1)}`
  }

  return (item) => {
    const text = writeAnswer(item)
    // The answer has no member `pass`, so its names are free in there.
    return item.passed ? closedWith(openText(text), `"pass":{${formatPassed(item.passed)}}`) : text
  }
}

function createPassedMembers(names: readonly string[]): (passed: Passed) => string {
  const fragments = names.map((name) => `${JSON.stringify(name)}:`)
  return (passed) =>
    passed
      .flatMap((value, index) => (value === undefined ? [] : fragments[index] + JSON.stringify(value)))
      .join(',')
}

/** A cell where the text of a number is no formula. */
function formatNumberCell(value: Scalar | undefined): string {
  return typeof value === 'string' && typeof readNumber(value) === 'number' ? value : csvCell(value ?? null)
}

/** Makes the reader of the values that `pass` names; the error is for one that cannot be repeated, and is left out. */
export function createPassReader(points: SentPoints, names: readonly string[]) {
  refuseUnknown(points.columns, names)
  return (index: number): { passed: Passed; error: ApiError | undefined } => {
    const members = points.membersOf(index, names)
    const wrong = members.findIndex((member) => !isPassable(member))
    const error = wrong === -1 ? undefined : ApiError.invalid(names[wrong] as string, RULE)
    return { passed: members.map((member) => (isPassable(member) ? member : undefined)), error }
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
