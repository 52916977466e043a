import { MAX_LEVEL } from '#schemas/areas.ts'
import type { ErrorBody } from '#schemas/common.ts'
import { POINT_DEFAULTS } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import {
  type AreaReference,
  FULL_SHAPE,
  listAreas,
  type Rectangle,
  type ShapeFormat,
} from '#src/catalog/area-queries.ts'
import { requireStore } from '#src/data/tiles/store.ts'
import { copyWindow } from '#src/data/tiles/tiff.ts'
import { ApiError, BASE, ReplacedMeanwhile, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { round } from '#src/lib/round.ts'
import { isMixture } from '#src/lookup/layers.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { type NumberedCoverage, type PublishedRelease, readSeries } from '#src/lookup/releases.ts'
import { listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import { type Layer, listLayers } from '#src/maps/published.ts'
import type { Window } from '#src/raster/grid.ts'
import { bytesOf, createPixels, findPixelType } from '#src/raster/pixels.ts'
import { type DecodedTile, decodeTile } from '#src/raster/tiles.ts'
import { findWindow, isPackable, type PackBand, type PackGrid } from './pixels.ts'
import { findAreaCode } from './queries.ts'
import type { PackedContent } from './reading.ts'

/** A pack: everything that the service knows of an administrative area, as it is stored. */

/** What answers for a product, and for a crop where the product has seasons. */
interface PackSeries {
  product: ProductDefinition
  /** The crop of the request; null for a product without seasons, which answers for any crop. */
  cropCode: string | null
  /** Undefined where none is published, or the pack cannot have it. */
  release: PublishedRelease | undefined
  /** In the order of the release's coverages. */
  grids: PackGrid[]
  /** As the service says it for a place in the area; null with a release. */
  reason: ErrorBody | null
  /** A sentence where a release is published, but its grid is not in the pack. */
  leftOut: string | null
}

type PackArea = PackedContent['area']

/** An area as it is found, without the areas inside it. */
export interface PackedArea extends Omit<PackArea, 'places'> {
  /** Changes with each load of boundaries of its country. */
  boundaries: string
}

export interface PackContent extends Pick<PackedContent, 'madeAt' | 'serviceUrl' | 'area' | 'crops'> {
  /** Product by product, each crop by crop. */
  series: PackSeries[]
}

export interface PackSources {
  app: Pick<App, 'config' | 'database' | 'products' | 'tiles'>
  lookup: Lookup
  /** Lets others go on. */
  pause: Pause
}

/** Bytes of stored pixels that are read for a page, and that a phone unpacks in memory. */
export const MOST_STORED_BYTES = 16_000_000

/**
 * Positions of a whole outline: nine bytes each in the file, 200 kB in all. Whether a place lies in it is decided as the
 * database does, but for the last 11 cm.
 */
const MOST_POSITIONS = 20_000

/** Degrees by which the outline may be off that has more: 50 m. */
const SIMPLIFIED: ShapeFormat = { ...FULL_SHAPE, tolerance: 0.0005 }

/** A metre. */
const CENTRE_DECIMALS = 5

/** Codes that a refusal names. */
const MOST_CODES = 100

/** Areas inside that searches find. */
const MOST_PLACES = 10_000

const LEVELS = Array.from({ length: MAX_LEVEL + 1 }, (_, level) => level)

/**
 * Finds the area of a pack by its code, in any case.
 *
 * @throws {ApiError} INVALID_PARAMETERS for an unknown country, UNKNOWN_AREA
 */
export async function findPackArea(
  { app }: Pick<PackSources, 'app'>,
  snapshot: Snapshot,
  wanted: AreaReference,
): Promise<PackedArea> {
  const countryCode = wanted.countryCode.toLowerCase()
  const country = snapshot.countries.find(({ code }) => code === countryCode)
  if (!country) throw unknownCountry('country', listCodes(snapshot))
  const db = app.database.reader
  const stored = await findAreaCode(db, { ...wanted, countryCode })
  const shape = stored && stored.positions > MOST_POSITIONS ? SIMPLIFIED : FULL_SHAPE
  const found =
    stored &&
    (await listAreas(db, { countryCode, code: stored.code, levels: [stored.level], limit: 1, shape }))
  const [area] = found?.areas ?? []
  if (!stored || !area) {
    const ofLevel = wanted.level === null ? '' : ` of level ${wanted.level}`
    const sentence = `${country.name} has no area${ofLevel} with the code ${wanted.code}; GET ${BASE}/places finds codes by names.`
    throw new ApiError('UNKNOWN_AREA', sentence)
  }
  const { code, name, level, parents, extent } = area
  const outline = JSON.parse(area.shape as string) as PackArea['outline']
  const centre = {
    longitude: round(area.longitude, CENTRE_DECIMALS),
    latitude: round(area.latitude, CENTRE_DECIMALS),
  }
  const place = { countryCode, country: country.name, level, code, name, parents, ...centre }
  return { ...place, outline, bbox: extent, boundaries: stored.boundaries }
}

/**
 * The content of a pack: of each product and crop the release that answers, with its stored pixels around the area.
 *
 * @param now when it is made
 * @throws {ApiError} TOO_MANY_POINTS for an area with too many pixels, before any is read
 * @throws {ReplacedMeanwhile} where a release is deleted or moved meanwhile: `lookup.inSnapshot` begins anew
 */
export async function readPackContent(
  sources: PackSources,
  snapshot: Snapshot,
  { boundaries: _, ...area }: PackedArea,
  now: Date,
): Promise<PackContent> {
  const { series, crops, grids } = await planContent(sources, snapshot, area)
  const read = new Map<number, PackGrid>()
  for (const one of series) {
    for (const coverage of one.release?.coverages ?? []) {
      const grid = grids.get(coverage.id) as PackGrid
      const packed = read.get(coverage.id) ?? {
        ...grid,
        bands: await readWindow(sources, coverage, {
          window: grid.window,
          count: countBands(one.release as PublishedRelease, coverage),
        }),
      }
      read.set(coverage.id, packed)
      one.grids.push(packed)
    }
  }
  const places = await listPlaces(sources, area)
  const serviceUrl = sources.app.config.PUBLIC_URL ?? null
  return { madeAt: now.toISOString(), serviceUrl, area: { ...area, places }, crops, series }
}

/**
 * Chooses the series and the windows of a pack.
 *
 * @throws {ApiError} TOO_MANY_POINTS for an area with too many pixels
 */
export async function planContent(
  sources: Omit<PackSources, 'pause'>,
  snapshot: Snapshot,
  area: Omit<PackArea, 'places'>,
) {
  const { series, crops } = await chooseSeries(sources, snapshot, area)
  const grids = new Map<number, Omit<PackGrid, 'bands'>>()
  for (const { release } of series) {
    for (const coverage of release?.coverages ?? []) grids.set(coverage.id, cutGrid(coverage, area.bbox))
  }
  const stored = countStoredBytes(series, grids)
  if (stored > MOST_STORED_BYTES) {
    throw await tooLargeArea(sources, area, {
      unit: 'bytes of pixels',
      count: stored,
      most: MOST_STORED_BYTES,
    })
  }
  return { series, crops, grids }
}

/** The series of a country with the releases that answer, without pixels. */
async function chooseSeries(
  { app, lookup }: Omit<PackSources, 'pause'>,
  snapshot: Snapshot,
  { countryCode }: Pick<PackArea, 'countryCode'>,
): Promise<Pick<PackContent, 'crops' | 'series'>> {
  const { crops: known = [] } = snapshot.countries.find(({ code }) => code === countryCode) ?? {}
  const crops = known.length > 0 ? known : [POINT_DEFAULTS.crop]
  const series: PackSeries[] = []
  for (const product of app.products.list) {
    for (const cropCode of product.seasonal ? crops : [null]) {
      const asked = readSeries(product, {
        country_code: countryCode,
        ...(cropCode !== null && { crop: cropCode }),
      })
      const found = snapshot.releaseOf(asked)
      const other = found?.coverages.find(({ srid }) => !isPackable(srid))
      series.push({
        product,
        cropCode,
        release: other ? undefined : found,
        grids: [],
        reason: found ? null : (await lookup.reasons.noRelease(snapshot, asked)).body,
        leftOut: found && other ? describeLeftOut(found, other) : null,
      })
    }
  }
  return { crops, series }
}

function describeLeftOut({ code }: PublishedRelease, { srid }: NumberedCoverage): string {
  return `${code} is not in this pack: its grid is in EPSG:${srid}, and packs have degrees (EPSG:4326) and UTM zones on WGS 84 (EPSG:32601 to 32760) alone.`
}

function cutGrid(coverage: NumberedCoverage, bbox: Rectangle): Omit<PackGrid, 'bands'> {
  const { srid, originX, originY, pixelWidth, pixelHeight, width, height } = coverage
  const grid = { srid, originX, originY, pixelWidth, pixelHeight, width, height }
  return { ...grid, window: findWindow(grid, bbox) }
}

/** The bands that answer at points: the load puts those that are mixed of them last. */
function countBands(release: PublishedRelease, { id }: NumberedCoverage): number {
  const own = listLayers(release).filter(({ coverageId }) => coverageId === id)
  return Math.max(0, ...own.filter((layer) => isAtPoints(release, layer)).map(({ band }) => band))
}

function isAtPoints({ layers }: PublishedRelease, layer: Layer): boolean {
  return layer.role === undefined ? !isMixture(layers, layer) : layer.role !== 'share'
}

function countStoredBytes(
  series: readonly PackSeries[],
  grids: Map<number, Omit<PackGrid, 'bands'>>,
): number {
  const releases = new Set(series.flatMap(({ release }) => release ?? []))
  let bytes = 0
  for (const release of releases) {
    for (const { coverage, pixelType } of listLayers(release).filter((one) => isAtPoints(release, one))) {
      const { window } = grids.get(coverage.id) as PackGrid
      bytes += window.width * window.height * bytesOf(pixelType)
    }
  }
  return bytes
}

/** The refusal of an area that has too much for a pack; it names the areas right below. */
export async function tooLargeArea(
  { app }: Pick<PackSources, 'app'>,
  { countryCode, code, name, level }: Pick<PackArea, 'countryCode' | 'code' | 'name' | 'level'>,
  { unit, count, most }: { unit: string; count: number; most: number },
): Promise<ApiError> {
  const below = { countryCode, levels: [level + 1], parent: { code, level }, limit: MOST_CODES }
  const { areas } = level < MAX_LEVEL ? await listAreas(app.database.reader, below) : { areas: [] }
  const codes = areas.map((area) => area.code)
  const instead =
    codes.length > 0
      ? `Ask for areas of level ${level + 1} in it: ${codes.join(', ')}.`
      : 'The service has no areas below it.'
  const sentence = `${name} (${code}) has ${count} ${unit}, and a pack at most ${most}. ${instead}`
  return new ApiError('TOO_MANY_POINTS', sentence, [
    { field: 'area', message: 'area is too large for a pack', ...(codes.length > 0 && { allowed: codes }) },
  ])
}

async function listPlaces(
  { app }: PackSources,
  { countryCode, code, level }: Omit<PackArea, 'places'>,
): Promise<PackArea['places']> {
  const levels = LEVELS.filter((one) => one > level)
  if (levels.length === 0) return []
  const { areas } = await listAreas(app.database.reader, {
    countryCode,
    levels,
    parent: { code, level },
    limit: MOST_PLACES,
  })
  return areas.map(({ code, name, level, longitude, latitude }) => ({
    code,
    name,
    level,
    longitude: round(longitude, CENTRE_DECIMALS),
    latitude: round(latitude, CENTRE_DECIMALS),
  }))
}

/** Tiles that are read at a time. */
const TILES_A_CHUNK = 256

/** The stored pixels of the first bands of a window, tile by tile; no bands where no tile has a value. */
async function readWindow(
  { app, pause }: PackSources,
  { id, store, tileSize }: NumberedCoverage,
  { window, count }: { window: Window; count: number },
): Promise<PackBand[]> {
  const tiles: { coverageId: number; row: number; column: number }[] = []
  const tileOf = (pixel: number) => Math.floor(pixel / tileSize)
  if (window.width > 0) {
    for (let row = tileOf(window.row); row <= tileOf(window.row + window.height - 1); row++) {
      for (let column = tileOf(window.column); column <= tileOf(window.column + window.width - 1); column++) {
        tiles.push({ coverageId: id, row, column })
      }
    }
  }
  const stored = requireStore(app.tiles, store)
  let bands: PackBand[] = []
  for (let first = 0; first < tiles.length; first += TILES_A_CHUNK) {
    const chunk = tiles.slice(first, first + TILES_A_CHUNK)
    const found = await stored.find(chunk)
    for (const [index, wkb] of found.entries()) {
      await pause()
      if (wkb instanceof Error) throw wkb
      if (wkb === null) throw new ReplacedMeanwhile()
      if (wkb.length === 0) continue
      const tile = decodeTile(wkb)
      if (bands.length === 0) bands = createBands(tile, window.width * window.height).slice(0, count)
      const { row, column } = chunk[index] as (typeof chunk)[number]
      const source = { ...tile, row: row * tileSize, column: column * tileSize }
      for (const [band, { pixels }] of bands.entries())
        copyWindow((tile.bands[band] as DecodedTile['bands'][number]).pixels, source, pixels, window)
    }
  }
  return bands
}

/** Without a value: a band in which each pixel has one has all tiles, too. */
function createBands({ bands }: DecodedTile, pixels: number): PackBand[] {
  return bands.map(({ pixels: some, nodata }) => {
    const all = createPixels(findPixelType(some), pixels)
    return { nodata, pixels: nodata === undefined ? all : all.fill(nodata) }
  })
}
