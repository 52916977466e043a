import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'

const WEST = rectangle(37, 8, 38, 9)
const EAST = rectangle(38, 8, 39, 9)
const ELSEWHERE = rectangle(30, -1, 31, 0)

/** An area of GAUL 2015, which has names of countries and no codes. */
const gaul = (country: string, code: number, geometry: object) =>
  feature(
    { ADM0_CODE: 1, ADM0_NAME: country, ADM1_CODE: code, ADM1_NAME: `Region ${code}`, STATUS: 'x' },
    geometry,
  )
const naturalEarth = (country: string, code: string, geometry: object) =>
  feature({ adm1_code: code, name: code, adm0_a3: country, admin: country }, geometry)

describe('a file of several countries', () => {
  let opened: OpenTestDatabase
  beforeAll(async () => {
    opened = await openTestDatabase('empty')
  })
  afterAll(() => opened.close())

  const load = async (features: object[], options = {}) =>
    loadFile(opened.database, await boundaryFile(features), 'eth', 1, options)
  const codes = async () => {
    const query = opened.database.writer.selectFrom('admin_area').select('code').orderBy('code')
    return (await query.execute()).map(({ code }) => code)
  }

  test('is read for the one that is loaded, by codes of countries that nobody has added', async () => {
    const report = await load([
      naturalEarth('UGA', 'UGA-1', ELSEWHERE),
      naturalEarth('ETH', 'ETH-1', WEST),
      // It reaches into the country, but says that it is of another.
      naturalEarth('SOM', 'SOM-1', EAST),
      naturalEarth('KEN', 'KEN-1', ELSEWHERE),
    ])
    expect(report).toMatchObject({ added: 1, elsewhere: 3, dropped: [] })
    expect(await codes()).toEqual(['ETH-1'])
  })

  test('is read for it by names as well', async () => {
    const report = await load([
      gaul('Uganda', 1, ELSEWHERE),
      gaul('ETHIOPIA', 2, WEST),
      gaul('Somalia', 3, EAST),
    ])
    expect(report).toMatchObject({ added: 1, removed: 1, elsewhere: 2 })
    expect(await codes()).toEqual(['2'])
  })

  test('is refused where it has none of it', async () => {
    await expect(
      load([naturalEarth('KEN', 'KEN-1', WEST), naturalEarth('UGA', 'UGA-1', WEST)]),
    ).rejects.toThrow('feature 1 of areas.geojson is of Kenya (KEN), not of Ethiopia.')
    await expect(load([gaul('Abyssinia', 2, WEST)])).rejects.toThrow(
      'feature 1 of areas.geojson is of Abyssinia, not of Ethiopia: if they are the same, `agro countries alias` adds a name.',
    )
    expect(await codes()).toEqual(['2'])
  })

  test('is refused with --strict, since something of it would be left out', async () => {
    const strict = { strict: true }
    const [of, other] = [gaul('Ethiopia', 3, WEST), gaul('Uganda', 4, ELSEWHERE)]
    await expect(load([of, other], strict)).rejects.toThrow(
      'One feature is of another country: rejected by --strict.',
    )
    await expect(load([other, of, other], strict)).rejects.toThrow(
      '2 features are of other countries: rejected by --strict.',
    )
    expect(await codes()).toEqual(['2'])
    expect(await load([of], strict)).toMatchObject({ added: 1, elsewhere: 0 })
    expect(await codes()).toEqual(['3'])
  })

  test('is not told by codes that may mean anything, where nobody knows whose properties they are', async () => {
    const own = (iso: string, id: string, geometry: object) => feature({ id, title: id, iso }, geometry)
    const properties = { code: 'id', name: 'title' }
    const report = await load([own('AMH', 'amhara', WEST), own('KEN', 'kenya', ELSEWHERE)], { properties })
    expect(report).toMatchObject({ added: 1, elsewhere: 1 })
    expect(await codes()).toEqual(['amhara'])
  })
})
