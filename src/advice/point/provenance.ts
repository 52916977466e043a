import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Provenance } from '#schemas/advisory.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf, prefers, sayApplied } from '#src/http/request.ts'
import type { Lookup, PointAdvice } from '#src/lookup/lookup.ts'
import { positionOf, retryIfReplaced, type StoredPixels } from '#src/lookup/releases.ts'
import { ExtendedAnswer, type PointAnswer } from './answer.ts'
import { findSourceOfValues, type PixelFacts } from './provenance-queries.ts'

const PREFERENCE = 'return=provenance'

/**
 * Whether an answer is to say where its values come from. What was preferred is noted in the request, as if it had been
 * sent there: it is recorded with the answer.
 */
export function wantsProvenance(call: FastifyRequest, request: PointRequest, reply: FastifyReply): boolean {
  if (prefers(call, PREFERENCE) && !request.provenance) {
    request.provenance = true
    sayApplied(reply, PREFERENCE)
  }
  return request.provenance === true
}

/**
 * An answer that also says which pixels its values were read from.
 *
 * @throws {ApiError} OVERLOADED where a release has been deleted since it answered
 */
export async function withProvenance(
  lookup: Lookup,
  request: PointRequest,
  given: PointAnswer,
  call: FastifyRequest,
  reply: FastifyReply,
): Promise<PointAnswer> {
  const provenance: Provenance[] = []
  for (const advice of given.advice) {
    provenance.push(await provenanceOf(lookup, request, advice, call, reply))
  }
  return new ExtendedAnswer(given, { provenance })
}

async function provenanceOf(
  lookup: Lookup,
  request: PointRequest,
  { release, values }: PointAdvice,
  call: FastifyRequest,
  reply: FastifyReply,
): Promise<Provenance> {
  const position = positionOf(request)
  const { reader } = call.server.database
  const found = await call.server.inTurn(call, reply, () => findSourceOfValues(reader, release.id, position))
  if (!found) throw overloaded()
  const stored = await retryIfReplaced(() =>
    withTimeout(call, reply, () => lookup.storedAt(release, position, clientKeyOf(call))),
  )
  const { source, licence, checksum } = found
  const pixels = found.pixels.map((pixel) => pixelOf(pixel, release, values, stored))
  return {
    release: release.code,
    source,
    licence,
    checksum,
    pixels: pixels.filter(({ layers }) => layers.length > 0),
  }
}

/** A pixel, with the layers of its grid that the answer has a value of. */
function pixelOf(
  { coverageId, srid, column, row, x, y, longitude, latitude, width, height, unit }: PixelFacts,
  release: PointAdvice['release'],
  values: PointAdvice['values'],
  stored: StoredPixels[],
): Provenance['pixels'][number] {
  const layers = release.layers.flatMap((layer, index) => {
    if (layer.coverageId !== coverageId || Number.isNaN(values[index])) return []
    const { input, scenario, scale, offset, coverage, band } = layer
    const raw = stored[coverage]?.[band - 1] as number
    return [{ layer: index + 1, input, scenario, raw, scale, offset }]
  })
  const centre = { x, y, lng: longitude, lat: latitude }
  return { srid, column, row, centre, size: { x: width, y: height, unit }, layers }
}
