import { beforeAll, describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { openService } from '#test/setup/open-service.ts'
import { layerOf, operatorOf, releaseOn } from '#test/setup/releases.ts'
import { centreOf, readPng } from './palette-png.ts'

const WIDTH = 200
const HEIGHT = 160
const NODATA = -1

type ValueAt = (row: number, column: number) => number

/** Rises from the north-west; nothing in a corner and in a stripe of it. */
const normal: ValueAt = (row, column) =>
  (row > 120 && column > 150) || column % 37 === 5 ? NODATA : 100 + 3 * row + column / 2
const dry: ValueAt = (row, column) => (normal(row, column) === NODATA ? NODATA : normal(row, column) / 2)

/** Pixels of a hundredth of a degree, 38..40 E and 8.4..10 N. */
const DEGREES = { srid: 4326, originX: 38, originY: 10, pixelWidth: 0.01, pixelHeight: -0.01 }

/** Pixels of a kilometre in zone 37 of UTM, around 39 E and 9.3 N. */
const METRES = { srid: 32637, originX: 400_000, originY: 1_105_000, pixelWidth: 1000, pixelHeight: -1000 }

async function load(place: typeof DEGREES, month: string): Promise<string> {
  const pixelsOf = (valueAt: ValueAt) =>
    Float32Array.from({ length: WIDTH * HEIGHT }, (_, at) => valueAt(Math.floor(at / WIDTH), at % WIDTH))
  const layer = { nodata: NODATA, scale: 0.5, offset: 1 }
  const layers = [layerOf('Urea', layer), layerOf('Urea', { ...layer, scenario: 'Below Normal' })]
  const grid = { ...place, width: WIDTH, height: HEIGHT }
  const described = { forecastPeriod: `${month}-01`, checksum: month, source: 'A <test>' }
  const release = releaseOn(grid, layers, [pixelsOf(normal), pixelsOf(dry)], described)
  return (await loadRelease(service.database, release)).code
}

let inDegrees: string
let inMetres: string

const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: '0' } })
beforeAll(async () => {
  inDegrees = await load(DEGREES, '2026-07')
  inMetres = await load(METRES, '2026-08')
})

/** Some pixels of a tile, here and there in it. */
const SOME = Array.from({ length: 1000 }, (_, at) => ({ x: (at * 37) % 256, y: Math.floor(at / 4) }))

describe.each([
  ['in degrees', '2026-07', () => inDegrees],
  ['that is projected', '2026-08', () => inMetres],
])('a tile of a grid %s', (_, month, releaseOf) => {
  // A pixel of the map is 0.4, 1.2 and 2.5 pixels of the raster wide.
  test.each([
    [8, 155, 121],
    [6, 38, 30],
  ])('has at zoom %i the colour of the value that a point is answered with', async (zoom, column, row) => {
    const classes = await legend(releaseOf())
    const { colourAt } = await picture(releaseOf(), `${zoom}/${column}/${row}`)
    const points = SOME.map(({ x, y }) => centreOf(zoom, column, row, x, y))
    const expected = (await rates(month, points)).map((rate) =>
      rate === null ? null : colourIn(classes, rate),
    )
    expect(SOME.map(({ x, y }) => colourAt(x, y))).toEqual(expected)
    expect(new Set(expected).size).toBeGreaterThan(2)
  })
})

test('a tile has the colours of the means of blocks, where it would pass over most pixels', async () => {
  // A pixel of the map is 17.6 pixels of the raster wide: blocks of 64 are no more than four of it.
  const [zoom, column, row] = [3, 4, 3]
  const classes = await legend(inDegrees)
  const { colourAt } = await picture(inDegrees, `${zoom}/${column}/${row}`)
  const found = new Set<string | null>()
  for (let y = 0; y < 256; y++) {
    for (let x = 0; x < 256; x++) {
      const { lng, lat } = centreOf(zoom, column, row, x, y)
      const mean = meanOfBlock(Math.floor((lng - 38) / 0.64), Math.floor((10 - lat) / 0.64), lng, lat)
      const expected = mean === null ? null : colourIn(classes, mean)
      expect(colourAt(x, y)).toBe(expected)
      found.add(expected)
    }
  }
  expect(found.size).toBeGreaterThan(4)
})

