import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { readSeats, seedAreas } from '#src/ingest/demo/seed.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'

const COUNTRIES = ['eth', 'gha', 'ken', 'rwa']

const service = openService()

describe('the approximate areas of the demo', () => {
  test.each(COUNTRIES)(
    'every seat of %s has its area at each level, and nothing is left out',
    async (country) => {
      const { names } = readSeats(country)
      const { rows } = await sql<{ code: string; name: string }>`
      select code, name from admin_area where country_code = ${country} and level > 0`.execute(
        service.database.reader,
      )
      expect(new Map(rows.map(({ code, name }) => [code, name]))).toEqual(names)
    },
  )

  test.each([0, 1, 2])('the areas below those of level %i fill them', async (level) => {
    const { rows } = await sql<{ code: string; part: number }>`
      select parent.code, sum(child.area_km2) / parent.area_km2 as part
      from admin_area as parent
      join admin_area as child on child.parent_id = parent.id
      where parent.level = ${level}
      group by parent.id`.execute(service.database.reader)
    expect(rows.length).toBeGreaterThan(0)
    expect(rows.filter(({ part }) => Math.abs(part - 1) > 1e-6)).toEqual([])
  })

  test('are called approximate in the catalog, and the outlines are not', async () => {
    const { boundaries } = (await service.get('/catalog')).body
    expect(boundaries).toHaveLength(16)
    for (const { level, approximate, source, areas } of boundaries) {
      expect([approximate, /^Approximate: /.test(source), areas > 0]).toEqual([level > 0, level > 0, true])
    }
  })

  test('are not made a second time', async () => {
    const state = () => sql`select max(loaded_at) from boundary_set`.execute(service.database.reader)
    const before = await state()
    await seedAreas(service.database)
    expect((await state()).rows).toEqual(before.rows)
  })

  test('give way to real ones, as those below them do, and are not made again', async () => {
    const { database } = service
    const load = async (level: number) => {
      const path = await boundaryFile([feature({ code: 'W', name: 'W' }, rectangle(37, 8, 38, 9))])
      return loadFile(database, path, 'eth', level)
    }
    await expect(load(2)).rejects.toThrow(
      'Level 1 of Ethiopia holds nothing but approximate areas: load it first, for the areas of level 2 lie in its areas.',
    )
    expect(await load(1)).toMatchObject({ added: 1, removed: 14, approximateDeleted: [2, 3] })
    await seedAreas(database)
    const sets = database.writer.selectFrom('boundary_set').select(['level', 'approximate']).orderBy('level')
    expect(await sets.where('country_code', '=', 'eth').execute()).toEqual([
      { level: 0, approximate: false },
      { level: 1, approximate: false },
    ])
  })
})
