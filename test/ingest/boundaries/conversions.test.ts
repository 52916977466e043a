// Runs on either database: GDAL, not the database, is what it tries.
import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { loadFile } from '#test/setup/boundaries.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { CASES } from './converted-boundaries.ts'

const hasGdal = spawnSync('ogr2ogr', ['--version']).error === undefined
if (!hasGdal) console.warn('test/ingest/boundaries/conversions.test.ts is skipped: it needs gdal-bin.')

const opened = openDatabase('empty')
beforeEach(() => sql`truncate admin_area, boundary_set cascade`.execute(opened.database.writer))

test.runIf(hasGdal).each(CASES)(
  'the line that the refusal of %s prints makes a file of its areas (%#)',
  async (file, source, make, { names, country = 'eth', properties = {}, known = ['', ''] }) => {
    const [folder, elsewhere] = [await newFolder(), await newFolder()]
    const run = (line: string, cwd = folder) => execFileSync('sh', ['-c', line], { cwd, stdio: 'pipe' })
    const load = (path: string) => loadFile(opened.database, path, country, 1, { properties, maxRepair: 1 })
    writeFileSync(join(folder, 'in'), source)
    run(make)
    const refusal: Error = await load(join(folder, file)).then(
      () => new Error('it is loaded'),
      (error) => error,
    )
    const printed = /`((?:sed [^`]*? \| )?ogr2ogr .*? ('[^']+\.gpkg'|\S+\.gpkg) .*?)`/
    expect(refusal.message).toMatch(printed)
    const [, line = '', made = ''] = printed.exec(refusal.message) ?? []
    run(line.replace(...known), elsewhere)
    await load(join(elsewhere, made.replaceAll("'", '')))
    const { writer } = opened.database
    const stored = writer.selectFrom('admin_area').select('name').where('country_code', '=', country)
    expect((await stored.orderBy('code').execute()).map(({ name }) => name)).toEqual(names)
  },
)
