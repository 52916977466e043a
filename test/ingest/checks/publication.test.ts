// Runs on a server alone: statements.test.ts tries the statements on both databases.
import { userInfo } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCluster } from '#src/data/client.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
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
  await writeField(folder, 'elsewhere.tif', smooth, { west: -15 })
})
afterAll(() => testDatabase.drop())

/** A manifest of a month, of a raster in another unit than it says unless that is given. */
function manifest(month: string, settings: Record<string, unknown> = {}, scale = 100): Promise<string> {
  return writeManifest(
    folder,
    manifestText([{ file: 'good.tif', scale }], { forecast_period: month, ...settings }),
  )
}

/** Codes of the releases that there are, and whether they are published. */
async function listed(): Promise<Record<string, string>> {
  const { stdout } = await agro('releases', 'list', '--json')
  const releases: { code: string; state: string }[] = JSON.parse(stdout)
  return Object.fromEntries(releases.map(({ code, state }) => [code.replace('yield-eth-wheat-', ''), state]))
}

/** A note is an error of a strict publication. */
async function expectStrict(code: string, note: string, check: string): Promise<void> {
  expect(await agro('releases', 'publish', code, '--strict')).toEqual({
    code: 1,
    stdout: '',
    stderr: `error: ${note}${code} is not published: mend it, or publish it with --allow ${check}.\n`,
  })
}

const codeOf = (release: string) => `yield-eth-wheat-${release}`

/** The values of the raster in the wrong unit. */
const VALUES = Array.from({ length: WIDTH * HEIGHT }, (_, index) =>
  Math.fround(smooth(Math.floor(index / WIDTH), index % WIDTH)),
).map((value) => Number((100 * value).toPrecision(7)))

const RANGE = `good.tif band 1 has values of ${Math.min(...VALUES)} to ${Math.max(...VALUES)} kg/ha, but yield of wheat is plausible from 0 to 18000: is its nodata value missing, or its scale or unit wrong? (range)\n`

