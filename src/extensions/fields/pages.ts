import { createHash } from 'node:crypto'
import { createOutline } from '#src/advice/polygon/geometry.ts'
import type { ZonalCoverage } from '#src/advice/polygon/queries.ts'
import { findGridKey, readWeights } from '#src/advice/polygon/weighing.ts'
import { chooseRelease, type LocatedPolygon, type OpenPolygons } from '#src/advice/polygons/sources.ts'
import { ApiError } from '#src/errors.ts'
import type { Position } from '#src/lookup/layers.ts'
import type { SourceRelease } from '#src/lookup/places.ts'
import type { Rings } from '#src/raster/rings.ts'
import { decodeMultiPolygon } from '#src/raster/tiles.ts'
import type { PolygonWeights } from '#src/raster/weights.ts'
import {
  type CollectionRow,
  type FieldCursor,
  type FieldParts,
  insertWeights,
  listFields,
  listPositions,
  listWeights,
  readPages,
  type StoredField,
  type StoredWeights,
} from './queries.ts'

const POSITIONS_A_PAGE = 10_000

/** Fields of a page that are made ready together: a task has as many at most. */
const LOCATED_AT_ONCE = 200

interface StoredPage {
  fields: StoredField[]
  weights: ReturnType<typeof createPageWeights>
  readShape(index: number): Promise<Rings[]>
}

const deletedMeanwhile = () => new ApiError('NOT_FOUND', 'The collection was deleted meanwhile.')

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
  if (left > 0) throw deletedMeanwhile()
}

/** The regions of a saved collection, read page by page. */
export const regionsOf =
  (collection: CollectionRow): OpenPolygons =>
  ({ database, logFailure }, { places, reasons }, { snapshot, sources, work, hasShapes }) => {
    const db = database.writer
    const { wait, goOnWithPermit, pause } = work

    async function findSources(positions: Position[]): Promise<SourceRelease[]> {
      if (!sources.byPlace) return positions.map(() => sources.of(null))
      return (await wait(() => places.findCountries(snapshot, positions))).map(sources.of)
    }

    /** Collections never change, so that a page has the same fields each time. Shapes of weighed ones are read where needed. */
    async function readPage(number: number, last: FieldCursor, limit: number): Promise<StoredPage> {
      const list = (parts: FieldParts) => listFields(db, collection.id, last, limit, parts)
      const known = await listWeights(db, collection.id, number)
      const fields = await list(hasShapes || known.length === 0 ? 'shapes' : 'places')
      let whole: Promise<StoredField[]> | undefined
      return {
        fields,
        weights: recallWeights(number, known, fields),
        async readShape(index) {
          whole ??= fields[index]?.shape ? Promise.resolve(fields) : wait(() => list('shapes'))
          const shape = (await whole)[index]?.shape
          if (!shape) throw deletedMeanwhile()
          return decodeMultiPolygon(shape)
        },
      }
    }

    function recallWeights(number: number, known: StoredWeights[], fields: readonly StoredField[]) {
      const ids = createHash('sha256')
        .update(JSON.stringify(fields.map(({ id }) => id)))
        .digest()
      const ofPage = known.filter((one) => one.ids.equals(ids))
      return createPageWeights(ofPage, fields.length, (grid, weights) => {
        work
          .note(() => insertWeights(db, collection.id, number, { grid, ids, weights }))
          .catch((error) => logFailure(error, 'the weights of fields were not stored'))
      })
    }

    /** Its shape is decoded where it is needed: all those of a page would hold up others. */
    async function locateField({ fields, weights, readShape }: StoredPage, index: number) {
      const { id, name, areaHa, longitude, latitude, shape } = fields[index] as StoredField
      const polygons = readShape.bind(null, index)
      const measured = {
        ...{ areaHa, longitude, latitude, polygons },
        storedBytes: weights.bytesOf(index),
        recall: weights.recall.bind(null, index),
      }
      const outline = createOutline(shape ? await polygons() : [])
      return { id, name: name ?? undefined, outline, measured }
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
        let number = 0
        let page: StoredPage | undefined
        const read = async (last: FieldCursor, limit: number) => {
          page = await goOnWithPermit(() => readPage(number++, last, limit))
          return page.fields
        }
        for await (const fields of readWhole(collection, read)) {
          const found = await findSources(fields)
          for (let from = 0; from < fields.length; from += LOCATED_AT_ONCE) {
            await pause()
            const part: LocatedPolygon[] = []
            for (let at = from; at < Math.min(from + LOCATED_AT_ONCE, fields.length); at++) {
              const source = found[at] as SourceRelease
              part.push({ ...(await locateField(page as StoredPage, at)), source })
            }
            yield part
          }
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
  store: (grid: string, weights: Buffer) => void,
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
      store(grid, pack(known.ofFields as Uint8Array[]))
    }
  }

  return {
    /** The bytes of the stored weights of a field, on the grid with the most; undefined without any. */
    bytesOf(field: number): number | undefined {
      if (stored.length === 0) return undefined
      return Math.max(...[...grids.values()].map(({ ofFields }) => ofFields[field]?.length ?? 0))
    },
    /** The weights of a field on a grid. @param weigh computes unknown ones */
    async recall(
      field: number,
      coverage: ZonalCoverage,
      weigh: () => Promise<PolygonWeights>,
    ): Promise<PolygonWeights> {
      const grid = findGridKey(coverage)
      const known = grids.get(grid)?.ofFields[field]
      if (known) return readWeights(coverage, known)
      const weights = await weigh()
      if (weights.bytes) remember(grid, field, weights.bytes)
      return weights
    },
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
