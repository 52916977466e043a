// Runs on both databases: levels are linked by overlap, and a trial is undone.
import { basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { boundaryFile, loadFile } from '#test/setup/boundaries.ts'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'
import { type ShapeRecord, shapefileParts, writeShapefile, zipOf } from '#test/setup/shapefile.ts'

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
      await expect(loadFile(database, path, 'eth', 1, { strict: true })).rejects.toThrow(says)
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

  test.each<[string, () => Promise<string>, string | RegExp]>([
    [
      'in another CRS',
      () => writeShapefile(shapefileParts(REGIONS, 'PROJCS["WGS_1984_UTM_Zone_37N",GEOGCS["GCS_WGS_1984"]]')),
      'areas.shp is in the CRS WGS_1984_UTM_Zone_37N, not in WGS 84: convert it with `ogr2ogr -t_srs EPSG:4326 OUT.geojson IN.shp`.',
    ],
    [
      'with another datum',
      () => writeShapefile(shapefileParts(REGIONS, 'GEOGCS["GCS_Adindan",DATUM["D_Adindan"]]')),
      /^areas\.shp is in the CRS GCS_Adindan, not in WGS 84/,
    ],
    [
      'that is cut off',
      () => {
        const { shp, ...parts } = shapefileParts(REGIONS)
        return writeShapefile({ ...parts, shp: (shp as Buffer).subarray(0, -20) })
      },
      'areas.shp is cut off: it is shorter than its header says.',
    ],
    [
      'without its .dbf',
      () => writeShapefile({ shp: shapefileParts(REGIONS).shp as Buffer }),
      'areas.shp is not complete: its .dbf is missing.',
    ],
    [
      'with the .dbf of another',
      () =>
        writeShapefile({
          ...shapefileParts(REGIONS),
          dbf: shapefileParts(REGIONS.slice(0, 1)).dbf as Buffer,
        }),
      'areas.shp does not fit its .dbf: there are 1 records and more shapes.',
    ],
    [
      'of another level',
      () => writeShapefile(shapefileParts(ZONES)),
      'areas.shp holds areas of level 2, not of level 1.',
    ],
    [
      'in an archive that is cut off',
      async () => boundaryFile(zipOf({ a: shapefileParts(REGIONS) }).subarray(0, 300), 'a.zip'),
      /^a\.zip is not a complete zip archive/,
    ],
    [
      'in an archive that holds none',
      async () => boundaryFile(zipOf({}), 'a.zip'),
      'a.zip holds no shapefile and no GeoJSON.',
    ],
    [
      'among several of unclear level',
      async () => boundaryFile(zipOf({ a: shapefileParts(REGIONS), b: shapefileParts(ZONES) }), 'a.zip'),
      'a.zip has several layers, and it is not clear which one is of level 1: give --layer, one of a, b.',
    ],
  ])('%s is refused', async (_, write, says) => {
    await expect(loadFile(database, await write(), 'eth', 1)).rejects.toThrow(says)
  })
})
