import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { smooth, WIDTH, writeField } from '#test/ingest/checks/rasters.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { transcribe } from '#test/setup/transcript.ts'
import { BORDERS, changed, expectedOf } from './changed.ts'

const FIRST = 'yield-eth-wheat-2026-01-v1'
const SECOND = 'yield-eth-wheat-2026-01-v2'
let testDatabase: TestDatabase
let folder: string
const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)
const load = async (
  name: string,
  settings: object,
  layers: { file: string; scenario?: string }[],
  ...rest: string[]
) =>
  agro(
    'ingest',
    await writeManifest(folder, manifestText(layers, { forecast_period: '2026-01', ...settings }), name),
    ...rest,
  )

beforeAll(async () => {
  folder = await newFolder()
  testDatabase = await createTestDatabase('empty')
  await writeField(folder, 'before.tif')
  await writeField(folder, 'after.tif', changed)
  await writeField(folder, 'coarse.tif', smooth, { degrees: 0.2, width: 75, height: 57 })
  const areas = await boundaryFile(
    BORDERS.map(([code, west, east]) =>
      feature({ code, name: `Area ${code}` }, rectangle(west, 3.5, east, 15)),
    ),
  )
  const outline = await boundaryFile([feature({ code: 'ETH', name: 'Ethiopia' }, rectangle(33, 3.5, 48, 15))])
  await agro('boundaries', outline, '--country', 'eth', '--level', '0')
  await agro('boundaries', areas, '--country', 'eth', '--level', '1')
  await load(
    'before.yaml',
    {},
    [{ file: 'before.tif' }, { file: 'before.tif', scenario: 'Dominant' }],
    '--allow',
    'scenarios-alike',
  )
  await load('after.yaml', {}, [{ file: 'after.tif' }], '--no-publish')
})
afterAll(() => testDatabase.drop())

describe('agro releases diff', () => {
  test('says of each area what every pixel says, with --exact', async () => {
    const { code, stdout } = await agro('releases', 'diff', SECOND, '--threshold', '25%', '--exact', '--json')
    expect(code).toBe(0)
    const found = JSON.parse(stdout)
    expect(found).toMatchObject({
      before: FIRST,
      after: SECOND,
      level: 1,
      threshold_percent: 25,
      exact: true,
    })
    for (const [area, west, east] of BORDERS) {
      const row = found.areas.find(
        (one: { code: string; scenario: string }) => one.code === area && one.scenario === 'Normal',
      )
      for (const [key, value] of Object.entries(expectedOf(west, east))) {
        expect([area, key, row[key]]).toEqual([area, key, expect.closeTo(value, 2)])
      }
      expect([row.changed_percent_least, row.changed_percent_most]).toEqual([
        row.changed_percent,
        row.changed_percent,
      ])
    }
    const [normal, dominant] = found.layers
    expect(normal).toMatchObject({ scenario: 'Normal', covered_before_percent: 100, gained_percent: 0 })
    expect(dominant).toMatchObject({
      scenario: 'Dominant',
      mean_after: null,
      change_percent: null,
      lost_percent: 100,
      changed_percent: 0,
    })
  })

  test('says the same from summaries, but for how much has changed, which it bounds', async () => {
    const ask = async (...more: string[]) => {
      const { stdout } = await agro('releases', 'diff', SECOND, '--threshold', '25', '--json', ...more)
      return JSON.parse(stdout).areas as Record<string, number>[]
    }
    const [exact, summarised] = [await ask('--exact'), await ask()]
    expect(summarised).toHaveLength(6)
    for (const [index, row] of summarised.entries()) {
      const { changed_percent, changed_percent_least, changed_percent_most, ...rest } = row
      const { changed_percent: true_percent, ...expected } = exact[index] as Record<string, number>
      expect(rest).toMatchObject(
        Object.fromEntries(
          Object.entries(expected)
            .filter(([key]) => !key.startsWith('changed'))
            .map(([key, value]) => [key, typeof value === 'number' ? expect.closeTo(value, 2) : value]),
        ),
      )
      expect(changed_percent_least as number).toBeLessThanOrEqual((true_percent as number) + 1e-6)
      expect(changed_percent_most as number).toBeGreaterThanOrEqual((true_percent as number) - 1e-6)
    }
  })

  test('tells people, and programs that read CSV, what the transcript has', async () => {
    const said = await transcribe(
      testDatabase,
      `
      releases diff SECOND
      releases diff FIRST SECOND --level 0 --csv
      releases diff SECOND FIRST
      releases diff FIRST FIRST --threshold 0% --exact
      releases diff yield-eth-wheat-2026-09-v9
      releases diff FIRST
      releases diff SECOND --level 3
      `,
      { FIRST, SECOND },
    )
    await expect(said).toMatchFileSnapshot('diff.txt')
  })

  test.each([
    ['--threshold', 'much', 'It must be a percentage, such as 25%.'],
    ['--level', '4', "argument '4' is invalid. It must be from 0 to 3."],
  ])('ends with 2 and says the mistake of %s %s', async (option, value, sentence) => {
    const { code, stderr } = await agro('releases', 'diff', SECOND, option, value)
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  })

  test('compares releases of which the list says what their rasters take', async () => {
    const [, { bytes }] = JSON.parse((await agro('releases', 'list', '--json')).stdout)
    // 70 tiles with values, of 16 x 16 pixels of 4 bytes, and what describes each; those on the edge are smaller.
    expect(bytes).toBeGreaterThan(100 * WIDTH * 4)
    expect(bytes).toBeLessThan(70 * (16 * 16 * 4 + 100))
  })

  test('compares means and cover where grids differ, and of pixels says nothing', async () => {
    await load('coarse.yaml', {}, [{ file: 'coarse.tif' }], '--no-publish')
    const { stdout } = await agro('releases', 'diff', FIRST, 'yield-eth-wheat-2026-01-v3', '--json')
    expect(JSON.parse(stdout).layers[0]).toMatchObject({
      scenario: 'Normal',
      mean_before: expect.any(Number),
      mean_after: expect.any(Number),
      covered_after_percent: expect.closeTo(99.1, 0),
      gained_percent: null,
      changed_percent: null,
    })
  })
})
