import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import type { Advisors } from '#src/advice/polygon/advisors.ts'
import type { Waiting } from '#src/advice/polygon/computing.ts'
import { readGeoJson } from '#src/advice/polygon/geometry.ts'
import { createBackgroundWork } from '#src/advice/polygons/work.ts'
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
import type { WatchedValue } from '../fields/schemas.ts'
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
