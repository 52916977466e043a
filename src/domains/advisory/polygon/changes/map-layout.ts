import { GLYPH_HEIGHT, textWidth } from '#src/raster/bitmap-font.ts'
import type { Extent, Grid, GridSize } from '#src/raster/grid.ts'

/** The most pixels on a side of the picture. */
const LONGEST_SIDE = 1600

/** Pixels on a side of those of the font. */
export const TEXT_SCALE = 2

/** From one line of text to the next, and from one box of the legend. */
const LINE_HEIGHT = 2 * TEXT_SCALE * GLYPH_HEIGHT

const MARGIN = 20

/** The box of a class in the legend. */
export const SWATCH = { width: 36, height: 20 } as const
const SWATCH_GAP = 10

/** The most pixels on the sides of the map itself: what the texts leave of the picture. */
const MAP_ROOM = { width: 1120, height: 1440 } as const

const SRID = 4326

/** Where the parts of the picture lie in it. */
export interface MapLayout extends GridSize {
  /** Of the map, in longitude and latitude. */
  grid: Grid
  map: Place
  title: Place[]
  legend: { text: Place; swatch: Place }[]
}

/** A pixel of the picture. */
export interface Place {
  column: number
  row: number
}

/** Lays the map below its title, and the legend beside it. */
export function layOut(extent: Extent, title: string[], legend: string[]): MapLayout {
  const grid = plateCarree(extent)
  const map = { column: MARGIN, row: MARGIN + title.length * LINE_HEIGHT }
  const beside = map.column + grid.width + MARGIN
  const legendRows = legend.map((_, line) => map.row + line * LINE_HEIGHT)
  const widthOf = (text: string) => TEXT_SCALE * textWidth(text)
  const right = Math.max(
    ...title.map((text) => MARGIN + widthOf(text)),
    ...legend.map((text) => beside + SWATCH.width + SWATCH_GAP + widthOf(text)),
  )
  const bottom = map.row + Math.max(grid.height, legend.length * LINE_HEIGHT)
  return {
    width: Math.min(LONGEST_SIDE, right + MARGIN),
    height: Math.min(LONGEST_SIDE, bottom + MARGIN),
    grid,
    map,
    title: title.map((_, line) => ({ column: MARGIN, row: MARGIN + line * LINE_HEIGHT })),
    legend: legendRows.map((row) => ({
      swatch: { column: beside, row },
      text: {
        column: beside + SWATCH.width + SWATCH_GAP,
        row: row + (SWATCH.height - TEXT_SCALE * GLYPH_HEIGHT) / 2,
      },
    })),
  }
}

/** A grid of square pixels, on which distances in the middle are as long from west to east as from south to north. */
function plateCarree({ west, south, east, north }: Extent): Grid {
  const narrowing = Math.cos((((south + north) / 2) * Math.PI) / 180)
  const pixelHeight = Math.max(
    (narrowing * (east - west)) / MAP_ROOM.width,
    (north - south) / MAP_ROOM.height,
  )
  const pixelWidth = pixelHeight / narrowing
  const pixelsIn = (degrees: number, pixel: number, most: number) =>
    Math.min(most, Math.max(1, Math.round(degrees / pixel)))
  return {
    srid: SRID,
    originX: west,
    originY: north,
    pixelWidth,
    pixelHeight: -pixelHeight,
    width: pixelsIn(east - west, pixelWidth, MAP_ROOM.width),
    height: pixelsIn(north - south, pixelHeight, MAP_ROOM.height),
  }
}
