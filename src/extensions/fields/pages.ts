import { createHash } from 'node:crypto'
import { createOutline } from '#src/advice/polygon/geometry.ts'
import type { ZonalCoverage } from '#src/advice/polygon/queries.ts'
import { findGridKey, readWeights } from '#src/advice/polygon/weighing.ts'
import { chooseRelease, type OpenPolygons } from '#src/advice/polygons/sources.ts'
import { ApiError } from '#src/errors.ts'
import type { Position } from '#src/lookup/layers.ts'
import type { SourceRelease } from '#src/lookup/places.ts'
import type { PolygonWeights } from '#src/raster/weights.ts'
import {
  type CollectionRow,
  type FieldCursor,
  insertWeights,
  listFields,
  listPositions,
  listWeights,
  readPages,
  type StoredField,
  type StoredWeights,
} from './queries.ts'

const POSITIONS_A_PAGE = 10_000

/** Reads a collection page by page. @throws {ApiError} NOT_FOUND where it was deleted meanwhile */
export async function* readWhole(
  { fields }: CollectionRow,
  read: (last: FieldCursor, limit: number) => Promise<StoredField[]>,
): AsyncGenerator<StoredField[]> {
  let left = fields
  for await (const page of readPages(read)) {
    yield page
    left -= page.length
  }
  if (left > 0) throw new ApiError('NOT_FOUND', 'The collection was deleted meanwhile.')
}

/** The regions of a saved collection, read page by page. */
export const regionsOf =
  (collection: CollectionRow): OpenPolygons =>
  ({ database, logFailure }, { places, reasons }, { snapshot, sources, work }) => {
    const db = database.writer
    const { wait, goOnWithPermit } = work

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
      const stored = await goOnWithPermit(() => listWeights(db, collection.id, page))
      return createPageWeights(stored, fields.length, (weights) => {
        work
          .note(() => insertWeights(db, collection.id, page, weights))
          .catch((error) => logFailure(error, 'the weights of fields were not stored'))
      })
    }

    return {
      async locate() {
        const used = new Set<SourceRelease>()
        if (sources.byPlace) {
          const read = (last: FieldCursor, limit: number) =>
            goOnWithPermit(() => listPositions(db, collection.id, last, limit))
          for await (const page of readPages(read, POSITIONS_A_PAGE)) {
            for (const source of await findSources(page)) used.add(source)
          }
        }
        return { polygons: [], ...(await chooseRelease(used, sources, snapshot, reasons, wait)) }
      },
      async *pages() {
        const read = (last: FieldCursor, limit: number) =>
          goOnWithPermit(() => listFields(db, collection.id, last, limit))
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

const LENGTH_BYTES = 4

/** Weights of a page beyond these are not stored: its fields are large, and take long to read anyway. */
const MOST_WEIGHT_BYTES = 500_000

interface GridWeights {
  ofFields: (Uint8Array | undefined)[]
  missing: number
  bytes: number
}

/** Makes the memory of the weights of a page: stored ones, and those that are weighed now. */
function createPageWeights(
  stored: readonly StoredWeights[],
  fields: number,
  store: (weights: StoredWeights) => void,
) {
  const grids = new Map<string, GridWeights>(
    stored.map(({ grid, weights }) => [grid, { ofFields: unpack(weights, fields), missing: 0, bytes: 0 }]),
  )

  function remember(grid: string, field: number, bytes: Uint8Array): void {
    const known = grids.get(grid) ?? { ofFields: new Array(fields), missing: fields, bytes: 0 }
    grids.set(grid, known)
    if (known.ofFields[field] || known.bytes > MOST_WEIGHT_BYTES) return
    known.ofFields[field] = bytes
    known.bytes += bytes.length
    known.missing--
    if (known.missing === 0 && known.bytes <= MOST_WEIGHT_BYTES) {
      store({ grid, weights: pack(known.ofFields as Uint8Array[]) })
    }
  }

  /** The weights of a field on a grid. @param weigh computes unknown ones */
  return async (
    field: number,
    coverage: ZonalCoverage,
    weigh: () => Promise<PolygonWeights>,
  ): Promise<PolygonWeights> => {
    const grid = findGridKey(coverage)
    const known = grids.get(grid)?.ofFields[field]
    if (known) return readWeights(coverage, known)
    const weights = await weigh()
    if (weights.bytes) remember(grid, field, weights.bytes)
    return weights
  }
}

function pack(ofFields: Uint8Array[]): Buffer {
  const lengths = Buffer.alloc(LENGTH_BYTES * ofFields.length)
  ofFields.forEach(({ length }, field) => {
    lengths.writeUInt32LE(length, LENGTH_BYTES * field)
  })
  return Buffer.concat([lengths, ...ofFields])
}

function unpack(weights: Buffer, fields: number): Uint8Array[] {
  let begin = LENGTH_BYTES * fields
  return Array.from({ length: fields }, (_, field) => {
    const end = begin + weights.readUInt32LE(LENGTH_BYTES * field)
    const ofField = weights.subarray(begin, end)
    begin = end
    return ofField
  })
}
