import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import type { Threshold, WatchedValue } from '#schemas/subscriptions.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { type ClientKey, EVERYBODY } from '#src/lib/limiter.ts'
import { round } from '#src/lib/round.ts'
import { conditionMember } from '#src/lookup/conditions.ts'
import type { ReleaseLabels } from '#src/lookup/entries.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { LayerLabel } from '#src/lookup/queries.ts'
import { readSeries } from '#src/lookup/releases.ts'
import type { Advisors } from '../polygon/advisors.ts'
import type { Waiting } from '../polygon/computing.ts'
import { readGeoJson } from '../polygon/geometry.ts'
import { createBackgroundWork } from '../polygons/work.ts'
import type { WatchedPlace } from './queries.ts'

interface PlaceQuestion {
  series: Series
  place: WatchedPlace
}

/** At a point, or the means elsewhere. */
interface PlaceReading {
  release: string
  /** Layers without a value are left out. */
  values: WatchedValue[]
}

type SeriesRequest = Parameters<typeof readSeries>[1]

export type PlaceReader = ReturnType<typeof createPlaceReader>

/** Errors of a release without a value at the place. */
const NO_VALUE = new Set(['NO_DATA', 'OUTSIDE_COUNTRY', 'UNKNOWN_AREA', 'NO_RELEASE'])

export function createPlaceReader(app: App, lookup: Lookup, advisors: Advisors) {
  const { adviseWithTimeout } = advisors

  async function readPoint({ series, place }: PlaceQuestion, clientKey: ClientKey): Promise<PlaceReading> {
    const { lat, lng } = place as { lat: number; lng: number }
    const outcome = await lookup.advise(series, { longitude: lng, latitude: lat }, clientKey)
    if (outcome instanceof ApiError) throw outcome
    const { release, values } = outcome
    return { release: release.code, values: listValues(release, values) }
  }

  async function readShape({ series, place }: PlaceQuestion, waiting: Waiting): Promise<PlaceReading> {
    const where =
      place.type === 'area'
        ? { ...place, countryCode: series.countryCode }
        : readGeoJson({ value: (place as { geometry: object }).geometry, at: 'geometry' })
    const { release, statistics } = await advisors.advise(series, where, null, waiting)
    const means = statistics.layers.map((layer) => layer?.mean ?? Number.NaN)
    return { release: release.code, values: listValues(release, means) }
  }

  async function readWithoutRequest(question: PlaceQuestion, closing: AbortSignal): Promise<PlaceReading> {
    if (question.place.type === 'point') return readPoint(question, EVERYBODY)
    const { advise } = createBackgroundWork(app, 'subscriptions', closing)
    return advise((waiting) => readShape(question, waiting))
  }

  return {
    /** The series of a request, with defaults and the code of the crop. */
    async findSeries(product: ProductDefinition, request: SeriesRequest): Promise<Series> {
      const series = readSeries(product, request)
      const { cropNamed } = await lookup.current()
      return { ...series, cropCode: cropNamed(series.cropCode) }
    },
    /** @throws {ApiError} with the reason for no value */
    readForRequest: (
      question: PlaceQuestion,
      request: FastifyRequest,
      reply: FastifyReply,
    ): Promise<PlaceReading> =>
      question.place.type === 'point'
        ? withTimeout(request, reply, () => readPoint(question, clientKeyOf(request)))
        : adviseWithTimeout(request, reply, (waiting) => readShape(question, waiting)),
    /** Reads the answering release; undefined where this process does not see it yet. */
    async readInBackground(
      question: PlaceQuestion,
      release: string,
      signal: AbortSignal,
    ): Promise<WatchedValue[] | undefined> {
      // The snapshot may be seconds old, and never goes back.
      const answering = await lookup.inRelease(question.series, async (_, published) => published?.code)
      if (answering !== release) return undefined
      try {
        const reading = await readWithoutRequest(question, signal)
        return reading.release === release ? reading.values : undefined
      } catch (error) {
        if (error instanceof ApiError && NO_VALUE.has(error.code)) return []
        throw error
      }
    },
  }
}

