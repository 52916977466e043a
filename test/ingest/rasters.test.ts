import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { fixture, ingestManifest, manifestText, writeManifest } from './fixtures.ts'

/** GDAL's answers; test/fixtures/make-rasters.py says how they were asked for. */
interface Answer {
  file: string
  band: number
  lng: number
  lat: number
  expected: string
}

const ANSWERS = linesOf('expected.csv').map((fields): Answer => {
  const [file, band, lng, lat, expected] = fields as [string, string, string, string, string]
  return { file, band: Number(band), lng: Number(lng), lat: Number(lat), expected }
})

function linesOf(file: string): string[][] {
  const [, ...lines] = readFileSync(fixture(file), 'utf8').trim().split('\n')
  return lines.map((line) => line.split(','))
}

const FILES = [...new Set(ANSWERS.map(({ file }) => file))]
const notes = new Map<string, string[]>()
const failures = new Map<string, unknown>()

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty', prepare: ingestAll })
})
afterAll(() => service.close())

/** Each file is a release of a month of its own: its bands are the layers. */
function monthOf(file: string): string {
  const months = FILES.indexOf(file)
  return `${2000 + Math.floor(months / 12)}-${String((months % 12) + 1).padStart(2, '0')}`
}

async function ingestAll(database: Database): Promise<void> {
  const folder = await newFolder()
  for (const file of FILES) {
    const bands = Math.max(...ANSWERS.filter((answer) => answer.file === file).map(({ band }) => band))
    const layers = Array.from({ length: bands }, (_, index) => ({
      file: fixture(file),
      band: index + 1,
      input: `band ${index + 1}`,
      decimals: 10,
    }))
    const settings = { product: 'fertilizer', forecast_period: monthOf(file) }
    const manifest = await writeManifest(folder, manifestText(layers, settings))
    // One file that cannot be read must not hide the others.
    await ingestManifest(database, manifest).then(
      (loaded) => notes.set(file, loaded.notes),
      (error) => failures.set(file, error),
    )
  }
}

/** What the service answers for a band at a point: its value, or the code of the error. */
async function ask({ file, band, lng, lat }: Answer): Promise<number | string> {
  const response = await service.app.inject({
    method: 'POST',
    url: '/advisory/fertilizer/point',
    payload: { lng, lat, forecast_period: monthOf(file) },
  })
  const body = response.json()
  if (response.statusCode !== 200) return `${response.statusCode} ${body.code}`
  const entry = body.fertilizer_data.find(
    ({ fertilizer_type }: { fertilizer_type: string }) => fertilizer_type === `band ${band}`,
  )
  return entry ? entry.rate_kg_ha : 'left out'
}

/** Half of the last of ten decimals is lost to rounding; a double's own error is far below 1e-9. */
function isNear(answer: number | string, expected: number): boolean {
  return typeof answer === 'number' && Math.abs(answer - expected) <= 0.5001e-10 + 1e-9 * Math.abs(expected)
}

test('every raster that was made is loaded', () => {
  const made = readdirSync(fixture('')).filter((name) => name.endsWith('.tif'))
  expect(made.toSorted()).toEqual(FILES.toSorted())
})

describe.each(FILES)('%s', (file) => {
  test('has the values that GDAL reads, and none where GDAL reads none', async () => {
    expect(failures.get(file)).toBeUndefined()
    const asked = ANSWERS.filter((answer) => answer.file === file)
    const valuesThere = new Set(
      asked.filter(({ expected }) => !Number.isNaN(Number(expected))).map(({ lng, lat }) => `${lng} ${lat}`),
    )
    const differences: unknown[] = []
    for (const answer of asked) {
      const found = await ask(answer)
      const expected = Number(answer.expected)
      const right = Number.isNaN(expected)
        ? // A band without a value is left out of what the others answer.
          found === (valuesThere.has(`${answer.lng} ${answer.lat}`) ? 'left out' : '404 NO_DATA')
        : isNear(found, expected)
      if (!right) differences.push({ ...answer, found })
    }
    expect(differences).toEqual([])
    expect(asked.length).toBeGreaterThanOrEqual(6)
  })
})

interface BandStatistics {
  file: string
  band: number
  numbers: [minimum: number, maximum: number, mean: number, validPercent: number]
}

const STATISTICS = linesOf('statistics.csv').map(
  ([file, band, ...numbers]): BandStatistics => ({
    file: file as string,
    band: Number(band),
    numbers: numbers.map(Number) as BandStatistics['numbers'],
  }),
)

describe('statistics of the layers', () => {
  test('are those of GDAL', async () => {
    const layers = await service.database.writer
      .selectFrom('layer')
      .innerJoin('coverage', 'coverage.id', 'layer.coverage_id')
      .innerJoin('release', 'release.id', 'layer.release_id')
      .selectAll(['layer', 'coverage'])
      .select('forecast_period')
      .execute()
    for (const { file, band, numbers } of STATISTICS) {
      const layer = layers.find(
        ({ forecast_period, input }) => forecast_period === `${monthOf(file)}-01` && input === `band ${band}`,
      )
      if (!layer) throw new Error(`${file} band ${band} has not been loaded`)
      const { minimum, maximum, mean, valid_count, width, height } = layer
      const percent = Number(((100 * valid_count) / (width * height)).toFixed(2))
      const found = [minimum, maximum, mean, percent].map(Number)
      const near = found.map((number, index) => isNear(number, numbers[index] as number))
      expect({ file, band, found, near }).toEqual({ file, band, found, near: [true, true, true, true] })
    }
    expect(STATISTICS.length).toBeGreaterThan(FILES.length)
  })
})

describe('the operator is told', () => {
  test.each(['crs-unnamed-wgs84.tif', 'crs-unnamed-wgs84-no-type.tif'])(
    'that %s was taken for WGS 84 by its parameters',
    (file) => {
      expect(notes.get(file)).toEqual([
        `${fixture(file)} names no CRS, but its parameters are those of WGS 84: it is read as EPSG:4326.`,
      ])
    },
  )

  test.each(['nodata-too-small-uint8.tif', 'sparse-nodata-too-small.tif'])(
    'that the nodata value of %s, which its pixels cannot hold, does not count',
    (file) => {
      expect(notes.get(file)).toEqual([
        `${fixture(file)} declares nodata -9999, which its 8BUI pixels cannot hold: all count.`,
      ])
    },
  )

  test('nothing of the other files', () => {
    const files = [...notes].filter(([, found]) => found.length > 0).map(([file]) => file)
    expect(files.sort()).toEqual([
      'crs-unnamed-wgs84-no-type.tif',
      'crs-unnamed-wgs84.tif',
      'nodata-too-small-uint8.tif',
      'sparse-nodata-too-small.tif',
    ])
  })
})
