import type { PolygonName } from '#schemas/polygon.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { SourceReleases } from '#src/lookup/places.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { Rings } from '#src/raster/rings.ts'
import type { LongWork } from '../polygon/work.ts'
import type { LocatedPolygon, locatePolygons } from './sources.ts'

/** Polygons of a caller, which requests name. */
export interface PlaceSource {
  /** One of them, which may also be the `place` of a request. */
  one: PolygonName & {
    /** Whether a text may name one: names of areas may be written alike. */
    isLike(text: string): boolean
    /** @throws {ApiError} NOT_FOUND, or INSUFFICIENT_SCOPE */
    find(exchange: Exchange, text: string): Promise<NamedPolygon>
  }
  many: PolygonName & {
    /** @throws {ApiError} NOT_FOUND, or INSUFFICIENT_SCOPE */
    find(exchange: Exchange, name: string): Promise<OpenPolygons>
  }
}

interface NamedPolygon {
  id: string
  name: string | null
  polygons: Rings[]
}

/** Opens the polygons for an answer. */
export type OpenPolygons = (app: App, lookup: Lookup, reading: PolygonReading) => PolygonReader

export interface PolygonReading {
  snapshot: Snapshot
  sources: SourceReleases
  work: LongWork
}

export interface PolygonReader {
  /** Finds the sources of all. @throws {ApiError} where none has a release */
  locate(): ReturnType<typeof locatePolygons>
  /** @throws {ApiError} NOT_FOUND where they were deleted meanwhile */
  pages(): AsyncGenerator<LocatedPolygon[]>
}

declare module 'fastify' {
  interface FastifyInstance {
    placeSources: readonly PlaceSource[]
  }
}
