import { expect, test } from 'vitest'
import { boundsOf, fieldText, NoShape, readField } from '../../../web/field/shape.ts'

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
