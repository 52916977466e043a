import type { ErrorBody } from '#schemas/common.ts'
import type { Tileset } from '#schemas/map.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { combineReasons, createReason, type ProductReason } from '#src/advice/point/reasons.ts'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { prepareCertainty } from '#src/lookup/certainty.ts'
import { conditionError } from '#src/lookup/conditions.ts'
import { assembleValues, type BandedRelease, makeValueMembers, noData } from '#src/lookup/entries.ts'
import type { Position } from '#src/lookup/layers.ts'
import { bytesOf, PIXEL_TYPES, type Pixels, type PixelType } from '#src/raster/pixels.ts'
import { type BoundedPolygon, boundedPolygon, isWithinAny } from '#src/raster/rings.ts'
import { type PackGrid, readPacked } from './pixels.ts'

export { findPackedPixel, readPackedPixel } from './pixels.ts'

/** What the page of a pack does with its content. It runs in a browser: nothing here needs Node or the service. */

export interface PackedProduct
  extends Pick<ProductDefinition, 'code' | 'entries' | 'seasonal' | 'unit' | 'plausible'> {
  value: { key: string }
  input: { key: string } | null
  /** A noun, such as yield predictions. */
  values: string
}

/** A map of a layer, with the classes that the service's maps have. */
export interface PackedMap {
  /** Index among the layers and then the companions. */
  band: number
  label: string
  unit: string
  classes: Tileset['classes']
}

export interface PackedRelease extends BandedRelease {
  code: string
  /** The members of answers about it, without `stale`. */
  members: Record<string, string | boolean | null>
  /** The last day of its season; null for none. */
  lastDay: string | null
  synthetic: boolean
  validUntil: string | null
  source: string
  licence: string
  /** Indices of the grids of its coverages. */
  grids: number[]
  maps: PackedMap[]
}

interface PackedSeries {
  /** Index. */
  product: number
  crop: string | null
  /** Index; null for none. */
  release: number | null
  reason: ErrorBody | null
  leftOut: string | null
}

interface PackedGrid extends Omit<PackGrid, 'bands'> {
  bands: { type: PixelType; nodata: number | null }[]
}

/** The JSON of a pack. Its pixels follow, grid by grid and band by band, each band as {@link shuffle} has it. */
export interface PackedContent {
  /** ISO time. */
  madeAt: string
  /** PUBLIC_URL. */
  serviceUrl: string | null
  /** The entity tag of the pack at the service, and its address there; null where it has none. */
  version: { tag: string; url: string } | null
  area: {
    countryCode: string
    country: string
    level: number
    code: string
    name: string
    /** The areas that it lies in, from the country down. */
    parents: { level: number; code: string; name: string }[]
    /** Its centre of mass, as that of each place. */
    longitude: number
    latitude: number
    /** A GeoJSON geometry; that of very many positions is simplified. */
    outline: { type: string; coordinates: unknown }
    bbox: readonly [west: number, south: number, east: number, north: number]
    /** The areas inside it, of all levels below, for searches. */
    places: { code: string; name: string; level: number; longitude: number; latitude: number }[]
  }
  /** The crops that the country has, or the one that is asked for by default. */
  crops: string[]
  products: PackedProduct[]
  releases: PackedRelease[]
  series: PackedSeries[]
  grids: PackedGrid[]
}

export interface Pack extends Omit<PackedContent, 'grids'> {
  grids: PackGrid[]
  polygons: BoundedPolygon[]
}

/** Bytes of a length before the JSON. */
const LENGTH_BYTES = 4

/** The first bytes of all pixels, then the second ones and so on: like bytes together become smaller. */
export function shuffle(pixels: Pixels): Uint8Array {
  const bytes = new Uint8Array(pixels.buffer, pixels.byteOffset, pixels.byteLength)
  const shuffled = new Uint8Array(bytes.length)
  const size = pixels.BYTES_PER_ELEMENT
  for (let at = 0; at < bytes.length; at++) {
    shuffled[(at % size) * pixels.length + Math.floor(at / size)] = bytes[at] as number
  }
  return shuffled
}

function unshuffle(bytes: Uint8Array, type: PixelType): Pixels {
  const { PixelArray } = PIXEL_TYPES[type]
  const size = PixelArray.BYTES_PER_ELEMENT
  const count = bytes.length / size
  const plain = new Uint8Array(bytes.length)
  for (let at = 0; at < plain.length; at++) {
    plain[at] = bytes[(at % size) * count + Math.floor(at / size)] as number
  }
  return new PixelArray(plain.buffer)
}

/** The bytes of a pack, before they are compressed. @param bands as {@link shuffle} has them, grid by grid */
export function encodePack(content: PackedContent, bands: readonly Uint8Array[]): Uint8Array {
  const json = new TextEncoder().encode(JSON.stringify(content))
  const parts = [json, ...bands]
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, LENGTH_BYTES))
  new DataView(bytes.buffer).setUint32(0, json.length, true)
  let at = LENGTH_BYTES
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Reads what {@link encodePack} has made. */
export function decodePack(bytes: Uint8Array): Pack {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  let at = LENGTH_BYTES + length
  const content = JSON.parse(new TextDecoder().decode(bytes.subarray(LENGTH_BYTES, at))) as PackedContent
  const grids = content.grids.map((grid): PackGrid => {
    const count = grid.window.width * grid.window.height
    const bands = grid.bands.map(({ type, nodata }) => {
      const end = at + count * bytesOf(type)
      const pixels = unshuffle(bytes.subarray(at, end), type)
      at = end
      return { nodata: nodata ?? undefined, pixels }
    })
    return { ...grid, bands }
  })
  return { ...content, grids, polygons: listPolygons(content.area.outline) }
}

