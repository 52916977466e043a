import { readFile } from 'node:fs/promises'
import type { FeatureCollection, MultiPolygon, Polygon } from 'geojson'
import { sql } from 'kysely'
import pointInPolygon from 'point-in-polygon-hao'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/database.ts'
import { loadSharedBoundaries, SHARED_FILES, sharedFile } from '#test/setup/boundaries.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { hasSharedBoundaries } from '#test/setup/shared-data.ts'

const POINTS = 10_000

describe.skipIf(!hasSharedBoundaries)('real boundaries', () => {
  const opened = openDatabase('empty')
  beforeAll(() => loadSharedBoundaries(opened.database))

  test.each(['eth', 'rwa', 'gha'])(
    '10,000 random points in and around %s are in the areas that another library finds',
    async (country) => {
      const points = await randomPoints(opened.database, country)
      const found = await areasAt(opened.database, country, points)
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
})

interface TestFeature {
  code: string
  contains(point: [number, number]): boolean
}

async function featuresOf(country: string, level: number): Promise<TestFeature[]> {
  const text = await readFile(sharedFile(country, level), 'utf8')
  const { features } = JSON.parse(text) as FeatureCollection<Polygon | MultiPolygon>
  return features.map(({ geometry, properties }) => {
    const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
    return {
      code: String(properties?.code),
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