/** @param values in the order of the layers, NaN for none */
function listValues({ layers }: ReleaseLabels, values: readonly number[]): WatchedValue[] {
  return layers.flatMap((layer: LayerLabel, index) => {
    const value = values[index] as number
    const { input, scenario, decimals } = layer
    const named = { input, scenario, ...conditionMember(layer) }
    return Number.isNaN(value) ? [] : [{ ...named, value: round(value, decimals) }]
  })
}

export interface ValueChange {
  input: string | null
  scenario: string | null
  condition?: string
  /** Null without a value. */
  before: number | null
  /** Null without a value. */
  after: number | null
  /** After minus before; null where one of them is missing. */
  change: number | null
  /** The same in percent of the value before; null where that is 0 or one is missing. */
  change_percent: number | null
}

/** Differences of decimal values have no digits beyond these. */
const SIGNIFICANT_DIGITS = 12

/** Null selects all. */
export interface WatchedLayers {
  input: string | null
  scenario: string | null
}

export function selectWatched<Layer extends WatchedLayers>(
  values: readonly Layer[],
  { input, scenario }: WatchedLayers,
): Layer[] {
  return values.filter(
    (value) =>
      (input === null || value.input === input) && (scenario === null || value.scenario === scenario),
  )
}

/** @throws {ApiError} INVALID_PARAMETERS where none of the layers is selected, with the names that there are */
export function refuseUnknownLayer(layers: readonly WatchedLayers[], watched: WatchedLayers): void {
  if (selectWatched(layers, watched).length > 0) return
  const { input } = watched
  const field = input !== null && !layers.some((layer) => layer.input === input) ? 'input' : 'scenario'
  const names = [...new Set(layers.map((layer) => layer[field]))].filter((name) => name !== null)
  if (names.length === 0) throw ApiError.invalid(field, 'must be left out: the product has none')
  throw ApiError.invalid(field, `must be one of ${names.join(', ')}, or left out`, names)
}

/** Changes over a threshold. A value that comes or goes has changed, whatever the threshold. */
export function findChanges(
  threshold: Threshold,
  notified: readonly WatchedValue[],
  now: readonly WatchedValue[],
): ValueChange[] {
  const before = new Map(notified.map((value) => [keyOf(value), value.value]))
  const current = new Set(now.map(keyOf))
  const present = now.map((value) => compareValues(value, before.get(keyOf(value)) ?? null, value.value))
  const missing = notified
    .filter((value) => !current.has(keyOf(value)))
    .map((value) => compareValues(value, value.value, null))
  return [...present, ...missing].filter((change) => isOver(threshold, change))
}

/** Smaller changes keep their old value, so that small steps add up. */
export function updateNotified(
  notified: readonly WatchedValue[],
  now: readonly WatchedValue[],
  changes: readonly ValueChange[],
): WatchedValue[] {
  const before = new Map(notified.map((value) => [keyOf(value), value]))
  const changed = new Set(changes.map(keyOf))
  return now.map((value) => (changed.has(keyOf(value)) ? value : (before.get(keyOf(value)) ?? value)))
}

const keyOf = ({ input, scenario }: Pick<WatchedValue, 'input' | 'scenario'>) =>
  JSON.stringify([input, scenario])

export function compareValues(value: WatchedValue, before: number | null, after: number | null): ValueChange {
  const change = before === null || after === null ? null : decimal(after - before)
  const change_percent = change === null || !before ? null : decimal((100 * change) / Math.abs(before))
  const { input, scenario } = value
  return { input, scenario, ...conditionMember(value), before, after, change, change_percent }
}

function decimal(value: number): number {
  return Number(value.toPrecision(SIGNIFICANT_DIGITS))
}

function isOver({ kind, value }: Threshold, { change, change_percent }: ValueChange): boolean {
  if (change === null) return true
  if (kind === 'absolute') return Math.abs(change) > value
  // Any change from 0 is over any percentage.
  return change_percent === null ? change !== 0 : Math.abs(change_percent) > value
}
