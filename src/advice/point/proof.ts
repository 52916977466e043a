import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Proof } from '#schemas/proof.ts'
import { type FoundProof, findProof, type PlacedPixel } from '#src/catalog/proof-queries.ts'
import { createSigner } from '#src/catalog/signing.ts'
import type { App } from '#src/http/app.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import type { PointAdvice } from '#src/lookup/lookup.ts'
import type { Position } from '#src/lookup/queries.ts'
import { CHUNK_TILES, climb, countTiles, hashIn, provePixel } from '#src/raster/merkle.ts'
import { decodeTile, TILE_SIZE } from '#src/raster/tiles.ts'

export type Prove = ReturnType<typeof createProver>

type ProvenPixel = Proof['pixels'][number]

const base64url = (hash: Buffer) => hash.toString('base64url')

/** Digits that suffice for a number of single precision. */
const SINGLE_DIGITS = [6, 7, 8, 9]

/** Numbers of single precision with their own digits: 0.291 has 17 more as a double. */
function shorten(raw: (number | null)[][]): Pick<ProvenPixel, 'precision' | 'raw'> {
  const isSingle = (number: number | null) => number === null || Math.fround(number) === number
  if (!raw.flat().every(isSingle)) return { precision: 'double', raw }
  const shortOf = (number: number) =>
    SINGLE_DIGITS.map((digits) => Number(number.toPrecision(digits))).find(
      (short) => Math.fround(short) === number,
    ) ?? number
  return {
    precision: 'single',
    raw: raw.map((numbers) => numbers.map((number) => number && shortOf(number))),
  }
}

/** @returns a function that proves the values of an answer; null where no release has hashes yet */
export function createProver({ database, tiles, config, inTurn, logFailure }: App) {
  const signer = createSigner(database.writer, config.SIGNING_KEY)

  /** Undefined where the tile has no such hash. */
  async function provePlace(
    { code }: PointAdvice['release'],
    store: 'postgis' | 'files',
    found: FoundProof,
    { coverageId, grid, column, row, hashes, chunks, ...size }: PlacedPixel,
  ): Promise<ProvenPixel | undefined> {
    const [tileColumn, tileRow] = [Math.floor(column / TILE_SIZE), Math.floor(row / TILE_SIZE)]
    const [wkb] = await tiles[store].find([{ coverageId, row: tileRow, column: tileColumn }])
    if (wkb instanceof Error) throw wkb
    // It was deleted or moved since the answer was made.
    if (!wkb) throw overloaded()
    if (wkb.length === 0 || hashes === null) return undefined
    const { width, height, bands } = decodeTile(wkb)
    const window = { column: tileColumn * TILE_SIZE, row: tileRow * TILE_SIZE, width, height }
    const place = { column: column - window.column, row: row - window.row }
    const proven = provePixel({ release: code, grid }, { bands, window }, place)
    if (!proven) return undefined
    const tile = tileRow * countTiles(size).across + tileColumn
    if (!proven.tile.equals(hashIn(hashes, tile % CHUNK_TILES))) {
      logFailure(new Error(`${code}: grid ${grid}, tile ${tile}`), 'a tile is not what was hashed')
      return undefined
    }
    const path = [
      ...proven.path,
      ...climb(hashes, tile % CHUNK_TILES).path,
      ...climb(chunks, Math.floor(tile / CHUNK_TILES)).path,
      ...climb(found.grids, grid - 1).path,
    ]
    return { grid, column, row, ...shorten(proven.raw), path: path.map(base64url) }
  }

  async function proveRelease(
    { release, values }: PointAdvice,
    position: Position,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Proof | undefined> {
    const found = await inTurn(request, reply, () => findProof(database.reader, release.id, position))
    if (!found) return undefined
    const bands = [...release.layers, ...release.companions]
    const pixels: ProvenPixel[] = []
    for (const pixel of found.pixels) {
      const coverage = release.coverages.find(({ id }) => id === pixel.coverageId)
      const answers = bands.some(
        ({ coverageId }, index) => coverageId === pixel.coverageId && !Number.isNaN(values[index]),
      )
      if (!coverage || !answers) continue
      const proven = await withTimeout(request, reply, () =>
        provePlace(release, coverage.store, found, pixel),
      )
      if (!proven) return undefined
      pixels.push(proven)
    }
    const root = base64url(found.root)
    const [signed] = await inTurn(request, reply, () =>
      signer.sign([{ release: release.code, merkle_root: root }]),
    )
    return signed && { ...signed, pixels }
  }

  return async (
    position: Position,
    advice: readonly PointAdvice[],
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Proof[] | null> => {
    const proofs: Proof[] = []
    for (const one of advice) {
      const proof = await proveRelease(one, position, request, reply)
      if (proof) proofs.push(proof)
    }
    return proofs.length > 0 ? proofs : null
  }
}
