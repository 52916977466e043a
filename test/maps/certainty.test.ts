import { execFileSync, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Tileset } from '#schemas/map.ts'
import type { Database } from '#src/data/database.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { readTiff, valuesOf } from '#test/data/tiles/tiff-reader.ts'
import { newFolder } from '#test/setup/folders.ts'
import { callUntilMade } from '#test/setup/made-answers.ts'
import { openService } from '#test/setup/open-service.ts'
import {
  COARSE,
  COAST,
  codeAt,
  FERTILIZER,
  GRID,
  isSea,
  loadRegion,
  MOUNTAINS,
  NO_ODDS,
  oddsAt,
  SCATTERED,
  SEASONS,
  YIELD,
} from './certain-releases.ts'
import { centreOf, readPng } from './palette-png.ts'

// Runs on either database: standards take what is about layers from both as they take layers.

const hasGdal = spawnSync('gdallocationinfo', ['--help']).error === undefined
if (!hasGdal) console.warn('test/maps/certainty.test.ts is skipped in part: it needs gdal-bin.')

let [yields, rates, mountains, coast] = ['', '', '', '']

const service = openService({
  template: 'empty',
  settings: { RELEASE_MAX_AGE_MS: '0' },
  prepare: async (database: Database) => {
    await loadRegion(database)
    yields = (await loadRelease(database, YIELD)).code
    rates = (await loadRelease(database, FERTILIZER)).code
    mountains = (await loadRelease(database, MOUNTAINS)).code
    coast = (await loadRelease(database, COAST)).code
  },
})

const get = async (url: string) => {
  const { status, body } = await service.get(url.replaceAll(' ', '%20'))
  expect([url, status]).toEqual([url, 200])
  return body
}

/** The seven colours of viridis (N. Smith and S. van der Walt, 2015), for odds of 5 to 70 percent. */
const TENTHS = ['#440154', '#443983', '#31688e', '#21918c', '#35b779', '#90d743', '#fde725']

