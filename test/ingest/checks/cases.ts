import type { LayerText } from '#test/ingest/fixtures.ts'
import { HEIGHT, smooth, type ValueAt, WIDTH, type writeField } from './rasters.ts'

/** The month that is so many after this one. */
export function monthAhead(months: number): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)).toISOString().slice(0, 7)
}

/** Values where a condition holds, else nodata. */
const only =
  (holds: (row: number, column: number) => boolean): ValueAt =>
  (row, column) =>
    holds(row, column) ? smooth(row, column) : -1

export interface Case {
  /** Of the raster `it.tif`, which is a layer of its own. */
  valueAt?: ValueAt
  place?: Parameters<typeof writeField>[3]
  /** Other layers. */
  layers?: LayerText[]
  settings?: Record<string, unknown>
}

/** Rasters of odds; the first has 0 where the others have none. */
export const ODDS = { 'odds-above.tif': 0.3, 'odds-normal.tif': 0.45, 'odds-below.tif': 0.25 }

/** Rasters of one yield. */
export const NAMED = [
  'novel_2026.tif',
  'v2026_11.tif',
  'issued_202605.tif',
  'above_1500m.tif',
  ...['p_below_202607.tif', 'p_normal_202607.tif', 'p_above_202607.tif', 'Urea_BelowNormal_202607.tif'],
  ...['ke_potato_jul2026.tif', 'below_ground_v202608.tif', 'below_ground_v20260815.tif'],
  ...['season_202607-202609.tif', 'plain.tif'],
  ...['p_an_072026.tif', 'p_NN_072026.tif', 'p_bn_072026.tif', 'Yield_of_an_area.tif'],
  ...['p_2026-7.tif', 'p_07-2026.tif', 'p_15-07-2026.tif', 'p_v2026-7.tif', '2026-7-2026-9.tif'],
  ...['an_202608_nn.tif', 'bn.tif', 'p_20260815_102026.tif', 'p_v102026.tif', 'tile_01_2026.tif'],
]

/** Values in a circle about the middle of the grid. */
export const inside = only((row, column) => Math.hypot(row - 57, column - 75) < 50)
export const filled =
  (value: number): ValueAt =>
  (row, column) =>
    inside(row, column) === -1 ? value : inside(row, column)

/** Layers of rasters that have values in the circle, and of `it.tif`. */
const sisters = (...labels: Record<string, unknown>[]): LayerText[] =>
  labels.map((label, at) => ({ file: at === 0 ? 'it.tif' : `inside-${at}.tif`, ...label }))
const SEASONS = [{ scenario: 'Above Normal' }, { scenario: 'Normal' }, { scenario: 'Below Normal' }]
const urea = SEASONS.map((season) => ({ input: 'Urea', scale: 0.05, ...season }))
const FERTILIZER = { product: 'fertilizer' }

