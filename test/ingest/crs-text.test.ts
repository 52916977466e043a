import { expect, test } from 'vitest'
import { parseCrs } from '#src/ingest/geotiff/crs.ts'

const textOf = (wkt: string, proj = '') => ({ kind: 'text', wkt, proj })

test.each(['longlat', 'latlong', 'latlon', 'lonlat'])(
  'a PROJ string of +proj=%s is one of longitude and latitude',
  (name) => {
    const rest = '+ellps=clrk80 +no_defs'
    expect(parseCrs(`+proj=${name} ${rest}`)).toEqual(textOf('', `+proj=longlat ${rest}`))
  },
)

/** A zone of UTM as ArcGIS writes it beside a raster; GDAL's MorphToESRI writes the same. */
function esriUtm(meridian: number, northing = 0, scale = '0.9996'): string {
  return `PROJCS["WGS_1984_UTM_Zone",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",${northing}.0],PARAMETER["Central_Meridian",${meridian}.0],PARAMETER["Scale_Factor",${scale}],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]`
}

test.each([
  [32601, -177, 0],
  [32630, -3, 0],
  [32637, 39, 0],
  [32736, 33, 10_000_000],
  [32760, 177, 10_000_000],
])('a zone of UTM that ArcGIS has written out is its code %i', (code, meridian, northing) => {
  expect(parseCrs(esriUtm(meridian, northing))).toEqual({ kind: 'epsg', code })
})

const PROJECTED = 'PROJCS["ours",GEOGCS["ours"]]'

test.each([
  ['a transverse Mercator of another meridian', esriUtm(38)],
  ['a transverse Mercator of another scale', esriUtm(39, 0, '0.9999')],
  ['a transverse Mercator on another datum', esriUtm(39).replaceAll('WGS_1984', 'Adindan')],
  ['a transverse Mercator in feet', esriUtm(39).replace('"Meter",1.0', '"Foot",0.3048')],
  [
    'a transverse Mercator with a parameter more',
    esriUtm(39).replace(',UNIT["Meter', ',PARAMETER["Azimuth",1.0],UNIT["Meter'),
  ],
  ['a projected CRS with heights', `COMPD_CS["ours",${PROJECTED},VERT_CS["ours"]]`],
  ['a projected CRS that is bound', `BOUNDCRS[SOURCECRS[${PROJECTED}]]`],
])('%s is no zone of UTM, and its text is kept', (_, wkt) => {
  expect(parseCrs(wkt)).toEqual(textOf(wkt))
})
