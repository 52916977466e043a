import type { Series } from '#schemas/products/define.ts'
import type { Advisors } from '#src/advice/polygon/advisors.ts'
import { readGeoJson } from '#src/advice/polygon/geometry.ts'
import { createBackgroundWork, type Work } from '#src/advice/polygon/work.ts'
import { ApiError } from '#src/errors.ts'
import { listMeans, listValues } from '#src/extensions/fields/values.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { type ClientKey, EVERYBODY } from '#src/lib/limiter.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { WatchedValue } from '../changes/schemas.ts'
import type { PlaceWithValues } from './queries.ts'

interface PlaceQuestion {
  series: Series
  place: PlaceWithValues
}

/** At a point, or the means elsewhere. */
interface PlaceReading {
  release: string
  /** Layers without a value are left out. */
  values: WatchedValue[]
}

export type PlaceReader = ReturnType<typeof createPlaceReader>

/** Errors of a release without a value at the place. */
const NO_VALUE = new Set(['NO_DATA', 'OUTSIDE_COUNTRY', 'UNKNOWN_AREA', 'NO_RELEASE'])

export function createPlaceReader(app: App, lookup: Lookup, advisors: Advisors) {
  async function readAt(
    { series, place }: PlaceQuestion,
    clientKey: ClientKey,
    asker: Exchange | Work,
  ): Promise<PlaceReading> {
    if (place.type === 'point') {
      const outcome = await lookup.advise(series, { longitude: place.lng, latitude: place.lat }, clientKey)
      if (outcome instanceof ApiError) throw outcome
      const { release, values } = outcome
      return { release: release.code, values: listValues(release, values) }
    }
    const where =
      place.type === 'area'
        ? { ...place, countryCode: series.countryCode }
        : readGeoJson({ value: place.geometry, at: 'geometry' })
    const advice = await advisors.adviseInSeries(asker, series, where, null)
    return { release: advice.release.code, values: listMeans(advice) }
  }

  return {
    /** @throws {ApiError} with the reason for no value */
    readForRequest(question: PlaceQuestion, exchange: Exchange) {
      const read = () => readAt(question, exchange.clientKey, exchange)
      return question.place.type === 'point' ? exchange.wait(read) : read()
    },
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
        const work = createBackgroundWork(app, 'subscriptions', signal)
        const reading = await readAt(question, EVERYBODY, work)
        return reading.release === release ? reading.values : undefined
      } catch (error) {
        if (error instanceof ApiError && NO_VALUE.has(error.code)) return []
        throw error
      }
    },
  }
}
