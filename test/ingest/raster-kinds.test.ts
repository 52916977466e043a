// Runs on a server alone: what is stored of a raster is the same on both; rasters.test.ts tries each type of pixel.
import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ingestManifest, kindFixture, type LayerText, manifestText, writeManifest } from './fixtures.ts'

/** A kind of raster with GDAL's answers; test/fixtures/raster_kinds.py says how they were asked for. */
interface Kind {
  layers: LayerText[]
  /** Whether the manifest says so. */
  lossy?: boolean
  /** What the operator is told; `FOLDER` stands for where the files are. */
  notes: string[]
  /** Longitude, latitude, and the value of each layer; null where it has none. */
  points: [number, number, ...(number | null)[]][]
}

const KINDS = Object.entries(
  JSON.parse(readFileSync(kindFixture('expected.json'), 'utf8')) as Record<string, Kind>,
)
const notes = new Map<string, string[]>()
const failures = new Map<string, unknown>()

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'empty', prepare: ingestAll })
})
afterAll(() => service.close())

/** Each kind is a release of a month of its own. */
function monthOf(kind: string): string {
  const months = KINDS.findIndex(([name]) => name === kind)
  return `${2000 + Math.floor(months / 12)}-${String((months % 12) + 1).padStart(2, '0')}`
}

/** A layer with the paths of its files. */
function inFolder({ file, files, ...layer }: LayerText): LayerText {
  return { ...layer, ...(file ? { file: kindFixture(file) } : { files: files?.map(kindFixture) }) }
}

async function ingestAll(database: Database): Promise<void> {
  const folder = await newFolder()
  for (const [name, kind] of KINDS) {
    const layers = kind.layers.map((layer, index) => ({
      ...inFolder(layer),
      input: `layer ${index}`,
      decimals: 10,
    }))
    const settings = { product: 'fertilizer', forecast_period: monthOf(name), lossy: kind.lossy }
    const manifest = await writeManifest(folder, manifestText(layers, settings))
    // One kind that cannot be read must not hide the others.
    await ingestManifest(database, manifest).then(
      (loaded) => notes.set(name, loaded.notes),
      (error) => failures.set(name, error),
    )
  }
}

/** The values of the layers at a point, null where there is none. */
async function ask(kind: string, lng: number, lat: number, layers: number): Promise<(number | null)[]> {
  const response = await service.app.inject({
    method: 'POST',
    url: '/advisory/fertilizer/point',
    payload: { lng, lat, forecast_period: monthOf(kind) },
  })
  const body = response.json()
  const entries: { fertilizer_type: string; rate_kg_ha: number }[] =
    response.statusCode === 404 && body.code === 'NO_DATA' ? [] : body.fertilizer_data
  return Array.from(
    { length: layers },
    (_, index) =>
      entries.find(({ fertilizer_type }) => fertilizer_type === `layer ${index}`)?.rate_kg_ha ?? null,
  )
}

/** Half of the last of ten decimals is lost to rounding; a double's own error is far below 1e-9. */
function isNear(found: number | null, expected: number | null): boolean {
  if (found === null || expected === null) return found === expected
  return Math.abs(found - expected) <= 0.5001e-10 + 1e-9 * Math.abs(expected)
}

test('every raster that was made is of a kind', () => {
  const asked = new Set(
    KINDS.flatMap(([, { layers }]) => layers.flatMap(({ file, files = [] }) => file ?? files)),
  )
  const made = readdirSync(kindFixture('')).filter((name) => /\.tif$/i.test(name))
  expect(made.toSorted()).toEqual([...asked].toSorted())
})

describe.each(KINDS)('%s', (name, { layers, points, notes: expectedNotes }) => {
  test('has the values that GDAL reads in 50 points, and none where GDAL reads none', async () => {
    expect(failures.get(name)).toBeUndefined()
    expect(points).toHaveLength(50)
    const differences: unknown[] = []
    for (const [lng, lat, ...expected] of points) {
      const found = await ask(name, lng, lat, layers.length)
      if (!expected.every((value, index) => isNear(found[index] as number | null, value))) {
        differences.push({ lng, lat, expected, found })
      }
    }
    expect(differences).toEqual([])
  })

  test('has the operator told what is to be told, and no more', () => {
    const told = expectedNotes.map((note) => note.replaceAll('FOLDER/', kindFixture('')))
    expect(notes.get(name)).toEqual(told)
  })
})
