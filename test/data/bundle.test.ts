import { existsSync, readdirSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import { bundleFor, readBundle } from '#src/data/embedded/postgis.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { POSTGIS_ARCHIVE } from '#test/setup/postgis-archive.ts'

test('a smaller archive of PostGIS is made once, and used as long as it is as it was written', async () => {
  const archives = join(await newFolder(), 'postgis')
  expect(bundleFor(POSTGIS_ARCHIVE, archives, 0)).toBe(POSTGIS_ARCHIVE)
  const written = () => existsSync(archives) && readdirSync(archives).some((name) => name.endsWith('.tar.gz'))
  await expect.poll(written, PATIENCE).toBe(true)
  const small = bundleFor(POSTGIS_ARCHIVE, archives)
  const bytesOf = (archive: URL) => statSync(fileURLToPath(archive)).size
  expect(bytesOf(small) / bytesOf(POSTGIS_ARCHIVE)).toBeLessThan(0.8)

  // What a disk has damaged is not used again. Another one would be made some time later.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const files = await readBundle(POSTGIS_ARCHIVE, archives)
  const bytes = await readFile(small)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1
  await writeFile(small, bytes)
  expect(bundleFor(POSTGIS_ARCHIVE, archives)).toBe(POSTGIS_ARCHIVE)

  // The files are the same ones.
  const filesOfWhole = await readBundle(POSTGIS_ARCHIVE, archives)
  expect(filesOfWhole.equals(files)).toBe(true)
  expect(filesOfWhole.includes('lib/postgresql/postgis_raster-3.so')).toBe(true)
  expect(filesOfWhole.includes('lib/postgresql/postgis_topology-3.so')).toBe(false)
})
