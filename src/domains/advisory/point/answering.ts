import type { FastifyReply, FastifyRequest } from 'fastify'
import type { PointRequest } from '#schemas/point-request.ts'
import { isCurrent } from '#src/http/entity-tags.ts'
import { partyOf } from '#src/http/party.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { inTime } from '#src/http/plugins/patience.ts'
import { prefers } from '#src/http/preferences.ts'
import type { Lookup } from '../lookup/lookup.ts'
import { codesIn } from '../lookup/pinned-request.ts'
import { versionOf } from '../lookup/published-release.ts'
import { positionOf, seriesOf } from '../lookup/series.ts'
import { asksForQuantities } from '../quantities/plan.ts'
import type { PointAnswer } from './answer.ts'
import { namedTags, tagOfReleases } from './conditional.ts'
import type { PointEndpoint } from './endpoints.ts'
import { withProvenance } from './provenance.ts'
import { withTiming } from './timing.ts'

/**
 * Puts into a request what the release that it names says itself, or else the place, as if it had been sent.
 *
 * @throws {ApiError} where there is no such release, or it is of something else than is asked for
 */
async function settle(
  endpoint: PointEndpoint,
  lookup: Lookup,
  request: PointRequest,
  call: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (request.release !== undefined) {
    Object.assign(request, await endpoint.settled(lookup, request, call, reply))
  } else if (endpoint.inAnyCountry && !lookup.places.fillFromMemory(request, positionOf(request))) {
    await inTime(call, reply, () => lookup.places.fill(request, positionOf(request), partyOf(call)))
  }
}

/** @throws {ApiError} which says why there is no answer */
export async function answerTo(
  endpoint: PointEndpoint,
  lookup: Lookup,
  request: PointRequest,
  call: FastifyRequest,
  reply: FastifyReply,
): Promise<PointAnswer> {
  await settle(endpoint, lookup, request, call, reply)

  async function answer(): Promise<PointAnswer> {
    const fromDatabase = () => endpoint.answer(lookup, request, partyOf(call))
    const found = endpoint.fromMemory(lookup, request) ?? (await inTime(call, reply, fromDatabase))
    if (found instanceof Error) throw found
    return request.provenance ? withProvenance(lookup, request, found, call, reply) : found
  }
  const found = prefers(call, 'server-timing')
    ? await withTiming(reply, () => inTime(call, reply, () => versionsOf(endpoint, lookup, request)), answer)
    : await answer()
  return namingReleases(found, reply)
}

/** The versions of the releases that would answer now; undefined where not all products have one. */
async function versionsOf(
  { products }: PointEndpoint,
  lookup: Lookup,
  request: PointRequest,
): Promise<string[] | undefined> {
  const { release } = request
  const found = await Promise.all(
    release === undefined
      ? products.map((product) => lookup.releaseOf(seriesOf(product, request)))
      : codesIn(release).map(async (code) => (await lookup.namedRelease(code)).release),
  )
  const versions = found.flatMap((release) => (release ? versionOf(release) : []))
  return versions.length === products.length ? versions : undefined
}

/** Whether a client has what the releases of now say, which is known before any value is looked up. */
export async function isUnchanged(
  endpoint: PointEndpoint,
  lookup: Lookup,
  request: PointRequest,
  call: FastifyRequest,
  reply: FastifyReply,
): Promise<boolean> {
  await settle(endpoint, lookup, request, call, reply)
  // Quantities come from more than the releases.
  const tags = asksForQuantities(request) ? undefined : namedTags(call)
  const find = () => versionsOf(endpoint, lookup, request)
  const versions = tags === undefined ? undefined : await inTime(call, reply, find)
  if (!versions) return false
  const tag = tagOfReleases(call, endpoint.path, request, versions)
  return isCurrent(tags, tag) && allowCaching(call, reply, tag)
}

/** Says which releases have answered. */
export function namingReleases(answer: PointAnswer, reply: FastifyReply): PointAnswer {
  reply.header('advisory-release', answer.releases.join(', '))
  return answer
}
