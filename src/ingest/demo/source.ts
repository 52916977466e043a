import { createHash } from 'node:crypto'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import type { Bounds } from '#src/raster/rings.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import { type CoverageSource, type ReleaseSource, splitWindow } from '../source.ts'
import { DEMO_QUANTITIES, type DemoOdds, type DemoQuantity, demoOdds } from './formula.ts'
import {
  DEMO_CONDITIONS,
  type DemoLayer,
  type DemoPixel,
  listLayers,
  listOddsLayers,
  type OddsForm,
} from './layers.ts'
import {
  countryOutline,
  crossings,
  DEMO_COUNTRIES,
  type DemoCountry,
  demoTerrain,
  measureOutline,
} from './outlines.ts'
import { describeLand } from './relief.ts'

interface DemoRelease {
  product: ProductDefinition
  countryCode: string
  cropCode: string | null
}

/** The database's countries and crops decide which are seeded. */
const DEMO_PLACES = [
  ...Object.entries(DEMO_COUNTRIES).flatMap(([countryCode, { crop }]) =>
    crop === null ? [] : [{ countryCode, cropCode: crop }],
  ),
  ...Object.keys(DEMO_COUNTRIES).map((countryCode) => ({ countryCode, cropCode: null })),
]

/** A service that starts asks for it: it is there first. */
const FIRST = 'fertilizer eth wheat'

export const DEMO_RELEASES: DemoRelease[] = DEMO_PLACES.flatMap((place) =>
  PRODUCTS.list
    .filter(({ seasonal }) => seasonal === (place.cropCode !== null))
    .map((product) => ({ product, ...place })),
)
  .filter((release) => listQuantities(release).length > 0)
  .sort((a, b) => Number(nameSeries(b) === FIRST) - Number(nameSeries(a) === FIRST))

const DEMO_PERIOD = '2026-07-01'

const SOURCE = 'Synthetic demonstration values made by a formula. They are not advice.'

function nameSeries({ product, countryCode, cropCode }: DemoRelease): string {
  return cropCode ? `${product.code} ${countryCode} ${cropCode}` : product.code
}

function listQuantities(release: DemoRelease): DemoQuantity[] {
  return DEMO_QUANTITIES[nameSeries(release)] ?? []
}

/** Each kind of certainty is somewhere: odds as rasters in one country, as numbers in another. */
const ODDS: Record<string, OddsForm> = {
  eth: 'rasters',
  rwa: { Normal: 45, 'Below Normal': 25, 'Above Normal': 30 },
}

/** Series with values for positions on the slope. */
const ON_SLOPES = ['fertilizer eth wheat']

export function demoSource(release: DemoRelease): ReleaseSource {
  const { product, countryCode, cropCode } = release
  const odds = product.seasonal ? ODDS[countryCode] : undefined
  const onSlopes = ON_SLOPES.includes(nameSeries(release))
  const layers = listLayers(product, listQuantities(release), odds, onSlopes)
  const oddsLayers = odds === 'rasters' ? listOddsLayers() : []
  return {
    description: {
      product: product.code,
      countryCode,
      cropCode,
      forecastPeriod: product.seasonal ? DEMO_PERIOD : null,
      synthetic: true,
      source: SOURCE,
      licence: 'CC0-1.0',
      ...(onSlopes && { conditions: DEMO_CONDITIONS }),
      checksum: createHash('sha256')
        .update(JSON.stringify([countryCode, [...layers, ...oddsLayers]]))
        .digest('hex'),
    },
    coverages: [
      createCoverage(countryCode, layers, odds),
      ...(oddsLayers.length > 0 ? [createOddsCoverage(countryCode, oddsLayers)] : []),
    ],
  }
}

/** Without odds no season is likelier than a normal one. */
const NO_ODDS: DemoOdds = { Normal: 100, 'Below Normal': 0, 'Above Normal': 0 }

