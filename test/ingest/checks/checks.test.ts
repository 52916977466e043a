// Runs on a server alone: statements.test.ts tries the statements on the embedded database.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ReleaseIssue } from '#src/catalog/release-checks.ts'
import { type LayerText, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { CASES, type Case, filled, inside, monthAhead, NAMED, ODDS } from './cases.ts'
import { smooth, writeField } from './rasters.ts'

let testDatabase: TestDatabase
let folder: string
const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

beforeAll(async () => {
  folder = await newFolder()
  testDatabase = await createTestDatabase('empty')
  await writeField(folder, 'good.tif')
  await writeField(folder, 'beside.tif')
  for (const at of [1, 2])
    await writeField(
      folder,
      `inside-${at}.tif`,
      (...place) => inside(...place) + Number(inside(...place) !== -1) * at,
    )
  await writeField(folder, 'filled.tif', filled(1300))
  await writeField(folder, 'land.tif', (_, column) => 1 + Number(column > 75))
  for (const [odds, part] of Object.entries(ODDS))
    await writeField(folder, odds, (...place) =>
      inside(...place) === -1 ? (odds === 'odds-above.tif' ? 0 : -1) : part,
    )
  const packed = ['filled.tif', 'inside-1.tif', 'inside-2.tif'].map(async (name) => [
    `a season/${name}`,
    await readFile(join(folder, name)),
  ])
  await writeFile(join(folder, 'season.zip'), zipSync(Object.fromEntries(await Promise.all(packed))))
  for (const [at, name] of NAMED.entries())
    await writeField(folder, name, (...place) => smooth(...place) + at)
  await writeField(folder, 'described.tif', smooth, {
    tags: {
      42112: [
        'ascii',
        '<GDALMetadata><Item name="DESCRIPTION" sample="0" role="description">Below normal</Item></GDALMetadata>\0',
      ],
    },
  })
  await writeFile(join(folder, 'beside.aux'), 'EHFA_HEADER_TAG')
  await writeFile(join(folder, 'beside.tab'), '!table')
  for (const [settings, layer] of [
    [{}, {}],
    [{ product: 'fertilizer' }, { input: 'Urea', scale: 0.05 }],
    [{ product: 'isfm' }, { input: 'Vermicompost', unit: 't/ha', scale: 0.001 }],
  ]) {
    const path = await manifest([{ file: 'good.tif', ...layer }], settings)
    expect(await agro('ingest', path)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^(?:loading: \d+ %\n)*loading: 100 %\n$/),
    })
  }
})
afterAll(() => testDatabase.drop())

/** A manifest of Ethiopia's wheat in a month that may be published. */
function manifest(layers: LayerText[], settings: Record<string, unknown> = {}): Promise<string> {
  return writeManifest(folder, manifestText(layers, { forecast_period: '2026-08', ...settings }))
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
    const { findings } = JSON.parse(stdout)
    const refuses = findings.some(({ level }: ReleaseIssue) => level === 'error')
    expect([what, code]).toEqual([what, refuses ? 1 : 0])
    const lines = findings.map(
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
  const refusal =
    'Refused by empty: mend that first. Where it is right as it is, --allow empty publishes it.\n'
  expect(await dry('range')).toEqual([1, `error: ${sentence} (empty)\n${refusal}`])
  expect(await dry('range,empty')).toEqual([0, `allowed: ${sentence} (empty)\n`])
})

test('names that contradict the manifest are notes, which --strict refuses and --allow lets pass', async () => {
  const path = await prepare(CASES['files of another country, crop and month by name'] as Case)
  const codes: (number | null)[] = []
  for (const more of [[], ['--strict'], ['--strict', '--allow', 'labels']]) {
    codes.push((await agro('ingest', path, '--dry-run', ...more)).code)
  }
  expect(codes).toEqual([0, 1, 0])
})

test('a number in the place of nodata is not published, also without --strict, and what the finding says to write mends it', async () => {
  const filling = CASES['a number in the place of nodata in one of three scenarios'] as Case
  const path = await prepare(filling)
  const refused = await agro('ingest', path)
  const [, step = '', line] = /write `(.*?)` in the layer of line (\d+)/.exec(refused.stderr) ?? []
  const lines = (await readFile(path, 'utf8')).split('\n')
  lines.splice(Number(line) - 1, 1, lines[Number(line) - 1]?.replace('- ', `- ${step}\n    `) ?? '')
  await writeFile(path, lines.join('\n'))
  const mended = await agro('ingest', path, '--dry-run', '--strict')
  expect([refused.code, mended.code, mended.stderr]).toEqual([1, 0, expect.not.stringContaining('error')])
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
