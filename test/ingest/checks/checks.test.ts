// Runs on a server alone: statements.test.ts tries the statements on both databases.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CheckName } from '#src/data/rights.ts'
import { type LayerText, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { HEIGHT, smooth, WIDTH, writeField } from './rasters.ts'

let testDatabase: TestDatabase
let folder: string
const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

beforeAll(async () => {
  folder = await newFolder()
  testDatabase = await createTestDatabase('empty')
  await writeField(folder, 'good.tif')
  for (const [settings, layer] of [
    [{}, {}],
    [{ product: 'fertilizer' }, { input: 'Urea', scale: 0.05 }],
    [{ product: 'isfm' }, { input: 'Vermicompost', unit: 't/ha', scale: 0.001 }],
  ]) {
    const path = await manifest([{ file: 'good.tif', ...layer }], settings)
    expect(await agro('ingest', path)).toMatchObject({ code: 0, stderr: 'loading: 100 %\n' })
  }
})
afterAll(() => testDatabase.drop())

/** A manifest of Ethiopia's wheat in a month that may be published. */
function manifest(layers: LayerText[], settings: Record<string, unknown> = {}): Promise<string> {
  return writeManifest(folder, manifestText(layers, { forecast_period: '2026-08', ...settings }))
}

/** The month that is so many after this one. */
function monthAhead(months: number): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months)).toISOString().slice(0, 7)
}

const hasNone = (row: number, column: number) => (row < 5 && column < 2 ? smooth(row, column) : -1)

interface Case {
  what: string
  check: CheckName
  prepare?: () => Promise<unknown>
  layers: LayerText[]
  settings?: Record<string, unknown>
  sentences: string[]
  figures?: Record<string, unknown>
}

