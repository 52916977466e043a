import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isBeyond } from '#src/raster/change.ts'
import { ellipsoidArea } from '#src/raster/rings.ts'
import { HEIGHT, smooth, type ValueAt, WIDTH, writeField } from '#test/ingest/checks/rasters.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { transcribe } from '#test/setup/transcript.ts'

const FIRST = 'yield-eth-wheat-2026-01-v1'
const SECOND = 'yield-eth-wheat-2026-01-v2'
const NODATA = -1

/** Half as much again in the east but for noise, less in the north of it, and nothing in the far south. */
const changed: ValueAt = (row, column) => {
  if (row >= 100) return NODATA
  return smooth(row, column) * (column < 75 ? 1 : row < 30 ? 0.8 : 1.5)
}

const BORDERS: [code: string, west: number, east: number][] = [
  ['W', 33, 40.5],
  ['M', 40.5, 44.02],
  ['E', 44.02, 48],
]

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
}, 120_000)
afterAll(() => testDatabase.drop())

/** What an area comes to, each pixel weighed by what of it lies in the area. */
function expectedOf(west: number, east: number) {
  const sums = { total: 0, before: 0, after: 0, oldSum: 0, nowSum: 0, lost: 0, beyond: 0 }
  for (let row = 0; row < HEIGHT; row++) {
    const [north, south] = [15 - row / 10, 15 - (row + 1) / 10]
    const ring = Float64Array.of(0, south, 0.1, south, 0.1, north, 0, north, 0, south)
    const pixel = ellipsoidArea([[ring]])
    for (let column = 0; column < WIDTH; column++) {
      const left = 33 + column / 10
      const part = Math.max(0, Math.min(1, (Math.min(east, left + 0.1) - Math.max(west, left)) / 0.1))
      const [old, now] = [smooth(row, column), changed(row, column)].map(Math.fround) as [number, number]
      const area = part * pixel
      sums.total += area
      sums.before += area
      sums.oldSum += area * old
      if (now === NODATA) {
        sums.lost += area
        continue
      }
      sums.after += area
      sums.nowSum += area * now
      if (isBeyond(old, now, 0.25)) sums.beyond += area
    }
  }
  const { total, before, after, oldSum, nowSum, lost, beyond } = sums
  const [old, now] = [oldSum / before, nowSum / after]
  return {
    mean_before: old,
    mean_after: now,
    change_percent: (100 * (now - old)) / old,
    covered_after_percent: (100 * after) / total,
    lost_percent: (100 * lost) / total,
    changed_percent: (100 * beyond) / total,
  }
}

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
