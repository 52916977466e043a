import type { FastifyReply, FastifyRequest } from 'fastify'
import type { WatchedValue } from '#schemas/subscriptions.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { Series } from '#src/products/series.ts'

/** A place that is watched, as it was asked for. */
export type Place =
  | { type: 'point'; lat: number; lng: number }
  | { type: 'polygon'; geometry: object }
  | { type: 'area'; code: string; level: number | null }

/** What is asked of a place. */
export interface PlaceQuestion {
  /** Its month is null for the newest. */
  series: Series
  place: Place
}

/** What a release says of a place: values at a point, means elsewhere. */
export interface PlaceReading {
  /** The code of the release. */
  release: string
  /** Layers without a value are left out. */
  values: WatchedValue[]
}

/** What a request says of what is asked. */
export interface SeriesRequest {
  crop?: string
  country_code?: string
  forecast_period?: string
}

/** Reads what is published of places. */
export interface PlaceReader {
  /** What a request asks for: names without regard to case, defaults filled in, the crop by its code. */
  seriesOf(product: ProductDefinition, request: SeriesRequest): Promise<Series>
  /**
   * A polygon as it is kept: its type and positions alone.
   *
   * @throws {ApiError} INVALID_GEOMETRY
   */
  outlineOf(geometry: unknown): object
  /**
   * For a request.
   *
   * @throws {ApiError} which says why there is no value
   */
  forRequest(question: PlaceQuestion, request: FastifyRequest, reply: FastifyReply): Promise<PlaceReading>
  /**
   * For nobody who waits, from one release.
   *
   * @param release the code of the one that answers, as the database says
   * @param signal ends it
   * @returns no values where it has none there; undefined where this process does not know yet that it answers
   */
  inBackground(
    question: PlaceQuestion,
    release: string,
    signal: AbortSignal,
  ): Promise<WatchedValue[] | undefined>
}

/**
 * Lets a test delivery begin.
 *
 * @throws {ApiError} TOO_MANY_REQUESTS where the account, or all of them at this host, have had too many lately
 */
export type AdmitTest = (userId: string, host: string) => Promise<void>
