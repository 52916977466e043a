/**
 * Writes the samples of examples/, or of the folder that is given: rasters, boundaries and farms that the
 * documents load and ask about. The values are those of the demo's formula; none is advice.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { MultiPolygon, Position } from 'geojson'
import { intersection } from 'polyclip-ts'
import { randomNumbers } from '#bench/load/random.ts'
import { type RasterToWrite, writeGeoTiff } from '#bench/rasters/geotiff.ts'
import { DEMO_QUANTITIES, type DemoQuantity, type DemoSeason, demoValue } from '#src/ingest/demo/formula.ts'
import { crossings, demoTerrain, measureOutline, readOutline } from '#src/ingest/demo/outlines.ts'
import { describeLand, type Terrain } from '#src/ingest/demo/relief.ts'
import type { PixelGrid } from '#src/raster/grid.ts'

const FARMS = 500
const FIELDS = 12
const NODATA = -9999

/** What files of the sample season say of themselves. */
const NOTES = {
  source: "Sample values of the demo's formula. They are not advice.",
  licence: 'CC0-1.0',
  synthetic: 'true',
}

/** Outlines by Natural Earth; the numbers are of ISO 3166-1. */
const RWANDA = rounded(readOutline('646'))
const TANZANIA = rounded(readOutline('834'))

const RWANDAN = demoTerrain('rwa')
const TANZANIAN: Terrain = {
  bounds: measureOutline(TANZANIA),
  ...{ grain: 4, low: 100, high: 1300, rugged: 1500, rift: 300 },
}

const UREA: DemoQuantity = {
  input: 'Urea',
  range: [60, 180],
  response: 0.8,
  optimum: [1900, 0.7],
  seed: 40_000,
  step: 1,
}
const MAIZE: DemoQuantity = {
  input: null,
  range: [800, 4200],
  response: 1,
  optimum: [1200, 0.6],
  seed: 41_000,
  step: 1,
}

const folder = process.argv[2] ?? 'examples'
for (const name of ['rwanda', 'season', 'tanzania']) await mkdir(join(folder, name), { recursive: true })
await Promise.all([
  writeSeason('rwanda/urea-normal.tif', RWANDA, RWANDAN, 0.02, UREA, 'Normal'),
  writeSeason('rwanda/urea-below-normal.tif', RWANDA, RWANDAN, 0.02, UREA, 'Below Normal'),
  writeSeason('tanzania/yield-normal.tif', TANZANIA, TANZANIAN, 0.1, MAIZE, 'Normal'),
  ...seasonFiles(),
  write('rwanda/farms.csv', farms()),
  write('rwanda/fields.ndjson', fields()),
  write('tanzania/tza_adm0.geojson', collectionOf([areaOf('TZA', 'Tanzania', TANZANIA)])),
  write('tanzania/tza_adm1.geojson', collectionOf(quartersOf(TANZANIA))),
])

/** A season as an institute hands it over: what a layer is for stands in the name of its file. */
function seasonFiles(): Promise<void>[] {
  const products: [string, DemoQuantity[]][] = [
    ['yield', DEMO_QUANTITIES['yield rwa potato'] ?? []],
    ['', DEMO_QUANTITIES['fertilizer rwa potato'] ?? []],
  ]
  const seasons: [string, DemoSeason][] = [
    ['above', 'Above Normal'],
    ['normal', 'Normal'],
    ['below', 'Below Normal'],
  ]
  return products.flatMap(([product, quantities]) =>
    quantities.flatMap((quantity) =>
      seasons.map(([word, season]) => {
        const what = quantity.input?.toLowerCase() ?? product
        const name = `season/rw_potato_${what}_${word}_202608.tif`
        return writeSeason(name, RWANDA, RWANDAN, 0.04, quantity, season, { sample: 'int16', notes: NOTES })
      }),
    ),
  )
}

function write(name: string, text: string): Promise<void> {
  return writeFile(join(folder, name), text)
}

