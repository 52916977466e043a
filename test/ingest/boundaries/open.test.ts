import { expect, test } from 'vitest'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { boundaryFile } from '#test/setup/boundaries.ts'

/** Files of other kinds by their names, and what makes a GeoPackage of each. */
const OTHER_KINDS: [name: string, kind: string, options: string][] = [
  ['areas.kml', 'KML', '-t_srs'],
  ['areas.KMZ', 'KML', '-t_srs'],
  ['areas.fgb', 'FlatGeobuf', '-t_srs'],
  ['areas.topojson', 'TopoJSON', '-a_srs'],
  ['areas.parquet', 'GeoParquet', '-t_srs'],
  ['areas.geojsonl', 'GeoJSON of one feature a line', '-t_srs'],
  ['areas.ndjson', 'GeoJSON of one feature a line', '-t_srs'],
  ['areas.gml', 'GML', '-t_srs'],
]

test('a file that does not exist is refused', async () => {
  await expect(openBoundaryFile('/nowhere/a.geojson', {})).rejects.toThrow(
    '/nowhere/a.geojson does not exist.',
  )
})

test.each(OTHER_KINDS)(
  '%s is refused with the line that makes a GeoPackage of it',
  async (name, kind, options) => {
    const path = await boundaryFile('x', name)
    await expect(openBoundaryFile(path, {})).rejects.toThrow(
      `${name} is ${kind}, which is not read: \`ogr2ogr ${options} EPSG:4326 areas.gpkg ${name}\` makes a GeoPackage of it.`,
    )
  },
)

test('a file of any other kind is refused with the kinds that are read', async () => {
  await expect(openBoundaryFile(await boundaryFile('x', 'areas.dxf'), {})).rejects.toThrow(
    'areas.dxf is neither GeoJSON (.geojson, .json), nor a shapefile (.shp), nor one of them in an archive (.zip), nor a GeoPackage (.gpkg).',
  )
})
