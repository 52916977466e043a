import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openService } from '#test/setup/open-service.ts'
import { fixture } from './fixtures.ts'
import { differencesAt, ingestKinds, isNear, type Kind } from './kinds.ts'

/** Of GDAL; test/fixtures/make-rasters.py says how it was asked. */
function linesOf(file: string): string[][] {
  const [, ...lines] = readFileSync(fixture(file), 'utf8').trim().split('\n')
  return lines.map((line) => line.split(','))
}

const UNNAMED = 'names no CRS, but its parameters are those of WGS 84: it is read as EPSG:4326.'
const TOO_SMALL = 'declares nodata -9999, which its 8BUI pixels cannot hold: all count.'
const NOTES: Record<string, string> = {
  'crs-unnamed-wgs84.tif': UNNAMED,
  'crs-unnamed-wgs84-no-type.tif': UNNAMED,
  'nodata-too-small-uint8.tif': TOO_SMALL,
  'sparse-nodata-too-small.tif': TOO_SMALL,
}

const ANSWERS = linesOf('expected.csv')

/** The bands of each file are layers; each point is of one band. */
const RASTERS = [...new Set(ANSWERS.map(([file]) => file as string))].map((name): Kind => {
  const answers = ANSWERS.filter(([file]) => file === name)
  const bands = Math.max(...answers.map(([, band]) => Number(band)))
  return {
    name,
    layers: Array.from({ length: bands }, (_, index) => ({ file: fixture(name), band: index + 1 })),
    notes: NOTES[name] ? [`${fixture(name)} ${NOTES[name]}`] : [],
    points: answers.map(([, band, lng, lat, value]) => {
      const values: (number | null | undefined)[] = Array(bands).fill(undefined)
      values[Number(band) - 1] = Number.isNaN(Number(value)) ? null : Number(value)
      return [Number(lng), Number(lat), ...values]
    }),
  }
})

let outcomes: Awaited<ReturnType<typeof ingestKinds>>
const service = openService({
  template: 'empty',
  prepare: async (database) => {
    outcomes = await ingestKinds(database, RASTERS)
  },
})

test('every raster that was made is loaded', () => {
  const made = readdirSync(fixture('')).filter((name) => name.endsWith('.tif'))
  expect(made.sort()).toEqual(RASTERS.map(({ name }) => name).sort())
})

test.each(RASTERS.map((raster, index) => ({ name: raster.name, raster, index })))(
  '$name has the values that GDAL reads, none where GDAL reads none, and notes of what was guessed',
  async ({ raster, index }) => {
    expect(outcomes[index]).toMatchObject({ published: true, notes: raster.notes })
    expect(raster.points.length).toBeGreaterThanOrEqual(6)
    expect(await differencesAt(service.app, index, raster)).toEqual([])
  },
)

test('statistics of the layers are those of GDAL', async () => {
  const layers = await service.database.writer
    .selectFrom('layer')
    .innerJoin('coverage', 'coverage.id', 'layer.coverage_id')
    .innerJoin('release', 'release.id', 'layer.release_id')
    .select(['code', 'input', 'minimum', 'maximum', 'mean', 'valid_count', 'width', 'height'])
    .execute()
  const statistics = linesOf('statistics.csv')
  expect(statistics.length).toBeGreaterThan(RASTERS.length)
  for (const [file, band, ...numbers] of statistics) {
    const { code } = outcomes[RASTERS.findIndex(({ name }) => name === file)] ?? {}
    const layer = layers.find((other) => other.code === code && other.input === `layer ${Number(band) - 1}`)
    const { minimum, maximum, mean, valid_count = 0, width = 0, height = 0 } = layer ?? {}
    const percent = Number(((100 * valid_count) / (width * height)).toFixed(2))
    const found = [minimum, maximum, mean, percent].map(Number)
    const near = found.map((number, index) => isNear(number, Number(numbers[index])))
    expect({ file, band, found, near }).toEqual({ file, band, found, near: [true, true, true, true] })
  }
})
