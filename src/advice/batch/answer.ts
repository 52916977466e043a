import type { FastifyReply, FastifyRequest, FastifySchemaValidationError } from 'fastify'
import type { BatchParameters, BatchPoint, SentLabels } from '#schemas/batch.ts'
import type { ErrorBody } from '#schemas/common.ts'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { validationError } from '#src/http/validation.ts'
import { isObject } from '#src/lib/collections.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { completed } from '#src/lib/promises.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Lookup, WorkInRelease } from '#src/lookup/lookup.ts'
import type { Position } from '#src/lookup/queries.ts'
import type { Reasons } from '#src/lookup/reasons.ts'
import { type LayerValues, positionOf, seriesOf } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { createSources, type Source, type Sources } from '#src/lookup/sources.ts'
import type { SentPoints } from './sent.ts'
import { isScalar, isShort, type Passage, type Writer } from './writers.ts'

/** The longest id and name, in characters: the schema's limits, which count code points. */
const MOST_CHARACTERS = 200

/** What a refused point is told by. */
const LABELS = ['name', 'lat', 'lng'] as const

/** A point that cannot be asked about. The others of its call can. */
export class RefusedPoint {
  readonly id: string | number | undefined
  readonly reason: ErrorBody
  /** What was sent of it, as far as it can be given back. */
  readonly sent: SentLabels

  constructor(error: ApiError, [id, ...labels]: unknown[]) {
    this.reason = error.body
    this.id = isId(id) ? id : undefined
    this.sent = Object.fromEntries(
      LABELS.flatMap((name, index) => {
        const label = labels[index]
        return isScalar(label, MOST_CHARACTERS) && label !== null ? [[name, label]] : []
      }),
    )
  }
}

/** A compiled schema: its errors are those of the last call. */
export interface Validator {
  (value: unknown): unknown
  errors?: FastifySchemaValidationError[] | null
}

/**
 * A point as it was sent, judged as the point endpoints judge theirs. Most points are found right by a
 * few comparisons; only what is not goes to the schema's validator, which knows what to say. An id or a name
 * that is null is left out.
 *
 * @param take takes what else the call wants of a point; the error where that is not there
 * @param note notes the names of an object that are not known
 */
export function readPoint(
  points: SentPoints,
  index: number,
  validate: Validator,
  take: (index: number) => ApiError | undefined,
  note: (named: object) => void,
): BatchPoint | RefusedPoint {
  const sent = points.at(index)
  const named = points.named(index, sent)
  if (isObject(named) && !(named instanceof ApiError)) note(named)
  const lacking = take(index)
  if (isObject(sent) && isPlainPoint(sent) && !lacking) return sent as BatchPoint
  const error = errorOf(sent, validate) ?? lacking
  if (error) return new RefusedPoint(error, points.membersOf(index, ['id', ...LABELS]))
  const { id, name, ...place } = sent as Record<string, unknown>
  return { ...place, id: id ?? undefined, name: name ?? undefined } as BatchPoint
}

function errorOf(sent: unknown, validate: Validator): ApiError | undefined {
  if (sent instanceof ApiError) return sent
  if (!isObject(sent)) return ApiError.invalid('point', 'must be an object')
  return validate(sent) ? undefined : validationError(validate.errors ?? [], sent)
}

/** Whether a point is right beyond doubt. A long text may be right all the same. */
function isPlainPoint({ id, lat, lng, name }: Record<string, unknown>): boolean {
  return (
    typeof lat === 'number' &&
    lat >= -90 &&
    lat <= 90 &&
    typeof lng === 'number' &&
    lng >= -180 &&
    lng <= 180 &&
    (id === undefined || isId(id)) &&
    (name === undefined || isShort(name, MOST_CHARACTERS))
  )
}

function isId(id: unknown): id is string | number {
  return typeof id === 'number' ? Math.abs(id) <= Number.MAX_SAFE_INTEGER : isShort(id, MOST_CHARACTERS)
}

/** How the work on a call gets on beside that on others. */
interface SliceTurns {
  clientKey: ClientKey
  /**
   * Works on a slice of the points when its turn comes.
   *
   * @throws {ApiError} where the client has gone away meanwhile
   */
  slice<Result>(work: () => Result): Promise<Result>
}

/**
 * Makes what lets the slices of all calls take turns, caller by caller and network by network: however many
 * calls there are, points are answered in between.
 */
export function createSliceTurns({ turns }: App): (call: FastifyRequest, reply: FastifyReply) => SliceTurns {
  return (call, reply) => {
    const clientKey = clientKeyOf(call)
    const signal = untilGone(reply)
    return {
      clientKey,
      async slice(work) {
        await turns.next(clientKey, signal)
        return work()
      },
    }
  }
}

/** So many points are worked on at a time: some milliseconds. In between, others have their turn. */
export const SLICE = { plain: 500, withQuantities: 50 } as const

/** How many points a call has, and how many of them are worked on at a time. */
export interface BatchSize {
  count: number
  slice: number
}

interface Slice {
  points: (BatchPoint | RefusedPoint)[]
  /** For each point that can be asked about. */
  sources: Source[]
  /** The same; null where there is no value. */
  values: (LayerValues | null)[]
}

/** What releases say at many points. */
interface BatchAdvice {
  snapshot: Snapshot
  /** Those that answer, of points in one country most often one. */
  sources: Source[]
  slices: Slice[]
}

/** What a call asks. */
interface Asked {
  product: ProductDefinition
  /** What it says of all points. */
  request: BatchParameters
  size: BatchSize
  /** Reads and judges a point. */
  pointAt: (index: number) => BatchPoint | RefusedPoint
}

