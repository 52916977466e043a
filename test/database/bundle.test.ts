import { statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { bundleFor } from '#src/database/embedded/bundle.ts'
import { startInstance } from '#src/database/embedded/instance.ts'
import { queryMessage } from '#src/database/embedded/messages.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'

const WHOLE = new URL('../../node_modules/@electric-sql/pglite-postgis/dist/postgis.tar.gz', import.meta.url)

test('a smaller archive of PostGIS is made once, and has all that a new database takes', async () => {
  const folder = await newFolder()
  const archives = join(folder, 'postgis')
  expect(bundleFor(WHOLE, archives, 0)).toBe(WHOLE)
  await vi.waitFor(() => expect(bundleFor(WHOLE, archives)).not.toBe(WHOLE), PATIENCE)
  const bytesOf = (archive: URL) => statSync(fileURLToPath(archive)).size
  expect(bytesOf(bundleFor(WHOLE, archives)) / bytesOf(WHOLE)).toBeLessThan(0.8)

  const instance = startInstance(join(folder, 'postgres'), true)
  await instance.ready
  const ask = async (statement: string) =>
    Buffer.from(await instance.exchange(queryMessage(statement))).toString('latin1')
  await ask('create extension postgis')
  await ask('create extension postgis_raster')
  const raster = "st_addband(st_makeemptyraster(2, 2, 38, 9, 1), '32BF'::text, 2.5)"
  // On the equator, in the middle of the zone.
  const projected = 'st_astext(st_transform(st_setsrid(st_makepoint(39, 0), 4326), 32637), 0)'
  expect(await ask(`select st_value(${raster}, 1, 1) || ' ' || ${projected}`)).toContain(
    '2.5 POINT(500000 0)',
  )
  await instance.close()

  // What a disk has damaged is not used again.
  const small = fileURLToPath(bundleFor(WHOLE, archives))
  const bytes = await readFile(small)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1
  await writeFile(small, bytes)
  expect(bundleFor(WHOLE, archives)).toBe(WHOLE)
})
