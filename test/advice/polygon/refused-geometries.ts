type Ring = [number, number, ...number[]][]

export const square = (west: number, south: number, size: number): Ring => [
  [west, south],
  [west + size, south],
  [west + size, south + size],
  [west, south + size],
  [west, south],
]
export const polygon = (...coordinates: unknown[]) => ({ type: 'Polygon', coordinates })
const feature = (geometry: unknown, properties: object | null = null) => ({
  type: 'Feature',
  properties,
  geometry,
})
/** Inside the demo's Ethiopia. */
export const FIELD = square(38.5, 9.5, 0.1)

/** Geometries that are refused: why, the geometry, the place that is named, and what is said of it. */
export const REFUSED: [string, unknown, string, string][] = [
  [
    'not closed',
    polygon(FIELD.slice(0, -1)),
    'geometry.coordinates[0]',
    'is not closed: its last position must be the same as its first',
  ],
  [
    'of three positions',
    polygon([
      [38, 9],
      [39, 9],
      [38, 9],
    ]),
    'geometry.coordinates[0]',
    'has 3 positions; a ring needs at least four, the last the same as the first',
  ],
  [
    'on one line',
    polygon([
      [38, 9],
      [39, 9],
      [40, 9],
      [38, 9],
    ]),
    'geometry.coordinates[0]',
    'has no area: its positions lie on one line or point',
  ],
  [
    'at one point',
    polygon([
      [38, 9],
      [38, 9],
      [38, 9],
      [38, 9],
    ]),
    'geometry.coordinates[0]',
    'has no area: its positions lie on one line or point',
  ],
  [
    'crossing itself',
    polygon([
      [38, 9],
      [39, 10],
      [39, 9],
      [38, 10],
      [38, 9],
    ]),
    'geometry',
    'crosses itself or another of its rings, at longitude 38.5, latitude 9.5',
  ],
  [
    'with a hole outside',
    polygon(FIELD, square(39, 9, 0.01)),
    'geometry',
    'has a hole outside of its polygon, at longitude 39, latitude 9',
  ],
  [
    'with a hole in a hole',
    polygon(FIELD, square(38.52, 9.52, 0.05), square(38.53, 9.53, 0.01)),
    'geometry',
    'has a hole within another hole, at longitude 38.53, latitude 9.53',
  ],
  [
    'in another one',
    { type: 'MultiPolygon', coordinates: [[FIELD], [square(38.52, 9.52, 0.05)]] },
    'geometry',
    'has a polygon within another one, at longitude 38.52, latitude 9.52',
  ],
  [
    'of type Point',
    { type: 'Point', coordinates: [38, 9] },
    'geometry.type',
    'must be Polygon or MultiPolygon, or Feature around one of them, not "Point"',
  ],
  [
    'a collection',
    { type: 'GeometryCollection', geometries: [] },
    'geometry.type',
    'must be Polygon or MultiPolygon, or Feature around one of them, not "GeometryCollection"',
  ],
  [
    'of no Feature',
    { type: 'FeatureCollection', features: [] },
    'geometry.features',
    'has 0 Features: ask for one at a time',
  ],
  [
    'of two Features',
    { type: 'FeatureCollection', features: [feature(polygon(FIELD)), feature(polygon(FIELD))] },
    'geometry.features',
    'has 2 Features: ask for one at a time',
  ],
  [
    'of no list',
    { type: 'FeatureCollection', features: {} },
    'geometry.features',
    'must be a list of Features, not {}',
  ],
  [
    'of what is no Feature',
    { type: 'FeatureCollection', features: [polygon(FIELD)] },
    'geometry.features[0].type',
    'must be Feature',
  ],
  [
    'of one Feature that is wrong',
    { type: 'FeatureCollection', features: [feature(polygon(FIELD.slice(0, -1)))] },
    'geometry.features[0].geometry.coordinates[0]',
    'is not closed: its last position must be the same as its first',
  ],
  [
    'of another crs',
    {
      type: 'FeatureCollection',
      features: [feature(polygon(FIELD))],
      crs: { properties: { name: 'EPSG:32637' } },
    },
    'geometry.crs',
    'is not supported: coordinates are longitude and latitude (WGS 84); leave crs out',
  ],
  [
    'a Feature without one',
    { type: 'Feature', properties: {}, geometry: null },
    'geometry.geometry',
    'is null: the Feature has no shape',
  ],
  [
    'with a crs',
    { ...polygon(FIELD), crs: { type: 'name' } },
    'geometry.crs',
    'is not supported: coordinates are longitude and latitude (WGS 84); leave crs out',
  ],
  [
    'without coordinates',
    { type: 'Polygon' },
    'geometry.coordinates',
    'must be a list of rings, not missing',
  ],
  [
    'with null coordinates',
    { type: 'Polygon', coordinates: null },
    'geometry.coordinates',
    'must be a list of rings, not null',
  ],
  ['without rings', polygon(), 'geometry.coordinates', 'is empty: a polygon needs an outer ring'],
  [
    'without polygons',
    { type: 'MultiPolygon', coordinates: [] },
    'geometry.coordinates',
    'is empty: there is no polygon',
  ],
  [
    'with a null',
    polygon([
      [38, 9],
      [39, null],
      [39, 10],
      [38, 9],
    ]),
    'geometry.coordinates[0][1]',
    'must be [longitude, latitude] in numbers, not [39,null]',
  ],
  [
    'with text',
    polygon([
      [38, 9],
      ['39', '9'],
      [39, 10],
      [38, 9],
    ]),
    'geometry.coordinates[0][1]',
    'must be [longitude, latitude] in numbers, not ["39","9"]',
  ],
  [
    'with a position of one number',
    polygon([[38, 9], [39], [39, 10], [38, 9]]),
    'geometry.coordinates[0][1]',
    'must be [longitude, latitude], not [39]',
  ],
  [
    'whose latitude is beyond the pole',
    polygon([
      [38, 9],
      [39, 91],
      [39, 10],
      [38, 9],
    ]),
    'geometry.coordinates[0][1]',
    'has the latitude 91: did you mean lng, lat? GeoJSON has the longitude first',
  ],
  [
    'beyond the Earth',
    polygon([
      [38, 9],
      [390, 91],
      [39, 10],
      [38, 9],
    ]),
    'geometry.coordinates[0][1]',
    'must have a longitude from -180 to 180 and a latitude from -90 to 90',
  ],
  [
    'swapped',
    polygon(FIELD.map(([x, y]) => [y, x])),
    'geometry',
    'lies outside the countries of the service, and would not if its coordinates were swapped: did you mean lng, lat? GeoJSON has the longitude first',
  ],
]
