import { readFileSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCluster } from '#src/data/client.ts'
import { fixture, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { runAgro, runAgroProcess } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'

let testDatabase: TestDatabase
let folder: string
beforeAll(async () => {
  folder = await newFolder()
  testDatabase = await createTestDatabase('empty')
})
afterAll(() => testDatabase.drop())

const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

/** The releases that `agro releases list` shows, and their states. */
async function listed(): Promise<Record<string, string>> {
  const { stdout } = await agro('releases', 'list')
  const lines = stdout.trim().split('\n').slice(1)
  return Object.fromEntries(lines.map((line) => line.split(/ {2,}/).slice(0, 2) as [string, string]))
}

/** Valid share, minimum, maximum and mean by GDAL, scaled, as a report writes them. */
function gdalStatistics(file: string, scale = 1, offset = 0): string[] {
  const lines = readFileSync(fixture('statistics.csv'), 'utf8').split('\n')
  const [, , ...numbers] = lines.find((line) => line.startsWith(`${file},1,`))?.split(',') ?? []
  const valid = Number(numbers.pop()).toFixed(2)
  const scaled = numbers.map((number) => Number((Number(number) * scale + offset).toPrecision(7)))
  return [`${valid} %`, ...scaled.map(String)]
}

/** How many rows each table of releases has. */
async function rows(): Promise<Record<string, number>> {
  const cluster = await openCluster(testDatabase.config)
  const database = cluster.connectForMaintenance()
  const counts: Record<string, number> = {}
  for (const table of ['release', 'publication', 'coverage', 'layer', 'raster_tile'] as const) {
    const { rows: found } = await database.pool.query(`select count(*) as count from ${table}`)
    counts[table] = found[0].count
  }
  await database.close()
  await cluster.close()
  return counts
}

/** Manifests and rasters as an operator would lay them out. They cover little of their country. */
async function manifest(name: string, layers: Parameters<typeof manifestText>[0], settings = {}) {
  return writeManifest(folder, manifestText(layers, { allow: ['extent'], ...settings }), name)
}

/** What is said of such a raster, of the extent of the test rasters or another one. */
function small(origin: string, extent = '38.12, 9.28, 38.33, 9.46'): string {
  return `allowed: The grid of ${origin} (${extent}) covers 0.02 % of the extent of Ethiopia (32.9, 3.3, 48.1, 15), less than a tenth. (extent)\n`
}

describe.sequential('agro, from an empty database on', () => {
  test('migrate says that there is nothing to do, and releases list that there are none', async () => {
    expect(await runAgroProcess(testDatabase, 'migrate')).toEqual({
      code: 0,
      stdout: 'The schema is up to date.\n',
      stderr: '',
    })
    expect(await agro('releases', 'list')).toEqual({
      code: 0,
      stdout: 'There are no releases.\n',
      stderr: '',
    })
  })

  test('ingest finds files beside the manifest, publishes, and shows plain lines', async () => {
    await mkdir(join(folder, 'rasters'))
    await copyFile(fixture('bands-nodata.tif'), join(folder, 'rasters/season.tif'))
    const path = await manifest('season.yaml', [
      { file: 'rasters/season.tif', band: 1, scenario: 'Normal' },
      { file: './rasters/season.tif', band: 2, scenario: 'Dominant' },
    ])
    const { code, stdout, stderr } = await agro('ingest', path)
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: `${small('season.tif band 1 and 1 more')}loading: 100 %\n`,
    })
    expect(stdout).toMatch(/^yield-eth-wheat-2025-01-v1 is published: 4 tiles in \d+\.\d s\.\n$/)
    expect(await listed()).toEqual({ 'yield-eth-wheat-2025-01-v1': 'published, stale' })
  })

  test('ingest of the same data does nothing, unless it is told to', async () => {
    const path = join(folder, 'season.yaml')
    expect(await agro('ingest', path)).toEqual({
      code: 0,
      stdout:
        'The same data are published as yield-eth-wheat-2025-01-v1: nothing to do (--force loads them again).\n',
      stderr: '',
    })
    const { stdout } = await agro('ingest', '--force', '--no-publish', path)
    expect(stdout).toMatch(/^yield-eth-wheat-2025-01-v2 is complete and not published: 4 tiles in/)
    expect(await listed()).toEqual({
      'yield-eth-wheat-2025-01-v1': 'published, stale',
      'yield-eth-wheat-2025-01-v2': 'not published, stale',
    })
  })

  test('ingest puts no synthetic values in the place of real ones, unless it is told to', async () => {
    const layers = [{ file: 'rasters/season.tif' }]
    const path = await manifest('synthetic.yaml', layers, { synthetic: true })
    expect(await agro('ingest', path)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'yield-eth-wheat-2025-01-v1 is published, and these values are synthetic: --no-publish loads them beside it, --force puts them in its place.\n',
    })
  })

  test('ingest --dry-run reports grid, statistics and differences, and writes nothing', async () => {
    const before = await rows()
    const path = await manifest('other.yaml', [
      { file: fixture('crs-32637.tif'), scenario: 'Normal' },
      { file: fixture('zeros.tif'), scenario: 'Below Normal', scale: 10, offset: 1 },
    ])
    const { code, stdout, stderr } = await agro('ingest', '--dry-run', path)
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'reading: 50 %\nreading: 100 %\n' +
        small('crs-32637.tif band 1', '38.09, 8.88, 38.28, 9.05') +
        small('zeros.tif band 1'),
    })
    const utm = gdalStatistics('crs-32637.tif')
    const zeros = gdalStatistics('zeros.tif', 10, 1)
    expect(stdout.split('\n')).toEqual([
      'grid: 21 x 18 pixels of 1000 x 1000 CRS units, EPSG:32637',
      'extent: 38.09012, 8.88264, 38.28150, 9.04586 (west, south, east, north)',
      'LAYER   UNIT   TYPE  VALID     MINIMUM   MAXIMUM   MEAN      FROM',
      `Normal  kg/ha  32BF  ${utm.join('  ')}  crs-32637.tif band 1`,
      '',
      'grid: 21 x 18 pixels of 0.01 x 0.01 degrees, EPSG:4326',
      'extent: 38.12300, 9.27600, 38.33300, 9.45600 (west, south, east, north)',
      'LAYER         UNIT   TYPE  VALID    MINIMUM  MAXIMUM   MEAN     FROM',
      `Below Normal  kg/ha  32BF  ${zeros[0]}  ${zeros[1]}        ${zeros.slice(2).join('  ')}  zeros.tif band 1`,
      '',
      'Against yield-eth-wheat-2025-01-v1, which is published now:',
      'LAYER         CHANGE',
      'Normal        minimum 250.6421 -> 250.4992 (-0.1 %); maximum 1176.925 -> 1173.497 (-0.3 %); ' +
        'mean 770.844 -> 774.9537 (+0.5 %); valid pixels 282 -> 378 (+34.0 %)',
      'Below Normal  is new',
      'Dominant      would be gone',
      'Nothing was written.',
      '',
    ])
    expect(await rows()).toEqual(before)
  })

  test('releases publish, rollback and delete move what answers', async () => {
    const [first, second] = ['yield-eth-wheat-2025-01-v1', 'yield-eth-wheat-2025-01-v2']
    expect(await agro('releases', 'publish', second)).toEqual({
      code: 0,
      stdout: `${second} is published in the place of ${first}.\n`,
      stderr: small('Normal and 1 more'),
    })
    expect(await agro('releases', 'rollback', second)).toEqual({
      code: 0,
      stdout: `${first} is published again in the place of ${second}.\n`,
      stderr: small('Normal and 1 more'),
    })
    expect(await agro('releases', 'delete', first, '--yes')).toEqual({
      code: 1,
      stdout: '',
      stderr: `${first} is published: roll it back or publish another first, or use --force.\n`,
    })
    expect(await agro('releases', 'delete', second, '--yes')).toEqual({
      code: 0,
      stdout: `${second} is deleted.\n`,
      stderr: '',
    })
    expect(await listed()).toEqual({ [first]: 'published, stale' })
  })

  test('what is wrong is one sentence, and the exit code is 1', async () => {
    const wrong = await manifest('wrong.yaml', [{ file: 'rasters/none.tif' }])
    expect(await agro('ingest', wrong)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${join(folder, 'rasters/none.tif')} does not exist.\n`,
    })
    await writeFile(wrong, 'product: yield\n')
    const { code, stdout, stderr } = await agro('ingest', wrong)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr.split('\n')[0]).toBe(`${wrong}:1: country_code is missing`)
    expect(await agro('ingest', '--dry-run', join(folder, 'none.yaml'))).toEqual({
      code: 1,
      stdout: '',
      stderr: `${join(folder, 'none.yaml')} does not exist.\n`,
    })
  })
})
