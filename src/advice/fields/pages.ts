import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import { renewTimeBudget, withTimeout } from '#src/http/plugins/time-budget.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { SourceRelease, SourceReleases } from '#src/lookup/places.ts'
import type { Position } from '#src/lookup/queries.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { chooseRelease, type PlacedPolygon } from '../polygons/sources.ts'
import {
  type CollectionRow,
  type FieldPlace,
  insertWeights,
  listFields,
  listPositions,
  listWeights,
  readPages,
  type StoredField,
} from './queries.ts'
import { createOutline } from './saved.ts'
import { createPageWeights } from './weights.ts'

const POSITIONS_A_PAGE = 10_000

/** Reads a collection page by page. @throws {ApiError} NOT_FOUND where it was deleted meanwhile */
export async function* readWhole(
  { fields }: CollectionRow,
  read: (last: FieldPlace, limit: number) => Promise<StoredField[]>,
): AsyncGenerator<StoredField[]> {
  let left = fields
  for await (const page of readPages(read)) {
    yield page
    left -= page.length
  }
  if (left > 0) throw new ApiError('NOT_FOUND', 'The collection was deleted meanwhile.')
}

/** Makes the reader of a saved collection, page by page, for a request. */
export function createFieldReader(
  { places, reasons }: Lookup,
  snapshot: Snapshot,
  sources: SourceReleases,
  collection: CollectionRow,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
) {
  const { server } = request
  const db = server.database.writer
  const wait: Wait = (work) => withTimeout(request, reply, work)

  /** Each page has the time of a request. */
  const readInTurn: Wait = (work) => {
    renewTimeBudget(request)
    return server.goOnInTurn(request, reply, work)
  }

  async function findSources(positions: Position[]): Promise<SourceRelease[]> {
    if (!sources.byPlace) return positions.map(() => sources.of(null))
    return (await wait(() => places.findCountries(snapshot, positions))).map(sources.of)
  }

  /** Collections never change, so that a page has the same fields each time. */
  async function recallWeights(number: number, fields: readonly StoredField[]) {
    const ids = createHash('sha256')
      .update(JSON.stringify(fields.map(({ id }) => id)))
      .digest()
    const page = { page: number, ids }
    const stored = await readInTurn(() => listWeights(db, collection.id, page))
    return createPageWeights(stored, fields.length, (weights) => {
      server
        .noteInTurn(request, () => insertWeights(db, collection.id, page, weights))
        .catch((error) => server.logFailure(error, 'the weights of fields could not be kept'))
    })
  }

  return {
    /** Finds the sources of all fields. @throws {ApiError} where no field has a release */
    async locate() {
      const used = new Set<SourceRelease>()
      if (sources.byPlace) {
        const read = (last: FieldPlace, limit: number) =>
          readInTurn(() => listPositions(db, collection.id, last, limit))
        for await (const page of readPages(read, POSITIONS_A_PAGE)) {
          for (const source of await findSources(page)) used.add(source)
        }
      }
      return { polygons: [], ...(await chooseRelease(used, sources, snapshot, reasons, wait)) }
    },
    /** @throws {ApiError} NOT_FOUND where the collection was deleted meanwhile */
    async *pages(): AsyncGenerator<PlacedPolygon[]> {
      const read = (last: FieldPlace, limit: number) =>
        readInTurn(() => listFields(db, collection.id, last, limit))
      let number = 0
      for await (const page of readWhole(collection, read)) {
        const found = await findSources(page)
        const recall = await recallWeights(number++, page)
        yield page.map(({ id, name, polygons, areaHa, longitude, latitude }, index) => ({
          id,
          name: name ?? undefined,
          outline: createOutline(polygons),
          measured: { polygons, areaHa, longitude, latitude, recall: recall.bind(null, index) },
          source: found[index] as SourceRelease,
        }))
      }
    },
  }
}
