// Runs on a server alone: the embedded database takes more memory than what is measured.
import { beforeAll, expect, test } from 'vitest'
import { deflatedZeros, zipOfPacked } from '#test/ingest/bombs.ts'
import { boundaryFile, feature } from '#test/setup/boundaries.ts'
import { type MeasuredResult, measureAgro } from '#test/setup/cli.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { rectangle, ringOf } from '#test/setup/square.ts'
import { geoPackageOf } from './geopackage.ts'
import { shapefileParts, zipOf } from './shapefile.ts'

/** What a command may take, whatever it is given. */
const BOUND = 512 * 2 ** 20

const REGION = [{ properties: { CODE: 'ET01', NAME: 'North' }, ring: ringOf('37 8, 37 9, 38 9, 37 8') }]

type Bomb = [what: string, write: () => Promise<string>, says: string | RegExp]

const BOMBS: Bomb[] = [
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
    'a GeoPackage whose page names a row of 30 kB 15,000 times',
    async () => {
      const sql =
        "CREATE TABLE areas (geom BLOB, name TEXT); INSERT INTO areas VALUES (NULL, format('%.*c', 30000, 'x'))"
      return boundaryFile(await geoPackageOf({ sql, times: 15_000 }), 'areas.gpkg')
    },
    'areas.gpkg is not a GeoPackage that can be read: it is cut off or damaged.\n',
  ],
  [
    'what is no area behind one of 450,000 positions and three of 9,000',
    () => {
      const areas = [circle(450_000, 0), ...[1, 2, 3].map((number) => circle(9000, number))]
      // It refuses all once they are read: the database need not store them.
      return boundaryFile([...areas, rectangle(37, 8, 38, 9)])
    },
    'areas.geojson is not GeoJSON: entry 5 of its features is not a Feature.\n',
  ],
]

const testDatabase = ownDatabase('empty')
let results: MeasuredResult[]
beforeAll(async () => {
  const files = await Promise.all(BOMBS.map(([, write]) => write()))
  const commands = files.map((file) => ['boundaries', file, '--country', 'eth', '--level', '1'])
  results = await measureAgro(testDatabase, commands)
})

test.each(BOMBS.map(([what, , says], index) => ({ what, says, index })))(
  'agro boundaries takes 512 MiB at most and refuses $what',
  ({ says, index }) => {
    const { code, stderr, peakBytes } = results[index] as MeasuredResult
    // A slow machine is told every few seconds that it goes on.
    const said = stderr.replaceAll(/^\w+ boundaries: \d+ .*\n/gm, '')
    expect([code, said]).toEqual([1, typeof says === 'string' ? says : expect.stringMatching(says)])
    expect(peakBytes).toBeLessThan(BOUND)
  },
)

/** A round area of so many positions, away from those of other numbers. */
function circle(positions: number, number: number): object {
  const lng = 36 + number / 2
  const ring = Array.from({ length: positions }, (_, index) => {
    const angle = (2 * Math.PI * index) / positions
    return [lng + 0.2 * Math.cos(angle), 5 + 0.2 * Math.sin(angle)].map((degrees) =>
      Number(degrees.toFixed(8)),
    )
  })
  const geometry = { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
  return feature({ code: `ET${number}`, name: `Area ${number}` }, geometry)
}
