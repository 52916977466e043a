import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import type { WatchedValue } from '#schemas/subscriptions.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { tooSlow, withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { type ClientKey, EVERYBODY } from '#src/lib/fair-queue.ts'
import { round } from '#src/lib/round.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { LayerLabel, ReleaseLabels } from '#src/lookup/queries.ts'
import { readSeries } from '#src/lookup/releases.ts'
import type { Advisors } from '../polygon/advisors.ts'
import { computationUntil, type Waiting } from '../polygon/computing.ts'
import { readGeoJson } from '../polygon/geometry.ts'
import type { WatchedPlace } from './queries.ts'

interface PlaceQuestion {
  /** Its month is null for the newest. */
  series: Series
  place: WatchedPlace
}

/** The values of a release at a point, or the means elsewhere. */
interface PlaceReading {
  /** The code of the release. */
  release: string
  /** Layers without a value are left out. */
  values: WatchedValue[]
}

type SeriesRequest = Parameters<typeof readSeries>[1]

export type PlaceReader = ReturnType<typeof createPlaceReader>

/** A comparison in the background may take longer than a request. */
const BACKGROUND_MS = 60_000

/** Errors of a release without a value at the place. */
const NO_VALUE = new Set(['NO_DATA', 'OUTSIDE_COUNTRY', 'UNKNOWN_AREA', 'NO_RELEASE'])

/** Reads the published values of places. */
export function createPlaceReader(app: App, lookup: Lookup, advisors: Advisors) {
  const { polygonAdvisor, areaAdvisor, adviseWithTimeout } = advisors

  async function readPoint({ series, place }: PlaceQuestion, clientKey: ClientKey): Promise<PlaceReading> {
    const { lat, lng } = place as { lat: number; lng: number }
    const outcome = await lookup.advise(series, { longitude: lng, latitude: lat }, clientKey)
    if (outcome instanceof ApiError) throw outcome
    const { release, values } = outcome
    return { release: release.code, values: listValues(release, values) }
  }

  async function readShape({ series, place }: PlaceQuestion, waiting: Waiting): Promise<PlaceReading> {
    const { release, statistics } =
      place.type === 'area'
        ? await areaAdvisor.advise(
            series,
            { countryCode: series.countryCode, code: place.code, level: place.level },
            null,
            waiting,
          )
        : await polygonAdvisor.advise(series, readPolygons(place), null, waiting)
    const means = statistics.layers.map((layer) => layer?.mean ?? Number.NaN)
    return { release: release.code, values: listValues(release, means) }
  }

  async function readWithoutRequest(question: PlaceQuestion, closing: AbortSignal): Promise<PlaceReading> {
    if (question.place.type === 'point') return readPoint(question, EVERYBODY)
    const ending = new AbortController()
    const timer = setTimeout(() => ending.abort(tooSlow(BACKGROUND_MS)), BACKGROUND_MS)
    const signal = AbortSignal.any([ending.signal, closing])
    const deadline = { signal, setDue: () => {}, abort: (reason: ApiError) => ending.abort(reason), end() {} }
    const waiting: Waiting = {
      wait: (something) => something(),
      waitInTurn: (something) => something(),
      compute: (task) => task(computationUntil(app, EVERYBODY, deadline)),
    }
    return readShape(question, waiting).finally(() => clearTimeout(timer))
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
    /**
     * Reads one release without a request.
     *
     * @param release the code of the one that answers by the database
     * @returns no values where the release has none there; undefined where this process does not see the release yet
     */
    async readInBackground(
      question: PlaceQuestion,
      release: string,
      signal: AbortSignal,
    ): Promise<WatchedValue[] | undefined> {
      // The snapshot may be seconds old, and never goes back.
      if ((await lookup.releaseOf(question.series))?.code !== release) return undefined
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

function readPolygons(place: WatchedPlace) {
  return readGeoJson({ value: (place as { geometry: object }).geometry, at: 'geometry' }).polygons
}

/** @param values in the order of the layers, NaN for none */
function listValues({ layers }: ReleaseLabels, values: readonly number[]): WatchedValue[] {
  return layers.flatMap(({ input, scenario, decimals }: LayerLabel, index) => {
    const value = values[index] as number
    return Number.isNaN(value) ? [] : [{ input, scenario, value: round(value, decimals) }]
  })
}
