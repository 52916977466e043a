import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { smooth, writeField } from '#test/ingest/checks/rasters.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'

const codeOf = (version: number) => `yield-eth-wheat-2026-01-v${version}`

let testDatabase: TestDatabase
let folder: string
const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

/** A raster whose values in the east are so many times what they were. */
async function ingest(factor: number, ...parameters: string[]) {
  const file = `times-${factor}.tif`
  await writeField(folder, file, (row, column) => smooth(row, column) * (column < 75 ? 1 : factor))
  const manifest = manifestText([{ file }], { forecast_period: '2026-01' })
  return agro('ingest', await writeManifest(folder, manifest, `${file}.yaml`), ...parameters)
}

async function published(): Promise<string[]> {
  const releases = JSON.parse((await agro('releases', 'list', '--json')).stdout)
  return releases
    .filter(({ state }: { state: string }) => state === 'published')
    .map(({ code }: { code: string }) => code)
}

beforeAll(async () => {
  folder = await newFolder()
  testDatabase = await createTestDatabase('empty')
  const areas = [
    feature({ code: 'W', name: 'West' }, rectangle(33, 3.5, 40.5, 15)),
    feature({ code: 'E', name: 'East' }, rectangle(40.5, 3.5, 48, 15)),
  ]
  const outline = await boundaryFile([feature({ code: 'ETH', name: 'Ethiopia' }, rectangle(33, 3.5, 48, 15))])
  await agro('boundaries', outline, '--country', 'eth', '--level', '0')
  await agro('boundaries', await boundaryFile(areas), '--country', 'eth', '--level', '1')
})
afterAll(() => testDatabase.drop())

/** Why a release is not published whose values in the east are 1.3 times what they were. */
const refusal = (version: number) =>
  new RegExp(
    `^${codeOf(version)} is not published: in 1 of 2 areas of level 1 a mean changes by more than 25 %, most in East \\(E\\), where Normal goes from \\d+\\.\\d+ to \\d+\\.\\d+ kg/ha \\(\\+30\\.0 %\\), from ${codeOf(1)}\\. \`agro releases diff ${codeOf(version)}\` says more; without --max-change it is published\\.$`,
    'm',
  )

describe.sequential('--max-change', () => {
  test('publishes the first release of a series, which changes nothing', async () => {
    const { code, stdout } = await ingest(1, '--max-change', '0%')
    expect([code, stdout]).toEqual([0, expect.stringMatching(`^${codeOf(1)} is published: 80 tiles`)])
  })

  test('leaves a release that changes by more complete and unpublished, and says why', async () => {
    const { code, stdout, stderr } = await ingest(1.3, '--max-change', '25%')
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(`^${codeOf(2)} is complete and not published: 80 tiles`),
    ])
    expect(stderr).toMatch(refusal(2))
    expect(await published()).toEqual([codeOf(1)])
  })

  test('says it again when that is published, to programs with figures', async () => {
    const { code, stdout, stderr } = await agro(
      'releases',
      'publish',
      codeOf(2),
      '--max-change',
      '25',
      '--json',
    )
    expect(code).toBe(1)
    expect(stderr).toMatch(refusal(2))
    expect(JSON.parse(stdout)).toEqual({
      error: expect.stringMatching(/^yield-eth-wheat-2026-01-v2 is not published: in 1 of 2 areas/),
      code: 'CHECKS',
      published: null,
      replaced: null,
      findings: [],
      change: {
        before: codeOf(1),
        max_change_percent: 25,
        level: 1,
        areas: 2,
        areas_beyond: 1,
        worst: expect.objectContaining({
          code: 'E',
          name: 'East',
          input: null,
          scenario: 'Normal',
          change_percent: expect.closeTo(30, 3),
        }),
      },
    })
    expect(await published()).toEqual([codeOf(1)])
  })

  test('publishes what changes by no more, and whatever changes where it is not given', async () => {
    expect((await agro('releases', 'publish', codeOf(2), '--max-change', '30.1%')).stdout).toBe(
      `${codeOf(2)} is published in the place of ${codeOf(1)}.\n`,
    )
    expect((await ingest(4)).code).toBe(0)
    expect(await published()).toEqual([codeOf(3)])
  })
})
