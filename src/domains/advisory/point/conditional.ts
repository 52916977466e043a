import type { FastifyRequest } from 'fastify'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { dataTag } from '#src/http/plugins/caching.ts'
import { sourceMember } from '../lookup/places.ts'
import type { PointAnswer } from './answer.ts'

/**
 * The tag of an answer that is made of nothing but releases and what was asked. A release never changes, but for
 * becoming stale, so that the tag can be told before the answer is known, if there is one.
 *
 * @param versions of the releases
 */
export function tagOfReleases(
  call: FastifyRequest,
  path: string,
  request: PointRequest,
  versions: string[],
): string {
  const { lat, lng, name = POINT_DEFAULTS.name, provenance } = request
  const more = [...(provenance ? ['provenance'] : []), ...Object.values(sourceMember(request))]
  return dataTag(call, path, name, String(lat), String(lng), ...versions, ...more)
}

/** The tag of any answer. Reasons and quantities come from more than the releases: they are tagged by their text. */
export function tagOf(
  call: FastifyRequest,
  path: string,
  request: PointRequest,
  { versions, complete, body }: PointAnswer,
): string {
  return complete ? tagOfReleases(call, path, request, versions) : entityTag(JSON.stringify(body))
}

/** The tags that a client has answers of; `*` stands for whatever there is, and does not say which. */
export function namedTags({ headers }: FastifyRequest): string | undefined {
  const tags = headers['if-none-match']
  return tags?.trim() === '*' ? undefined : tags
}
