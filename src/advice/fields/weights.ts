import type { PolygonWeights } from '#src/raster/weights.ts'
import type { ZonalCoverage } from '../polygon/queries.ts'
import { findGridKey, readWeights } from '../polygon/weighing.ts'
import type { StoredWeights } from './queries.ts'

const LENGTH_BYTES = 4

/** Weights of a page beyond these are not stored: its fields are large, and take long to read anyway. */
const MOST_BYTES = 1_000_000

interface GridWeights {
  ofFields: (Uint8Array | undefined)[]
  missing: number
  bytes: number
}

/** Makes the memory of the weights of a page: stored ones, and those that are weighed now. */
export function createPageWeights(
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
    if (known.ofFields[field] || known.bytes > MOST_BYTES) return
    known.ofFields[field] = bytes
    known.bytes += bytes.length
    known.missing--
    if (known.missing === 0 && known.bytes <= MOST_BYTES) {
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
