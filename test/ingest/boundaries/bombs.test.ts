// Runs on a server alone: the embedded database takes more memory than what is measured.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deflatedZeros, zipOfPacked } from '#test/ingest/bombs.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { measureAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { geoPackageOf } from './geopackage.ts'
import { type ShapeRecord, shapefileParts, zipOf } from './shapefile.ts'

/** What a command may take, whatever it is given. */
const BOUND = 512 * 2 ** 20

const REGION: ShapeRecord[] = [
  {
    properties: { CODE: 'ET01', NAME: 'North' },
    ring: [
      [37, 8],
      [37, 9],
      [38, 9],
      [37, 8],
    ],
  },
]

/** A collection whose first feature has coordinates as they are written. */
function withCoordinates(text: string): Promise<string> {
  const polygon = `{"type":"Polygon","coordinates":${text}}`
  const region = `{"type":"Feature","properties":{"code":"ET01","name":"North"},"geometry":${polygon}}`
  return boundaryFile(`{"type":"FeatureCollection","features":[${region}]}`)
}

type Bomb = [what: string, write: () => Promise<string>, says: string | RegExp]

const BOMBS: Bomb[] = [
  [
    'a zip of 2 MB that says it has 1.8 GB',
    () => {
      const data = deflatedZeros(1.8e9)
      return boundaryFile(
        zipOfPacked([
          { name: 'a.shp', data, bytes: 1.8e9 },
          { name: 'a.dbf', data, bytes: 1.8e9 },
        ]),
        'a.zip',
      )
    },
    /^a\.zip\/a\.dbf has 1800000000 bytes, packed into 17\d{5}; at most 1073741824 are unpacked\.\n$/,
  ],
  [
    'a zip of 2 MB that says it has 100 bytes and has 1.8 GB',
    () => {
      const data = deflatedZeros(1.8e9)
      return boundaryFile(
        zipOfPacked([
          { name: 'a.shp', data, bytes: 100 },
          { name: 'a.dbf', data, bytes: 100 },
        ]),
        'a.zip',
      )
    },
    /^a\.zip\/a\.shp is not a shapefile that can be read: too many bytes in the stream\. expected 100\. got at least \d+\.\n$/,
  ],
  [
    'a zip of 1 GB of blanks beside a shape',
    async () => {
      const { shp = Buffer.alloc(0) } = shapefileParts(REGION)
      const archive = zipOf({ a: { shp } })
      const dbf = { name: 'a.dbf', data: deflatedZeros(1e9), bytes: 1e9 }
      const packed = { name: 'a.shp', data: archive.subarray(35, archive.length), bytes: shp.length }
      return boundaryFile(zipOfPacked([packed, dbf]), 'a.zip')
    },
    'a.zip/a.shp is not a shapefile that can be read: its .dbf has records of 0 bytes, which its fields do not fit into.\n',
  ],
  [
    'a GeoPackage of 200,000 columns',
    async () => {
      const said = `CREATE TABLE areas (geom${Array.from({ length: 200_000 }, (_, index) => `, c${index}`).join('')})`
      return boundaryFile(await geoPackageOf({ sql: 'CREATE TABLE areas (geom)', said }), 'areas.gpkg')
    },
    'areas.gpkg is not a GeoPackage that can be read: malformed database schema (areas) - too many columns on areas.\n',
  ],
  [
    'a GeoPackage with a row of 200 MB',
    async () => {
      const sql =
        'CREATE TABLE areas (geom BLOB, code TEXT); INSERT INTO areas VALUES (zeroblob(200000000), NULL)'
      return boundaryFile(await geoPackageOf({ sql }), 'areas.gpkg')
    },
    'areas.gpkg is not a GeoPackage that can be read: its areas has values of 200000000 bytes in a row; at most 24000000 are read.\n',
  ],
  [
    'a GeoPackage whose page names a row of 30 kB 15,000 times',
    async () => {
      const sql =
        "CREATE TABLE areas (geom BLOB, name TEXT); INSERT INTO areas VALUES (NULL, format('%.*c', 30000, 'x'))"
      return boundaryFile(await geoPackageOf({ sql, times: 15_000 }), 'areas.gpkg')
    },
    'areas.gpkg is not a GeoPackage that can be read: it is cut off or damaged.\n',
  ],
  [
    'GeoJSON of a million lists in each other',
    () => withCoordinates('['.repeat(1e6)),
    'Feature 1 of areas.geojson has more than 500000 lists and objects, positions among them: at most so many are read of one.\n',
  ],
  [
    'GeoJSON of a text of 30 MB',
    () => withCoordinates(`"${'x'.repeat(30e6)}"`),
    'Feature 1 of areas.geojson has more than 25165824 characters: at most so many are read of one.\n',
  ],
]

describe('agro boundaries takes 512 MiB at most', () => {
  let testDatabase: TestDatabase
  beforeAll(async () => {
    testDatabase = await createTestDatabase('empty')
  })
  afterAll(() => testDatabase.drop())

  async function load(path: string) {
    const done = await measureAgro(testDatabase, 'boundaries', path, '--country', 'eth', '--level', '1')
    expect(done.peakBytes).toBeLessThan(BOUND)
    // A slow machine is told every few seconds that it goes on.
    return { ...done, stderr: done.stderr.replaceAll(/^\w+ boundaries: \d+ .*\n/gm, '') }
  }

  test.each(BOMBS)('and refuses %s', async (_, write, says) => {
    const { code, stderr } = await load(await write())
    expect([code, stderr]).toEqual([1, typeof says === 'string' ? says : expect.stringMatching(says)])
  })

  test('and loads an area of 450,000 positions beside three of 9,000', async () => {
    const areas = [circle(450_000, 0), ...Array.from({ length: 3 }, (_, index) => circle(9000, index + 1))]
    expect(await load(await boundaryFile(areas))).toMatchObject({
      code: 0,
      stdout: 'Now level 1 of Ethiopia has 4 areas: 4 new, 0 with a code that was there, 0 removed.\n',
      stderr: '',
    })
  })
})

/** A round area of so many positions, away from those of other numbers. */
function circle(positions: number, number: number): object {
  const [lng, lat] = [36 + (number % 11) * 0.5, 5 + Math.floor(number / 11) * 0.5]
  const ring = Array.from({ length: positions }, (_, index) => {
    const angle = (2 * Math.PI * index) / positions
    return [lng + 0.2 * Math.cos(angle), lat + 0.2 * Math.sin(angle)].map((degrees) =>
      Number(degrees.toFixed(8)),
    )
  })
  const geometry = { ...rectangle(0, 0, 1, 1), coordinates: [[...ring, ring[0]]] }
  return feature({ code: `ET${number}`, name: `Area ${number}` }, geometry)
}
