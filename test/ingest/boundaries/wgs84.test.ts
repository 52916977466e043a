import { expect, test } from 'vitest'
import { isWgs84Wkt } from '#src/ingest/boundaries/feature.ts'
import { WGS84_PRJ } from '#test/setup/shapefile.ts'

const WGS84 = '"WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]]'
const AXES = 'CS[ellipsoidal,2],AXIS["longitude",east],AXIS["latitude",north]'
const ROTATED = `GEOGCRS["rotated",BASEGEOGCRS[${WGS84}],
  DERIVINGCONVERSION["Pole rotation",METHOD["PROJ ob_tran o_proj=longlat"],PARAMETER["o_lat_p",30]],${AXES}]`

test.each<[what: string, wkt: string, isWgs84: boolean]>([
  ['WGS 84 of version 1', WGS84_PRJ, true],
  ['WGS 84 of version 2', `GEOGCRS[${WGS84},${AXES}]`, true],
  ['degrees of another pole', ROTATED, false],
  ['degrees of another pole behind blanks', `\n ${ROTATED}`, false],
  [
    'degrees of another pole as GDAL wrote them once',
    `${WGS84_PRJ.slice(0, -1)},EXTENSION["PROJ4","+proj=ob_tran +o_proj=longlat +o_lat_p=30"]]`,
    false,
  ],
  ['metres', `PROJCS["UTM",${WGS84_PRJ}]`, false],
])('longitude and latitude of WGS 84 are told from others: %s', (_, wkt, isWgs84) => {
  expect(isWgs84Wkt(wkt)).toBe(isWgs84)
})
