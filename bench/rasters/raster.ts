import { openRaster } from '#src/ingest/geotiff/file.ts'
import type { PixelGrid } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import { randomNumbers } from '../load/random.ts'

export interface Point {
  lat: number
  lng: number
}

/** A raster held in memory: the bench's own reading of it, by which the answers are judged. */
export interface LoadedRaster {
  /** The pixel that a point lies in; undefined where there is no value. */
  valueAt(point: Point): number | undefined
  /** The column and row of the stored tile that a point lies in, as one number. */
  tileAt(point: Point): number
  bounds: { west: number; south: number; east: number; north: number }
  grid: PixelGrid
}

/** Reads a whole raster in longitude and latitude. */
export async function loadRaster(path: string): Promise<LoadedRaster> {
  const file = await openRaster(path)
  try {
    const { originX, originY, pixelWidth, pixelHeight, width, height } = file.grid
    const { nodata } = await file.band({ band: 1 }, new Set())
    const [pixels] = (await file.read({ column: 0, row: 0, width, height }, [1])) as [Pixels]
    const missing = typeof nodata === 'number' ? Math.fround(nodata) : Number.NaN
    const columnAt = (lng: number) => Math.floor((lng - originX) / pixelWidth)
    const rowAt = (lat: number) => Math.floor((lat - originY) / pixelHeight)
    return {
      grid: { originX, originY, pixelWidth, pixelHeight, width, height },
      bounds: {
        west: originX,
        north: originY,
        east: originX + width * pixelWidth,
        south: originY + height * pixelHeight,
      },
      valueAt({ lat, lng }) {
        const [column, row] = [columnAt(lng), rowAt(lat)]
        if (column < 0 || column >= width || row < 0 || row >= height) return undefined
        const value = pixels[row * width + column] as number
        return value === missing || Number.isNaN(value) ? undefined : value
      },
      tileAt: ({ lat, lng }) =>
        Math.floor(rowAt(lat) / TILE_SIZE) * Math.ceil(width / TILE_SIZE) +
        Math.floor(columnAt(lng) / TILE_SIZE),
    }
  } finally {
    await file.close()
  }
}

/** Points with seven decimals (a centimetre), uniform over a box of longitudes and latitudes. */
export function pointsIn(bounds: LoadedRaster['bounds'], seed: number): () => Point {
  const random = randomNumbers(seed)
  const draw = (from: number, to: number) => Number((from + random() * (to - from)).toFixed(7))
  return () => ({ lat: draw(bounds.south, bounds.north), lng: draw(bounds.west, bounds.east) })
}

/** So many of the points drawn, of those that are wanted. */
export function takePoints(draw: () => Point, count: number, wanted: (point: Point) => boolean): Point[] {
  const points: Point[] = []
  while (points.length < count) {
    const point = draw()
    if (wanted(point)) points.push(point)
  }
  return points
}