function meanOfBlock(blockColumn: number, blockRow: number, lng: number, lat: number): number | null {
  if (lng < 38 || lng >= 40 || lat > 10 || lat <= 8.4) return null
  return meanOf(64 * blockRow, 64 * (blockRow + 1), 64 * blockColumn, 64 * (blockColumn + 1), 10)
}

/** The mean of rows and columns. Pixels of a row have one area, and those of a row further from the equator less. */
function meanOf(firstRow: number, endRow: number, firstColumn: number, endColumn: number, north: number) {
  let [sum, weight] = [0, 0]
  for (let row = firstRow; row < Math.min(HEIGHT, endRow); row++) {
    const area = Math.cos(((north - 0.01 * (row + 0.5)) * Math.PI) / 180)
    for (let column = firstColumn; column < Math.min(WIDTH, endColumn); column++) {
      const value = normal(row, column)
      if (value === NODATA) continue
      sum += area * (value * 0.5 + 1)
      weight += area
    }
  }
  return weight === 0 ? null : sum / weight
}

test('a tile has the colour of the mean of all where one of its pixels shows all', async () => {
  // Of zoom 0 the centre of one pixel lies there, far in the south-east.
  const code = await load({ ...DEGREES, originX: 37.3, originY: 10.4 }, '2026-09')
  const classes = await legend(code)
  const { colourAt } = await picture(code, '0/0/0')
  const { lng, lat } = centreOf(0, 0, 0, 155, 121)
  const atCentre = 1 + 0.5 * normal(Math.floor((10.4 - lat) / 0.01), Math.floor((lng - 37.3) / 0.01))
  const mean = colourIn(classes, meanOf(0, HEIGHT, 0, WIDTH, 10.4) as number)
  expect(mean).not.toBe(colourIn(classes, atCentre))
  expect([colourAt(155, 121), colourAt(154, 121), colourAt(155, 122)]).toEqual([mean, null, null])
})

test('a tile is transparent where the grid is not', async () => {
  const { width, height, colourAt } = await picture(inDegrees, '8/0/0')
  expect([width, height]).toEqual([256, 256])
  expect(new Set(SOME.map(({ x, y }) => colourAt(x, y)))).toEqual(new Set([null]))
})

describe('a legend', () => {
  test('is the same for all scenarios of an input, and reaches from their smallest value to their largest', async () => {
    const { release, layers } = (await get(`/releases/${inDegrees}/layers`)).body
    expect(release).toBe(inDegrees)
    expect(layers).toMatchObject([
      { layer: 1, scenario: 'Normal', unit: 'kg/ha', cut: 'quantiles' },
      { layer: 2, scenario: 'Below Normal', unit: 'kg/ha', cut: 'quantiles' },
    ])
    expect(layers[0].classes).toEqual(layers[1].classes)
    // 100 / 2 at the least, halved; and at the most 100 + 3 x 120 + 199 / 2 in row 120, or in row 159 and column 150.
    expect(layers[0].classes.at(0).from).toBe(26)
    expect(layers[0].classes.at(-1).to).toBe(327)
  })

  test('cuts quantiles such that each class has about as much of the area', async () => {
    const classes = await legend(inDegrees)
    expect(classes).toHaveLength(7)
    const counts = classes.map(() => 0)
    const values = [normal, dry].flatMap((valueAt) =>
      Array.from({ length: WIDTH * HEIGHT }, (_, at) => valueAt(Math.floor(at / WIDTH), at % WIDTH)),
    )
    for (const value of values.filter((found) => found !== NODATA)) {
      const index = classes.findLastIndex(({ from }) => value * 0.5 + 1 >= from)
      counts[index] = (counts[index] as number) + 1
    }
    const total = counts.reduce((sum, count) => sum + count, 0)
    // The means of blocks are less far apart than pixels, and the steps are rounded.
    for (const count of counts) expect(Math.abs(count / total - 1 / 7)).toBeLessThan(0.06)
  })

  test('cuts equal steps that are equally wide, but for their rounding', async () => {
    const classes = await legend(inDegrees, '?cut=equal')
    const steps = [26, 70, 110, 160, 200, 240, 280, 327]
    const expected = steps.slice(1).map((to, index) => [steps[index], to])
    expect(classes.map(({ from, to }) => [from, to])).toEqual(expected)
  })
})

