import initSqlJs from 'sql.js'
import { MOST_LIKELY, type Tileset } from '#schemas/map.ts'
import { ApiError } from '#src/errors.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Maps, WantedLayer } from '#src/maps/maps.ts'
import { labelLayer, listLayers } from '#src/maps/published.ts'
import { clipToMercator, type MapTile } from '#src/raster/maps.ts'
import type { PackedArea } from './content.ts'
import type { TableSeries } from './rows.ts'

/** A layer of a pack as map tiles in one file: MBTiles 1.3, https://github.com/mapbox/mbtiles-spec. */

/** Which layer the tiles show; by default that of the normal season of the first product. */
export interface LayerWish {
  release?: string | undefined
  layer?: WantedLayer['layer'] | undefined
}

const NORMAL = 'Normal'

/** The layer that a pack of tiles is of. @throws {ApiError} INVALID_PARAMETERS for one that it does not have */
export function choosePackLayer(
  series: readonly TableSeries[],
  area: PackedArea,
  { release: code, layer }: LayerWish,
): WantedLayer & { layer: NonNullable<LayerWish['layer']> } {
  const codes = series.map(({ release }) => release.code)
  if (codes.length === 0) {
    throw new ApiError('NO_RELEASE', `Nothing has been published yet for ${area.country}.`)
  }
  const found = code === undefined ? series[0] : series.find(({ release }) => release.code === code)
  if (!found) throw ApiError.invalid('release', `must be one of ${codes.join(', ')}`, codes)
  const layers = listLayers(found.release)
  const normal = layers.find(({ scenario, role }) => scenario === NORMAL && role === undefined)
  const chosen = layer ?? normal?.number ?? 1
  if (chosen !== MOST_LIKELY && chosen > layers.length) {
    throw ApiError.invalid('layer', `must be at most ${layers.length} for ${found.release.code}`)
  }
  return { release: found.release.code, layer: chosen }
}

/** Zooms that are in the file above that of the pixels: on the lowest the area is a thumbnail. */
const ZOOMS = 6

/** The tiles of a zoom that a rectangle of degrees meets, and how many they are. */
function findTiles([west, south, east, north]: readonly number[], zoom: number) {
  const side = 2 ** zoom
  const within = (part: number) => Math.min(side - 1, Math.max(0, Math.floor(part * side)))
  const columnOf = (longitude = 0) => within((longitude + 180) / 360)
  // Spherical Mercator (Snyder, 1987, equation 7-2), from the north.
  const rowOf = (latitude = 0) =>
    within(0.5 - Math.atanh(Math.sin((latitude * Math.PI) / 180)) / (2 * Math.PI))
  const [left, top] = [columnOf(west), rowOf(north)]
  const [width, height] = [columnOf(east) - left + 1, rowOf(south) - top + 1]
  const tileAt = (at: number): MapTile => ({
    zoom,
    column: left + (at % width),
    row: top + Math.floor(at / width),
  })
  return { count: width * height, tileAt }
}

/** So many tiles has a zoom at most: of an area that is far wider than its pixels are many, the highest zooms are left out. */
const MOST_TILES = 1000

/**
 * Zooms that only enlarge pixels, since ODK Collect shows nothing on Google Maps beyond the highest zoom of a file: up to one
 * with fields, and so many tiles.
 */
const FIELD_ZOOM = 14
const MOST_ENLARGED = 200

function chooseZooms(bounds: readonly number[], highest: number): { minzoom: number; maxzoom: number } {
  const hasAtMost = (zoom: number, most: number) => findTiles(bounds, zoom).count <= most
  let maxzoom = highest
  while (maxzoom > 0 && !hasAtMost(maxzoom, MOST_TILES)) maxzoom--
  const minzoom = Math.max(0, maxzoom - ZOOMS)
  while (maxzoom < FIELD_ZOOM && hasAtMost(maxzoom + 1, MOST_ENLARGED)) maxzoom++
  return { minzoom, maxzoom }
}

/** The rows of the table `metadata`. */
function describeTiles(
  area: PackedArea,
  tileset: Tileset,
  { product, release }: TableSeries,
  shown: { bounds: readonly number[]; minzoom: number; maxzoom: number },
): [name: string, value: string][] {
  const { bounds, minzoom, maxzoom } = shown
  const [west, south, east, north] = bounds as [number, number, number, number]
  const layer = listLayers(release).find(({ number }) => number === tileset.layer)
  const label = layer ? labelLayer(layer) : 'Most likely season'
  const title = [product.names.title, release.cropCode, label].filter(Boolean).join(', ')
  const warning = release.synthetic ? ' Synthetic values, made by a formula: not advice.' : ''
  return [
    ['name', `${area.name}: ${title}`],
    ['format', 'png'],
    ['bounds', bounds.join()],
    ['center', [roundDegrees((west + east) / 2), roundDegrees((south + north) / 2), minzoom].join()],
    ['minzoom', String(minzoom)],
    ['maxzoom', String(maxzoom)],
    ['attribution', `${release.code}. ${tileset.attribution}`],
    ['description', `${title} (${tileset.unit}) in ${area.name}, of ${release.code}.${warning}`],
    ['type', 'overlay'],
    ['version', '1'],
    ['release', release.code],
    ['layer', String(tileset.layer)],
    ['licence', release.licence],
    ['synthetic', String(release.synthetic)],
    ['unit', tileset.unit],
    ['legend', JSON.stringify(tileset.classes)],
  ]
}

const SCHEMA = `
  pragma page_size = 4096;
  create table metadata (name text, value text);
  create table tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob);
  create unique index tile_index on tiles (zoom_level, tile_column, tile_row);`

/**
 * The tiles of a layer around an area: pictures of the whole raster, as the service draws them.
 *
 * @param found the series of the layer
 * @throws {ReplacedMeanwhile} where its release is withdrawn or moved meanwhile
 */
export async function writeMbtiles(
  maps: Maps,
  area: PackedArea,
  found: TableSeries,
  wanted: WantedLayer,
  pause: Pause,
): Promise<Uint8Array> {
  const tileset = await maps.describe(wanted, '')
  const [west, south, east, north] = area.bbox
  const shown = clipToMercator({ west, south, east, north })
  const bounds = [shown.west, shown.south, shown.east, shown.north].map(roundDegrees)
  const zooms = chooseZooms(bounds, tileset.maxzoom)
  const { Database } = await initSqlJs()
  const database = new Database()
  try {
    database.run(SCHEMA)
    const rows = describeTiles(area, tileset, found, { bounds, ...zooms })
    for (const row of rows) database.run('insert into metadata values (?, ?)', row)
    for (let zoom = zooms.minzoom; zoom <= zooms.maxzoom; zoom++) {
      const { count, tileAt } = findTiles(bounds, zoom)
      for (let at = 0; at < count; at++) {
        await pause()
        const tile = tileAt(at)
        const picture = await maps.draw(wanted, tile)
        // Rows are counted from the south (Tile Map Service).
        const address = [zoom, tile.column, 2 ** zoom - 1 - tile.row]
        database.run('insert into tiles values (?, ?, ?, ?)', [...address, picture])
      }
    }
    return database.export()
  } finally {
    database.close()
  }
}