/** The polygons of a GeoJSON geometry. */
function listPolygons({ type, coordinates }: PackedContent['area']['outline']): BoundedPolygon[] {
  const polygons = (type === 'Polygon' ? [coordinates] : coordinates) as [number, number][][][]
  return polygons.map((rings) =>
    boundedPolygon(
      rings.map((ring) => {
        const flat = new Float64Array(ring.length * 2)
        for (const [index, [x, y]] of ring.entries()) flat.set([x, y], index * 2)
        return flat
      }),
    ),
  )
}

/** Whether a position lies in the area of a pack, or nearer to its outline than a decimal decides. */
export function isInPack({ polygons }: Pick<Pack, 'polygons'>, { longitude, latitude }: Position): boolean {
  return isWithinAny(polygons, longitude, latitude) !== false
}

/** What a visitor asks for, as a request would. */
interface PackRequest {
  lat: number
  lng: number
  crop: string
  condition?: string | undefined
  /** The day of the question: a release may be older than its season by then. */
  now?: Date
}

export interface PackAnswer {
  /** Of HTTP. */
  status: number
  body: Record<string, unknown>
}

type Outcome = { members: Record<string, unknown>; release: PackedRelease } | ApiError | { leftOut: string }

/** The code of products whose release is not in the pack: the service has no such code, and may have a value. */
const LEFT_OUT = 'NOT_IN_PACK'

/** Of an answer without any value. */
const NOT_FOUND = 404

/** Why there is no value; undefined where there is one. */
function readReason(outcome: Outcome): { error: string; code: string } | undefined {
  if ('leftOut' in outcome) return { error: outcome.leftOut, code: LEFT_OUT }
  return outcome instanceof ApiError ? { error: outcome.message, code: outcome.code } : undefined
}

interface Answered {
  product: PackedProduct
  outcome: Outcome
}

/** The reason that says most, with those of all products in the details. */
function refuseAll(outcomes: Answered[]): PackAnswer {
  const reasons = outcomes.flatMap(({ product, outcome }): ProductReason[] =>
    outcome instanceof ApiError ? [{ product, reason: outcome }] : [],
  )
  const all = outcomes.map(({ product, outcome }) => ({ product, ...readReason(outcome) }))
  const details = all.map(({ product, error, code }) => ({ field: product.code, message: error, code }))
  if (reasons.length === 0) {
    return { status: NOT_FOUND, body: { error: all[0]?.error, code: LEFT_OUT, details } }
  }
  const { status, body } = combineReasons(reasons)
  return { status, body: { ...body, details } }
}

/**
 * The answer of `POST /advisory/point` with the country of the area: the same members with the same numbers. Null for a
 * position outside the pack.
 */
export function answerAt(pack: Pack, request: PackRequest): PackAnswer | null {
  const position = { longitude: request.lng, latitude: request.lat }
  if (!isInPack(pack, position)) return null
  const outcomes: Answered[] = []
  for (const [index, product] of pack.products.entries()) {
    const series = pack.series.find(
      (one) => one.product === index && (one.crop ?? request.crop) === request.crop,
    )
    const outcome = series && findOutcome(pack, series, position, request)
    if (!outcome) return null
    outcomes.push({ product, outcome })
  }
  const answering = outcomes.flatMap(({ outcome }) => ('release' in outcome ? outcome.release : []))
  const [first] = answering
  if (!first) return refuseAll(outcomes)
  const crop = answering.find(({ members }) => members.crop !== null)?.members.crop ?? null
  const { lat, lng } = request
  return {
    status: 200,
    body: {
      location: { name: 'Point', lat, lng, type: 'point' },
      country_code: first.members.country_code,
      crop,
      ...Object.fromEntries(outcomes.map((one) => [one.product.code, makeSection(one)])),
    },
  }
}

function makeSection({ product, outcome }: Answered): Record<string, unknown> {
  if ('members' in outcome) return outcome.members
  if (outcome instanceof ApiError) return createReason(product, outcome)
  return { [product.entries]: null, ...readReason(outcome) }
}

/** Undefined for a position outside the pixels of the pack. */
function findOutcome(
  pack: Pack,
  { product: index, release: number, reason, leftOut }: PackedSeries,
  position: Position,
  { condition, now = new Date() }: PackRequest,
): Outcome | undefined {
  const product = pack.products[index] as PackedProduct
  if (leftOut !== null) return { leftOut }
  if (number === null) {
    const { code, error, details } = reason as ErrorBody
    return new ApiError(code as ErrorCode, error, details)
  }
  const release = pack.releases[number] as PackedRelease
  const refused = conditionError(release, condition)
  if (refused) return refused
  const pixels = readPacked(
    release.grids.map((grid) => pack.grids[grid] as PackGrid),
    position,
  )
  if (!pixels) return undefined
  const values = assembleValues(release, pixels, condition)
  if (!values) return noData(product.values, position, 'point')
  const certainty = prepareCertainty(product, release)
  const isStale = release.lastDay !== null && now.toISOString().slice(0, 10) > release.lastDay
  // In the order of the sections of an answer.
  const members = {
    ...makeValueMembers(product, { ...release, certainty }, values),
    ...release.members,
    ...(isStale && { stale: true }),
  }
  return { members, release }
}