test('a tileset is TileJSON, with its bounds and an attribution that is no HTML', async () => {
  const tileset = (
    await get(`/releases/${inDegrees}/layers/2/tiles.json?cut=equal`, { host: 'advice.example.org' })
  ).body
  expect(tileset).toMatchObject({
    tilejson: '2.2.0',
    scheme: 'xyz',
    tiles: [`http://advice.example.org/releases/${inDegrees}/layers/2/tiles/{z}/{x}/{y}?cut=equal`],
    bounds: [38, 8.4, 40, 10],
    minzoom: 0,
    // A pixel of the map is 0.0055 degrees there, and 0.0027 in the next.
    maxzoom: 9,
    attribution: 'A &#60;test&#62; (CC0-1.0)',
  })
})

describe('what is not there', () => {
  test.each([
    ['CODE9/layers', 'No release CODE9 is published; `GET /catalog` lists those that are.'],
    ['CODE/layers/3/tiles.json', 'CODE has 2 layers, and no layer 3.'],
  ])('%s is 404 with a sentence', async (path, sentence) => {
    const [url, error] = [path, sentence].map((text) => text.replace('CODE', inDegrees))
    const response = await get(`/releases/${url}`)
    expect([response.status, response.body]).toMatchObject([404, { code: 'NOT_FOUND', error }])
  })

  test.each([
    ['3/8/0', 'x must be at most 7 at zoom 3.'],
    ['0/0/1', 'y must be at most 0 at zoom 0.'],
    ['3/1e0.5/0', 'x must be a whole number from 0 to 4194303.'],
  ])('tile %s is 400 with a sentence', async (tile, sentence) => {
    const response = await get(`/releases/${inDegrees}/layers/1/tiles/${tile}`)
    const refusal = { code: 'INVALID_PARAMETERS', error: sentence }
    expect([response.status, response.body]).toMatchObject([400, refusal])
  })
})

test('a release that is withdrawn is drawn no more, though its tiles are in memory', async () => {
  const withdrawn = await load(DEGREES, '2026-09')
  const path = `/releases/${withdrawn}/layers/1/tiles/8/155/121`
  expect((await get(path)).status).toBe(200)
  await operatorOf(service.database).remove(withdrawn, true)
  expect((await get(path)).status).toBe(404)
})

const get = (url: string, headers = {}) => service.get(url, { headers })

async function picture(release: string, tile: string, query = '') {
  const response = await get(`/releases/${release}/layers/1/tiles/${tile}${query}`)
  expect(response.status).toBe(200)
  expect(response.headers['content-type']).toBe('image/png')
  return readPng(response.bytes)
}

interface Class {
  from: number
  to: number
  color: string
}

async function legend(release: string, query = ''): Promise<Class[]> {
  return (await get(`/releases/${release}/layers/1/tiles.json${query}`)).body.classes
}

function colourIn(classes: Class[], value: number): string {
  return (classes.findLast(({ from }) => value >= from) ?? (classes[0] as Class)).color
}

interface Item {
  fertilizer_data?: { scenario: string; rate_kg_ha: number }[]
}

/** What the points of a picture are answered with: Urea in a normal season, or null. */
async function rates(month: string, points: { lat: number; lng: number }[]): Promise<(number | null)[]> {
  const payload = { crop: 'wheat', country_code: 'eth', forecast_period: month, points }
  const { status, body } = await service.post('/advisory/fertilizer/points', { payload })
  expect(status).toBe(200)
  return body.items.map(
    ({ fertilizer_data }: Item) =>
      fertilizer_data?.find(({ scenario }) => scenario === 'Normal')?.rate_kg_ha ?? null,
  )
}
