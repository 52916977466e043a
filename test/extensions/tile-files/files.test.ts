import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { call } from '#test/setup/calls.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openApp } from '#test/setup/open-service.ts'
import { newPerson } from '#test/setup/people.ts'
import { gridOf, layerOf, releaseOn } from '#test/setup/releases.ts'
import { rectangle } from '#test/setup/square.ts'

const WIDTH = 600

/** Two granules side by side, a pixel of 0.01 degrees each; the rate is the column. */
const GRID = gridOf(4326, [34, 9], [0.01, -0.01], [WIDTH, 16])
const SOURCE = releaseOn(
  GRID,
  [layerOf('Urea')],
  [Float32Array.from({ length: WIDTH * 16 }, (_, at) => at % WIDTH)],
)

const folder = join(await newFolder(), 'tiles')
const service = openApp({
  template: 'empty',
  settings: { TILE_STORE: String(pathToFileURL(folder)) },
  prepare: (database) => loadRelease(database, SOURCE),
})

const UNREADABLE = [503, 'DATABASE_UNAVAILABLE', 'The rasters cannot be read at present; try again later.']

test('a release is loaded into the files that TILE_STORE names, and not into the database', async () => {
  const { writer } = service.database
  expect(await writer.selectFrom('raster_tile').select('tile_row').execute()).toEqual([])
  const noted = await writer.selectFrom('granule').select(['name', 'granule_column']).execute()
  expect(noted.map(({ granule_column }) => granule_column).sort()).toEqual([0, 1])
  const paths = noted.map(({ name }) => join(folder, name.slice(0, 2), `${name}.tif`))
  expect((await granules()).sort()).toEqual(paths.sort())
  expect(await ask(3)).toBe(3)
})

test('points in memory are answered without the files, others 503, and all once these are back', async () => {
  expect(await ask(5)).toBe(5)
  await rename(folder, `${folder}-away`)
  expect(await ask(6)).toBe(6)
  expect(await ask(300)).toEqual(UNREADABLE)
  await rename(`${folder}-away`, folder)
  expect(await ask(300)).toBe(300)
})

test('a granule that is damaged or gone is an error, and never a value', async () => {
  const by = await newPerson(service.app)
  const askPolygon = async () => {
    const payload = { geometry: rectangle(39.5, 8.9, 39.6, 8.95), crop: 'wheat', country_code: 'eth' }
    const { status, body } = await service.post('/advisory/fertilizer', { by, payload })
    return [status, body.code]
  }
  const whole = new Map<string, Buffer>()
  for (const path of await granules()) {
    const bytes = await readFile(path)
    whole.set(path, bytes)
    const damaged = Buffer.from(bytes)
    damaged.writeUInt8(damaged.readUInt8(damaged.length - 20) ^ 1, damaged.length - 20)
    await writeFile(path, damaged)
  }
  expect(await ask(590)).toEqual(UNREADABLE)
  expect(await askPolygon()).toEqual([503, 'DATABASE_UNAVAILABLE'])
  for (const path of whole.keys()) await rename(path, `${path}.gone`)
  expect(await ask(590)).toEqual(UNREADABLE)
  for (const [path, bytes] of whole) await writeFile(path, bytes)
  expect(await ask(590)).toBe(590)
  expect(await askPolygon()).toEqual([200, undefined])
})

test('without the extension they are answered 503, others as ever, and readiness says nothing of files', async () => {
  const { database, testDatabase } = service
  const off = { TILE_STORE: '', EXTENSIONS: '-tile-files', RELEASE_MAX_AGE_MS: '0' }
  const config = loadConfig({ ...testDatabase.environment, ...off })
  const app = await buildApp(config, { ...database, config })
  try {
    expect(await ask(3, app)).toEqual(UNREADABLE)
    await loadRelease(
      { ...database, config },
      releaseOn(GRID, [layerOf('Urea')], [new Float32Array(WIDTH * 16).fill(7)]),
    )
    expect(await ask(3, app)).toBe(7)
    expect((await call(app, 'GET /health/ready')).body).toEqual({ status: 'ok' })
    expect([...app.metrics.readers().keys()]).not.toContain('agro_tile_files_away')
  } finally {
    await app.close()
  }
})

/** What is answered in a column: the rate, or the error. */
async function ask(column: number, app = service.app) {
  const payload = { lat: 8.995, lng: 34 + (column + 0.5) * 0.01, crop: 'wheat', country_code: 'eth' }
  const { status, body } = await call(app, 'POST /advisory/fertilizer/point', { payload })
  return status === 200 ? body.fertilizer_data[0].rate_kg_ha : [status, body.code, body.error]
}

async function granules(): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  return names.filter((name) => name.endsWith('.tif')).map((name) => join(folder, name))
}
