import { execFile, spawnSync } from 'node:child_process'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { requireStore } from '#src/data/tiles/store.ts'
import { cogMistakes, readTiff, valuesOf } from '#test/data/tiles/tiff-reader.ts'
import { ingestManifest, kindFixture, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { call } from '#test/setup/calls.ts'
import { newFolder } from '#test/setup/folders.ts'
import { callUntilMade } from '#test/setup/made-answers.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { hasTileFiles, moveRelease } from '#test/setup/tile-files.ts'

/** 1,500 x 1,433 whole numbers, of which some are nodata. */
const SOURCE = kindFixture('strip-lzw-int16.tif')

const hasGdal = spawnSync('gdalcompare.py', ['--help']).error === undefined
if (!hasGdal) console.warn('test/extensions/downloads/geotiff.test.ts is skipped in part: it needs gdal-bin.')

let service: TestApp
let downloads: string
/** The same pixels, in files and in the database. */
let inFiles: string
let inDatabase: string

beforeAll(async () => {
  const folder = await newFolder()
  downloads = await newFolder()
  vi.stubEnv('TMPDIR', downloads)
  service = await createTestApp({
    template: 'empty',
    settings: { TILE_STORE: String(pathToFileURL(join(folder, 'tiles'))) },
    async prepare(database) {
      const load = async (forecast_period: string) => {
        const text = manifestText([{ file: SOURCE }], { forecast_period, source: 'A <test> & more' })
        return (await ingestManifest(database, await writeManifest(folder, text))).code
      }
      inFiles = await load('2026-01')
      inDatabase = await load('2026-02')
      if (hasTileFiles) await moveRelease(database, inDatabase, 'postgis')
    },
  })
})
afterAll(async () => {
  await service.close()
  vi.unstubAllEnvs()
})

test('a file is made once for all who ask for it at once, and is cloud-optimised', async () => {
  const store = requireStore(service.app.tiles, hasTileFiles ? 'files' : 'postgis')
  const read = vi.spyOn(store, 'windows')
  const answers = await Promise.all([get(inFiles), get(inFiles), get(inFiles, { range: 'bytes=8-107' })])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 206])
  const [one, other, part] = answers.map(({ bytes }) => bytes) as [Buffer, Buffer, Buffer]
  expect(other.equals(one)).toBe(true)
  expect(part.equals(one.subarray(8, 108))).toBe(true)
  expect(read).toHaveBeenCalledTimes(1)
  read.mockRestore()
  expect(cogMistakes(readTiff(one))).toEqual([])
})

test('both stores give the same pixels, in all overviews', async () => {
  const [one, other] = [(await get(inFiles)).bytes, (await get(inDatabase)).bytes]
  const [images, others] = [readTiff(one), readTiff(other)]
  expect(images.map(({ width, height }) => [width, height])).toEqual([
    [1500, 1433],
    [750, 717],
    [375, 359],
    [188, 180],
  ])
  for (const [level, image] of images.entries()) {
    const same = valuesOf(other, others[level] as (typeof others)[number])
    expect(valuesOf(one, image).equals(same)).toBe(true)
  }
})

test.runIf(hasGdal)(
  'GDAL finds no pixel that differs from the source, and the same nodata, place and CRS',
  async () => {
    for (const release of [inFiles, inDatabase]) {
      const path = join(await newFolder(), 'layer.tif')
      await writeFile(path, (await get(release)).bytes)
      // It ends with the number of differences, which also are those of texts.
      const { stdout } = await promisify(execFile)('gdalcompare.py', [SOURCE, path]).catch((error) => error)
      expect(stdout).toContain('Differences Found: ')
      const differences = stdout
        .split('\n')
        .filter((line: string) => /^\S/.test(line) && !OF_TEXTS.test(line))
      expect(differences).toEqual([])
      const info = JSON.parse((await promisify(execFile)('gdalinfo', ['-json', path])).stdout)
      expect(info.metadata['']).toMatchObject({
        RELEASE: release,
        LICENCE: 'CC0-1.0',
        SOURCE: 'A <test> & more',
        SCENARIO: 'Normal',
      })
      expect(info.bands[0]).toMatchObject({
        noDataValue: 0,
        unit: 'kg/ha',
        description: 'Normal',
        type: 'Int16',
      })
    }
  },
)

/** What it says of texts, which the source has none of, nor overviews. */
const OF_TEXTS = /metadata|overview count|^Files differ at the binary level|^Differences Found/i

