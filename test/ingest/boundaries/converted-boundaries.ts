import { feature, rectangle } from '#test/setup/boundaries.ts'

const areas = (...geometries: object[]) =>
  JSON.stringify({
    type: 'FeatureCollection',
    features: geometries.map((geometry, at) => feature({ code: `C${at}`, name: `Ségou ${at}` }, geometry)),
  })
const [WEST, EAST] = [rectangle(37, 8, 38, 9), rectangle(38, 8, 39, 9)]
const GREENWICH = {
  type: 'MultiPolygon',
  coordinates: [rectangle(0, 8, 1, 9), rectangle(359, 8, 360, 9)].map(({ coordinates }) => coordinates),
}
const RING = '37 8,38 8,38 9,37 9,37 8'
const UTM = 'POLYGON((280000 884000,390000 884000,390000 889000,280000 889000,280000 884000))'
const wkt = (geometry: string) => `WKT,code,name\n"${geometry}",C0,Ségou 0\n`
const FROM_WKT = '-a_srs EPSG:4326 -oo KEEP_GEOM_COLUMNS=NO'
const track = RING.split(',').map((at) => at.replace(/(\S+) (\S+)/, '<trkpt lat="$2" lon="$1"/>'))
const GPX = `<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><trk><name>Ségou 0</name><trkseg>${track.join('')}</trkseg></trk></gpx>`
const ESRI = {
  geometryType: 'esriGeometryPolygon',
  spatialReference: { wkid: 4326 },
  fields: ['code', 'name'].map((name) => ({ name, type: 'esriFieldTypeString' })),
  features: [
    { attributes: { code: 'C0', name: 'Ségou 0' }, geometry: { rings: rectangle(37, 8, 38, 9).coordinates } },
  ],
}
const TOPOJSON = {
  type: 'Topology',
  objects: { a: { type: 'Polygon', arcs: [[0]], properties: { code: 'C0', name: 'Ségou 0' } } },
  arcs: rectangle(37, 8, 38, 9).coordinates,
}
const NAMED = { properties: { code: 'name', name: 'name' } }
const BOTH = ['Ségou 0', 'Ségou 1']
const ONE = ['Ségou 0']

interface Case {
  /** The names of the areas that the printed line makes. */
  names: string[]
  country?: string
  properties?: object
  layer?: string
  /** Of the printed line, what the operator knows. */
  known?: [text: string, by: string]
}

