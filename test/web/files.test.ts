// Runs on either database: pages ask for what other tests try on both.
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { createTestAppWithPerson, PASSWORD } from '#test/setup/people.ts'
import { openPages } from './pages.ts'

const RING = '38.5,9.5,0 38.51,9.5,0 38.51,9.51,0 38.5,9.5,0'
const CORNERS = '9.5, 38.5\n9.5, 38.51\n9.51, 38.51'

const polygon = (ring: string) =>
  `<Polygon><outerBoundaryIs><LinearRing><coordinates>${ring}</coordinates></LinearRing></outerBoundaryIs></Polygon>`
const kml = (inside: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>All</name><Placemark><name>Étang</name>${inside}</Placemark></Document></kml>`
const gpx = (points: string) =>
  `<?xml version="1.0"?><gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><name>Walk</name><trkseg>${points}</trkseg></trk></gpx>`
const trkpt = ([lat, lon]: number[]) => `<trkpt lat="${lat}" lon="${lon}"/>`
const TRACK = [
  [9.5, 38.5],
  [9.5, 38.51],
  [9.51, 38.51],
]

describe.skipIf(!CHROMIUM)('files that are dropped on pages', () => {
  const { service, visitors, visit } = openPages(createTestAppWithPerson, '/field')

  const drop = (name: string, content: string | Buffer) =>
    visit.page.locator('input[type=file]').setInputFiles({
      ...{ name, mimeType: 'application/octet-stream' },
      buffer: Buffer.isBuffer(content) ? content : Buffer.from(content),
    })
  const corners = () => visit.page.getByRole('textbox', { name: 'Corners' })
  const fieldName = () => visit.page.getByLabel('Name of the field')

  test.each([
    ['f.kml', kml(polygon(RING)), 'Étang', 'f.kml is taken over.'],
    [
      'prefixed.kml',
      kml(polygon(RING))
        .replaceAll(/<(\/?)(?=[A-Zklnoc])/g, '<$1k:')
        .replace('xmlns=', 'xmlns:k='),
      'Étang',
      'prefixed.kml is taken over.',
    ],
    [
      'line.kml',
      kml(`<LineString><coordinates>${RING}</coordinates></LineString>`),
      'Étang',
      'line.kml is taken over.',
    ],
    [
      'f.gpx',
      gpx(TRACK.map(trkpt).join('')),
      'Walk',
      'f.gpx is taken over. Its track ended 1564 m from its beginning, and is closed.',
    ],
    [
      'closed.gpx',
      gpx([...TRACK, TRACK[0] as number[]].map(trkpt).join('')),
      'Walk',
      'closed.gpx is taken over.',
    ],
    [
      'shape.txt',
      '9.5 38.5 0 0; 9.5 38.51 0 0; 9.51 38.51 0 0; 9.5 38.5 0 0',
      '',
      'shape.txt is taken over.',
    ],
    ['commas.txt', '9,5; 38,5\n9,5; 38,51\n9,51; 38,51', '', 'commas.txt is taken over.'],
    ['f.wkt', 'POLYGON ((38.5 9.5, 38.51 9.5, 38.51 9.51, 38.5 9.5))', '', 'f.wkt is taken over.'],
  ])('a field is read from %s', async (name, content, called, said) => {
    await fieldName().fill('')
    await corners().fill('')
    await drop(name, content)
    await visit.page.getByText(said, { exact: true }).waitFor()
    expect([await corners().inputValue(), await fieldName().inputValue()]).toEqual([CORNERS, called])
  })

  test.each([
    [
      'two.kml',
      kml(polygon(RING) + polygon(RING)),
      'There is more than one polygon in it. Send one field at a time.',
    ],
    ['place.kml', kml('<Point><coordinates>38.5,9.5</coordinates></Point>'), 'There is no polygon in it.'],
    ['broken.kml', kml('<Polygon>'), 'This begins like KML or GPX, and is not readable as such.'],
    [
      'f.kmz',
      Buffer.from('PK\x03\x04rest'),
      'The file is packed, as KMZ, Excel files, shapefiles and archives are. Unpack it, or save it as text: KML, GeoJSON or CSV.',
    ],
    [
      'utm.geojson',
      '{"type":"FeatureCollection","crs":{"type":"name","properties":{"name":"EPSG:32637"}},"features":[]}',
      'The coordinates are in EPSG:32637. Save the file in WGS 84 (EPSG:4326).',
    ],
  ])('%s is no field, for a reason that is said', async (name, content, said) => {
    await drop(name, content)
    await visit.page.getByText(said, { exact: true }).waitFor()
  })

  test('the name of a field in another encoding is asked for', async () => {
    const geojson = JSON.stringify({
      type: 'Feature',
      properties: { name: 'Gihéta' },
      geometry: {
        type: 'Polygon',
        coordinates: [
          [
            [38.5, 9.5],
            [38.51, 9.5],
            [38.51, 9.51],
            [38.5, 9.5],
          ],
        ],
      },
    })
    await drop('old.geojson', Buffer.from(geojson, 'latin1'))
    await visit.page.getByText('The file is not UTF-8, from line 1 on.').waitFor()
    await visit.page.getByRole('button', { name: '(windows-1252)' }).click()
    await visit.page.getByText('old.geojson is taken over.').waitFor()
    expect(await fieldName().inputValue()).toBe('Gihéta')
  })

  test('corners the other way round can be swapped by a button', async () => {
    await corners().fill('38.5, 9.5\n38.51, 9.5\n38.51, 9.51')
    await corners().blur()
    await visit.page.getByRole('button', { name: 'Swap them' }).click()
    expect(await corners().inputValue()).toBe(CORNERS)
    expect(await visit.page.getByRole('button', { name: 'Swap them' }).count()).toBe(0)
  })

  test('advice is gone once another field is given, or is refused', async () => {
    const { page } = visit
    const report = page.locator('.report')
    const ask = async () => {
      await corners().fill(CORNERS)
      await page.getByRole('button', { name: 'Get the advice' }).click()
    }
    await ask()
    await page.getByLabel('E-mail').fill(service.person.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Log in' }).last().click()
    await report.waitFor()
    await corners().fill('9.5, 38.5')
    await report.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Get the advice' }).click()
    await page.getByText('A field has at least three corners.').first().waitFor()
    expect(await report.count()).toBe(0)
    await ask()
    await report.waitFor()
    await fieldName().fill('Another')
    await report.waitFor({ state: 'detached' })
  })

  test('a table of points in another encoding is asked for, and comes back in its own form', async () => {
    const { page } = visit
    await page.goto(`${visitors.url}/points#product=yield&country=eth&crop=wheat`)
    const table = 'sep=;\r\nid;name;lat;lng\r\nÉ1;Séraphine Gihéta;9,5;38,5\r\n;;;\r\nB;Ruzizi;9,6;38,6\r\n'
    await drop('cp1252.csv', Buffer.from(table, 'latin1'))
    await page.getByText('The file is not UTF-8, from line 3 on.').waitFor()
    await page.getByRole('button', { name: '(windows-1252)' }).click()
    await page.getByText('cp1252.csv: 2 rows.').waitFor()
    await page.getByRole('button', { name: 'Get the advice for 2 points' }).click()
    await page.getByText('Done: 2 points with values.').waitFor()
    const saving = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download as CSV' }).click()
    const bytes = await readFile(await (await saving).path())
    expect([...bytes.subarray(0, 3)]).toEqual([0xef, 0xbb, 0xbf])
    const lines = bytes.toString().slice(1).split('\r\n')
    expect(lines[0]).toMatch(/^id;name;lat;lng;/)
    expect(lines[1]).toMatch(/^É1;Séraphine Gihéta;9,5;38,5;\d+(,\d+)?;/)
    expect(bytes.toString()).not.toContain('\ufffd')
  })

  test('points the other way round can be swapped by a button', async () => {
    const { page } = visit
    await drop('swapped.csv', 'id,lat,lng\nA,38.5,9.5\nB,38.6,9.6\n')
    await page.getByText('With latitude and longitude swapped, 2 of 2 points').waitFor()
    await page.getByRole('button', { name: 'Swap them' }).click()
    await page.getByRole('button', { name: 'Swap them' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Get the advice for 2 points' }).click()
    await page.getByText('Done: 2 points with values.').waitFor()
  })
})
