import { readFile } from 'node:fs/promises'
import type { FeatureCollection, MultiPolygon, Polygon } from 'geojson'
import { sql } from 'kysely'
import pointInPolygon from 'point-in-polygon-hao'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { loadFile, loadSharedBoundaries, SHARED_FILES, sharedFile } from '#test/setup/boundaries.ts'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'
import { hasSharedBoundaries } from '#test/setup/shared-data.ts'

const POINTS = 10_000

describe.skipIf(!hasSharedBoundaries)('real boundaries', () => {
  let opened: OpenTestDatabase
  let database: Database

  beforeAll(async () => {
    opened = await openTestDatabase('empty')
    database = opened.database
    await loadSharedBoundaries(database)
  })
  afterAll(() => opened.close())

  test.each(SHARED_FILES)(
    '%s level %i has %i areas, and each has its parent',
    async (country, level, count) => {
      const areas = await database.writer
        .selectFrom('admin_area as area')
        .leftJoin('admin_area as parent', 'parent.id', 'area.parent_id')
        .select(['area.code', 'parent.code as parent', 'parent.level as parentLevel'])
        .where('area.country_code', '=', country)
        .where('area.level', '=', level)
        .execute()
      const features = await featuresOf(country, level)
      expect(areas).toHaveLength(count)
      expect(new Map(areas.map(({ code, parent }) => [code, parent]))).toEqual(
        new Map(features.map(({ code, parentCode }) => [code, parentCode])),
      )
      expect(areas.every(({ parentLevel }) => parentLevel === (level === 0 ? null : level - 1))).toBe(true)
    },
  )

  test.each(['eth', 'rwa', 'gha'])(
    '10,000 random points in and around %s are in the areas that another library finds',
    async (country) => {
      const points = await randomPoints(database, country)
      const found = await areasAt(database, country, points)
      const expected = points.map((): string[] => [])
      for (const [, level] of SHARED_FILES.filter(([code]) => code === country)) {
        for (const { code, contains } of await featuresOf(country, level)) {
          points.forEach((point, index) => {
            if (contains(point)) expected[index]?.push(`${level} ${code}`)
          })
        }
      }
      expect(found).toEqual(expected.map((areas) => areas.sort()))
    },
  )

  test('a point on a lake of Rwanda has a district but no sector', async () => {
    // Lake Kivu, off Karongi.
    const [areas] = await areasAt(database, 'rwa', [[29.2, -2.05]])
    expect(areas?.map((area) => area[0])).toEqual(['0', '1', '2'])
  })

  test('the same file again changes nothing', async () => {
    const before = await snapshot(database)
    expect(await loadFile(database, sharedFile('rwa', 3), 'rwa', 3)).toBeUndefined()
    expect(await snapshot(database)).toEqual(before)
  })

  test('a file of another level, or of another country, is refused and changes nothing', async () => {
    const before = await snapshot(database)
    await expect(loadFile(database, sharedFile('rwa', 2), 'rwa', 3)).rejects.toThrow(
      'rwa_adm2.geojson holds areas of level 2, not of level 3.',
    )
    await expect(loadFile(database, sharedFile('rwa', 1), 'eth', 1)).rejects.toThrow(
      'feature 1 of rwa_adm1.geojson is of Rwanda (RWA), not of Ethiopia.',
    )
    expect(await snapshot(database)).toEqual(before)
  })

  test('replacing provinces leaves districts with the provinces of the same code', async () => {
    const before = await parentsOf(database, 'rwa', 2)
    const report = await loadFile(database, sharedFile('rwa', 1), 'rwa', 1, { source: 'Another edition' })
    expect(report).toMatchObject({ added: 0, updated: 5, removed: 0, relinked: [] })
    expect(await parentsOf(database, 'rwa', 2)).toEqual(before)
  })

  test('districts whose province has another code now are linked to the province they lie in', async () => {
    const report = await loadFile(database, sharedFile('rwa', 1), 'rwa', 1, {
      properties: { code: 'name' },
      dryRun: true,
    })
    expect(report).toMatchObject({ added: 5, updated: 0, removed: 5 })
    expect(report?.relinked).toHaveLength(30)
    expect(report?.relinked[0]).toEqual({ area: '11', reason: 'it is in Kigali City now' })
    expect(await parentsOf(database, 'rwa', 1)).toEqual(Array(5).fill('RWA'))
  })
})

interface TestFeature {
  code: string
  parentCode: string | null
  contains(point: [number, number]): boolean
}

async function featuresOf(country: string, level: number): Promise<TestFeature[]> {
  const text = await readFile(sharedFile(country, level), 'utf8')
  const { features } = JSON.parse(text) as FeatureCollection<Polygon | MultiPolygon>
  return features.map(({ geometry, properties }) => {
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
    return {
      code: String(properties?.code),
      parentCode: properties?.parent_code ?? null,
      contains: (point) => polygons.some((rings) => pointInPolygon(point, rings as number[][][]) !== false),
    }
  })
}

/** The same points every time, in the extent of a country. */
async function randomPoints(database: Database, country: string): Promise<[number, number][]> {
  const { west, south, east, north } = await database.writer
    .selectFrom('admin_area')
    .select(['west', 'south', 'east', 'north'])
    .where('country_code', '=', country)
    .where('level', '=', 0)
    .executeTakeFirstOrThrow()
  let state = 20_260_701
  const random = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  return Array.from({ length: POINTS }, () => [
    west + random() * (east - west),
    south + random() * (north - south),
  ])
}

/** The areas of a country at points, as sorted texts of level and code. */
async function areasAt(
  { writer }: Database,
  country: string,
  points: [number, number][],
): Promise<string[][]> {
  const { rows } = await sql<{ areas: string[] }>`
    select coalesce(array_agg(level || ' ' || code order by level, code collate "C")
      filter (where country_code = ${country}), '{}') as areas
    from unnest(${points.map(([x]) => x)}::float8[], ${points.map(([, y]) => y)}::float8[])
      with ordinality as point (x, y, number)
    left join lateral admin_areas_at(x, y) on true
    group by number
    order by number`.execute(writer)
  return rows.map(({ areas }) => areas)
}

async function snapshot({ writer }: Database): Promise<unknown> {
  const { rows } = await sql`
    select
      (select md5(string_agg(a::text, ',' order by a.id)) from admin_area as a) as areas,
      (select md5(string_agg(s::text, ',' order by s::text)) from boundary_set as s) as sets,
      (select count(*) from admin_area_piece) as pieces`.execute(writer)
  return rows
}

async function parentsOf({ writer }: Database, country: string, level: number): Promise<(string | null)[]> {
  const rows = await writer
    .selectFrom('admin_area as area')
    .leftJoin('admin_area as parent', 'parent.id', 'area.parent_id')
    .select('parent.code as parent')
    .where('area.country_code', '=', country)
    .where('area.level', '=', level)
    .orderBy('area.code')
    .execute()
  return rows.map(({ parent }) => parent)
}