const CASES: Case[] = [
  {
    what: 'a layer without a value',
    check: 'empty',
    prepare: () => writeField(folder, 'none.tif', () => -1),
    layers: [{ file: 'none.tif' }],
    sentences: ['none.tif band 1 has no value at all.'],
    figures: { valid: 0, pixels: WIDTH * HEIGHT },
  },
  {
    what: 'a layer with hardly any',
    check: 'empty',
    prepare: () => writeField(folder, 'hardly.tif', hasNone),
    layers: [{ file: 'hardly.tif' }],
    sentences: [
      'hardly.tif band 1 has a value in 10 of 17250 pixels (0.06 %), which is hardly any (at least 0.10 %).',
    ],
  },
  {
    what: 'a raster of another country',
    check: 'extent',
    prepare: () => writeField(folder, 'elsewhere.tif', smooth, { west: -15 }),
    layers: [{ file: 'elsewhere.tif' }],
    sentences: [
      'The grid of elsewhere.tif band 1 (-15, 3.5, 0, 15) does not meet Ethiopia (32.9, 3.3, 48.1, 15).',
    ],
    figures: { west: -15, covered: 0 },
  },
  {
    what: 'a raster whose axes are swapped',
    check: 'extent',
    prepare: () =>
      writeField(folder, 'swapped.tif', smooth, { west: 3.5, north: 48, width: HEIGHT, height: WIDTH }),
    layers: [{ file: 'swapped.tif' }],
    sentences: [
      'The grid of swapped.tif band 1 (3.5, 33, 15, 48) does not meet Ethiopia (32.9, 3.3, 48.1, 15); with its axes the other way round it would: are they swapped?',
    ],
  },
  {
    what: 'a raster that covers little of the country',
    check: 'extent',
    prepare: () => writeField(folder, 'little.tif', smooth, { west: 38, north: 9, degrees: 0.02 }),
    layers: [{ file: 'little.tif' }],
    sentences: [
      'The grid of little.tif band 1 (38, 6.7, 41, 9) covers 3.88 % of the extent of Ethiopia (32.9, 3.3, 48.1, 15), less than a tenth.',
    ],
  },
  {
    what: 'values beside the country, in a grid that reaches into it',
    check: 'extent',
    prepare: () =>
      writeField(folder, 'beside-it.tif', (row, column) => (column < 55 ? smooth(row, column) : -1), {
        west: 20,
        degrees: 0.2,
      }),
    layers: [{ file: 'beside-it.tif' }],
    sentences: ['beside-it.tif band 1 has no values in Ethiopia, in whose extent its grid lies.'],
    figures: { covered: 0 },
  },
  {
    what: 'values in little of the country, in a grid over all of it',
    check: 'extent',
    prepare: () =>
      writeField(folder, 'corner.tif', (row, column) => (row < 30 && column < 30 ? smooth(row, column) : -1)),
    layers: [{ file: 'corner.tif' }],
    sentences: ['corner.tif band 1 has values in 5.64 % of Ethiopia, less than a tenth.'],
  },
  {
    what: 'a month that is far ahead',
    check: 'month',
    layers: [{ file: 'good.tif' }],
    settings: { forecast_period: monthAhead(19) },
    sentences: [
      `The month ${monthAhead(19)} is 19 months ahead, more than 18: as the newest month it would answer everybody who names none.`,
    ],
    figures: { month: monthAhead(19), monthsAhead: 19 },
  },
  {
    what: 'a month that is older than what is published',
    check: 'month',
    layers: [{ file: 'good.tif' }],
    settings: { forecast_period: '2026-07' },
    sentences: [
      'The month 2026-07 is older than 2026-08, which is published: only who asks for 2026-07 would get these values.',
    ],
  },
  {
    what: 'a scenario and an input that are written in another way',
    check: 'names',
    layers: [{ file: 'good.tif', input: 'urea', scenario: 'above-normal', scale: 0.05 }],
    settings: { product: 'fertilizer' },
    sentences: [
      'The input "urea" differs only by case, spaces or hyphens from "Urea", which is published: is it the same?',
      'The scenario "above-normal" differs only by case, spaces or hyphens from "Above Normal": is it the same?',
    ],
  },
  {
    what: 'a scenario and an input with wrong letters',
    check: 'names',
    layers: [
      { file: 'good.tif', unit: 't/ha', input: 'Vermicmopost', scenario: 'Below Norml', scale: 0.001 },
    ],
    settings: { product: 'isfm' },
    sentences: [
      'The input "Vermicmopost" differs by a letter or two from "Vermicompost", which is published: is it the same?',
      'The scenario "Below Norml" differs by a letter or two from "Below Normal": is it the same?',
    ],
    figures: { input: 'Vermicmopost', known: 'Vermicompost' },
  },
  {
    what: 'files of other software beside one',
    check: 'not-honoured',
    prepare: async () => {
      await writeField(folder, 'beside.tif')
      await writeFile(join(folder, 'beside.aux'), 'EHFA_HEADER_TAG')
      await writeFile(join(folder, 'beside.tab'), '!table')
    },
    layers: [{ file: 'beside.tif' }],
    sentences: [
      'beside.aux is not read: what it says of beside.tif does not count.',
      'beside.tab is not read: what it says of beside.tif does not count.',
    ],
  },
  {
    what: 'values of another unit',
    check: 'range',
    layers: [{ file: 'good.tif', scale: 100 }],
    sentences: [
      expect.stringMatching(
        /^good\.tif band 1 has values of 14\d+\.\d+ to 26\d+\.\d+ kg\/ha, but yield of wheat is plausible from 0 to 18000: is its nodata value missing, or its scale or unit wrong\?$/,
      ),
    ],
    figures: { plausibleMinimum: 0, plausibleMaximum: 18_000 },
  },
  {
    what: 'scenarios that are all of one file',
    check: 'scenarios-alike',
    layers: [
      { file: 'good.tif', scenario: 'Normal' },
      { file: 'good.tif', scenario: 'Below Normal' },
    ],
    sentences: [
      'All 2 scenarios have the same values (Normal, Below Normal): is each layer of its own file or band?',
    ],
  },
  {
    what: 'a value apart from all others',
    check: 'undeclared-nodata',
    prepare: () =>
      writeField(folder, 'filled.tif', (row, column) =>
        row === 60 || row === 70 ? 9999 : smooth(row, column),
      ),
    layers: [{ file: 'filled.tif' }],
    sentences: [
      expect.stringMatching(
        /^filled\.tif band 1 has the pixel value 9999 in 1\.74 % of its values, apart from all others \(14\d+\.\d+ to 26\d+\.\d+\): does it mean none\? The layer's nodata says so\.$/,
      ),
    ],
  },
  {
    what: 'a zero outside of the country',
    check: 'undeclared-nodata',
    prepare: () =>
      writeField(folder, 'zero.tif', (row, column) =>
        Math.hypot(row - 57, column - 75) < 40 ? smooth(row, column) : 0,
      ),
    layers: [{ file: 'zero.tif' }],
    sentences: [
      expect.stringMatching(
        /^zero\.tif band 1 has the pixel value 0 in 7\d\.\d\d % of its values, apart from all others \(1\d+\.\d+ to 2\d+\.\d+\), at the corners and edges of the grid: does it mean none\? The layer's nodata says so\.$/,
      ),
    ],
  },
]

