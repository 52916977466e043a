import type { Polygon } from 'geojson'
import type pg from 'pg'
import { ellipsoidArea, type Polygons, statisticsOf, weightsOf } from '#test/advice/polygon/brute-force.ts'
import { ask } from '../ask.ts'
import type { LoadedRaster } from '../rasters/raster.ts'

/** What a method finds in a polygon; undefined where it finds no value. */
export type Found = { mean: number; coveredM2: number } | undefined

/** The pixels of a raster by column and row. */
export interface Pixels {
  grid: {
    originX: number
    originY: number
    pixelWidth: number
    pixelHeight: number
    width: number
    height: number
  }
  at(column: number, row: number): number | null
}

export function pixelsOf({ grid, valueAt }: LoadedRaster): Pixels {
  const { originX, originY, pixelWidth, pixelHeight } = grid
  return {
    grid,
    at: (column, row) =>
      valueAt({ lng: originX + (column + 0.5) * pixelWidth, lat: originY + (row + 0.5) * pixelHeight }) ??
      null,
  }
}

/** Each pixel on the border is cut out by polyclip-ts, and weighs what its part has as area on the ellipsoid. */
export function exactly(pixels: Pixels, { coordinates }: Polygon): { found: Found; pixels: number } {
  const weights = weightsOf([coordinates] as Polygons, pixels.grid, ellipsoidArea)
  const statistics = statisticsOf(weights, pixels.at)
  return {
    found: statistics && { mean: statistics.mean, coveredM2: statistics.covered * weights.area },
    pixels: weights.pixels.length,
  }
}

/** The pixels whose centres lie inside count whole, all others not at all: what rasterio's masks do by default. */
export function byCentres({ grid, at }: Pixels, { coordinates: [ring = []] }: Polygon): Found {
  const { originX, originY, pixelWidth, pixelHeight } = grid
  const columns = ring.map(([lng = 0]) => (lng - originX) / pixelWidth)
  const rows = ring.map(([, lat = 0]) => (lat - originY) / pixelHeight)
  let [sum, count, coveredM2] = [0, 0, 0]
  for (let row = Math.floor(Math.min(...rows)); row < Math.max(...rows); row++) {
    const crossings = crossingsOf(columns, rows, row + 0.5)
    for (let index = 0; index + 1 < crossings.length; index += 2) {
      const [from, to] = [crossings[index] as number, crossings[index + 1] as number]
      for (let column = Math.ceil(from - 0.5); column + 0.5 < to; column++) {
        const value = at(column, row)
        if (value === null) continue
        sum += value
        count++
        coveredM2 += pixelM2(grid, row)
      }
    }
  }
  return count === 0 ? undefined : { mean: sum / count, coveredM2 }
}

/** Where a ring crosses a line through the middle of a row of pixels. */
function crossingsOf(columns: number[], rows: number[], y: number): number[] {
  const crossings: number[] = []
  for (let at = 0; at + 1 < columns.length; at++) {
    const [fromY, toY] = [rows[at] as number, rows[at + 1] as number]
    if (fromY > y === toY > y) continue
    const [fromX, toX] = [columns[at] as number, columns[at + 1] as number]
    crossings.push(fromX + ((y - fromY) / (toY - fromY)) * (toX - fromX))
  }
  return crossings.sort((a, b) => a - b)
}

function pixelM2({ originY, pixelWidth, pixelHeight }: Pixels['grid'], row: number): number {
  const [one, other] = [originY + row * pixelHeight, originY + (row + 1) * pixelHeight]
  return ellipsoidArea([[0, one], [pixelWidth, one], [pixelWidth, other], [0, other], [0, one]]) // biome-ignore format: one line
}

/** PostGIS's own functions, for all layers of a release; the value is that of the first one. */
export async function byClip(
  client: pg.Client,
  grid: Pixels['grid'],
  release: string,
  polygon: Polygon,
): Promise<Found> {
  const { rows } = await client.query(
    `select layer.ordinal, (st_summarystatsagg(clipped.rast, layer.band, true)).*
    from (
      select tile.coverage_id, st_clip(tile.rast, place.geom, true) as rast
      from (select st_setsrid(st_geomfromgeojson($2), 4326) as geom) as place
      join release on release.code = $1
      join coverage on coverage.release_id = release.id
      join raster_tile as tile on tile.coverage_id = coverage.id and st_intersects(tile.rast, place.geom)
      offset 0
    ) as clipped
    join layer on layer.coverage_id = clipped.coverage_id
    group by layer.ordinal order by layer.ordinal`,
    [release, JSON.stringify(polygon)],
  )
  const [first] = rows
  if (!first || first.count === 0 || first.mean === null) return undefined
  const latitudes = polygon.coordinates.flat().map(([, lat = 0]) => lat)
  const middle = (Math.min(...latitudes) + Math.max(...latitudes)) / 2
  const row = Math.floor((middle - grid.originY) / grid.pixelHeight)
  return { mean: first.mean, coveredM2: Number(first.count) * pixelM2(grid, row) }
}

/** This service, over HTTP, for all layers. */
export async function byService(port: number, token: string, geometry: Polygon): Promise<Found> {
  const { status, body } = await ask(port, '/advisory/fertilizer', { geometry, crop: 'wheat' }, token)
  if (status === 404) return undefined
  if (status !== 200) throw new Error(`a polygon was answered ${status} ${body}`)
  const { location, fertilizer_data } = JSON.parse(body)
  const [{ rate_kg_ha: mean, covered_percent }] = fertilizer_data
  return { mean, coveredM2: location.area_ha * 10_000 * (covered_percent / 100) }
}