testOnServer.each([
  ['maps', '/releases/CODE/layers/1/tiles/8/155/121'],
  ['geotiff', '/releases/CODE/layers/1.tif'],
])('%s, whose places others wait for, do not stand in the line of whoever asks', async (caller, path) => {
  const app = await buildApp(service.testDatabase.config, service.database)
  const next = vi.spyOn(app.slices, 'next')
  const answer = await callUntilMade(app, `GET ${path.replace('CODE', inDatabase)}`)
  await app.close()
  const clientKeys = next.mock.calls.map(([clientKey]) => clientKey)
  expect(answer.status).toBe(200)
  expect(clientKeys).toContainEqual({ network: '', caller })
  expect(clientKeys.filter(({ network }) => network !== '')).toEqual([])
})

test('ranges are answered as HTTP has them', async () => {
  const whole = await get(inFiles)
  const size = whole.bytes.length
  const { etag } = whole.headers as { etag: string }
  expect(whole.headers).toMatchObject({
    'content-type': 'image/tiff; application=geotiff; profile=cloud-optimized',
    'content-length': String(size),
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="${inFiles}-1.tif"`,
    'cache-control': 'public, max-age=60, stale-if-error=86400',
  })
  const ask = async (headers: Record<string, string>, method?: 'HEAD') => {
    const { status, headers: answered, bytes } = await get(inFiles, headers, method)
    return [status, answered['content-range'], Number(answered['content-length']), bytes.length]
  }
  const last = `bytes ${size - 5}-${size - 1}/${size}`
  expect(await ask({ range: 'bytes=-5' })).toEqual([206, last, 5, 5])
  expect(await ask({ range: 'bytes=-5', 'if-range': etag })).toEqual([206, last, 5, 5])
  for (const other of ['"another"', `W/${etag}`, 'Mon, 23 Nov 2026 12:00:00 GMT']) {
    expect(await ask({ range: 'bytes=-5', 'if-range': other })).toEqual([200, undefined, size, size])
  }
  expect(await ask({ range: 'bytes=0-1,4-5' })).toEqual([200, undefined, size, size])
  expect((await ask({ range: `bytes=${size}-` })).slice(0, 2)).toEqual([416, `bytes */${size}`])
  expect(await ask({ range: 'bytes=-5' }, 'HEAD')).toEqual([200, undefined, size, 0])
  expect((await ask({ 'if-none-match': etag }))[0]).toBe(304)
  const refused = await get(inFiles, { range: `bytes=${size}-` })
  expect(refused.body.code).toBe('RANGE_NOT_SATISFIABLE')
  expect(refused.headers).not.toHaveProperty('etag')
})

test('a service that is closed to downloads has no such path, one without a disk says that it is busy', async () => {
  const answer = async (settings: object) => {
    const app = await buildApp({ ...service.testDatabase.config, ...settings }, service.database)
    const { status, body } = await call(app, `GET /releases/${inFiles}/layers/1.tif`)
    const paths = Object.keys((await call(app, 'GET /openapi.json')).body.paths)
    await app.close()
    return [status, body.code, paths.includes('/releases/{release}/layers/{layer}.tif')]
  }
  expect(await answer({ DOWNLOAD_CACHE_MB: 0 })).toEqual([404, 'NOT_FOUND', false])
  vi.stubEnv('TMPDIR', join(downloads, 'none'))
  expect(await answer({})).toEqual([503, 'OVERLOADED', true])
  vi.stubEnv('TMPDIR', downloads)
  expect(await answer({ DOWNLOAD_CACHE_MB: 1 })).toEqual([404, 'NOT_FOUND', true])
})

test('what is not all there is not given out as if it were', async () => {
  const app = await buildApp(service.testDatabase.config, service.database)
  await service.database.writer.deleteFrom('raster_tile').where('tile_row', '=', 3).execute()
  const { status, headers } = await call(app, `GET /releases/${inDatabase}/layers/1.tif`)
  expect([status, headers['retry-after']]).toEqual([503, '1'])
  await app.close()
  const left = (await readdir(downloads)).filter((name) => /^agro-[\da-f]{18}$/.test(name))
  expect(left).toEqual([])
})

const get = (release: string, headers = {}, method: 'GET' | 'HEAD' = 'GET') =>
  callUntilMade(service.app, `${method} /releases/${release}/layers/1.tif`, { headers })
