import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Cut, LayersParams, LayersQuery, TilesetParams } from '#schemas/map.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { dataTag } from '#src/http/plugins/caching.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { type PublishedRelease, ReplacedMeanwhile } from '#src/lookup/releases.ts'
import type { MapSubject, Maps } from './maps.ts'
import type { MapRelease } from './queries.ts'

export type OfRelease = FastifyRequest<{ Params: LayersParams; Querystring: LayersQuery }>
export type OfLayer = FastifyRequest<{ Params: TilesetParams; Querystring: LayersQuery }>

/** A published release, and how maps draw it. */
interface FoundRelease {
  published: PublishedRelease
  release: MapRelease
}

/** A layer of a published release, and how its values are told apart. */
export interface FoundSubject {
  published: PublishedRelease
  subject: MapSubject
}

/** How values are told apart where nothing is said of it. */
export const DEFAULT_CUT: Cut = 'quantiles'

/** Finds what requests are about. */
export interface Finder {
  /** @throws {ApiError} NOT_FOUND where the release is not published now */
  release(request: FastifyRequest, reply: FastifyReply, code: string): Promise<FoundRelease>
  /** @throws {ApiError} NOT_FOUND where the release is not published now, or has no such layer */
  subject(
    request: FastifyRequest,
    reply: FastifyReply,
    wanted: TilesetParams,
    cut?: Cut,
  ): Promise<FoundSubject>
}

export function createFinder(app: App, lookup: Lookup, maps: Maps): Finder {
  async function release(request: FastifyRequest, reply: FastifyReply, code: string): Promise<FoundRelease> {
    const published = await withTimeout(request, reply, () => lookup.publishedRelease(code))
    if (!published) throw notPublished(code)
    const { id } = published
    const read = () => app.inTurn(request, reply, () => maps.release(id))
    return { published, release: maps.knownRelease(id) ?? (await existing(published, read)) }
  }

  return {
    release,
    async subject(request, reply, { release: code, layer: number }, cut = DEFAULT_CUT) {
      const found = await release(request, reply, code)
      const layer = found.release.layers.find((other) => other.number === number)
      if (!layer) throw noLayer(found, number)
      const { published } = found
      return {
        published,
        subject: { releaseId: published.id, release: found.release, layer, cut },
      }
    },
  }
}

/** @throws {ApiError} NOT_FOUND where the release has been deleted since it was found */
export async function existing<Result>(
  { code }: PublishedRelease,
  read: () => Promise<Result>,
): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ReplacedMeanwhile) throw notPublished(code)
    throw error
  }
}

function notPublished(code: string): ApiError {
  return new ApiError('NOT_FOUND', `No release ${code} is published; \`GET /catalog\` lists those that are.`)
}

function noLayer({ published: { code }, release: { layers } }: FoundRelease, number: number): ApiError {
  const count = layers.length === 1 ? '1 layer' : `${layers.length} layers`
  return new ApiError('NOT_FOUND', `${code} has ${count}, and no layer ${number}.`)
}

/** A release never changes: its name and what is asked for tell answers apart, and where they are asked for. */
export function tagOf(request: FastifyRequest, { code }: PublishedRelease): string {
  return dataTag(request, code, request.rootUrl, request.url)
}