describe('maps', () => {
  test('what is about layers follows them, then the map of the likeliest season', async () => {
    const { layers } = await get(`/releases/${yields}/layers`)
    const root = `/releases/${yields}/layers`
    expect(
      layers.map(({ name, tiles, layer, input, scenario, role, unit }: Tileset) => [
        ...[layer, input, scenario, role ?? null, unit, name],
        tiles[0]?.slice(tiles[0].indexOf('/releases')),
      ]),
    ).toEqual(
      [
        [1, null, 'Above Normal', null, 'kg/ha', 'Above Normal'],
        [2, null, 'Normal', null, 'kg/ha', 'Normal'],
        [3, null, 'Below Normal', null, 'kg/ha', 'Below Normal'],
        [4, null, 'Normal', 'high', 'kg/ha', 'High end of Normal'],
        [5, null, 'Normal', 'low', 'kg/ha', 'Low end of Normal'],
        [6, null, 'Above Normal', 'probability', '1', 'Probability of Above Normal'],
        [7, null, 'Normal', 'probability', '1', 'Probability of Normal'],
        [8, null, 'Below Normal', 'probability', '1', 'Probability of Below Normal'],
        [9, null, 'Above Normal', 'stddev', 'kg/ha', 'Standard deviation of Above Normal'],
        ['most-likely', null, null, null, '1', 'Most likely season'],
      ].map(([layer, input, scenario, role, unit, label]) => [
        ...[layer, input, scenario, role, unit, `${yields}, ${label}`],
        `${root}/${layer}/tiles/{z}/{x}/{y}`,
      ]),
    )
    for (const one of layers) expect(await tilesetOf(yields, one.layer)).toEqual(one)
  })

  test('ends of a range share the legend of their values, a spread has its own', async () => {
    const classesOf = async (layer: number) => (await tilesetOf(yields, layer)).classes
    const values = await classesOf(1)
    // From half of the least to one and a half of the greatest value.
    expect([values[0].from, values.at(-1).to]).toEqual([500, 1.5 * 1770])
    for (const layer of [2, 3, 4, 5]) expect(await classesOf(layer)).toEqual(values)
    const spread = await classesOf(9)
    expect([spread[0].from, spread.at(-1).to]).toEqual([40, 47])
  })

  test('odds have the tenths that they reach as classes, and a tile has their colours', async () => {
    const { classes } = await tilesetOf(yields, 6)
    expect(classes).toEqual(TENTHS.map((color, at) => ({ from: at / 10, to: (at + 1) / 10, color })))
    const equal = (await get(`/releases/${yields}/layers/6/tiles.json?cut=equal`)).classes
    expect(equal).toEqual(classes)
    // Of 5 to 80 percent, and of 10 to 90.
    const ends = await Promise.all([7, 8].map(async (layer) => (await tilesetOf(yields, layer)).classes))
    expect(ends.map((all) => [all[0].from, all.at(-1).to])).toEqual([
      [0, 0.8],
      [0.1, 0.9],
    ])
    const found = await expectColours(yields, 6, (lng, lat) => {
      const pixel = pixelAt(COARSE, lng, lat)
      const odds = pixel === undefined ? null : oddsAt(pixel)
      // The last class has its end, too.
      return odds && (TENTHS[Math.min(6, Math.floor((odds[0] as number) / 10))] as string)
    })
    expect(found.size).toBeGreaterThan(5)
  })

  test('odds end where their release has no values', async () => {
    for (const layer of [3, 'most-likely']) {
      const { colourAt } = await pictureOf(coast, layer)
      const shown = new Set<string>()
      for (let at = 0; at < 256 ** 2; at++) {
        const [x, y] = [at % 256, Math.floor(at / 256)]
        const { lng, lat } = centreOf(TILE.zoom, TILE.column, TILE.row, x, y)
        const [pixel, odds] = [pixelAt(GRID, lng, lat), pixelAt(COARSE, lng, lat)]
        if (pixel === undefined || odds === undefined || oddsAt(odds) === null) continue
        shown.add(`${isSea(pixel) ? 'sea' : 'land'} ${colourAt(x, y) === null ? 'empty' : 'coloured'}`)
      }
      expect([layer, [...shown].sort()]).toEqual([layer, ['land coloured', 'sea empty']])
    }
  })

  test('the map of the likeliest season has a colour for each, and one for none', async () => {
    const { classes, bounds } = await tilesetOf(yields, 'most-likely')
    expect(classes).toEqual([
      { from: 1, to: 1, color: '#2166ac', title: 'Above Normal' },
      { from: 2, to: 2, color: '#e0d4b2', title: 'Normal' },
      { from: 3, to: 3, color: '#d95f02', title: 'Below Normal' },
      { from: 0, to: 0, color: '#808080', title: 'No single one' },
    ])
    expect(bounds).toEqual([38, 8, 40, 10])
    const found = await expectColours(yields, 'most-likely', (lng, lat) => {
      const pixel = pixelAt(COARSE, lng, lat)
      const odds = pixel === undefined ? null : oddsAt(pixel)
      if (!odds) return null
      const most = Math.max(...odds)
      const seasons = odds.flatMap((one, season) => (one === most ? [season] : []))
      return classes[seasons.length === 1 ? (seasons[0] as number) : 3].color
    })
    expect(found.size).toBe(5)
  })

  test('a release without odds of all three seasons on one grid has no such map, and nothing else has its name', async () => {
    const errorOf = async (url: string) => {
      const { status, body } = await service.get(url)
      return [status, body.code]
    }
    const { code } = await loadRelease(service.database, SCATTERED)
    const { layers } = await get(`/releases/${code}/layers`)
    expect(layers.map(({ layer }: Tileset) => layer)).toEqual([1, 2, 3, 4, 5, 6])
    for (const path of ['tiles.json', 'tiles/6/38/30']) {
      for (const release of [rates, code]) {
        expect(await errorOf(`/releases/${release}/layers/most-likely/${path}`)).toEqual([404, 'NOT_FOUND'])
      }
      expect(await errorOf(`/releases/${yields}/layers/likely/${path}`)).toEqual([400, 'INVALID_PARAMETERS'])
    }
    expect((await errorOf(`/releases/${yields}/layers/most-likely.tif`))[0]).toBe(404)
  })

  test('layers name their condition, and compare with those of the same one', async () => {
    const { layers } = await get(`/releases/${rates}/layers`)
    expect(
      layers.map(({ name, condition, role, classes }: Tileset) => [
        name.slice(rates.length + 2),
        condition ?? null,
        role ?? null,
        ...[classes[0]?.from, classes.at(-1)?.to],
      ]),
    ).toEqual([
      ['Urea, Normal', null, null, 50, 96],
      ['Urea, Normal, foot slope', 'foot slope', null, 50, 57],
      ['Urea, Normal, mid slope', 'mid slope', null, 70, 77],
      ['Urea, Normal, hill', 'hill', null, 90, 97],
      ['Condition of the field', null, 'landscape', 1, 3],
      ['Where values are taken of foot slope', 'foot slope', 'share', 0, 1],
      ['Where values are taken of mid slope', 'mid slope', 'share', 0, 1],
      ['Where values are taken of hill', 'hill', 'share', 0, 1],
    ])
  })

  test('a landscape raster has a colour for each condition', async () => {
    const { classes } = await tilesetOf(rates, 5)
    expect(classes.map(({ from, to, title }: Tileset['classes'][number]) => [from, to, title])).toEqual([
      [1, 1, 'Foot slope, deep soil'],
      [2, 2, 'Mid slope'],
      [3, 3, 'Hill'],
    ])
    const found = await expectColours(rates, 5, (lng, lat) => {
      const pixel = pixelAt(GRID, lng, lat)
      return pixel === undefined || codeAt(pixel) === 0 ? null : classes[codeAt(pixel) - 1].color
    })
    expect(found.size).toBe(4)
  })

  test('codes are not mixed where a map passes over most pixels', async () => {
    const { classes } = await tilesetOf(mountains, 4)
    const { colourAt } = await pictureOf(mountains, 4, { zoom: 2, column: 2, row: 1 })
    const found = new Set(
      Array.from({ length: 256 ** 2 }, (_, at) => colourAt(at % 256, Math.floor(at / 256))),
    )
    expect([...found].sort()).toEqual([classes[0].color, classes[2].color, null].sort())
  })
})