describe.sequential('what the checks find', () => {
  test('before any pixel is read keeps the release from being loaded', async () => {
    const path = await writeManifest(folder, manifestText([{ file: 'elsewhere.tif' }]))
    const sentence =
      'The grid of elsewhere.tif band 1 (-15, 3.5, 0, 15) does not meet Ethiopia (32.9, 3.3, 48.1, 15).'
    const { code, stdout, stderr } = await agro('ingest', path, '--json')
    expect(JSON.parse(stdout)).toMatchObject({
      release: null,
      loaded: false,
      published: false,
      findings: [{ check: 'extent', level: 'error', sentence, allowed: false }],
    })
    expect([code, stderr]).toEqual([
      1,
      `error: ${sentence} (extent)\nNothing is loaded. Mend it, or have it with --allow extent.\n`,
    ])
    expect(await listed()).toEqual({})
  })

  test('in the pixels leaves the release complete and unpublished', async () => {
    const code = codeOf('2026-01-v1')
    const refused = await agro('ingest', await manifest('2026-01'))
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringMatching(`^${code} is complete and not published: 80 tiles in [\\d.]+ s\\.\n$`),
    ])
    expect(refused.stderr.replace(/^loading: .*\n/gm, '')).toBe(
      `error: ${RANGE}${code} is not published: \`agro releases publish ${code} --allow range\` publishes it all the same, \`agro releases delete ${code}\` deletes it.\n`,
    )
    expect(await listed()).toEqual({ '2026-01-v1': 'not published' })
  })

  test('is found again when that is published, unless it is allowed', async () => {
    const code = codeOf('2026-01-v1')
    const sentence = RANGE.replace('good.tif band 1', 'Normal')
    expect(await agro('releases', 'publish', code)).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${sentence}${code} is not published: mend it, or publish it with --allow range.\n`,
    })
    expect(await listed()).toEqual({ '2026-01-v1': 'not published' })
    expect(await agro('releases', 'publish', code, '--allow', 'range')).toEqual({
      code: 0,
      stdout: `${code} is published.\n`,
      stderr: `allowed: ${sentence}`,
    })
    const { stdout } = await agro('audit', '--kind', 'release_published', '--json')
    expect(JSON.parse(stdout)).toMatchObject({ detail: { release: code, allowed: ['range'] } })
  })

  test('is shown with the release', async () => {
    const code = codeOf('2026-01-v1')
    const { stdout } = await agro('releases', 'show', code)
    const [smallest, largest] = [Math.min(...VALUES), Math.max(...VALUES)]
    expect(stdout.split('\n')).toEqual([
      `${code}: published`,
      'source: A test',
      'licence: CC0-1.0',
      expect.stringMatching(
        /^loaded: \d{4}-\d\d-\d\d \d\d:\d\d UTC; its rasters take \d+(\.\d)? kB in the database$/,
      ),
      expect.stringMatching(/^published: \d{4}-\d\d-\d\d \d\d:\d\d UTC$/),
      'valid until: 2027-01-31',
      'LAYER   UNIT   VALID     MINIMUM   MAXIMUM   MEAN',
      expect.stringMatching(`^Normal  kg/ha  100\\.00 %  ${smallest}  ${largest}  \\d+(\\.\\d)?$`),
      `allowed: ${RANGE.replace('good.tif band 1', 'Normal')}`.trimEnd(),
      expect.stringMatching(/^WHEN \(UTC\) +WHAT +BY$/),
      expect.stringMatching(`^[\\d-]{10} \\d\\d:\\d\\d +published; allowed: range +${userInfo().username}$`),
      '',
    ])
    const shown = JSON.parse((await agro('releases', 'show', code, '--json')).stdout)
    const findings = [{ check: 'range', allowed: true }]
    expect(shown).toMatchObject({ code, state: 'published', layers: [{ scenario: 'Normal' }], findings })
    expect(await agro('releases', 'show', 'none')).toMatchObject({
      code: 1,
      stderr: 'There is no release none; `agro releases list` shows them.\n',
    })
  })

  test('is allowed for ever where the manifest or the load has allowed it', async () => {
    const path = await manifest('2026-01', { allow: ['range'], source: 'Another' })
    const loaded = await agro('ingest', path, '--no-publish')
    expect([loaded.code, loaded.stderr.replace(/^loading: .*\n/gm, '')]).toEqual([0, `allowed: ${RANGE}`])
    const published = await agro('releases', 'publish', codeOf('2026-01-v2'))
    expect(published).toMatchObject({ code: 0, stderr: expect.stringMatching(/^allowed: Normal has values/) })
    expect(await agro('releases', 'rollback', codeOf('2026-01-v2'))).toMatchObject({ code: 0 })
    expect(await listed()).toEqual({ '2026-01-v1': 'published', '2026-01-v2': 'not published' })
  })

  test('of the month is looked at when a release is published, and not when one returns', async () => {
    for (const source of ['One', 'Two']) {
      const path = await manifest('2026-02', { source }, 1)
      expect(await agro('ingest', path)).toMatchObject({ code: 0, stderr: 'loading: 100 %\n' })
    }
    expect(await agro('ingest', await manifest('2026-03', {}, 1), '--no-publish')).toMatchObject({ code: 0 })
    expect(await agro('ingest', await manifest('2026-04', {}, 1))).toMatchObject({ code: 0 })
    expect(await agro('releases', 'publish', codeOf('2026-03-v1'), '--json')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"newestPublished":"2026-04"'),
      stderr: expect.stringMatching(/^error: The month 2026-03 is older than 2026-04, which is published: /),
    })
    expect(await agro('releases', 'rollback', codeOf('2026-02-v2'))).toEqual({
      code: 0,
      stdout: `${codeOf('2026-02-v1')} is published again in the place of ${codeOf('2026-02-v2')}.\n`,
      stderr: '',
    })
  })

  test('that is only noted is an error with --strict, of a load and of a publication', async () => {
    const note = `${folder}/good.tif says EPSG:4326, but the manifest's srid 4258 is used. (reading)\n`
    const text = manifestText([{ file: 'good.tif', srid: 4258 }], { forecast_period: '2026-05' })
    const path = await writeManifest(folder, text)
    const ofDryRun = async (...options: string[]) => {
      const { code, stderr } = await agro('ingest', path, '--dry-run', ...options)
      return [code, stderr.replaceAll(/^reading: .*\n/gm, '')]
    }
    expect(await ofDryRun()).toEqual([0, `note: ${note}`])
    expect(await ofDryRun('--strict', '--allow', 'extent, reading')).toEqual([0, `allowed: ${note}`])
    expect(await agro('ingest', path, '--strict')).toEqual({
      code: 1,
      stdout: '',
      stderr: `error: ${note}Nothing is loaded. Mend it, or have it with --allow reading.\n`,
    })
    expect(await agro('ingest', path, '--no-publish')).toMatchObject({ code: 0 })
    await expectStrict(codeOf('2026-05-v1'), note, 'reading')
    const published = await agro(
      'releases',
      'publish',
      codeOf('2026-05-v1'),
      '--strict',
      '--allow',
      'reading',
    )
    expect([published.code, published.stderr]).toEqual([0, `allowed: ${note}`])
  })

  test('is that nobody knows where values are, while a release has no summaries', async () => {
    const code = codeOf('2026-06-v1')
    expect(await agro('ingest', await manifest('2026-06', {}, 1), '--no-publish')).toMatchObject({ code: 0 })
    const cluster = await openCluster(testDatabase.config)
    await cluster.connect().writer.updateTable('coverage').set({ summarised: false }).execute()
    await cluster.close()
    const note =
      'Where values of Normal are is not known: it has no summaries, which `agro migrate` makes, or none of the places that are looked at is in Ethiopia. (extent)\n'
    await expectStrict(code, note, 'extent')
    expect(await agro('releases', 'publish', code)).toEqual({
      code: 0,
      stdout: `${code} is published.\n`,
      stderr: `note: ${note}`,
    })
  })

  test('cannot be allowed by names that no check has', async () => {
    const { code, stderr } = await agro('ingest', 'none.yaml', '--allow', 'range,months')
    expect([code, stderr.split('\n')[0]]).toEqual([
      2,
      "error: option '--allow <checks>' argument 'range,months' is invalid. There is no check months; there are empty, extent, month, names, not-honoured, range, reading, scenarios-alike, undeclared-nodata.",
    ])
    const path = await manifest('2026-05', { allow: ['months'] })
    const listed = stderr.split('there are ')[1]?.split('.')[0]
    expect((await agro('ingest', path)).stderr).toContain(`allow[0] must be one of ${listed}`)
  })
})