/** A raster of what the formula says in a season; outside of the country it has no values. */
async function writeSeason(
  name: string,
  outline: MultiPolygon,
  terrain: Terrain,
  pixel: number,
  quantity: DemoQuantity,
  season: DemoSeason,
  options: Pick<RasterToWrite, 'sample' | 'notes'> = {},
): Promise<void> {
  const grid = gridOver(outline, pixel)
  await writeGeoTiff(join(folder, name), {
    ...options,
    grid,
    nodata: NODATA,
    fill(row, values) {
      const latitude = grid.originY + (row + 0.5) * grid.pixelHeight
      for (let column = 0; column < grid.width; column++) {
        const longitude = grid.originX + (column + 0.5) * grid.pixelWidth
        values[column] = isInside(outline, longitude, latitude)
          ? demoValue(quantity, season, describeLand(terrain, longitude, latitude))
          : NODATA
      }
    },
  })
}

function gridOver(outline: MultiPolygon, pixel: number): PixelGrid {
  const bounds = measureOutline(outline)
  const [west, north] = [Math.floor(bounds[0]), Math.ceil(bounds[3])]
  return {
    originX: west,
    originY: north,
    pixelWidth: pixel,
    pixelHeight: -pixel,
    width: Math.ceil((bounds[2] - west) / pixel),
    height: Math.ceil((north - bounds[1]) / pixel),
  }
}

function isInside(outline: MultiPolygon, longitude: number, latitude: number): boolean {
  return crossings(outline, latitude).filter((end) => end < longitude).length % 2 === 1
}

/** Farms in Rwanda, and how large they are: a table as a cooperative has it. */
function farms(): string {
  const random = randomNumbers(646)
  const rows = placesIn(RWANDA, FARMS, random).map(([lng, lat], index) => {
    const number = String(index + 1).padStart(3, '0')
    return `RW-${number},Farm ${number},${lat},${lng},${(0.1 + 1.9 * random() ** 2).toFixed(2)}`
  })
  return ['id,name,lat,lng,area_ha', ...rows, ''].join('\n')
}

/** Fields in Rwanda, one a line. */
function fields(): string {
  const places = placesIn(RWANDA, FIELDS, randomNumbers(250))
  return places
    .map(([lng, lat], index) => `${JSON.stringify({ id: `field-${index + 1}`, lat, lng })}\n`)
    .join('')
}

function placesIn(outline: MultiPolygon, count: number, random: () => number): [number, number][] {
  const [west, south, east, north] = measureOutline(outline)
  const places: [number, number][] = []
  while (places.length < count) {
    const longitude = Number((west + (east - west) * random()).toFixed(5))
    const latitude = Number((south + (north - south) * random()).toFixed(5))
    if (isInside(outline, longitude, latitude)) places.push([longitude, latitude])
  }
  return places
}

/** Stand in for the regions: the country cut in four. */
function quartersOf(outline: MultiPolygon) {
  const [west, south, east, north] = measureOutline(outline)
  const [middle, waist] = [(west + east) / 2, (south + north) / 2]
  const quarters: [string, string, number, number, number, number][] = [
    ['NW', 'North West', west, waist, middle, north],
    ['NE', 'North East', middle, waist, east, north],
    ['SW', 'South West', west, south, middle, waist],
    ['SE', 'South East', middle, south, east, waist],
  ]
  return quarters.map(([code, name, left, bottom, right, top]) => {
    const frame = [
      [left, bottom],
      [right, bottom],
      [right, top],
      [left, top],
      [left, bottom],
    ] as const
    const cut = intersection(outline.coordinates as [number, number][][][], [
      frame.map(([x, y]): [number, number] => [x, y]),
    ])
    return areaOf(`TZA-${code}`, name, rounded({ type: 'MultiPolygon', coordinates: cut }))
  })
}

function areaOf(code: string, name: string, geometry: MultiPolygon) {
  return { type: 'Feature', properties: { code, name }, geometry }
}

function collectionOf(features: object[]): string {
  return `{"type":"FeatureCollection","features":[\n${features.map((feature) => JSON.stringify(feature)).join(',\n')}\n]}\n`
}

/** An outline to about 10 m. */
function rounded({ coordinates }: MultiPolygon): MultiPolygon {
  const digits = (position: Position) => position.map((degrees) => Number(degrees.toFixed(4)))
  return {
    type: 'MultiPolygon',
    coordinates: coordinates.map((polygon) => polygon.map((ring) => ring.map(digits))),
  }
}