test('values in the extent of a country and outside of its borders are refused, when loaded and when published', async () => {
  const withBorders = await createTestDatabase('demo')
  // East of 43.5 and north of 10 degrees: a fifth of Ethiopia's extent, and next to nothing of Ethiopia.
  await writeField(folder, 'abroad.tif', (row, column) =>
    row < 50 && column > 105 ? smooth(row, column) : -1,
  )
  const path = await manifest([{ file: 'abroad.tif' }])
  const refused = await runAgro(withBorders, 'ingest', path, '--json')
  const { release, published, findings } = JSON.parse(refused.stdout)
  const found = { check: 'extent', level: 'error', allowed: false }
  const sentence = 'abroad.tif band 1 has values in 1.61 % of Ethiopia, less than a tenth.'
  expect([refused.code, published, findings]).toMatchObject([1, false, [{ ...found, sentence }]])
  const again = await runAgro(withBorders, 'releases', 'publish', release)
  expect([again.code, again.stderr]).toMatchObject([
    1,
    expect.stringContaining('error: Normal has values in 1.61 % of Ethiopia, less than a tenth. (extent)\n'),
  ])
  expect(await runAgro(withBorders, 'releases', 'publish', release, '--allow', 'extent')).toMatchObject({
    code: 0,
  })
  await withBorders.drop()
})

describe('a dry run', () => {
  test.each(CASES)('finds $what, unless that is allowed by name', async (row) => {
    const { check, prepare, layers, settings, sentences, figures } = row
    await prepare?.()
    const path = await manifest(layers, settings)
    const refused = await agro('ingest', path, '--dry-run', '--json')
    const { findings } = JSON.parse(refused.stdout.replaceAll(`${folder}/`, ''))
    expect(findings).toMatchObject(
      sentences.map((sentence, index) => ({
        ...{ check, level: 'error', sentence, allowed: false },
        ...(figures && index === 0 && { figures }),
      })),
    )
    expect(findings).toHaveLength(sentences.length)
    const lines = findings.map(({ sentence }: { sentence: string }) => `${sentence} (${check})\n`)
    const said = refused.stderr.replaceAll(/^reading: .*\n/gm, '').replaceAll(`${folder}/`, '')
    expect([refused.code, said]).toEqual([
      1,
      `${lines.map((line: string) => `error: ${line}`).join('')}Refused by ${check}. Use --allow ${check} to publish.\n`,
    ])
    const allowed = await agro('ingest', path, '--dry-run', '--json', '--allow', check)
    expect([allowed.code, JSON.parse(allowed.stdout).findings]).toMatchObject([
      0,
      sentences.map(() => ({ check, allowed: true })),
    ])
  })
})
