import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Provenance } from '#schemas/advisory.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import type { Lookup, PointAdvice } from '#src/lookup/lookup.ts'
import { positionOf, refuseIfReplaced, type StoredPixels } from '#src/lookup/releases.ts'
import { findSourceOfValues, type PixelFacts } from './provenance-queries.ts'

/** The pixels of an answer. @throws {ApiError} OVERLOADED where a release was deleted after it answered */
export async function findProvenance(
  lookup: Lookup,
  point: PointRequest,
  advice: readonly PointAdvice[],
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Provenance[]> {
  const { database, inTurn } = request.server
  const position = positionOf(point)
  const found: Provenance[] = []
  for (const { release, values } of advice) {
    const origin = await inTurn(request, reply, () =>
      findSourceOfValues(database.reader, release.id, position),
    )
    if (!origin) throw overloaded()
    const stored = await refuseIfReplaced(() =>
      withTimeout(request, reply, () => lookup.storedAt(release, position)),
    )
    const { source, licence, checksum } = origin
    const pixels = origin.pixels.map((pixel) => describePixel(pixel, release, values, stored))
    found.push({
      release: release.code,
      source,
      licence,
      checksum,
      pixels: pixels.filter(({ layers }) => layers.length > 0),
    })
  }
  return found
}

function describePixel(
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
