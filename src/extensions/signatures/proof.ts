import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AnswerMember } from '#src/advice/additions.ts'
import { StorageUnavailable } from '#src/data/failures.ts'
import type { TileStoreName } from '#src/data/release-tables.ts'
import { requireStore } from '#src/data/tiles/stores.ts'
import type { App } from '#src/http/app.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { createClientSignal, withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import type { PointAdvice } from '#src/lookup/lookup.ts'
import type { Position } from '#src/lookup/queries.ts'
import { positionOf } from '#src/lookup/releases.ts'
import { decodeTile, TILE_SIZE } from '#src/raster/tiles.ts'
import { CHUNK_TILES, climb, combineHashes, hashHeader, hashIn, measureTiles, provePixel } from './merkle.ts'
import { type FoundProof, findProofs, type PlacedPixel } from './proof-queries.ts'
import { type Proof, proofSchemas } from './schemas.ts'

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

/** A pixel that answers, and the hashes above it. */
interface Place extends Pick<PointAdvice, 'release'> {
  store: TileStoreName
  found: FoundProof
  pixel: PlacedPixel
}

/** @throws {ApiError} OVERLOADED where the release was deleted since the answer was made */
function listPlaces({ release, values }: PointAdvice, found: FoundProof): Place[] {
  const bands = [...release.layers, ...release.companions]
  return release.coverages.flatMap(({ id, store }) => {
    const answers = bands.some(({ coverageId }, index) => coverageId === id && !Number.isNaN(values[index]))
    if (!answers) return []
    const pixel = found.pixels.find(({ coverageId }) => coverageId === id)
    if (!pixel) throw overloaded()
    return [{ release, store, found, pixel }]
  })
}

const tileAt = ({ column, row }: PlacedPixel) => ({
  column: Math.floor(column / TILE_SIZE),
  row: Math.floor(row / TILE_SIZE),
})

/**
 * The proof of a pixel, whose way to the root it takes itself.
 *
 * @param wkb its tile
 * @returns undefined where something on the way is not what was hashed
 */
function provePlace({ release: { code }, found, pixel }: Place, wkb: Buffer): ProvenPixel | undefined {
  const { grid, column, row, hashes, chunks, ...size } = pixel
  if (wkb.length === 0 || hashes === null || chunks === null) return undefined
  const { width, height, bands } = decodeTile(wkb)
  const at = tileAt(pixel)
  const window = { column: at.column * TILE_SIZE, row: at.row * TILE_SIZE, width, height }
  const proven = provePixel(
    { release: code, grid },
    { bands, window },
    { column: column - window.column, row: row - window.row },
  )
  if (!proven) return undefined
  const tile = at.row * measureTiles(size).across + at.column
  const steps = [
    { hashes, place: tile % CHUNK_TILES },
    { hashes: chunks, place: Math.floor(tile / CHUNK_TILES) },
    { hashes: found.grids, place: grid - 1 },
  ]
  const path = proven.path
  let top = proven.tile
  for (const { hashes, place } of steps) {
    if (!hashIn(hashes, place).equals(top)) return undefined
    const climbed = climb(hashes, place)
    path.push(...climbed.path)
    top = climbed.root
  }
  if (!combineHashes(hashHeader(found.header), top).equals(found.root)) return undefined
  return { grid, column, row, ...shorten(proven.raw), path: path.map(base64url) }
}

/** Proves the values of an answer; null where no release has hashes yet. */
export function createProof({ database, tiles, signer, metrics, inTurn, turns }: App): AnswerMember {
  let differing = 0
  metrics.observe('agro_tile_files_errors_total', () => differing, { reason: 'differs' })

  /** @throws {StorageUnavailable} where its tile, or a hash above it, is not what was hashed */
  function proveOrRefuse(place: Place, wkb: Buffer): ProvenPixel {
    const proven = provePlace(place, wkb)
    if (proven) return proven
    differing++
    const { column, row, grid } = place.pixel
    throw new StorageUnavailable(
      `the proof of ${place.release.code} fails at column ${column}, row ${row} of grid ${grid}: its tile or its hashes were changed`,
      { hasAnswered: true },
    )
  }

  async function findTiles(places: Place[], store: TileStoreName): Promise<[Place, Buffer][]> {
    const stored = places.filter((place) => place.store === store)
    const found = await requireStore(tiles, store).find(
      stored.map(({ pixel }) => ({ coverageId: pixel.coverageId, ...tileAt(pixel) })),
    )
    return stored.map((place, index) => {
      const wkb = found[index]
      if (wkb instanceof Error) throw wkb
      // It was deleted or moved since the answer was made.
      if (!wkb) throw overloaded()
      return [place, wkb]
    })
  }

  async function prove(
    position: Position,
    advice: readonly PointAdvice[],
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<Proof[] | null> {
    const { found, signed } = await inTurn(request, reply, async () => {
      const ids = advice.map(({ release }) => release.id)
      const found = await findProofs(database.reader, ids, position)
      const roots = advice.flatMap(({ release }) => {
        const root = found.get(release.id)?.root
        return root ? [{ release: release.code, merkle_root: base64url(root) }] : []
      })
      return { found, signed: await signer.sign(roots) }
    })
    if (signed.length === 0) return null
    const places = advice.flatMap((one) => {
      const proof = found.get(one.release.id)
      return proof ? listPlaces(one, proof) : []
    })
    const stored = await withTimeout(request, reply, () =>
      Promise.all([...new Set(places.map(({ store }) => store))].map((store) => findTiles(places, store))),
    )
    const proven = new Map<Place, ProvenPixel>()
    const gone = createClientSignal(reply)
    for (const [place, wkb] of stored.flat()) {
      // It takes six milliseconds.
      await turns.next(clientKeyOf(request), gone)
      proven.set(place, proveOrRefuse(place, wkb))
    }
    return signed.map((root) => ({
      ...root,
      pixels: places.flatMap((place) =>
        place.release.code === root.release ? (proven.get(place) ?? []) : [],
      ),
    }))
  }

  return {
    ...proofSchemas,
    of: 'pixels',
    read: (point, advice, request, reply) => prove(positionOf(point), advice, request, reply),
  }
}
