import { expect, test } from 'vitest'
import { findOtherCrs } from '#src/lib/geojson.ts'
import { boundsOf, fieldText, NoShape, readField, swappedInto } from '../../../web/parts/shape.ts'

const RING = [
  [38.5, 9.5],
  [38.6, 9.5],
  [38.55, 9.6],
  [38.5, 9.5],
]
const POLYGON = { type: 'Polygon' as const, coordinates: [RING] }

test.each([
  ['commas', '9.5, 38.5\n9.5, 38.6\n9.6, 38.55'],
  ['blanks and tabs', '9.5 38.5\r\n\r\n9.5\t38.6\r\n9.6   38.55\r\n'],
  ['semicolons, brackets and the first corner again', '(9.5; 38.5)\n(9.5; 38.6)\n(9.6; 38.55)\n(9.5; 38.5)'],
  ['decimal commas and semicolons', '9,5; 38,5\n9,5; 38,6\n9,6; 38,55'],
  ['decimal commas and blanks', '9,5 38,5\n9,5\t38,6\n9,6 38,55'],
  ['decimal commas and commas', '9,5, 38,5\n9,5, 38,6\n9,6, 38,55'],
  ['a geoshape of ODK', '9.5 38.5 0 0; 9.5 38.6 0 4.5; 9.6 38.55 0 0; 9.5 38.5 0 0'],
  ['a geoshape without accuracy', '9.5 38.5;9.5 38.6;9.6 38.55;'],
  ['well-known text', 'POLYGON((38.5 9.5,38.6 9.5,38.55 9.6,38.5 9.5))'],
  [
    'well-known text with heights',
    'SRID=4326;Polygon Z ((38.5 9.5 2400, 38.6 9.5 2400, 38.55 9.6 1, 38.5 9.5 1))',
  ],
])('corners are read, latitude first: %s', (_, text) => {
  expect(readField(text)).toEqual({ shape: POLYGON })
})

test.each([
  ['a polygon', POLYGON, {}],
  [
    'a Feature with a name',
    { type: 'Feature', properties: { name: ' Upper field ' }, geometry: POLYGON },
    { name: 'Upper field' },
  ],
  [
    'a collection of one',
    { type: 'FeatureCollection', features: [{ type: 'Feature', properties: null, geometry: POLYGON }] },
    {},
  ],
])('GeoJSON is read: %s', (_, sent, more) => {
  expect(readField(JSON.stringify(sent))).toEqual({ shape: POLYGON, ...more })
})

test('GeoJSON is in WGS 84 by any of its names, as to the service', () => {
  const names = [
    ...[
      'EPSG:4326',
      'urn:ogc:def:crs:EPSG::4326',
      'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
      'OGC:CRS84',
      'WGS 84',
    ],
    ...['GCS_WGS_1984', 'WGS 84 (CRS84)', 4326],
    ...[
      'EPSG:3857',
      'urn:ogc:def:crs:EPSG::4201',
      'EPSG:14326',
      'WGS 84 / UTM zone 37N',
      '',
      'x'.repeat(100),
    ],
    ...[7, undefined, {}],
  ]
  const links = ['4326/proj4/', '4326/', '32637/ogcwkt/'].map((end) => ({
    ...{ type: 'link', properties: { href: `http://spatialreference.org/ref/epsg/${end}` } },
  }))
  const codes = [4326, '4326', 32637].map((code) => ({ type: 'EPSG', properties: { code } }))
  const named = names.map((name) => ({ type: 'name', properties: { name } }))
  for (const crs of [...named, ...links, ...codes, ...names, { type: 'name' }, null]) {
    const other = findOtherCrs({ crs })
    const read = () => readField(JSON.stringify({ ...POLYGON, crs }))
    if (other === undefined) expect(read()).toEqual({ shape: POLYGON })
    else expect(read).toThrow(new NoShape('otherCrs', other || 'a system without a name'))
  }
})

test('latitude and longitude are swapped where the field lies on a map then alone', () => {
  const extents: [number, number, number, number][] = [[33, 3, 48, 15]]
  for (const text of [
    '38.5, 9.5\n38.6, 9.5\n38.55, 9.6',
    'POLYGON((9.5 38.5,9.5 38.6,9.6 38.55,9.5 38.5))',
    JSON.stringify({ type: 'Polygon', coordinates: [RING.map((position) => position.toReversed())] }),
  ])
    expect(swappedInto(extents, text)?.shape.coordinates.flat(2)).toHaveLength(8)
  for (const text of ['9.5, 38.5\n9.5, 38.6\n9.6, 38.55', '50, 60\n50, 61\n51, 61', 'nothing', ''])
    expect(swappedInto(extents, text)).toBeUndefined()
})

const feature = { type: 'Feature', properties: {}, geometry: POLYGON }
test.each([
  ['', 'empty', undefined],
  ['{"type": "Polygon"', 'notJson', undefined],
  ['{"type": "Point", "coordinates": [1, 2]}', 'noPolygon', undefined],
  ['{"type": "Feature", "geometry": null}', 'noPolygon', undefined],
  ['{"type": "FeatureCollection", "features": []}', 'noPolygon', undefined],
  [JSON.stringify({ type: 'FeatureCollection', features: [feature, feature] }), 'manyShapes', undefined],
  ['9.5, 38.5\nnine, 38.6', 'notPairs', 2],
  ['9.5, 38.5\n\n138.6, 9.5', 'outOfRange', 3],
  ['9.5, 38.5\n9.5, 38.6', 'fewPairs', undefined],
])('what is no shape is told why: %j', (text, reason, line) => {
  expect(() => readField(text)).toThrow(new NoShape(reason as NoShape['reason'], line))
  try {
    readField(text)
  } catch (error) {
    expect(error).toMatchObject({ reason, line })
  }
})

test('a shape is written as it is typed, where that can be, and read again as the same', () => {
  expect(fieldText(POLYGON)).toBe('9.5, 38.5\n9.5, 38.6\n9.6, 38.55')
  const two = { type: 'MultiPolygon' as const, coordinates: [[RING], [RING]] }
  for (const shape of [POLYGON, two]) expect(readField(fieldText(shape)).shape).toEqual(shape)
  expect(boundsOf(two)).toEqual([38.5, 9.5, 38.6, 9.6])
})
