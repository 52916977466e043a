import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { OperatorError } from '#src/errors.ts'
import { boundaryFile, loadFile } from '#test/setup/boundaries.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { CASES, EAST, region } from './refused-boundaries.ts'

const opened = openDatabase('empty')
let before: unknown
beforeAll(async () => {
  await loadFile(opened.database, await boundaryFile([region('OLD1'), region('OLD2', EAST)]), 'eth', 1)
  before = await snapshot()
})

async function snapshot(): Promise<unknown> {
  const { rows } = await sql`
    select area.*, boundary_set.*, piece.geom
    from admin_area as area
    join boundary_set using (country_code, level)
    join admin_area_piece as piece on piece.admin_area_id = area.id`.execute(opened.database.writer)
  return rows
}

test('files are refused in one sentence each, as refusals.txt has it, and nothing changes', async () => {
  const refusals: string[] = []
  for (const [what, { content = '', file = () => boundaryFile(content), ...options }] of Object.entries(
    CASES,
  )) {
    const loading = loadFile(opened.database, await file(), 'eth', options.level ?? 1, options)
    const failure = await loading.catch((error) => error)
    expect([what, failure]).toEqual([what, expect.any(OperatorError)])
    expect(failure.message).not.toContain('\n')
    expect(await snapshot()).toEqual(before)
    refusals.push(`${what}: ${failure.message}\n`)
  }
  // Where a hole lies is said by versions of GEOS each in its way.
  const text = refusals
    .join('')
    .replaceAll(/\S+\/(?=areas\.(?:geojson|shp))/g, '')
    .replace(/(?<=shell)\[[^\]]+\]/, '')
  await expect(text).toMatchFileSnapshot('refusals.txt')
})
