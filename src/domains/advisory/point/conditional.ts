import type { FastifyRequest } from 'fastify'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import type { PointAnswer } from './answer.ts'

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
