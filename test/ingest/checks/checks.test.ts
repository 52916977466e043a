// Runs on a server alone: statements.test.ts tries the statements on both databases.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CheckName } from '#src/data/rights.ts'
import { type LayerText, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { HEIGHT, smooth, type ValueAt, WIDTH, writeField } from './rasters.ts'

let testDatabase: TestDatabase
let folder: string
const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

beforeAll(async () => {
  folder = await newFolder()
  testDatabase = await createTestDatabase('empty')
  await writeField(folder, 'good.tif')
  await writeField(folder, 'beside.tif')
  await writeFile(join(folder, 'beside.aux'), 'EHFA_HEADER_TAG')
  await writeFile(join(folder, 'beside.tab'), '!table')
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

/** Values where a condition holds, else nodata. */
const only =
  (holds: (row: number, column: number) => boolean): ValueAt =>
  (row, column) =>
    holds(row, column) ? smooth(row, column) : -1

interface Case {
  what: string
  check: CheckName
  /** Of the raster `it.tif`, which is a layer of its own. */
  valueAt?: ValueAt
  place?: Parameters<typeof writeField>[3]
  /** Other layers. */
  layers?: LayerText[]
  settings?: Record<string, unknown>
  sentences: (string | RegExp)[]
  figures?: Record<string, unknown>
}

const ETHIOPIA = 'Ethiopia (32.9, 3.3, 48.1, 15)'

const CASES: Case[] = [
  {
    what: 'a layer without a value',
    check: 'empty',
    valueAt: () => -1,
    sentences: ['it.tif band 1 has no value at all.'],
    figures: { valid: 0, pixels: WIDTH * HEIGHT },
  },
  {
    what: 'a layer with hardly any',
    check: 'empty',
    valueAt: only((row, column) => row < 5 && column < 2),
    sentences: [
      'it.tif band 1 has a value in 10 of 17250 pixels (0.06 %), which is hardly any (at least 0.10 %).',
    ],
  },
  {
    what: 'a raster of another country',
    check: 'extent',
    place: { west: -15 },
    sentences: [`The grid of it.tif band 1 (-15, 3.5, 0, 15) does not meet ${ETHIOPIA}.`],
    figures: { west: -15, covered: 0 },
  },
  {
    what: 'a raster whose axes are swapped',
    check: 'extent',
    place: { west: 3.5, north: 48, width: HEIGHT, height: WIDTH },
    sentences: [
      `The grid of it.tif band 1 (3.5, 33, 15, 48) does not meet ${ETHIOPIA}; with its axes the other way round it would: are they swapped?`,
    ],
  },
  {
    what: 'a raster that covers little of the country',
    check: 'extent',
    place: { west: 38, north: 9, degrees: 0.02 },
    sentences: [
      `The grid of it.tif band 1 (38, 6.7, 41, 9) covers 3.88 % of the extent of ${ETHIOPIA}, less than a tenth.`,
    ],
  },
  {
    what: 'values beside the country, in a grid that reaches into it',
    check: 'extent',
    valueAt: only((_, column) => column < 55),
    place: { west: 20, degrees: 0.2 },
    sentences: ['it.tif band 1 has no values in Ethiopia, in whose extent its grid lies.'],
    figures: { covered: 0 },
  },
  {
    what: 'values in little of the country, in a grid over all of it',
    check: 'extent',
    valueAt: only((row, column) => row < 30 && column < 30),
    sentences: ['it.tif band 1 has values in 5.64 % of Ethiopia, less than a tenth.'],
  },
  {
    what: 'a month that is far ahead',
    check: 'month',
    settings: { forecast_period: monthAhead(19) },
    sentences: [
      `The month ${monthAhead(19)} is 19 months ahead, more than 18: as the newest month it would answer everybody who names none.`,
    ],
    figures: { month: monthAhead(19), monthsAhead: 19 },
  },
  {
    what: 'a month that is older than what is published',
    check: 'month',
    settings: { forecast_period: '2026-07' },
    sentences: [
      'The month 2026-07 is older than 2026-08, which is published: only who asks for 2026-07 would get these values.',
    ],
  },
  {
    what: 'a scenario and an input that are written in another way',
    check: 'names',
    layers: [{ file: 'it.tif', input: 'urea', scenario: 'above-normal', scale: 0.05 }],
    settings: { product: 'fertilizer' },
    sentences: [
      'The input "urea" differs only by case, spaces or hyphens from "Urea", which is published: is it the same?',
      'The scenario "above-normal" differs only by case, spaces or hyphens from "Above Normal": is it the same?',
    ],
  },
  {
    what: 'a scenario and an input with wrong letters',
    check: 'names',
    layers: [{ file: 'it.tif', unit: 't/ha', input: 'Vermicmopots', scenario: 'Below Norml', scale: 0.001 }],
    settings: { product: 'isfm' },
    sentences: [
      'The input "Vermicmopots" differs by a letter or two from "Vermicompost", which is published: is it the same?',
      'The scenario "Below Norml" differs by a letter or two from "Below Normal": is it the same?',
    ],
    figures: { input: 'Vermicmopots', known: 'Vermicompost' },
  },
  {
    what: 'files of other software beside one',
    check: 'not-honoured',
    layers: [{ file: 'beside.tif' }],
    sentences: [
      'beside.aux is not read: what it says of beside.tif does not count.',
      'beside.tab is not read: what it says of beside.tif does not count.',
    ],
  },
  {
    what: 'values of another unit',
    check: 'range',
    layers: [{ file: 'it.tif', scale: 100 }],
    sentences: [
      /^it\.tif band 1 has values of 14\d+\.\d+ to 26\d+\.\d+ kg\/ha, but yield of wheat is plausible from 0 to 18000: is its nodata value missing, or its scale or unit wrong\?$/,
    ],
    figures: { plausibleMinimum: 0, plausibleMaximum: 18_000 },
  },
  {
    what: 'scenarios that are all of one file',
    check: 'scenarios-alike',
    layers: ['Normal', 'Below Normal'].map((scenario) => ({ file: 'it.tif', scenario })),
    sentences: [
      'All 2 scenarios have the same values (Normal, Below Normal): is each layer of its own file or band?',
    ],
  },
  {
    what: 'a value apart from all others',
    check: 'undeclared-nodata',
    valueAt: (row, column) => (row === 60 || row === 70 ? 9999 : smooth(row, column)),
    sentences: [
      /^it\.tif band 1 has the pixel value 9999 in 1\.74 % of its values, apart from all others \(14\d+\.\d+ to 26\d+\.\d+\): does it mean none\? The layer's nodata says so\.$/,
    ],
  },
  {
    what: 'a zero outside of the country',
    check: 'undeclared-nodata',
    valueAt: (row, column) => Math.max(0, only((y, x) => Math.hypot(y - 57, x - 75) < 40)(row, column)),
    sentences: [
      /^it\.tif band 1 has the pixel value 0 in 7\d\.\d\d % of its values, apart from all others \(1\d+\.\d+ to 2\d+\.\d+\), at the corners and edges of the grid: does it mean none\? The layer's nodata says so\.$/,
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

test.each(CASES)('a dry run finds $what, unless that is allowed by name', async (row) => {
  const { check, valueAt, place, layers = [{ file: 'it.tif' }], settings, sentences, figures } = row
  await writeField(folder, 'it.tif', valueAt, place)
  const path = await manifest(layers, settings)
  const refused = await agro('ingest', path, '--dry-run', '--json')
  const { findings } = JSON.parse(refused.stdout.replaceAll(`${folder}/`, ''))
  expect(findings).toHaveLength(sentences.length)
  for (const [index, sentence] of sentences.entries()) {
    const said = typeof sentence === 'string' ? sentence : expect.stringMatching(sentence)
    expect(findings[index]).toMatchObject({ check, level: 'error', sentence: said, allowed: false })
  }
  if (figures) expect(findings[0].figures).toMatchObject(figures)
  const lines = findings.map(({ sentence }: { sentence: string }) => `error: ${sentence} (${check})\n`)
  const said = refused.stderr.replaceAll(/^reading: .*\n/gm, '').replaceAll(`${folder}/`, '')
  expect([refused.code, said]).toEqual([
    1,
    `${lines.join('')}Refused by ${check}. Use --allow ${check} to publish.\n`,
  ])
  const allowed = await agro('ingest', path, '--dry-run', '--json', '--allow', check)
  expect([allowed.code, JSON.parse(allowed.stdout).findings]).toMatchObject([
    0,
    sentences.map(() => ({ check, allowed: true })),
  ])
})