export const CASES: Record<string, Case> = {
  'a layer without a value': { valueAt: () => -1 },
  'a layer with hardly any value': { valueAt: only((row, column) => row < 5 && column < 2) },
  'a raster of another country': { place: { west: -15 } },
  'a raster of Ethiopia for Rwanda': { settings: { country_code: 'rwa', crop: 'potato' } },
  'a raster whose axes are swapped': { place: { west: 3.5, north: 48, width: HEIGHT, height: WIDTH } },
  'a raster that covers little of the country': { place: { west: 38, north: 9, degrees: 0.02 } },
  'values beside the country, in a grid that reaches into it': {
    valueAt: only((_, column) => column < 55),
    place: { west: 20, degrees: 0.2 },
  },
  'values in little of the country, in a grid over all of it': {
    valueAt: only((row, column) => row < 30 && column < 30),
  },
  'a month that is far ahead': { settings: { forecast_period: monthAhead(19) } },
  'a month that is older than what is published': { settings: { forecast_period: '2026-07' } },
  'a scenario and an input that are written in another way': {
    layers: [{ file: 'it.tif', input: 'urea', scenario: 'above-normal', scale: 0.05 }],
    settings: { product: 'fertilizer' },
  },
  'a scenario and an input with wrong letters': {
    layers: [{ file: 'it.tif', unit: 't/ha', input: 'Vermicmopots', scenario: 'Below Norml', scale: 0.001 }],
    settings: { product: 'isfm' },
  },
  'files of other software beside one': { layers: [{ file: 'beside.tif' }] },
  'values of another unit': { layers: [{ file: 'it.tif', scale: 100 }] },
  'values in tonnes, in a raster that says kilograms': { layers: [{ file: 'it.tif', scale: 0.001 }] },
  'values that are ten times too large': { layers: [{ file: 'it.tif', scale: 6 }] },
  'scenarios that are all of one file': {
    layers: ['Normal', 'Below Normal'].map((scenario) => ({ file: 'it.tif', scenario })),
  },
  'a value apart from all others': {
    valueAt: (row, column) => (row === 60 || row === 70 ? 9999 : smooth(row, column)),
  },
  'a number in the place of nodata in one of three scenarios': {
    valueAt: filled(1300),
    layers: sisters(...SEASONS),
  },
  'a number in the place of nodata, beside some others where a mask is wider': {
    valueAt: (row, column) => (row === 0 ? 2222 : filled(1300)(row, column)),
    layers: sisters(...SEASONS),
  },
  'a number in the place of nodata in two of three scenarios': {
    valueAt: filled(1300),
    layers: [...sisters(...SEASONS), { file: 'it.tif', scenario: 'Dominant' }],
  },
  'a number in the place of nodata, in a layer with a nodata value that it has': {
    valueAt: (row, column) => (row < 20 ? -1 : filled(1300)(row, column)),
    layers: sisters(...urea),
    settings: FERTILIZER,
  },
  'a number in the place of nodata in one of three inputs': {
    valueAt: filled(1300),
    layers: sisters(...['Urea', 'DAP', 'NPS'].map((input) => ({ input, scale: 0.05 }))),
    settings: FERTILIZER,
  },
  'a number in the place of nodata in a band of a range': {
    valueAt: filled(1300),
    layers: [{ file: 'inside-1.tif', low: { file: 'it.tif' }, high: { file: 'inside-2.tif' } }],
  },
  'a number in the place of nodata in a scenario of a condition, with a landscape': {
    valueAt: filled(1300),
    layers: ['hill', 'plain'].flatMap((condition, of) =>
      SEASONS.map((season, at) => ({
        file: of + at === 0 ? 'it.tif' : `inside-${1 + ((of + at) % 2)}.tif`,
        ...{ ...season, condition, scale: 1 + of / 10 + at / 100 },
      })),
    ),
    settings: {
      conditions: {
        question: 'Where?',
        titles: { hill: 'Hill', plain: 'Plain' },
        default: 'hill',
        raster: { file: 'land.tif', codes: { 1: 'hill', 2: 'plain' } },
      },
    },
  },
  'a number in the place of nodata in rasters of odds': {
    layers: Object.keys(ODDS).map((file, at) => ({
      ...{ file: 'inside-1.tif', scale: 1.2 - at / 10, probability: { file }, ...SEASONS[at] },
    })),
  },
  'a number in the place of nodata in a raster of an archive': {
    layers: ['filled.tif', 'inside-1.tif', 'inside-2.tif'].map((name, at) => ({
      ...{ file: `season.zip/a season/${name}`, ...SEASONS[at] },
    })),
  },
  'the end of its type in the place of nodata, by which values look a hundred times too large': {
    valueAt: filled(65_535),
  },
  'the end of its type in the place of nodata in a spread': {
    valueAt: filled(65_535),
    layers: [{ file: 'inside-1.tif', stddev: { file: 'it.tif', scale: 0.1 } }],
  },
  'a number in the place of nodata on a grid that is shifted': {
    valueAt: filled(1300),
    place: { west: 33.05 },
    layers: sisters(...urea),
    settings: FERTILIZER,
  },
  'a number in the place of nodata on a grid that is cut to another extent': {
    valueAt: (row, column) => Math.max(1300, inside(row + 5, column + 15)),
    place: { west: 34.5, north: 14.5, width: 130, height: 105 },
    layers: sisters(...urea),
    settings: FERTILIZER,
  },
  'a number in the place of nodata on a grid of another reference system': {
    valueAt: filled(1300),
    place: { tags: { 34735: ['short', [1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4258]] } },
    layers: sisters(...urea),
    settings: FERTILIZER,
  },
  'values in less of the grid than on another one': {
    valueAt: only((row, column) => Math.hypot(row - 57, column - 75) < 40),
    place: { west: 33.05 },
    layers: sisters(...urea),
    settings: FERTILIZER,
  },
  'a grid that is cut to the values': {
    valueAt: (row, column) => inside(row + 5, column + 15),
    place: { west: 34.5, north: 14.5, width: 130, height: 105 },
    layers: sisters(...urea),
    settings: FERTILIZER,
  },
  'a number in less than nine tenths of the pixels where others have none': {
    valueAt: (row, column) => (row < 15 ? smooth(row, column) : filled(1300)(row, column)),
    layers: sisters(...SEASONS),
  },
  'values in less of the grid than in other scenarios': {
    valueAt: only((row, column) => Math.hypot(row - 57, column - 75) < 40),
    layers: sisters(...SEASONS),
  },
  'one value everywhere, beside scenarios with values in less of the grid': {
    valueAt: () => 2000,
    layers: sisters(...SEASONS),
  },
  'files whose names contradict the manifest': {
    layers: [
      { file: 'p_below_202607.tif', input: 'P', scenario: 'Above Normal', scale: 0.05 },
      { file: 'p_normal_202607.tif', input: 'P', scenario: 'Normal', scale: 0.05 },
      { file: 'p_above_202607.tif', input: 'P', scenario: 'below', scale: 0.05 },
      { file: 'Urea_BelowNormal_202607.tif', input: 'P', scenario: 'Dominant', scale: 0.05 },
    ],
    settings: { ...FERTILIZER, forecast_period: '2026-12' },
  },
  'files of another country, crop and month by name': {
    layers: [{ file: 'ke_potato_jul2026.tif' }],
  },
  'names with a word like a month, a version, an issue and an altitude': {
    layers: ['novel_2026.tif', 'v2026_11.tif', 'issued_202605.tif', 'above_1500m.tif'].map((file, at) => ({
      file,
      input: ['Urea', 'DAP', 'NPS', 'P'][at],
      scenario: 'Normal',
      scale: 0.05,
    })),
    settings: FERTILIZER,
  },
  'files named by the letters of a season, and a month before its year': {
    layers: [
      { file: 'p_an_072026.tif', scenario: 'Below Normal' },
      { file: 'p_NN_072026.tif', scenario: 'Normal' },
      { file: 'p_bn_072026.tif', scenario: 'Above Normal' },
      { file: 'Yield_of_an_area.tif', scenario: 'Dominant' },
    ],
  },
  'names with months as people write them': {
    layers: ['p_2026-7.tif', 'p_07-2026.tif', 'p_15-07-2026.tif', 'p_v2026-7.tif', '2026-7-2026-9.tif'].map(
      (file) => ({ file, scenario: file }),
    ),
  },
  'scenarios by their letters': {
    layers: ['AN', 'NN', 'bn'].map((scenario, at) => ({
      ...{ file: 'it.tif', scenario, scale: 1 + at / 10 },
    })),
  },
  'names with letters of no season, and numbers like a month': {
    layers: [
      { file: 'an_202608_nn.tif', scenario: 'Below Normal' },
      { file: 'bn.tif', scenario: 'Above Normal' },
      { file: 'Yield_of_an_area.tif', scenario: 'Normal' },
      ...['p_20260815_102026.tif', 'p_v102026.tif', 'tile_01_2026.tif'].map((file) => ({
        file,
        scenario: file,
      })),
    ],
  },
  'a band whose description contradicts the manifest': { layers: [{ file: 'described.tif', band: 1 }] },
  'names that say nothing of a season': {
    layers: [
      { file: 'below_ground_v202608.tif', scenario: 'Above Normal', condition: 'hill' },
      { file: 'below_ground_v20260815.tif', scenario: 'Below Normal', condition: 'hill' },
      { file: 'season_202607-202609.tif', scenario: 'Above Normal', condition: 'plain' },
      { file: 'plain.tif', scenario: 'Below Normal', condition: 'plain' },
    ],
    settings: {
      conditions: { question: 'Where?', titles: { hill: 'Hill', plain: 'Plain' }, default: 'hill' },
    },
  },
  'yields that are best in the worst season': {
    layers: SEASONS.map((season, at) => ({ file: 'it.tif', ...season, scale: 1 + at / 10 })),
  },
  'names that are almost equal within a manifest': {
    layers: ['NPSB', 'npsb', 'Lime', 'Dolomite', 'Dolomitte'].map((input, at) => ({
      ...{ file: 'it.tif', input, scale: 0.05 + at / 1000 },
    })),
    settings: FERTILIZER,
  },
  'a zero outside of the country': {
    valueAt: (row, column) => Math.max(0, only((y, x) => Math.hypot(y - 57, x - 75) < 40)(row, column)),
  },
}