/** Downloads a layer; anew where the file is still being made. */
async function download(release: string, layer: number): Promise<Buffer> {
  const url = `/releases/${release}/layers/${layer}.tif`
  const { status, bytes } = await callUntilMade(service.app, `GET ${url}`)
  expect(status).toBe(200)
  return bytes
}

describe('files', () => {
  test.runIf(hasGdal)(
    'GDAL finds the odds that were loaded in the file of a layer, and what they are of',
    async () => {
      const path = join(await newFolder(), 'odds.tif')
      for (const season of SEASONS.keys()) {
        await writeFile(path, await download(yields, 6 + season))
        const input = Array.from({ length: 16 }, (_, at) => `${at % 4} ${Math.floor(at / 4)}`).join('\n')
        const output = execFileSync('gdallocationinfo', ['-valonly', path], { input }).toString()
        const pixels = output.trim().split('\n').map(Number)
        expect(pixels).toEqual(Array.from({ length: 16 }, (_, at) => oddsAt(at)?.[season] ?? NO_ODDS))
      }
      const info = JSON.parse(execFileSync('gdalinfo', ['-json', path]).toString())
      expect(info.metadata['']).toMatchObject({ SCENARIO: 'Below Normal', ROLE: 'probability' })
      expect(info.bands[0]).toMatchObject({
        description: 'Probability of Below Normal',
        unit: '1',
        scale: 0.01,
        noDataValue: NO_ODDS,
      })
    },
  )

  test('overviews of codes have codes', async () => {
    const file = await download(mountains, 4)
    const images = readTiff(file)
    expect(images.length).toBeGreaterThan(1)
    for (const image of images) expect([...new Set(valuesOf(file, image))].sort()).toEqual([1, 3])
  })
})

const parametersOf = (ranges: Record<string, { values: (number | null)[] }>) =>
  Object.fromEntries(Object.entries(ranges).map(([name, { values }]) => [name, values[0]]))

