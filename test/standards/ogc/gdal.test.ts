import { execFile, spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'

// Runs on a server alone: it is about what GDAL makes of the answers.

const run = promisify(execFile)

const hasGdal = spawnSync('ogrinfo', ['--version']).status === 0

describe.runIf(hasGdal)('GDAL', () => {
  let service: TestApp
  let source: string
  beforeAll(async () => {
    service = await createTestApp()
    source = `OAPIF:${await service.app.listen({ host: '127.0.0.1', port: 0 })}/ogc`
  })
  afterAll(() => service.close())

  test('draws a layer from its XYZ tiles, as the guide describes', async () => {
    const guide = await readFile('docs/guide/gis.md', 'utf8')
    const [, described] = /```xml\n(.*?)```/s.exec(guide) as RegExpExecArray
    const [, window] = /gdal_translate (-projwin .*) map\.xml/.exec(guide) as RegExpExecArray
    const tiles = (described as string).replace('http://127.0.0.1:3000', new URL(source.slice(6)).origin)
    const file = join(await newFolder(), 'map.tif')
    await run('gdal_translate', [...(window as string).split(' '), tiles, file])
    const { stdout } = await run('gdalinfo', ['-json', '-checksum', file])
    const { bands, size, coordinateSystem } = JSON.parse(stdout)
    expect(coordinateSystem.wkt).toContain('WGS 84 / Pseudo-Mercator')
    // Pixels of 2,446 metres: those of zoom 6, which is the last one.
    expect(size).toEqual([expect.closeTo(683, -0.5), expect.closeTo(531, -0.5)])
    expect(bands.every(({ checksum }: { checksum: number }) => checksum > 0)).toBe(true)
  })

  const ogrinfo = async (...parameters: string[]) => (await run('ogrinfo', ['-ro', ...parameters])).stdout

  test('lists the collections', async () => {
    const listed = await ogrinfo(source)
    expect(listed).toContain('areas-rwa-1 (title: Areas of level 1 of Rwanda)')
    expect(listed).toContain('advisory-synthetic-yield-rwa-potato-2026-07-v1-1')
  })

  test('reads all pages of features, with their fields', async () => {
    const read = await ogrinfo('-al', '-so', '-oo', 'PAGE_SIZE=2', source, 'areas-rwa-1')
    expect(read).toContain('Feature Count: 5')
    expect(read).toContain('Geometry: Multi Polygon')
    for (const field of ['code: String', 'level: Integer', 'country: String', 'parent: String']) {
      expect(read).toContain(field)
    }
    const all = await ogrinfo('-al', '-q', '-geom=NO', '-oo', 'PAGE_SIZE=2', source, 'areas-rwa-1')
    expect(all.match(/^ {2}code \(String\) = /gm)).toHaveLength(5)
  })

  test('reads what a release comes to in areas, in a rectangle', async () => {
    const layer = 'advisory-synthetic-yield-rwa-potato-2026-07-v1-1'
    const read = await ogrinfo('-al', '-q', '-geom=NO', '-spat', '29.9', '-2', '30', '-1.9', source, layer)
    expect(read).toMatch(/yield_kg_ha Normal \((Integer|Real)\) = \d+/)
  })
})