/**
 * Looks up all points of a call, before anything is answered: whatever fails still fails as a whole.
 *
 * @param turns lets other calls have their turn
 * @param wait by which it is waited for the database, and not for turns
 * @throws {ApiError} where nothing is published for any of them
 */
export function adviseBatch(
  lookup: Lookup,
  { product, request, size: { count, slice: most }, pointAt }: Asked,
  { clientKey, slice }: SliceTurns,
  wait: Wait,
): Promise<BatchAdvice> {
  const series = seriesOf(product, request)
  const work: WorkInRelease<BatchAdvice> = async (snapshot, release) => {
    const sources = createSources(product, request, snapshot, release)
    const refuse = (series: Series) => wait(() => lookup.reasons.noRelease(snapshot, series))
    if (!release && !sources.byPlace) throw await refuse(series)
    const used = new Set<Source>()
    const slices: Slice[] = []
    for (let from = 0; from < count; from += most) {
      const { points, found } = await slice(() => {
        const length = Math.min(most, count - from)
        const points = Array.from({ length }, (_, index) => pointAt(from + index))
        const positions = points.filter(isAsked).map(positionOf)
        return { points, found: wait(() => find(snapshot, sources, positions)) }
      })
      const { ofPoints, values } = await found
      for (const source of ofPoints) used.add(source)
      slices.push({ points, sources: ofPoints, values })
    }
    if (used.size === 0) used.add(sources.of(null))
    const [first] = used as unknown as [Source]
    const answering = [...used]
    if (answering.every(({ release }) => !release)) throw await refuse(first.series)
    return { snapshot, sources: answering, slices }
  }

  async function find(snapshot: Snapshot, sources: Sources, positions: Position[]) {
    const ofPoints = await sourcesOf(snapshot, sources, positions)
    const [first] = ofPoints
    const areAlike = ofPoints.every((source) => source === first)
    const values = areAlike ? await valuesOf(first, positions) : await valuesByRelease(ofPoints, positions)
    return { ofPoints, values }
  }

  async function sourcesOf(snapshot: Snapshot, sources: Sources, positions: Position[]): Promise<Source[]> {
    const { countryFromMemory, country } = lookup.places
    if (!sources.byPlace) return positions.map(() => sources.of(null))
    const countries = await completed(
      positions.map((position) => countryFromMemory(snapshot, position)),
      (index) => country(snapshot, positions[index] as Position, clientKey),
    )
    return countries.map(sources.of)
  }

  async function valuesOf(
    source: Source | undefined,
    positions: Position[],
  ): Promise<(LayerValues | null)[]> {
    return source?.release ? lookup.valuesAt(source.release, positions, clientKey) : positions.map(() => null)
  }

  async function valuesByRelease(ofPoints: Source[], positions: Position[]): Promise<(LayerValues | null)[]> {
    const values: (LayerValues | null)[] = positions.map(() => null)
    const ofSource = async (source: Source) => {
      const places = [...positions.keys()].filter((place) => ofPoints[place] === source)
      const found = await valuesOf(
        source,
        places.map((place) => positions[place] as Position),
      )
      for (const [index, place] of places.entries()) values[place] = found[index] as LayerValues | null
    }
    await Promise.all([...new Set(ofPoints)].map(ofSource))
    return values
  }

  return lookup.inReleaseQueued(series, clientKey, work, wait)
}

function isAsked(point: BatchPoint | RefusedPoint): point is BatchPoint {
  return !(point instanceof RefusedPoint)
}

/**
 * The answer in pieces, in the order of the points. Slices are given up as they are written.
 * Why points have no value is asked for piece by piece; where that fails, so does the rest.
 *
 * @param turns lets other calls have their turn
 * @param wait by which it is waited for the database, and not for turns
 * @param passage has what is passed through; null for nothing
 */
export async function* writeAnswer(
  { noValue, noRelease }: Reasons,
  { snapshot, slices }: BatchAdvice,
  writer: Writer,
  { clientKey, slice: work }: SliceTurns,
  wait: Wait,
  passage: Passage | null,
): AsyncGenerator<Buffer> {
  let text = writer.opening
  let written = 0
  for (let slice = slices.shift(); slice; slice = slices.shift()) {
    const { points, sources, values } = slice
    const asked = values.includes(null) ? points.filter(isAsked) : []
    const without = [...asked.keys()].filter((index) => !values[index])
    const reasonOf = (index: number) => {
      const { series, release } = sources[index] as Source
      const position = positionOf(asked[index] as BatchPoint)
      return release ? noValue(snapshot, series, position, 'point', clientKey) : noRelease(snapshot, series)
    }
    const reasons = without.length > 0 ? await wait(() => Promise.all(without.map(reasonOf))) : []
    const last = slices.length === 0
    yield await work(() => {
      // To append is faster than to join: each piece is copied once, when all of them become bytes.
      forEachText(slice, reasons, writer, (item, isLast) => {
        text += passage ? writer.passing(item, passage.give(written++)) : item
        text += last && isLast ? writer.closing : writer.separator
      })
      return Buffer.from(text)
    })
    text = ''
  }
}

/**
 * Writes the answers of a slice, one after the other.
 *
 * @param reasons of the points that have no value, in their order
 */
function forEachText(
  { points, sources, values }: Slice,
  reasons: ApiError[],
  writer: Writer,
  give: (text: string, isLast: boolean) => void,
): void {
  let next = 0
  let nextReason = 0
  const textOf = (point: BatchPoint | RefusedPoint): string => {
    if (!isAsked(point)) return writer.refused(point)
    const own = writer.of(sources[next] as Source)
    const found = values[next++]
    return found ? own.answered(point, found) : own.without(point, (reasons[nextReason++] as ApiError).body)
  }
  for (const [index, point] of points.entries()) give(textOf(point), index === points.length - 1)
}