describe('EDR', () => {
  const edr = (release: string, query: string) => get(`/ogc/edr/collections/${release}/${query}`)

  test('a position has odds, ends and spreads as parameters', async () => {
    const { ranges, parameters } = await edr(yields, 'position?coords=POINT(38.6 9.6)')
    // The third pixel of the second row, and the second of the first one of odds.
    expect(parametersOf(ranges)).toEqual({
      yield_kg_ha_above_normal: 1.5 * 1120,
      yield_kg_ha_normal: 1120,
      yield_kg_ha_below_normal: 560,
      high_normal: 1370,
      low_normal: 1020,
      probability_above_normal: 0.3,
      probability_normal: 0.5,
      probability_below_normal: 0.2,
      stddev_above_normal: 42,
    })
    expect(parameters.probability_normal).toEqual({
      type: 'Parameter',
      description: { en: 'Probability of Normal.' },
      unit: { label: { en: '1' }, symbol: '1' },
      observedProperty: { label: { en: 'Predicted yield, Probability of Normal' } },
    })
    expect(parameters.low_normal.description).toEqual({ en: 'Low end of Normal: its 0.05 quantile.' })
    const chosen = await edr(
      yields,
      'position?coords=POINT(38.6 9.6)&parameter-name=probability_normal,low_normal&f=GeoJSON',
    )
    expect(chosen.features[0].properties).toMatchObject({
      'parameter-name': ['low_normal', 'probability_normal'],
      probability_normal: 0.5,
      low_normal: 1020,
    })
    const { parameter_names } = await get(`/ogc/edr/collections/${yields}`)
    expect(Object.keys(parameter_names)).toEqual(Object.keys(ranges))
  })

  test('a position has the value of its condition, and those of all', async () => {
    const { ranges } = await edr(rates, 'position?coords=POINT(38.6 9.6)')
    expect(parametersOf(ranges)).toEqual({
      rate_kg_ha_urea_normal: 52,
      share_foot_slope: 1,
      share_mid_slope: 0,
      share_hill: 0,
      rate_kg_ha_urea_normal_foot_slope: 52,
      rate_kg_ha_urea_normal_mid_slope: 72,
      rate_kg_ha_urea_normal_hill: 92,
      landscape: 1,
    })
    const point = await service.post('/advisory/fertilizer/point', {
      payload: { lat: 9.6, lng: 38.6, crop: 'wheat', country_code: 'eth', forecast_period: '2026-07' },
    })
    expect(point.body.fertilizer_data).toEqual([
      { fertilizer_type: 'Urea', scenario: 'Normal', condition: 'foot slope', rate_kg_ha: 52 },
    ])
  })

  test('areas and locations have the means of all, and a code where it is the same all over', async () => {
    // Two pixels side by side of one row: the mean of each layer is that of both.
    const two = 'POLYGON((38.5 9.5,39 9.5,39 9.75,38.5 9.75,38.5 9.5))'
    const one = 'POLYGON((38.55 9.55,38.6 9.55,38.6 9.6,38.55 9.6,38.55 9.55))'
    const means = async (release: string, coords: string) =>
      parametersOf((await edr(release, `area?coords=${coords}`)).ranges)
    expect(await means(yields, two)).toMatchObject({
      yield_kg_ha_normal: 1125,
      high_normal: 1375,
      low_normal: 1025,
      probability_above_normal: 0.3,
      stddev_above_normal: 42.5,
    })
    const ofConditions = {
      rate_kg_ha_urea_normal_foot_slope: 52.5,
      rate_kg_ha_urea_normal_mid_slope: 72.5,
      rate_kg_ha_urea_normal_hill: 92.5,
    }
    // The western one is a foot slope with 52, the other one a mid slope with 73.
    expect(await means(rates, two)).toEqual({
      ...ofConditions,
      rate_kg_ha_urea_normal: 62.5,
      ...{ share_foot_slope: 0.5, share_mid_slope: 0.5, share_hill: 0 },
      landscape: null,
    })
    expect(await means(rates, one)).toMatchObject({ rate_kg_ha_urea_normal_hill: 92, landscape: 1 })
    // Four pixels, of two rows.
    const { ranges } = await edr(yields, 'locations/A')
    expect(parametersOf(ranges)).toMatchObject({ probability_below_normal: 0.34, stddev_above_normal: 40.5 })
  })
})

