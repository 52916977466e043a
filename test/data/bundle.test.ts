import { expect, test } from 'vitest'
import { readUsedFiles } from '#src/data/embedded/postgis.ts'

/** As it comes with the package. */
const ARCHIVE = new URL(
  '../../node_modules/@electric-sql/pglite-postgis/dist/postgis.tar.gz',
  import.meta.url,
)

test('of PostGIS, a start takes the files that it uses', async () => {
  const files = await readUsedFiles(ARCHIVE)
  expect(files.includes('lib/postgresql/postgis_raster-3.so')).toBe(true)
  expect(files.includes('lib/postgresql/postgis_topology-3.so')).toBe(false)
  expect(files.length).toBeLessThan(60e6)
})
