import { type BatchParameters, type BatchPoint, PASS_LIMITS } from '#schemas/batch.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS } from '#schemas/point-request.ts'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import { type CsvValue, csvCell, type Items } from '#src/http/formats.ts'
import { readNumber } from '#src/http/parameters.ts'
import { openText } from '#src/lib/json.ts'
import type { ClientKey, Pause } from '#src/lib/limiter.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import { createReleaseWriter, idMember, type ReleaseWriter } from '#src/lookup/answer-text.ts'
import { conditionError } from '#src/lookup/conditions.ts'
import type { LayerValues, ReleaseLabels } from '#src/lookup/entries.ts'
import type { ConditionedPosition, Lookup, Reasons, WorkInRelease } from '#src/lookup/lookup.ts'
import { createSources, makeSharedMembers, type SourceRelease } from '#src/lookup/places.ts'
import { describeLocation, type PublishedRelease, positionOf, readSeries } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { joinColumns, valueColumns, writeFeature } from '../columns.ts'
import { quantityColumns } from '../quantities/columns.ts'
import { dataWithQuantities, type QuantityRules, quantitiesAt } from '../quantities/compute.ts'
import type { FieldArea } from '../quantities/plan.ts'
import { isScalar, RefusedPoint, type Scalar, type SentPoints } from './sent.ts'

export interface ReadPoint {
  point: BatchPoint | RefusedPoint
  passed: Passed | null
  /** For quantities; null without them. */
  area: FieldArea | null
}

export interface PointItem extends ReadPoint {
  /** The source of the answer; undefined for an invalid point. */
  source: SourceRelease | undefined
  values: LayerValues | null
  reason: ErrorBody | undefined
}

/** Values of `pass`, in the order of its names; undefined for missing ones. */
type Passed = (Scalar | undefined)[]

interface PointAnswers {
  product: ProductDefinition
  sources: readonly SourceRelease[]
  passNames: readonly string[]
  rules: QuantityRules | null
  /** As the call asks for. */
  condition: string | undefined
  /** Members of the whole answer beside those of the sources. */
  members: object
}

