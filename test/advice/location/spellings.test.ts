import { expect, test } from 'vitest'
import { readPlace } from '#src/advice/location/place.ts'
import { readGridCode } from '#src/advice/location/spellings.ts'

test.each([
  '9.5 38.5',
  '9.5,38.5',
  '+9.50 , 38.500',
  '9.5; 38.5',
  '9,5 38,5',
  '9,5, 38,5',
  '9,5;38,5',
  '9.5° 38.5°',
  '9.5N 38.5E',
  '9.5n38.5e',
  'N9.5 E38.5',
  'N 9.5, E 38.5',
  '38.5E 9.5N',
  'E38,5 N9,5',
  "9°30'N 38°30'E",
  '9° 30′ 0″ N, 38º 30’ 00” E',
  '9 30 0 N 38 30 0 E',
  "N 9°30' E 38°30'",
  'geo:9.5,38.5',
  'GEO:9.5,38.5,2400;u=15',
])('%s is latitude 9.5, longitude 38.5', (text) => {
  expect(readPlace(text)).toEqual({ position: { lat: 9.5, lng: 38.5 } })
})

test.each([
  ['-1.95 30.06', -1.95, 30.06],
  ['1.95S 30.06E', -1.95, 30.06],
  ['W1.5 N5', 5, -1.5],
  ["9°30'N 38°30'15\"E", 9.5, 38.5041667],
  ["5 33.5' N 0 12.25' W", 5.5583333, -0.2041667],
  ['-1,-36', -1, -36],
  ['90 -180', 90, -180],
  ['0N 0E', 0, 0],
])('%s is latitude %d, longitude %d', (text, lat, lng) => {
  expect(readPlace(text)).toEqual({ position: { lat, lng } })
})

test.each(['9.5', '1.95S', '9.5N 38.5N', '-9.5N 38.5E', '9 70 0 N 38 0 0 E', '9.5.1 38.5', '9.5 30 N 38 E'])(
  '%s is no position',
  (text) => {
    expect(readPlace(text)).toEqual({ name: text })
  },
)

test.each([
  ['138.5 9.5', true],
  ['95 181', false],
  ['91N 38E', false],
  ['geo:120,30', true],
])('a position beyond the earth is refused, where it is swapped with a hint: %s', (text, isSwapped) => {
  const hint = isSwapped ? ' (did you mean lng, lat?)' : ''
  const rule = 'place must have a latitude from -90 to 90, then a longitude from -180 to 180'
  expect(() => readPlace(text)).toThrow(`${rule}${hint}.`)
})

// Published for decoders of any language: github.com/google/open-location-code, test_data/decoding.csv.
test.each([
  ['7FG49QCJ+2V', 20.37, 2.782125, 20.370125, 2.78225],
  ['7FG49QCJ+2VX', 20.3701, 2.78221875, 20.370125, 2.78225],
  ['8FVC2222+22', 47, 8, 47.000125, 8.000125],
  ['4VCPPQGP+Q9', -41.273125, 174.785875, -41.273, 174.786],
  ['22222222+22', -90, -180, -89.999875, -179.999875],
  ['6FH32222+222', 1, 1, 1.000025, 1.00003125],
  ['CFX3X2X2+X2', 89.999875, 1, 90, 1.000125],
  ['6FH56C22+22', 1.2, 3.4, 1.200125, 3.400125],
  ['6GCRMQ2F', -1.35, 36.7725, -1.3475, 36.775],
])('%s is the centre of its cell', (code, south, west, north, east) => {
  for (const text of [code, code.replace('+', ''), ` ${code.toLowerCase()} `]) {
    const found = readGridCode(text)
    expect(found?.lat).toBeCloseTo((south + north) / 2, 5.7)
    expect(found?.lng).toBeCloseTo((west + east) / 2, 5.7)
  }
})

test.each([
  '6GCRMQ2',
  '6GCRMQ2F+2',
  '6GCR0000+',
  'Kilimanjaro',
  'CXFFMQRX',
  '6GCRMQ2A',
  'XGCRMQ2F',
  'MQ2F+2V',
])('%s is no grid code that stands alone', (text) => {
  expect(readGridCode(text)).toBeUndefined()
})

test('a collection and an id are a saved field, and anything else a name', () => {
  expect(readPlace(' coop-7/UPI-1/02 ')).toEqual({ field: 'coop-7/UPI-1/02' })
  expect(readPlace('Kigali / Huye')).toEqual({ name: 'Kigali / Huye' })
  expect(readPlace(' Fiche, Oromia')).toEqual({ name: 'Fiche, Oromia' })
})