test('features have odds and ranges, one value for each input and scenario, and the means of all conditions', async () => {
  const propertiesOf = async (release: string) =>
    (await get(`/ogc/collections/advisory-${release}-1/items/A`)).properties
  expect(await propertiesOf(yields)).toMatchObject({
    'probability Above Normal': 0.33,
    'probability Normal': 0.33,
    'probability Below Normal': 0.34,
    'yield_kg_ha Above Normal': expect.any(Number),
    'low Normal': expect.any(Number),
    'high Normal': expect.any(Number),
    'low Above Normal': expect.any(Number),
    'expected_yield_kg_ha Mean by odds': expect.any(Number),
  })
  const found = await propertiesOf(rates)
  const rate = 'rate_kg_ha Urea Normal'
  // Two rows of pixels: a hill with 90 and a foot slope with 51, then a foot slope with 50 and a mid slope with 71.
  expect([rate, `${rate} foot slope`, `${rate} hill`].map((name) => found[name])).toEqual([
    expect.closeTo(65.5, 1),
    50.5,
    90.5,
  ])
  expect(found).not.toHaveProperty([`total_kg Urea Normal hill`])
})

test('a STAC item has them as files and maps, with what they say', async () => {
  const { assets } = await get(`/stac/collections/yield-eth/items/${yields}`)
  const described = (asset: Record<string, unknown>) => [asset.title, asset.description ?? null]
  expect(Object.fromEntries(Object.keys(assets).map((key) => [key, described(assets[key])]))).toMatchObject({
    'layer-2': ['Normal', null],
    'layer-4': ['High end of Normal', 'High end of Normal: its 0.95 quantile.'],
    'layer-5': ['Low end of Normal', 'Low end of Normal: its 0.05 quantile.'],
    'layer-6': ['Probability of Above Normal', 'Probability of Above Normal.'],
    'layer-9': ['Standard deviation of Above Normal', 'Standard deviation of Above Normal.'],
    'map-9': ['Standard deviation of Above Normal: a map, as TileJSON', null],
    'map-most-likely': ['Most likely season: a map, as TileJSON', null],
  })
  expect(assets['layer-6'].bands).toEqual([
    {
      name: 'Probability of Above Normal',
      data_type: 'uint8',
      unit: '1',
      'raster:sampling': 'area',
      'raster:scale': 0.01,
      'raster:offset': 0,
    },
  ])
  const { assets: ofRates } = await get(`/stac/collections/fertilizer-eth/items/${rates}`)
  expect(ofRates['layer-5'].description).toBe(
    'Condition of the field: 1 Foot slope, deep soil, 2 Mid slope, 3 Hill.',
  )
  expect(ofRates).not.toHaveProperty('map-most-likely')
  expect(Object.keys(ofRates)).toContain('layer-3')
})

const tilesetOf = (release: string, layer: number | string) =>
  get(`/releases/${release}/layers/${layer}/tiles.json`)

/** The tile with 38..39.375 E and 8..10 N, in which a pixel is a fortieth of a degree wide. */
const TILE = { zoom: 6, column: 38, row: 30 }

async function pictureOf(release: string, layer: number | string, { zoom, column, row } = TILE) {
  const url = `/releases/${release}/layers/${layer}/tiles/${zoom}/${column}/${row}`
  const { status, headers, bytes } = await service.get(url)
  expect([status, headers['content-type']]).toEqual([200, 'image/png'])
  return readPng(bytes)
}

/** Compares each pixel of a tile with the colour that a place is expected to have; null for none. */
async function expectColours(
  release: string,
  layer: number | string,
  colourAt: (lng: number, lat: number) => string | null,
) {
  const picture = await pictureOf(release, layer)
  const wrong: object[] = []
  const found = new Set<string | null>()
  for (let at = 0; at < 256 ** 2; at++) {
    const [x, y] = [at % 256, Math.floor(at / 256)]
    const { lng, lat } = centreOf(TILE.zoom, TILE.column, TILE.row, x, y)
    const expected = colourAt(lng, lat)
    found.add(expected)
    if (picture.colourAt(x, y) !== expected) wrong.push({ lng, lat, expected, found: picture.colourAt(x, y) })
  }
  expect(wrong.slice(0, 5)).toEqual([])
  return found
}

/** The index of the pixel of a grid with a place; undefined outside. */
function pixelAt({ originX, originY, pixelWidth, width, height }: typeof GRID, lng: number, lat: number) {
  const [column, row] = [Math.floor((lng - originX) / pixelWidth), Math.floor((originY - lat) / pixelWidth)]
  return column >= 0 && column < width && row >= 0 && row < height ? row * width + column : undefined
}
