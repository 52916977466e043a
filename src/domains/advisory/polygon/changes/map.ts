import type { Pause } from '#src/lib/turns.ts'
import { areasOfPixels, linesBetween } from '#src/raster/area-pixels.ts'
import { Canvas, type Ink } from '#src/raster/canvas.ts'
import { encodePalettePng, type Rgba } from '#src/raster/palette-png.ts'
import type { Rings } from '#src/raster/rings.ts'
import type { Computation } from '../computing.ts'
import type { ComparedCodes } from './answer.ts'
import type { Comparison, LayerChange } from './compare.ts'
import { layerName, sizeOf } from './figures.ts'
import { MAP_CLASSES, mapClassOf } from './map-classes.ts'
import { layOut, type MapLayout, type Place, SWATCH, TEXT_SCALE } from './map-layout.ts'
import { readMapShapes } from './map-shapes.ts'
import type { ComparedLayer } from './queries.ts'

const WHITE = 0
const BLACK = 1
const LINE = 2
const FIRST_CLASS = 3

const PALETTE: readonly Rgba[] = [
  [255, 255, 255, 255],
  [0, 0, 0, 255],
  [102, 102, 102, 255],
  ...MAP_CLASSES.map(({ colour }) => colour),
]

/** Stripes run to the lower left: pixels from one to the next, and how many of them are of its colour. */
const STRIPE = { distance: 8, thickness: 3 } as const

/**
 * The place of the layer that is drawn, from 0.
 *
 * @param number which one, from 1; without it, that whose mean changes most in any area, rather one of both releases
 * @returns undefined where there is none of the number
 */
export function layerToDraw({ layers, areas }: Comparison, number: number | undefined): number | undefined {
  if (number !== undefined) return number <= layers.length ? number - 1 : undefined
  const isOfBoth = layers.map(({ before, after }) => before !== null && after !== null)
  const sizes = layers.map((_, layer) =>
    Math.max(...areas.map(({ layers: found }) => sizeOf({ found: found[layer] as LayerChange }))),
  )
  const candidates = isOfBoth.includes(true) ? sizes.map((size, at) => (isOfBoth[at] ? size : -1)) : sizes
  return candidates.indexOf(Math.max(...candidates))
}

/**
 * Draws what becomes of a layer as a map: areas have the colours of how their means change.
 *
 * @param layer its place, from 0
 * @throws {ReplacedMeanwhile} where an area has been deleted
 */
export async function changesMap(
  computation: Computation,
  { before, after }: ComparedCodes,
  comparison: Comparison,
  layer: number,
): Promise<Buffer> {
  const { areas, ...extent } = await readMapShapes(computation, comparison)
  const classes = comparison.areas.map(({ layers }) => mapClassOf((layers[layer] as LayerChange).change))
  const title = [
    after,
    `against ${before}`,
    `Change of the mean: ${layerName(comparison.layers[layer] as ComparedLayer)}`,
  ]
  const legend = MAP_CLASSES.map(({ label }, place) => {
    const count = classes.filter((one) => one === place).length
    return `${label} (${count})`
  })
  const layout = layOut(extent, title, legend)
  const canvas = new Canvas(layout)
  write(canvas, title, layout.title)
  drawLegend(canvas, legend, layout.legend)
  await drawAreas(canvas, layout, areas, classes, computation.pause)
  return encodePalettePng({ ...layout, palette: PALETTE, indices: canvas.indices })
}

function write(canvas: Canvas, texts: string[], places: Place[]): void {
  for (const [line, text] of texts.entries()) {
    canvas.write(text, places[line] as Place, TEXT_SCALE, () => BLACK)
  }
}

function drawLegend(canvas: Canvas, texts: string[], places: MapLayout['legend']): void {
  for (const [place, { swatch }] of places.entries()) {
    const inside = { column: swatch.column + 1, row: swatch.row + 1 }
    canvas.fill({ ...swatch, ...SWATCH }, () => LINE)
    canvas.fill({ ...inside, width: SWATCH.width - 2, height: SWATCH.height - 2 }, inkOf(place))
  }
  write(
    canvas,
    texts,
    places.map(({ text }) => text),
  )
}

async function drawAreas(
  canvas: Canvas,
  { grid, map }: MapLayout,
  areas: Rings[][],
  classes: number[],
  pause: Pause,
): Promise<void> {
  const numbers = await finished(areasOfPixels(grid, areas), pause)
  const lines = await finished(linesBetween(grid, numbers), pause)
  const inks = classes.map(inkOf)
  const ink: Ink = (column, row) => {
    const pixel = (row - map.row) * grid.width + column - map.column
    if (lines[pixel]) return LINE
    const number = numbers[pixel] as number
    return number === 0 ? WHITE : (inks[number - 1] as Ink)(column, row)
  }
  for (let row = 0; row < grid.height; row++) {
    canvas.fill({ column: map.column, row: map.row + row, width: grid.width, height: 1 }, ink)
    await pause()
  }
}

function inkOf(place: number): Ink {
  const colour = FIRST_CLASS + place
  if (!MAP_CLASSES[place]?.striped) return () => colour
  return (column, row) => ((column + row) % STRIPE.distance < STRIPE.thickness ? colour : WHITE)
}

/** Goes through with something long, and lets others go on in between. */
async function finished<Result>(work: Generator<void, Result>, pause: Pause): Promise<Result> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await pause()
  }
}