function createCoverage(countryCode: string, layers: DemoLayer[], odds: OddsForm = NO_ODDS): CoverageSource {
  const { pixelDegrees } = DEMO_COUNTRIES[countryCode] as DemoCountry
  const outline = countryOutline(countryCode)
  const terrain = demoTerrain(countryCode)
  const grid = gridOver(measureOutline(outline), pixelDegrees)
  const oddsAt = odds === 'rasters' ? createOddsReader(countryCode) : () => odds
  return makeCoverage(grid, layers, findInside)

  /** Pixels with their centre in the country. */
  function findInside(window: Window): DemoPixel[] {
    const pixels: DemoPixel[] = []
    for (let row = 0; row < window.height; row++) {
      const [, latitude] = findCentre(grid, 0, window.row + row)
      const ends = crossings(outline, latitude)
      let passed = 0
      for (let column = 0; column < window.width; column++) {
        const [longitude] = findCentre(grid, window.column + column, 0)
        while (passed < ends.length && (ends[passed] as number) < longitude) passed++
        if (passed % 2 === 0) continue
        const land = describeLand(terrain, longitude, latitude)
        pixels.push({ index: row * window.width + column, land, odds: oddsAt(longitude, latitude) })
      }
    }
    return pixels
  }
}

/** Seasons are forecast in squares of so many degrees. */
const ODDS_DEGREES = 0.25

function makeOddsGrid(countryCode: string): Grid {
  return gridOver(measureOutline(countryOutline(countryCode)), ODDS_DEGREES)
}

/** All squares: those at the border have their centre outside. */
function createOddsCoverage(countryCode: string, layers: DemoLayer[]): CoverageSource {
  const terrain = demoTerrain(countryCode)
  const grid = makeOddsGrid(countryCode)
  return makeCoverage(grid, layers, (window) =>
    Array.from({ length: window.width * window.height }, (_, index) => {
      const [column, row] = [index % window.width, Math.floor(index / window.width)]
      const land = describeLand(terrain, ...findCentre(grid, window.column + column, window.row + row))
      return { index, land, odds: demoOdds(land) }
    }),
  )
}

/** The odds of the square that a place lies in. */
function createOddsReader(countryCode: string): (longitude: number, latitude: number) => DemoOdds {
  const terrain = demoTerrain(countryCode)
  const grid = makeOddsGrid(countryCode)
  const bySquare = new Map<number, DemoOdds>()
  return (longitude, latitude) => {
    const column = Math.floor((longitude - grid.originX) / grid.pixelWidth)
    const row = Math.floor((latitude - grid.originY) / grid.pixelHeight)
    const square = row * grid.width + column
    const odds = bySquare.get(square) ?? demoOdds(describeLand(terrain, ...findCentre(grid, column, row)))
    bySquare.set(square, odds)
    return odds
  }
}

function findCentre(grid: Grid, column: number, row: number): [longitude: number, latitude: number] {
  return [grid.originX + (column + 0.5) * grid.pixelWidth, grid.originY + (row + 0.5) * grid.pixelHeight]
}

function makeCoverage(
  grid: Grid,
  layers: DemoLayer[],
  findPixels: (window: Window) => DemoPixel[],
): CoverageSource {
  const { width, height } = grid
  return {
    grid,
    layers,
    windows: splitWindow({ column: 0, row: 0, width, height }, width, TILE_SIZE),
    async read(window) {
      const pixels = findPixels(window)
      return layers.map((layer) => computeValues(layer, window, pixels))
    },
  }
}

function computeValues({ nodata, compute }: DemoLayer, window: Window, pixels: DemoPixel[]): Pixels {
  const values = new Float32Array(window.width * window.height).fill(nodata as number)
  for (const pixel of pixels) values[pixel.index] = compute(pixel)
  return values
}

/** Aligned to multiples of the pixel size. */
function gridOver(bounds: Bounds, pixel: number): Grid {
  const perDegree = Math.round(1 / pixel)
  const [west, south, east, north] = bounds.map((degrees) => degrees * perDegree) as Bounds
  const [left, top] = [Math.floor(west), Math.ceil(north)]
  return {
    srid: 4326,
    originX: left / perDegree,
    originY: top / perDegree,
    pixelWidth: pixel,
    pixelHeight: -pixel,
    width: Math.ceil(east) - left,
    height: top - Math.floor(south),
  }
}
