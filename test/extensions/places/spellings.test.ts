import { expect, test } from 'vitest'
import { readPosition } from '#src/extensions/places/place.ts'
import { isLikePosition, readGridCode } from '#src/extensions/places/spellings.ts'

const read = (text: string) => readPosition(text, 'place')

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
  "9°30' 38°30'",
  "9°30'0\" 38°30'",
  '9°30 38°30',
  '9.5°, 38.5°',
  '9:30:00 38:30:00',
  '9:30:00N 38:30:00E',
  '9 deg 30 min N, 38 deg 30 min E',
  '9.5 North 38.5 East',
  '9.5 Nord, 38.5 Est',
  '9.5 38.5 2200 4.9',
  '9.5 38.5 0 0',
  '9.5, 38.5, 2200',
  '9.5,38.5,2200m',
  '9,5 38,5 2200',
  '9.5N, 38.5E, 2200 m',
  'Lat 9.5 Long 38.5',
  'lat: 9.5, lon: 38.5, alt: 2200',
  'lat=9.5&lng=38.5',
  'Latitude : 9,5 Longitude : 38,5',
  'Longitude 38.5; Latitude 9.5',
  'latitud 9.5 longitud 38.5',
  'Breitengrad 9.5 Längengrad 38.5',
  'Latitude: 9°30\'0" N Longitude: 38°30\'0" E',
  'y=9.5 x=38.5',
  'Lat/Long: 9.5, 38.5',
  'GPS: 9.5, 38.5',
  'geo:9.5,38.5?q=9.5,38.5(Farm)',
  'geo:0,0?q=9.5,38.5(Farm)',
  'geo:9.5,38.5;crs=wgs84;u=10?z=12',
  'https://maps.google.com/?q=9.5,38.5',
  'maps.google.com/?q=9.5,38.5',
  'https://maps.google.com/maps?q=9.5%2C38.5&z=17&hl=en',
  'https://maps.google.com/?q=loc:9.5,38.5',
  'https://www.google.com/maps/search/?api=1&query=9.5%2C38.5',
  'https://www.google.com/maps/search/9.5,+38.5?entry=tts',
  'https://www.google.com/maps/@9.5,38.5,17z',
  "https://www.google.com/maps/place/9%C2%B030'00.0%22N+38%C2%B030'00.0%22E/@9.6,38.6,17z/data=!4m4!3m3!8m2!3d9.5!4d38.5",
  "https://www.google.com/maps/place/9%C2%B030'00.0%22N+38%C2%B030'00.0%22E/",
  'https://www.openstreetmap.org/#map=12/9.5/38.5',
  'https://www.openstreetmap.org/?mlat=9.5&mlon=38.5#map=12/9.6/38.6',
  'https://maps.apple.com/?ll=9.5,38.5&q=Pin',
  'https://maps.apple.com/place?coordinate=9.5,38.5&name=Pin',
  'https://waze.com/ul?ll=9.5%2C38.5&navigate=yes',
  'https://www.bing.com/maps?cp=9.5~38.5&lvl=12',
  'https://osmand.net/map?pin=9.5,38.5#15/9.6/38.6',
  'POINT(38.5 9.5)',
  'point (38.50 9.50)',
  'POINT Z (38.5 9.5 2200)',
  'POINTZ(38.5 9.5 2200)',
  'SRID=4326;POINT(38.5 9.5)',
  '{"type": "Point", "coordinates": [38.5, 9.5]}',
])('%s is latitude 9.5, longitude 38.5', (text) => {
  expect(read(text)).toEqual({ lat: 9.5, lng: 38.5 })
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
  ["-1°57' 30°3'36\"", -1.95, 30.06],
  ["-0°30' 36°30'", -0.5, 36.5],
  ['POINT(30.06 -1.95)', -1.95, 30.06],
  ['-1.95 30.06 1567.3 4', -1.95, 30.06],
])('%s is latitude %d, longitude %d', (text, lat, lng) => {
  expect(read(text)).toEqual({ lat, lng })
})

test.each(['9.5', '1.95S', '9.5N 38.5N', '-9.5N 38.5E', '9 70 0 N 38 0 0 E', '9.5.1 38.5', '9.5 30 N 38 E'])(
  '%s is no position',
  (text) => {
    expect(read(text)).toBeUndefined()
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
  expect(() => read(text)).toThrow(`${rule}${hint}.`)
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

test.each([
  '37P 412345 1050000',
  '37P CL 12345 67890',
  'MQ2F+2V Fiche',
  '///filled.count.soap',
  'SRID=32637;POINT(412345 1050000)',
  'geo:0,0?q=Addis+Ababa',
  'https://maps.app.goo.gl/AbCdEf',
  'https://yandex.com/maps/?ll=38.5%2C9.5',
  '9 30 38 30',
  '9,5,38,5',
  '9.5 / 38.5',
  '-9.5S 38.5E',
  '{"lat": 9.5, "lng": 38.5}',
])('%s is plainly a position, and not read', (text) => {
  expect([read(text), isLikePosition(text)]).toEqual([undefined, true])
})

test.each(['9.5', 'Fiche', 'ETH-09-12-01', 'KE104/2-149', 'GH/1', 'Komenda/Edina/Eguafo/Abirem', 'TZ/0'])(
  '%s may be a name or a code',
  (text) => {
    expect([read(text), isLikePosition(text)]).toEqual([undefined, false])
  },
)
