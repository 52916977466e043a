import type { WatchedValue } from '#schemas/subscriptions.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { tooSlow } from '#src/http/deadline.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { type ClientKey, EVERYBODY } from '#src/lib/fair-queue.ts'
import { round } from '#src/lib/round.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { LayerLabel, ReleaseLabels } from '#src/lookup/queries.ts'
import { seriesOf } from '#src/lookup/releases.ts'
import type { Advisors } from '../polygon/advisors.ts'
import { computationUntil, type Waiting } from '../polygon/computing.ts'
import { geoJsonOf, readGeoJson, soleFeature } from '../polygon/geometry.ts'
import type { PlaceQuestion, PlaceReader, PlaceReading } from './queries.ts'

/** A place that nobody waits for may take longer than a request. */
const BACKGROUND_MS = 60_000

/** Reasons why there is no value at a place, of which the release is known that has none. */
const NO_VALUE = new Set(['NO_DATA', 'OUTSIDE_COUNTRY', 'UNKNOWN_AREA', 'NO_RELEASE'])

/** Makes what reads values of places for those who are told when they change. */
export function createPlaceReader(app: App, lookup: Lookup, advisors: Advisors): PlaceReader {
  const { polygonAdvisor, areaAdvisor, adviseWithTimeout } = advisors

  async function readPoint({ series, place }: PlaceQuestion, clientKey: ClientKey): Promise<PlaceReading> {
    const { lat, lng } = place as { lat: number; lng: number }
    const outcome = await lookup.advise(series, { longitude: lng, latitude: lat }, clientKey)
    if (outcome instanceof ApiError) throw outcome
    const { release, values } = outcome
    return { release: release.code, values: watchedOf(release, values) }
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
        : await polygonAdvisor.advise(series, polygonsOf(place), null, waiting)
    const means = statistics.layers.map((layer) => layer?.mean ?? Number.NaN)
    return { release: release.code, values: watchedOf(release, means) }
  }

  async function readAlone(question: PlaceQuestion, closing: AbortSignal): Promise<PlaceReading> {
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
    async seriesOf(product, request) {
      const series = seriesOf(product, request)
      const { cropNamed } = await lookup.current()
      return { ...series, cropCode: cropNamed(series.cropCode) }
    },
    outlineOf: (geometry) => geoJsonOf(readGeoJson(soleFeature({ value: geometry, at: 'geometry' }))),
    forRequest: (question, request, reply) =>
      question.place.type === 'point'
        ? withTimeout(request, reply, () => readPoint(question, clientKeyOf(request)))
        : adviseWithTimeout(request, reply, (waiting) => readShape(question, waiting)),
    async inBackground(question, release, signal) {
      // What is known to be published may be seconds old, and never goes back.
      if ((await lookup.releaseOf(question.series))?.code !== release) return undefined
      try {
        const reading = await readAlone(question, signal)
        return reading.release === release ? reading.values : undefined
      } catch (error) {
        if (error instanceof ApiError && NO_VALUE.has(error.code)) return []
        throw error
      }
    },
  }
}

function polygonsOf(place: PlaceQuestion['place']) {
  return readGeoJson({ value: (place as { geometry: object }).geometry, at: 'geometry' }).polygons
}

/** @param values in the order of the layers, NaN for none */
function watchedOf({ layers }: ReleaseLabels, values: readonly number[]): WatchedValue[] {
  return layers.flatMap(({ input, scenario, decimals }: LayerLabel, index) => {
    const value = values[index] as number
    return Number.isNaN(value) ? [] : [{ input, scenario, value: round(value, decimals) }]
  })
}
