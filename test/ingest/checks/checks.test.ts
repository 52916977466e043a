// Runs on a server alone: statements.test.ts tries the statements on the embedded database.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ReleaseIssue } from '#src/data/rights.ts'
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
  /** Of the raster `it.tif`, which is a layer of its own. */
  valueAt?: ValueAt
  place?: Parameters<typeof writeField>[3]
  /** Other layers. */
  layers?: LayerText[]
  settings?: Record<string, unknown>
}

const CASES: Record<string, Case> = {
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
  'a zero outside of the country': {
    valueAt: (row, column) => Math.max(0, only((y, x) => Math.hypot(y - 57, x - 75) < 40)(row, column)),
  },
}

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

/** The manifest of a case, whose raster is written. */
async function prepare({ valueAt, place, layers = [{ file: 'it.tif' }], settings }: Case): Promise<string> {
  await writeField(folder, 'it.tif', valueAt, place)
  return manifest(layers, settings)
}

/** Figures have no more digits than are told from rounding. */
const rounded = (_: string, value: unknown) =>
  typeof value === 'number' ? Number(value.toPrecision(4)) : value

test('a dry run finds what is wrong with a release, as findings.txt has it', async () => {
  const found: string[] = []
  for (const [what, row] of Object.entries(CASES)) {
    const { code, stdout } = await agro('ingest', await prepare(row), '--dry-run', '--json')
    expect([what, code]).toEqual([what, 1])
    const lines = JSON.parse(stdout).findings.map(
      ({ check, level, sentence, figures }: ReleaseIssue) =>
        `${level}: ${sentence} (${check}) ${JSON.stringify(figures ?? {}, rounded)}\n`,
    )
    found.push(`${what}:\n${lines.join('')}\n`)
  }
  const text = found.join('').replaceAll(`${folder}/`, '').replaceAll(monthAhead(19), 'AHEAD')
  await expect(text).toMatchFileSnapshot('findings.txt')
})

test('a dry run lets pass what is allowed by name, and nothing else', async () => {
  const path = await prepare(CASES['a layer without a value'] as Case)
  const sentence = 'it.tif band 1 has no value at all.'
  const dry = async (...allow: string[]) => {
    const { code, stderr } = await agro('ingest', path, '--dry-run', '--allow', ...allow)
    return [code, stderr.replaceAll(/^reading: .*\n/gm, '')]
  }
  const refusal = 'Refused by empty. Use --allow empty to publish.\n'
  expect(await dry('range')).toEqual([1, `error: ${sentence} (empty)\n${refusal}`])
  expect(await dry('range,empty')).toEqual([0, `allowed: ${sentence} (empty)\n`])
})

test('a name that was published after a load is compared when the load is published, and what was found before is told once', async () => {
  const ofMonth = { product: 'fertilizer', forecast_period: '2026-09' }
  await writeField(folder, 'it.tif', CASES['a layer with hardly any value']?.valueAt)
  const first = await manifest([{ file: 'it.tif', input: 'N-P-S', scale: 0.05 }], ofMonth)
  const loaded = await agro('ingest', first, '--no-publish', '--allow', 'empty', '--json')
  const second = await manifest([{ file: 'good.tif', input: 'NPS', scale: 0.05 }], ofMonth)
  expect(await agro('ingest', second)).toMatchObject({ code: 0 })
  const { release } = JSON.parse(loaded.stdout)
  const { code, stderr } = await agro('releases', 'publish', release)
  expect([code, stderr.trimEnd().split('\n')]).toEqual([
    1,
    [
      expect.stringMatching(/^allowed: .* hardly any .* \(empty\)$/),
      'error: The input "N-P-S" differs only by case, spaces or hyphens from "NPS", which is published: is it the same? (names)',
      `${release} is not published: mend it, or publish it with --allow names.`,
    ],
  ])
})
