// Runs on a server alone: what is stored of a raster is the same on both; rasters.test.ts tries each type of pixel.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { hasSharedRasters, SHARED_RASTERS } from '#test/setup/shared-data.ts'
import { kindFixture } from './fixtures.ts'
import { ALL_KINDS, differencesAt, ingestKinds, type Kind } from './kinds.ts'

/** Two of them are alike but for their values, and take as long as all others. */
const ALIKE = 'et_wheat_nps_jja_probabilistic_below_202207.tif'

/** Real rasters, each a layer, with 200 points of GDAL. */
function realKinds(): Kind[] {
  if (!hasSharedRasters) return []
  const [, ...lines] = readFileSync(join(SHARED_RASTERS, 'oracle_points.csv'), 'utf8').trim().split('\n')
  const rows = lines.map((line) => line.split(','))
  const files = new Set(rows.map(([file]) => file as string))
  files.delete(ALIKE)
  return [...files].map((file) => ({
    name: file,
    layers: [{ file: join(SHARED_RASTERS, file) }],
    notes: file.startsWith('et_wheat_yield')
      ? [
          `${join(SHARED_RASTERS, file)} names no CRS, but its parameters are those of WGS 84: it is read as EPSG:4326.`,
        ]
      : [],
    points: rows
      .filter(([name]) => name === file)
      .map(([, lat, lng, , , value]) => [
        Number(lng),
        Number(lat),
        Number.isNaN(Number(value)) ? null : Number(value),
      ]),
  }))
}

const kinds = [...ALL_KINDS, ...realKinds()]
let service: TestApp
let outcomes: Awaited<ReturnType<typeof ingestKinds>>
beforeAll(async () => {
  const prepare = async (database: TestApp['database']) => {
    outcomes = await ingestKinds(database, kinds)
  }
  service = await createTestApp({ template: 'empty', prepare })
}, 900_000)
afterAll(() => service.close())

test('every raster that was made is of a kind', () => {
  const asked = ALL_KINDS.flatMap(({ layers }) => layers.flatMap(({ file, files = [] }) => file ?? files))
  const made = readdirSync(kindFixture('')).filter((name) => /\.tif$/i.test(name))
  expect([...new Set(asked)].sort()).toEqual(made.map(kindFixture).sort())
})

test.each(kinds.map((kind, index) => ({ name: kind.name, kind, index })))(
  '$name has the values that GDAL reads in 50 points or more, none where GDAL reads none, and its notes',
  async ({ kind, index }) => {
    expect(outcomes[index]).toMatchObject({ published: true, notes: kind.notes })
    expect(kind.points.length).toBeGreaterThanOrEqual(50)
    expect(await differencesAt(service.app, index, kind)).toEqual([])
  },
)

test('the catalog says of those releases that they are lossy whose manifests do', async () => {
  const { releases } = (await service.get('/catalog')).body
  const lossy = releases.filter(({ lossy }: { lossy?: true }) => lossy)
  const expected = outcomes.filter((_, index) => kinds[index]?.lossy).map(({ code }) => code)
  expect(lossy.map(({ release }: { release: string }) => release).sort()).toEqual(expected.sort())
})
