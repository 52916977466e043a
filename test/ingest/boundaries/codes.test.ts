// Runs on both databases: geometry is repaired, linked and coded by statements that no request sends.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LoadRequest } from '#src/ingest/boundaries/load.ts'
import { codeOfName } from '#src/ingest/boundaries/replace.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'

test.each<[name: string, code: string | null]>([
  ['Ségou', 'SEGOU'],
  [' Addis  Ababa (city)', 'ADDIS-ABABA-CITY'],
  ["N'Djaména / 2", 'N-DJAMENA-2'],
  ['አዲስ አበባ', 'አዲስ-አበባ'],
  ['…', null],
])('the code of the name %j is %j', (name, code) => {
  expect(codeOfName(name)).toBe(code)
  expect(codeOfName(name.normalize('NFD'))).toBe(code)
})

describe('areas without a code of their own', () => {
  let opened: OpenTestDatabase
  beforeAll(async () => {
    opened = await openTestDatabase('empty')
  })
  afterAll(() => opened.close())

  const FROM_NAMES = { codes: 'from-names' } as const
  const SKIP = { codes: 'skip' } as const
  const load = async (areas: object[], level: number, options: Partial<LoadRequest> = {}) =>
    loadFile(opened.database, await boundaryFile(areas), 'eth', level, options)

  /** Where areas of a level lie, by their codes: west and south of each. */
  async function places(level: number): Promise<Record<string, [west: number, south: number]>> {
    const query = opened.database.writer.selectFrom('admin_area').select(['code', 'west', 'south'])
    const rows = await query.where('level', '=', level).orderBy('code').execute()
    return Object.fromEntries(rows.map(({ code, west, south }) => [code, [west, south]]))
  }

  function area(code: string | null, name: string, west: number, south: number, more: object = {}): object {
    return feature({ code, name, ...more }, rectangle(west, south, west + 1, south + 1))
  }

  test('have their next code where the first is None, as geoBoundaries writes it', async () => {
    const region = (id: string, iso: string, west: number) =>
      feature(
        { shapeName: 'R', shapeISO: iso, shapeID: id, shapeGroup: 'ETH', shapeType: 'ADM1' },
        rectangle(west, 8, west + 1, 9),
      )
    const report = await load([region('1', 'None', 37), region('2', 'None', 38), region('3', 'ET-TI', 39)], 1)
    expect(report).toMatchObject({ added: 3, coded: [], dropped: [] })
    expect(await places(1)).toEqual({ 1: [37, 8], 2: [38, 8], 'ET-TI': [39, 8] })
  })

  test('get the codes of their names, and numbers from north to south, in whatever order they come', async () => {
    const areas = [
      area('None', 'Ségou', 37, 8),
      area(null, 'Segou', 38, 8),
      area('', 'SEGOU', 38, 9),
      area('NULL', 'Gao', 39, 8),
      area('KAYES', 'Kayes', 40, 8),
      area('-', 'Kayes', 40, 9),
    ]
    const expected = {
      GAO: [39, 8],
      KAYES: [40, 8],
      'KAYES~1': [40, 9],
      'SEGOU~1': [38, 9],
      'SEGOU~2': [37, 8],
      'SEGOU~3': [38, 8],
    }
    const report = await load(areas, 1, FROM_NAMES)
    expect(await places(1)).toEqual(expected)
    expect(report?.coded).toEqual(
      ['SEGOU~2', 'SEGOU~3', 'SEGOU~1', 'GAO', 'KAYES~1'].map((code, index) => ({
        area: code,
        reason: `feature ${index < 4 ? index + 1 : 6} of areas.geojson has no code`,
      })),
    )
    expect(await load(areas.toReversed(), 1, FROM_NAMES)).toMatchObject({ added: 0, updated: 6, removed: 0 })
    expect(await places(1)).toEqual(expected)
  })

  test('that share theirs with others get the codes of their names as well', async () => {
    const areas = [area('A', 'North', 37, 9), area('A', 'South', 37, 8), area('B', 'East', 38, 8)]
    const report = await load(areas, 1, FROM_NAMES)
    expect(await places(1)).toEqual({ B: [38, 8], NORTH: [37, 9], SOUTH: [37, 8] })
    expect(report?.coded).toEqual([
      { area: 'NORTH', reason: 'feature 1 of areas.geojson has the code A of others' },
      { area: 'SOUTH', reason: 'feature 2 of areas.geojson has the code A of others' },
    ])
    // Without names there are numbers alone.
    await load([area('A', '…', 37, 9), area('A', '', 37, 8), area('B', 'East', 38, 8)], 1, FROM_NAMES)
    expect(await places(1)).toEqual({ 'A~1': [37, 9], 'A~2': [37, 8], B: [38, 8] })
  })

  test('are left out on demand, as long as one is left', async () => {
    const own = area('B', 'East', 38, 8)
    const areas = [area('A', 'North', 37, 9), area('A', 'South', 37, 8), area(null, 'Mid', 39, 8), own]
    const report = await load(areas, 1, SKIP)
    expect(await places(1)).toEqual({ B: [38, 8] })
    expect(report?.dropped).toEqual([
      { area: 'A', reason: 'it is not the only one of this code (feature 1 of areas.geojson)' },
      { area: 'A', reason: 'it is not the only one of this code (feature 2 of areas.geojson)' },
      {
        area: 'feature 3 of areas.geojson',
        reason: expect.stringMatching(/^it has no code, though it measures 12177\.\d km²$/),
      },
    ])
    await expect(load(areas.slice(0, 3), 1, SKIP)).rejects.toThrow(
      '3 of the features are not areas that can be loaded; A is not, because it is not the only one of this code (feature 1 of areas.geojson).',
    )
  })

  test('get the codes of their parents where their names are not enough', async () => {
    await load([area('P1', 'One', 37, 8), area('P2', 'Two', 38, 8)], 1)
    const town = (name: string, parent: string | null, west: number, south: number) =>
      feature({ code: null, name, parent_code: parent }, rectangle(west, south, west + 0.25, south + 0.25))
    const towns = [
      town('Township', 'P1', 37, 8),
      town('Township', 'P2', 38, 8),
      town('Township', 'P2', 38, 8.5),
      town('Township', null, 38.5, 8),
      town('Elsewhere', 'P1', 37.5, 8),
    ]
    await load(towns, 2, FROM_NAMES)
    expect(await places(2)).toEqual({
      ELSEWHERE: [37.5, 8],
      TOWNSHIP: [38.5, 8],
      'TOWNSHIP.P1': [37, 8],
      'TOWNSHIP.P2~1': [38, 8.5],
      'TOWNSHIP.P2~2': [38, 8],
    })
  })
})
