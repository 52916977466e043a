import type { Kysely } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { ApiError } from '#src/errors.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { SourceRelease, SourceReleases } from '#src/lookup/places.ts'
import type { Position } from '#src/lookup/queries.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { chooseRelease, type PlacedPolygon } from '../polygons/sources.ts'
import { type CollectionRow, type FieldPlace, listFields, listPositions, readPages } from './queries.ts'
import { createOutline } from './saved.ts'

/** Makes the reader of a saved collection, page by page. */
export function createFieldReader(
  { places, reasons }: Lookup,
  snapshot: Snapshot,
  sources: SourceReleases,
  { db, collection, wait }: { db: Kysely<Tables>; collection: CollectionRow; wait: Wait },
) {
  async function findSources(positions: Position[]): Promise<SourceRelease[]> {
    if (!sources.byPlace) return positions.map(() => sources.of(null))
    return (await wait(() => places.findCountries(snapshot, positions))).map(sources.of)
  }

  return {
    /** Finds the sources of all fields. @throws {ApiError} where no field has a release */
    async locate() {
      const used = new Set<SourceRelease>()
      if (sources.byPlace) {
        const read = (last: FieldPlace, limit: number) =>
          wait(() => listPositions(db, collection.id, last, limit))
        for await (const page of readPages(read, POSITIONS_A_PAGE)) {
          for (const source of await findSources(page)) used.add(source)
        }
      }
      return { polygons: [], ...(await chooseRelease(used, sources, snapshot, reasons, wait)) }
    },
    /** @throws {ApiError} NOT_FOUND where the collection was deleted meanwhile */
    async *pages(waitInTurn: Wait): AsyncGenerator<PlacedPolygon[]> {
      let left = collection.fields
      const read = (last: FieldPlace, limit: number) =>
        waitInTurn(() => listFields(db, collection.id, last, limit))
      for await (const page of readPages(read)) {
        const found = await findSources(page)
        yield page.map(({ id, name, polygons }, index) => ({
          id,
          name: name ?? undefined,
          outline: createOutline(polygons),
          source: found[index] as SourceRelease,
        }))
        left -= page.length
      }
      if (left > 0) throw new ApiError('NOT_FOUND', 'The collection was deleted meanwhile.')
    },
  }
}

const POSITIONS_A_PAGE = 10_000
