// Runs on both databases: levels are linked by overlap, and a trial is undone.
import { basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { boundaryFile, loadFile } from '#test/setup/boundaries.ts'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'
import { type ShapeRecord, shapefileParts, writeShapefile, zipOf } from './shapefile.ts'

function square(west: number, south: number): [number, number][] {
  return [
    [west, south],
    [west, south + 1],
    [west + 1, south + 1],
    [west + 1, south],
    [west, south],
  ]
}

const REGIONS: ShapeRecord[] = [
  { properties: { ADM1_PCODE: 'ET01', ADM1_EN: 'Tigré', ADM0_PCODE: 'ET' }, ring: square(37, 8) },
  { properties: { ADM1_PCODE: 'ET02', ADM1_EN: 'Gone', ADM0_PCODE: 'ET' }, ring: null },
  { properties: { ADM1_PCODE: 'ET03', ADM1_EN: 'East', ADM0_PCODE: 'ET' }, ring: square(38, 8) },
]
const ZONES: ShapeRecord[] = [
  { properties: { ADM2_PCODE: 'ET0101', ADM2_EN: 'Zone', ADM1_PCODE: 'ET01' }, ring: square(37, 8) },
]

describe('a shapefile', () => {
  let opened: OpenTestDatabase
  let database: Database

  beforeAll(async () => {
    opened = await openTestDatabase('empty')
    database = opened.database
  })
  afterAll(() => opened.close())

  test('is loaded with the files beside it', async () => {
    const report = await loadFile(database, await writeShapefile(shapefileParts(REGIONS)), 'eth', 1)
    expect(report).toMatchObject({ added: 2, dropped: [{ area: 'ET02', reason: 'it has no geometry' }] })
    const areas = await database.writer
      .selectFrom('admin_area')
      .select(['code', 'name'])
      .orderBy('code')
      .execute()
    expect(areas).toEqual([
      { code: 'ET01', name: 'Tigré' },
      { code: 'ET03', name: 'East' },
    ])
  })

  test('is taken for WGS 84 where nothing says its CRS, which is noted', async () => {
    const { prj: _, ...parts } = shapefileParts(REGIONS.slice(0, 1))
    const says = 'has no CRS (.prj): its coordinates are taken for degrees of WGS 84.'
    for (const without of [parts, { ...parts, prj: Buffer.from(' ') }]) {
      const path = await writeShapefile(without)
      const report = await loadFile(database, path, 'eth', 1, { dryRun: true })
      expect(report?.notes).toEqual([`${basename(path)} ${says}`])
    }
  })

  test('is loaded from a zip archive, the one of the level among several', async () => {
    const archive = zipOf({
      'eth/eth_admbnda_adm1_2021': shapefileParts(REGIONS),
      'eth/eth_admbnda_adm2_2021': shapefileParts(ZONES),
      '__MACOSX/._eth_admbnda_adm2_2021': { shp: Buffer.from('x') },
    })
    const report = await loadFile(database, await boundaryFile(archive, 'eth.zip'), 'eth', 2)
    expect(report).toMatchObject({ added: 1, reparented: [] })
  })

  test('is loaded from a zip archive by its name, whatever its level', async () => {
    const archive = zipOf({ regions: shapefileParts(REGIONS.slice(0, 1)), more: shapefileParts(REGIONS) })
    const report = await loadFile(database, await boundaryFile(archive, 'eth.zip'), 'eth', 1, {
      layer: 'Regions',
    })
    expect(report).toMatchObject({ added: 0, updated: 1, removed: 1 })
  })
})