/** JSON is put together from texts that all points of a source share, in a third of the time of JSON.stringify. */
export function createPointItems(answers: PointAnswers): Items<PointItem> {
  const { product, sources, passNames, rules, members } = answers
  const memberNames = [...new Set(sources.flatMap((source) => Object.keys(source.members)))]
  const layers = joinColumns(sources, (release) => valueColumns(product, release, answers.condition))
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
  // Databases and spreadsheets ignore case.
  const taken = new Set(own.map((name) => name.toLowerCase()))
  const twice = passNames.find((name) => taken.has(name.toLowerCase()))
  if (twice !== undefined)
    throw ApiError.invalid('pass', `must not name ${twice}, which the answer has anyway`)
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

function createObjectWriter(
  { product, rules, sources }: PointAnswers,
  formatPassed: (passed: Passed) => string,
): Items<PointItem>['object'] {
  const writers = new Map(
    sources.map((source) => [source, createReleaseWriter(product, source.release ?? null, source.members)]),
  )

  function writeAnswer({ point, source, values, reason, area }: PointItem): string {
    if (point instanceof RefusedPoint) {
      const { id, sent, reason } = point
      return JSON.stringify({ id, ...(Object.keys(sent).length > 0 && { sent }), ...reason })
    }
    const { release, members } = source as SourceRelease
    const writer = writers.get(source as SourceRelease) as ReleaseWriter
    if (!values) return writer.writeReason(point, reason as ErrorBody)
    if (!rules) return writer.writePoint(point, values)
    const data = dataWithQuantities(rules, product, release as ReleaseLabels, values, area as FieldArea)
    const answer = { location: describeLocation(point), ...members, ...data }
    return `{${idMember(point.id)}${JSON.stringify(answer).slice(1)}`
  }

  return (item) => {
    const text = writeAnswer(item)
    // The answer has no member `pass`, so its names are free in there.
    return item.passed ? `${openText(text)},"pass":{${formatPassed(item.passed)}}}` : text
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
export async function createPassReader(points: SentPoints, names: readonly string[], pause: Pause) {
  refuseUnknown(points.table?.columns, names)
  const rounded = await points.roundedNumbers(names, pause)
  return (index: number): { passed: Passed; error: ApiError | undefined } => {
    const members = points.membersOf(index, names)
    const wrong = members.findIndex((member) => rounded.has(member) || !isPassable(member))
    const error = wrong === -1 ? undefined : ApiError.invalid(names[wrong] as string, RULE)
    return { passed: members.map((member) => (isPassable(member) ? member : undefined)), error }
  }
}

const RULE = `must be a text of at most ${PASS_LIMITS.characters} characters, a number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, true, false or null to be passed`

function isPassable(member: unknown): member is Scalar | undefined {
  return member === undefined || isScalar(member, PASS_LIMITS.characters)
}

function refuseUnknown(columns: string[] | undefined, names: readonly string[]): void {
  for (const name of columns ? names : []) {
    const count = columns?.filter((column) => column === name).length
    if (count === 1) continue
    throw ApiError.invalid(
      'pass',
      `names ${name}, which ${count === 0 ? 'no column is' : 'several columns are'} called`,
    )
  }
}

/** Points of a slice, which takes a millisecond or two. Other requests go on between two slices. */
export const SLICE = { plain: 250, withQuantities: 50 } as const

/** Slices of an answer that is sent in one piece. */
export const MOST_IN_ONE_PIECE = 2

/** Points that are read between two pauses: their lines may be long, or no JSON. */
const READ_AT_ONCE = 5

interface Slice {
  points: ReadPoint[]
  /** The source of each valid point. */
  sources: SourceRelease[]
  /** The values of each valid point; null for none. */
  values: (LayerValues | null)[]
}

export interface BatchAdvice {
  snapshot: Snapshot
  /** The sources that answer: one, if all points lie in one country. */
  sources: SourceRelease[]
  slices: Slice[]
}

export interface BatchQuestion {
  product: ProductDefinition
  request: BatchParameters
  count: number
  sliceLength: number
  pointAt: (index: number) => ReadPoint
  /** Lets other requests proceed. */
  pause: Pause
}

/** Looks up all points before the answer begins, so that an error still fails the whole call. */
export function adviseBatch(
  lookup: Lookup,
  { product, request, count, sliceLength, pointAt, pause }: BatchQuestion,
  clientKey: ClientKey,
  wait: Wait,
): Promise<BatchAdvice> {
  const series = readSeries(product, request)
  const work: WorkInRelease<BatchAdvice> = async (snapshot, release) => {
    const sources = createSources(product, request, snapshot, release)
    const refuse = (series: Series) => wait(() => lookup.reasons.noRelease(snapshot, series))
    if (!release && !sources.byPlace) throw await refuse(series)
    const used = new Set<SourceRelease>()
    const slices: Slice[] = []
    for (let from = 0; from < count; from += sliceLength) {
      const points: ReadPoint[] = []
      for (let index = from; index < Math.min(from + sliceLength, count); index++) {
        if (points.length % READ_AT_ONCE === 0) await pause()
        points.push(pointAt(index))
      }
      const positions = points.flatMap(validIn).map(({ lat, lng, condition }) => ({
        longitude: lng,
        latitude: lat,
        // A point's own condition comes before that of all.
        condition: condition ?? request.condition,
      }))
      const slice = await wait(async () => {
        const found = sources.byPlace
          ? (await lookup.places.findCountries(snapshot, positions)).map(sources.of)
          : positions.map(() => sources.of(null))
        return {
          points,
          sources: found,
          values: await findValues(lookup, found, positions),
        }
      })
      for (const source of slice.sources) used.add(source)
      slices.push(slice)
    }
    if (used.size === 0) used.add(sources.of(null))
    const [first] = used as unknown as [SourceRelease]
    const answering = [...used]
    if (answering.every(({ release }) => !release)) throw await refuse(first.series)
    return { snapshot, sources: answering, slices }
  }
  return lookup.inReleaseQueued(series, clientKey, work, wait)
}

/** The values at positions; null for none. */
async function findValues(lookup: Lookup, sources: SourceRelease[], positions: ConditionedPosition[]) {
  const values: (LayerValues | null)[] = positions.map(() => null)
  const isKnown = (release: PublishedRelease, index: number) =>
    !conditionError(release, positions[index]?.condition)
  const fill = async (source: SourceRelease) => {
    const { release } = source
    if (!release) return
    const indexes = [...positions.keys()].filter(
      (index) => sources[index] === source && isKnown(release, index),
    )
    const own = indexes.map((index) => positions[index] as ConditionedPosition)
    const found = (await lookup.valuesAt(release, own)).values()
    for (const index of indexes) values[index] = found.next().value as LayerValues | null
  }
  await Promise.all([...new Set(sources)].map(fill))
  return values
}

function validIn({ point }: ReadPoint): BatchPoint[] {
  return point instanceof RefusedPoint ? [] : [point]
}

/** Each slice is dropped when its items are written. Reasons are looked up slice by slice. */
export async function* listItems(
  { noValue, noRelease }: Reasons,
  { snapshot, slices }: BatchAdvice,
  wait: Wait,
): AsyncGenerator<PointItem[]> {
  for (let slice = slices.shift(); slice; slice = slices.shift()) {
    const { points, sources, values } = slice
    const valid = values.includes(null) ? points.flatMap(validIn) : []
    const without = [...valid.keys()].filter((index) => !values[index])
    const findReason = (index: number) => {
      const { series, release } = sources[index] as SourceRelease
      const point = valid[index] as BatchPoint
      const position = positionOf(point)
      const error = release && conditionError(release, point.condition)
      if (error) return error
      return release ? noValue(snapshot, series, position, 'point') : noRelease(snapshot, series)
    }
    const found = without.length > 0 ? await wait(() => Promise.all(without.map(findReason))) : []
    const reasons = found.map(({ body }) => body).values()
    let next = 0
    // Spreading an item takes 2 µs.
    yield points.map(({ point, passed, area }) => {
      if (point instanceof RefusedPoint)
        return { point, passed, area, source: undefined, values: null, reason: undefined }
      const source = sources[next]
      const own = values[next++] ?? null
      return { point, passed, area, source, values: own, reason: own ? undefined : reasons.next().value }
    })
  }
}