/** What makes a file of areas with GDAL, and what is loaded in the end. */
export const CASES: [file: string, source: string, make: string, loaded: Case][] = [
  ['a.kml', areas(WEST, EAST), 'ogr2ogr -f KML a.kml in', { names: BOTH, properties: { name: 'Name' } }],
  ['a.kmz', areas(WEST, EAST), 'ogr2ogr a.kmz in', { names: BOTH, properties: { name: 'Name' } }],
  ['a.fgb', areas(WEST, EAST), 'ogr2ogr -t_srs EPSG:32637 a.fgb in', { names: BOTH }],
  ['a.gml', areas(WEST, EAST), 'ogr2ogr -f GML -dsco FORMAT=GML3.2 a.gml in', { names: BOTH }],
  ['a.tab', areas(WEST, EAST), 'ogr2ogr -f "MapInfo File" a.tab in', { names: BOTH }],
  ['a.mif', areas(WEST, EAST), 'ogr2ogr -f "MapInfo File" a.mif in', { names: BOTH }],
  ['a.sqlite', areas(WEST, EAST), 'ogr2ogr -f SQLite -dsco SPATIALITE=YES a.sqlite in', { names: BOTH }],
  ['a.geojsonl', areas(WEST, EAST), 'ogr2ogr a.geojsonl in', { names: BOTH }],
  ['a.jsonl', areas(WEST, EAST), 'ogr2ogr -f GeoJSONSeq a.jsonl in', { names: BOTH }],
  ['a.gmt', areas(WEST, EAST), 'ogr2ogr -f OGR_GMT a.gmt in', { names: BOTH }],
  ['a.gdb', areas(WEST, EAST), 'ogr2ogr -f OpenFileGDB -nlt MULTIPOLYGON a.gdb in', { names: BOTH }],
  [
    'a.zip',
    areas(WEST, EAST),
    'ogr2ogr -f OpenFileGDB -nlt MULTIPOLYGON "a b.gdb" in; zip -qr a.zip "a b.gdb"',
    { names: BOTH },
  ],
  [
    'a.zip',
    areas(WEST),
    'mkdir "a b"; ogr2ogr "a b/a.kml" in; zip -qr a.zip "a b"',
    { names: ONE, properties: { name: 'Name' } },
  ],
  ['a.topojson', JSON.stringify(TOPOJSON), 'mv in a.topojson', { names: ONE }],
  ['a.json', JSON.stringify(ESRI), 'mv in a.json', { names: ONE }],
  ['a.csv', wkt(`POLYGON((${RING}))`), 'mv in a.csv', { names: ONE }],
  ['a b.csv', wkt(`POLYGON((${RING}))`).replace('WKT', 'the_geom'), 'mv in "a b.csv"', { names: ONE }],
  ['a.csv', wkt(`POLYGON((${RING}))`).replace('WKT', 'Outline of it'), 'mv in a.csv', { names: ONE }],
  [
    'a.csv',
    `code;name;polygon\nC0;Ségou 0;"SRID=4326;MULTIPOLYGON(((${RING})))"\n`,
    'mv in a.csv',
    { names: ONE },
  ],
  [
    'a b.csv',
    `code,"name",bounds\nC0,"Ségou 0","SRID=32637;${UTM}"\nC1,Ségou 1,"SRID=32637;${UTM.replaceAll('00 88', '00 89')}"\n`,
    'mv in "a b.csv"',
    { names: BOTH },
  ],
  ['-a.csv', wkt(`POLYGON((${RING}))`).replace('WKT', 'area'), 'mv in ./-a.csv', { names: ONE }],
  ['-a.gmt', areas(WEST, EAST), 'ogr2ogr -f OGR_GMT ./-a.gmt in', { names: BOTH }],
  ['(a).fgb', areas(WEST, EAST), 'ogr2ogr "(a).fgb" in', { names: BOTH }],
  ['a.gpx', GPX, 'mv in a.gpx', { names: ONE, ...NAMED }],
  ['a.shp', areas(WEST, EAST), 'ogr2ogr -t_srs EPSG:32637 a.shp in', { names: BOTH }],
  [
    'a.zip',
    areas(WEST, EAST),
    'mkdir x; ogr2ogr -t_srs EPSG:32637 x/a.shp in; zip -qr a.zip x',
    { names: BOTH },
  ],
  ['a.geojson', areas(WEST, EAST), 'ogr2ogr -t_srs EPSG:32637 -lco RFC7946=NO a.geojson in', { names: BOTH }],
  [
    'a.geojson.gz',
    areas(WEST, EAST),
    'ogr2ogr -t_srs EPSG:32637 a.geojson in; gzip a.geojson',
    { names: BOTH },
  ],
  ['a.gpkg', areas(WEST, EAST), 'ogr2ogr -nln "in utm" -t_srs EPSG:32637 a.gpkg in', { names: BOTH }],
  [
    'a.geojson',
    areas(rectangle(280_000, 884_000, 390_000, 994_000)),
    'mv in a.geojson',
    { names: ONE, known: ['CODE', '32637'] },
  ],
  [
    'a.gpkg',
    wkt(`CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(37 8,38 8,38 9),(38 9,37 8)))`),
    `mv in in.csv; ogr2ogr a.gpkg in.csv ${FROM_WKT}`,
    { names: ONE },
  ],
  [
    'a.gpkg',
    wkt(`MULTISURFACE(CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(37 8,38 8,38 9),(38 9,37 8))))`),
    `mv in in.csv; ogr2ogr a.gpkg in.csv ${FROM_WKT}`,
    { names: ONE },
  ],
  [
    'a.shp',
    wkt('POLYHEDRALSURFACE Z(((37 8 0,38 8 0,38 9 0,37 8 0)),((37 8 0,38 9 0,37 9 0,37 8 0)))'),
    `mv in in.csv; ogr2ogr -lco SHPT=MULTIPATCH -lco ENCODING=UTF-8 a.shp in.csv ${FROM_WKT}`,
    { names: ONE },
  ],
  [
    'a.geojson',
    areas(rectangle(358, 8, 359, 9), GREENWICH),
    'mv in a.geojson',
    { names: BOTH, country: 'gha' },
  ],
  [
    'a.zip',
    areas(rectangle(358, 8, 359, 9)),
    'mkdir x; ogr2ogr -lco ENCODING=UTF-8 x/a.shp in; rm x/a.prj; zip -qr a.zip x',
    { names: ONE, country: 'gha' },
  ],
  ['a.gpkg', areas(rectangle(358, 8, 359, 9)), 'ogr2ogr -nln in a.gpkg in', { names: ONE, country: 'gha' }],
]
