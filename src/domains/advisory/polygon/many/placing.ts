import { ApiError } from '#src/errors.ts'
import type { Party } from '#src/lib/fair-line.ts'
import type { Wait } from '#src/lib/patience.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Lookup } from '../../lookup/lookup.ts'
import type { PublishedRelease } from '../../lookup/published-release.ts'
import type { Snapshot } from '../../lookup/snapshot.ts'
import { releasesOf, type Source, type Sources } from '../../lookup/sources.ts'
import { interiorPointOf } from '../interior-point.ts'
import type { SentPolygon } from './sent.ts'

/** One of many polygons, and where its answer comes from. */
export interface PlacedPolygon extends SentPolygon {
  source: Source
}

/** What a call with many polygons is answered with. */
export interface Placed {
  polygons: PlacedPolygon[]
  /** Those of the polygons, or the one of areas. */
  sources: Source[]
  /** The release of the first of them that has one. */
  release: PublishedRelease
}

interface Waits {
  party: Party
  wait: Wait
  pause: Pause
}

/**
 * Finds where the answers to polygons come from: each is answered for the country that a position inside lies in, where
 * the call names none.
 *
 * @throws {ApiError} where nothing is published for any of them
 */
export async function placePolygons(
  { places, reasons }: Lookup,
  snapshot: Snapshot,
  sources: Sources,
  sent: readonly SentPolygon[],
  { party, wait, pause }: Waits,
): Promise<Placed> {
  async function sourceOf({ outline }: SentPolygon): Promise<Source> {
    if (!sources.byPlace || 'error' in outline) return sources.of(null)
    await pause()
    const position = interiorPointOf(outline.polygons)
    const known = places.countryFromMemory(snapshot, position)
    return sources.of(
      known === undefined ? await wait(() => places.country(snapshot, position, party)) : known,
    )
  }

  const polygons: PlacedPolygon[] = []
  for (const polygon of sent) polygons.push({ ...polygon, source: await sourceOf(polygon) })
  const used = new Set(polygons.filter(({ outline }) => !('error' in outline)).map(({ source }) => source))
  const all = used.size > 0 ? [...used] : [sources.of(null)]
  const release = all.flatMap((source) => source.release ?? [])[0]
  if (!release) throw await wait(() => reasons.noRelease(snapshot, (all[0] as Source).series))
  return { polygons, sources: all, release }
}

/**
 * Refuses polygons of several countries in a form that has room for one release.
 *
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function refuseSeveral(sources: readonly Source[]): void {
  if (releasesOf(sources).length < 2) return
  throw ApiError.invalid(
    'country_code',
    'must be sent for DHIS2 where polygons lie in several countries: a data value set is of one release',
  )
}
