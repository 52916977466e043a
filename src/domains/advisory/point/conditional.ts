import type { FastifyReply, FastifyRequest } from 'fastify'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/advisory.ts'
import { entityTag, isCurrent } from '#src/http/caching.ts'
import type { PointAnswer } from './answer.ts'

/**
 * How long others may answer in our place without asking, in seconds: a new release shows within a
 * minute. Where the service cannot be reached, last month's forecast is better than none for a day.
 */
const SHARED = 'public, max-age=60, stale-if-error=86400'

/** What a GET answers is kept by nobody, until it turns out to be an answer to everybody. */
export function forbidCaching(request: FastifyRequest, reply: FastifyReply): void {
  const vary = [reply.getHeader('vary') ?? [], 'Authorization'].flat().join(', ')
  reply.headers({ vary, 'cache-control': request.user === null ? 'no-store' : 'private, no-store' })
}

/**
 * The tag of an answer that is made of nothing but releases and what was asked. A release never changes,
 * so that the tag can be told before the answer is known, if there is one.
 */
export function tagOfReleases(path: string, request: PointRequest, releases: string[]): string {
  const { lat, lng, name = POINT_DEFAULTS.name } = request
  return entityTag(path, name, String(lat), String(lng), ...releases)
}

/** The tag of any answer. Reasons come from more than the releases: they are tagged by their text. */
export function tagOf(
  path: string,
  request: PointRequest,
  { releases, complete, body }: PointAnswer,
): string {
  return complete ? tagOfReleases(path, request, releases) : entityTag(JSON.stringify(body))
}

/** The tags that a client has answers of; `*` stands for whatever there is, and does not say which. */
export function namedTags({ headers }: FastifyRequest): string | undefined {
  const tags = headers['if-none-match']
  return tags?.trim() === '*' ? undefined : tags
}

/** Lets others keep an answer to an anonymous call; true where the client has it already. */
export function allowCaching(request: FastifyRequest, reply: FastifyReply, tag: string): boolean {
  reply.header('etag', tag)
  // Where the time was asked for, it is that of this one call.
  if (!reply.hasHeader('server-timing')) reply.header('cache-control', SHARED)
  return isCurrent(request.headers['if-none-match'], tag)
}
