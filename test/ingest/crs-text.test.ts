import { expect, test } from 'vitest'
import { parseCrs } from '#src/ingest/geotiff/crs.ts'

test.each(['longlat', 'latlong', 'latlon', 'lonlat'])(
  'a PROJ string of +proj=%s is one of longitude and latitude',
  (name) => {
    expect(parseCrs(`+proj=${name} +ellps=clrk80 +no_defs`)).toEqual({
      kind: 'text',
      wkt: '',
      proj: '+proj=longlat +ellps=clrk80 +no_defs',
    })
  },
)

/** A zone of UTM as ArcGIS writes it beside a raster; GDAL's MorphToESRI writes the same. */
function esriUtm(name: string, meridian: number, northing: number, scale = '0.9996'): string {
  return `PROJCS["WGS_1984_UTM_Zone_${name}",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",${northing}.0],PARAMETER["Central_Meridian",${meridian}.0],PARAMETER["Scale_Factor",${scale}],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`
}

test('a zone of UTM that ArcGIS has written out is its code', () => {
  const codes = [
    ['1N', -177, 0, 32601],
    ['30N', -3, 0, 32630],
    ['37N', 39, 0, 32637],
    ['36S', 33, 10_000_000, 32736],
    ['60S', 177, 10_000_000, 32760],
  ] as const
  for (const [name, meridian, northing, code] of codes) {
    expect(parseCrs(esriUtm(name, meridian, northing))).toEqual({ kind: 'epsg', code })
  }
})

test.each([
  ['of another meridian', esriUtm('37N', 38, 0)],
  ['of another scale', esriUtm('37N', 39, 0, '0.9999')],
  ['on another datum', esriUtm('37N', 39, 0).replaceAll('WGS_1984', 'Adindan')],
  ['in feet', esriUtm('37N', 39, 0).replace('"Meter",1.0', '"Foot",0.3048')],
  [
    'with a parameter more',
    esriUtm('37N', 39, 0).replace(',UNIT["Meter', ',PARAMETER["Azimuth",1.0],UNIT["Meter'),
  ],
])('a transverse Mercator %s is no zone of UTM', (_, wkt) => {
  expect(parseCrs(wkt)).toEqual({ kind: 'text', wkt, proj: '' })
})

test('a CRS that is bound or has heights is projected where what it is around is', () => {
  const projected = 'PROJCS["ours",GEOGCS["ours"]]'
  for (const wkt of [`COMPD_CS["ours",${projected},VERT_CS["ours"]]`, `BOUNDCRS[SOURCECRS[${projected}]]`]) {
    expect(parseCrs(wkt)).toEqual({ kind: 'text', wkt, proj: '' })
  }
})
