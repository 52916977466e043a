import { randomNumbers } from '../load/random.ts'
import type { RasterToWrite } from '../rasters/geotiff.ts'
import type { Point } from '../rasters/raster.ts'
import type { Content } from './results.ts'

/** Where the rasters lie: degrees of the north-west corner, in Ethiopia. */
const WEST = 37
const NORTH = 10
/** Some 30 m. */
const PIXEL_DEGREES = 0.00027

const NODATA = -9999

/** Values are stored in steps of a tenth where they are integers. */
export const QUANTUM = 0.1

/** A field has so many pixels on a side: 180 m, or 3 ha. */
const FIELD_PIXELS = 6

/** How far values change from pixel to pixel, at random, beside what changes over many. */
const NOISE = 1

/** Where there is any farming, so large a part of the fields is cropland at most. */
const DENSEST = 0.8

export function gridOf(side: number): RasterToWrite['grid'] {
  return {
    originX: WEST,
    originY: NORTH,
    pixelWidth: PIXEL_DEGREES,
    pixelHeight: -PIXEL_DEGREES,
    width: side,
    height: side,
  }
}

/**
 * One layer of a square, the same every time: values that wander over kilometres with some noise from pixel to pixel,
 * and, where it is masked, fields of cropland that crowd in some regions and are absent in others.
 *
 * @param layer layers have other values at the same places
 */
export function rasterOf(content: Content, side: number, layer: number): RasterToWrite {
  const random = randomNumbers(side * 1000 + layer)
  const isFloat = content === 'float32'
  return {
    grid: gridOf(side),
    nodata: NODATA,
    sample: isFloat ? 'float32' : 'int16',
    fill(row, values) {
      for (let column = 0; column < side; column++) {
        const noise = NOISE * (2 * random() - 1)
        const wave = 60 * Math.sin(column / 211 + layer) * Math.cos(row / 173 + layer)
        const value = 100 + wave + noise
        const there = content !== 'masked' || isCropland(row, column)
        values[column] = there ? (isFloat ? value : Math.round(value / QUANTUM)) : NODATA
      }
    },
  }
}

/** Whether a pixel is of cropland, where rasters are masked. */
export function isCropland(row: number, column: number): boolean {
  const [down, across] = [Math.floor(row / FIELD_PIXELS), Math.floor(column / FIELD_PIXELS)]
  const place = hash(down, across)
  return place < DENSEST * farming(down * FIELD_PIXELS, across * FIELD_PIXELS)
}

/** Regions come again after so many pixels, 30 km, so that squares of any multiple of it have the same share of cropland. */
const REGION_PIXELS = 1024

/** Chosen so that 6.9 % of all pixels are of cropland, as in Africa. */
const LEAST_FARMED = 1

/** How much of a region is farmed, from 0 to 1: nothing in most of them, with slow transitions. */
function farming(row: number, column: number): number {
  const [down, across] = [(2 * Math.PI * row) / REGION_PIXELS, (2 * Math.PI * column) / REGION_PIXELS]
  const wave = Math.sin(across + 0.7) + Math.sin(down + 0.3) + 0.4 * Math.sin(2 * (down + across))
  return Math.min(1, Math.max(0, (wave - LEAST_FARMED) / 1.2))
}

/** A number from 0 to below 1 that belongs to a place, as if drawn. */
function hash(a: number, b: number): number {
  let mixed = Math.imul(a + 1, 0x9e3779b1) ^ Math.imul(b + 1, 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
  mixed = Math.imul(mixed ^ (mixed >>> 12), 0x297a2d39)
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
}

/** The centres of pixels, one in each square of so many on a side, in an order drawn at random. */
export function pointsInEach(side: number, step: number): Point[] {
  const points: Point[] = []
  for (let row = step >> 1; row < side; row += step) {
    for (let column = step >> 1; column < side; column += step) {
      points.push({
        lat: Number((NORTH - (row + 0.5) * PIXEL_DEGREES).toFixed(7)),
        lng: Number((WEST + (column + 0.5) * PIXEL_DEGREES).toFixed(7)),
      })
    }
  }
  return shuffled(points)
}

function shuffled<One>(all: One[]): One[] {
  const random = randomNumbers(all.length)
  const places = all.map((one) => ({ one, at: random() }))
  return places.sort((a, b) => a.at - b.at).map(({ one }) => one)
}
