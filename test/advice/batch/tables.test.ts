import { describe, expect, test } from 'vitest'
import { BATCH_READERS } from '#src/advice/batch/sent.ts'
import { writeItems } from '#src/http/formats.ts'
import { findRoundedNumbers } from '#src/lib/json.ts'
import { openService } from '#test/setup/open-service.ts'
import { itemTexts, send } from './forms.ts'

// Runs on a server alone: what bodies may be is the same on both.

const service = openService()

const NDJSON = 'application/x-ndjson'

async function itemsOf(payload: string | Buffer, type = 'text/csv', query = '') {
  const { status, text } = await send(service.app, 'yield', { payload, type, accept: NDJSON, query })
  expect(status, text).toBe(200)
  return itemTexts(NDJSON, text).map((item) => JSON.parse(item))
}

const PLAIN = 'id,name,lat,lng\nA,Upper,9.5,38.5\nB,,9.6,38.6\n'

/** The same table as people have it. */
const SPELLINGS: Record<string, string> = {
  semicolons: 'id;name;lat;lng\nA;Upper;9.5;38.5\nB;;9.6;38.6\n',
  'semicolons and decimal commas': 'id;name;lat;lng\nA;Upper;9,5;38,5\nB;;9,6;38,6\n',
  'tabs and decimal commas': 'id\tname\tlat\tlng\nA\tUpper\t9,5\t38,5\nB\t\t9,6\t38,6',
  'quoted decimal commas': 'id,name,lat,lng\nA,Upper,"9,5","38,5"\nB,,"9,6","38,6"',
  'the line sep=;': 'sep=;\r\nid;name;lat;lng\r\nA;Upper;9,5;38,5\r\nB;;9,6;38,6\r\n',
  'the line sep=,': 'sep=,\nid,name,lat,lng\nA,Upper,9.5,38.5\nB,,9.6,38.6',
  'the line sep=, filled up': 'SEP=,,,,\nid,name,lat,lng\nA,Upper,9.5,38.5\nB,,9.6,38.6',
  'the line "sep=;" in quotes behind a BOM': '\ufeff"sep=;"\nid;name;lat;lng\nA;Upper;9,5;38,5\nB;;9,6;38,6',
  'the line sep= with a tab': 'sep=\t\nid\tname\tlat\tlng\nA\tUpper\t9.5\t38.5\nB\t\t9.6\t38.6',
  'the line sep=|': 'sep=|\nid|name|lat|lng\nA|Upper|9.5|38.5\nB||9.6|38.6',
  'a BOM': `\ufeff${PLAIN}`,
  'CR alone': PLAIN.replaceAll('\n', '\r'),
  'rows of separators, spaces, quotes and nothing':
    ',,,\n\nid,name,lat,lng\n,,,\nA,Upper,9.5,38.5\n , ,\t,\u00a0\n"","","",""\n  \nB,,9.6,38.6\n,,\n,',
  'spaces around names and numbers': 'id, name ,\u00a0lat,lng \nA,Upper, 9.5,38.5\u00a0\nB,, 9.6 ,38.6',
  'columns without names': 'id,name,,lat,lng,,\nA,Upper,,9.5,38.5,,\nB,,,9.6,38.6,,\n',
}

test.each(Object.entries(SPELLINGS))('a table with %s has the answers of the plain one', async (_, table) => {
  expect(await itemsOf(table)).toEqual(await itemsOf(PLAIN))
})

const NAMED = 'id,name,lat,lng\nA,Séraphine Gihéta,9.5,38.5\n'

test.each([
  ['UTF-16 with a BOM', Buffer.from(`\ufeff${NAMED}`, 'utf16le'), 'text/csv'],
  ['big-endian UTF-16', Buffer.from(`\ufeff${NAMED}`, 'utf16le').swap16(), 'text/csv'],
  ['Windows-1252 as declared', Buffer.from(NAMED, 'latin1'), 'text/csv; charset=windows-1252'],
  ['Latin-1 as declared', Buffer.from(NAMED, 'latin1'), 'text/csv; header=present; charset="ISO-8859-1"'],
  ['UTF-8, whatever is declared', Buffer.from(NAMED), 'text/csv; charset=windows-1252'],
])('%s is read', async (_, body, type) => {
  const [item] = await itemsOf(body, type)
  expect(item.location.name).toBe('Séraphine Gihéta')
})

test('another encoding is refused with its name and line, in JSON and in lines, too', async () => {
  const refused =
    'The body is not UTF-8, from line 2 on (probably Windows-1252). Send UTF-8, or declare the encoding in Content-Type, such as `; charset=windows-1252`.'
  expect(await refusalOf(Buffer.from(NAMED, 'latin1'))).toBe(refused)
  const json = Buffer.from('{"points":\n[{"lat":9.5,"lng":38.5,"name":"é"}]}', 'latin1')
  expect(await refusalOf(json, 'application/json')).toBe(refused)
  expect(await refusalOf(Buffer.from(NAMED, 'latin1'), 'text/csv; charset=klingon')).toMatch(
    'says that it is in klingon, which is not known',
  )
})

test('empty rows count for no point', async () => {
  const rows = Array.from({ length: 998 }, () => '9.5,38.5\n').join('')
  expect(await itemsOf(`lat,lng\n${rows}${',\n'.repeat(5)}`)).toHaveLength(998)
})

test('an area has a decimal comma where it is no thousand', async () => {
  const areaIn = async (payload: string) => {
    const asked = { payload, type: 'text/csv', accept: NDJSON, query: '?area=from:ha+ha' } as const
    const item = JSON.parse((await send(service.app, 'fertilizer', asked)).text)
    const [entry] = item.fertilizer_data ?? []
    return entry ? Number((entry.quantity.kg / entry.rate_kg_ha).toFixed(6)) : item.error
  }
  expect(await areaIn('lat;lng;ha\n9,5;38,5;1,234\n')).toBe(1.234)
  expect(await areaIn('lat,lng,ha\n9.5,38.5,"1,2"\n')).toBe(1.2)
  expect(await areaIn('lat,lng,ha\n9.5,38.5,"1,234"\n')).toMatch(/^ha must be a number above 0/)
})

describe('GeoJSON', () => {
  const point = (members: object = {}) => ({
    ...{ type: 'Feature', id: 'A', properties: null },
    geometry: { type: 'Point', coordinates: [38.5, 9.5, 2400] },
    ...members,
  })
  const asked = async (crs: unknown) =>
    send(service.app, 'yield', {
      payload: JSON.stringify({ type: 'FeatureCollection', crs, features: [point()] }),
      type: 'application/geo+json',
    })

  test.each([
    'EPSG:4326',
    'epsg:4326',
    'urn:ogc:def:crs:EPSG::4326',
    'urn:ogc:def:crs:EPSG:6.9:4326',
    'urn:x-ogc:def:crs:EPSG:4326',
    'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
    'https://www.opengis.net/def/crs/EPSG/0/4326',
    'http://www.opengis.net/def/crs/OGC/0/CRS84h',
    'http://www.opengis.net/gml/srs/epsg.xml#4326',
    'OGC:CRS84',
    'CRS84',
    'CRS:84',
    'urn:ogc:def:crs:OGC:1.3:CRS84',
    'urn:ogc:def:crs:OGC::CRS84h',
    'urn:ogc:def:crs:OGC:2:84',
    'WGS 84',
    'EPSG:4979',
    'GCS_WGS_1984',
    'WGS 84 (CRS84)',
    4326,
  ])('%s is WGS 84', async (name) => {
    const { status, text } = await asked({ type: 'name', properties: { name } })
    expect(status, text).toBe(200)
  })

  test.each([
    [null],
    [{ type: 'EPSG', properties: { code: 4326 } }],
    [
      {
        type: 'link',
        properties: { href: 'http://spatialreference.org/ref/epsg/4326/proj4/', type: 'proj4' },
      },
    ],
    ['EPSG:4326'],
    [4326],
  ])('%j is WGS 84', async (crs) => {
    expect((await asked(crs)).status).toBe(200)
  })

  test.each([
    [{ type: 'name', properties: { name: 'EPSG:3857' } }, 'crs names EPSG:3857:'],
    [{ type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::4201' } }, 'urn:ogc:def:crs:EPSG::4201:'],
    [{ type: 'name', properties: { name: 'EPSG:14326' } }, 'crs names EPSG:14326:'],
    [{ type: 'name', properties: { name: 'EPSG::32637' } }, 'crs names EPSG::32637:'],
    [{ type: 'EPSG', properties: { code: 32637 } }, 'crs names EPSG:32637:'],
    [{}, 'crs names no system:'],
    [7, 'crs names 7:'],
  ])('%j is another system', async (crs, named) => {
    const response = await asked(crs)
    expect(response.status).toBe(400)
    expect(response.body.error).toContain(named)
    expect(response.body.error).toMatch(/longitude and latitude in WGS 84 \(EPSG:4326\)\.$/)
  })

  test('the system of a Feature or of its point counts as well', async () => {
    const crs = { type: 'name', properties: { name: 'EPSG:4201' } }
    const geometry = { type: 'Point', crs, coordinates: [38.5, 9.5] }
    const lines = [point({ crs }), point({ geometry }), point()].map((one) => JSON.stringify(one)).join('\n')
    const items = await itemsOf(lines, NDJSON)
    expect(items.map(({ error }) => error?.slice(0, 19))).toEqual([
      'crs names EPSG:4201',
      'crs names EPSG:4201',
      undefined,
    ])
  })

  test('Features come a line or in a sequence, whose texts may have lines', async () => {
    const features = [point(), point({ id: 'B', properties: { plot: 7 } })]
    const lines = features.map((one) => JSON.stringify(one)).join('\n')
    const sequence = features.map((one) => `\u001e${JSON.stringify(one, null, 2)}\n`).join('')
    const expected = await itemsOf(
      JSON.stringify({ type: 'FeatureCollection', features }),
      'application/geo+json',
      '?pass=plot',
    )
    expect(expected).toMatchObject([{ id: 'A' }, { id: 'B', pass: { plot: 7 } }])
    expect(await itemsOf(lines, NDJSON, '?pass=plot')).toEqual(expected)
    expect(await itemsOf(sequence, NDJSON, '?pass=plot')).toEqual(expected)
    expect(await itemsOf(sequence, 'application/geo+json-seq', '?pass=plot')).toEqual(expected)
  })
})

test('a number to pass is refused where it has more digits than it would come back with', async () => {
  const numbers = [
    '0.30000000000000004',
    '1.50',
    '1e3',
    '123456789012345',
    '0.1000000000000000000',
    '-0.5',
    '1.1000000000000001',
    '5.0999999999999996',
  ]
  const lost = ['0.123456789012345678901', '12345678901234567890', '4503599627370497.5', '1e400', '1e-400']
  const body = [...numbers, ...lost].map((text) => `{"lat":9.5,"lng":38.5,"plot":${text}}\n`).join('')
  const items = await itemsOf(body, NDJSON, '?pass=plot')
  expect(items.map(({ pass, code }) => code ?? pass.plot)).toEqual([
    ...[0.30000000000000004, 1.5, 1000, 123456789012345, 0.1, -0.5, 1.1, 5.1],
    ...lost.map(() => 'INVALID_PARAMETERS'),
  ])
  const points = lost.map((text) => `{"lat":9.5,"lng":38.5,"plot":${text}}`).join()
  const json = await itemsOf(`{"points":[${points}],"pass":["plot"]}`, 'application/json')
  expect(json.map(({ code }) => code)).toEqual(lost.map(() => 'INVALID_PARAMETERS'))
})

test('a number that is an id comes back as it was, or is refused with what to send', async () => {
  const kept = ['7', '-1.5', '0', '9007199254740991', '1e3', '0.1']
  const lost = ['9007199254740993', '12345678901234567890', '1e400', '0.123456789012345678901']
  const items = await itemsOf(
    [...kept, ...lost].map((id) => `{"id":${id},"lat":9.5,"lng":38.5}\n`).join(''),
    NDJSON,
  )
  expect(items.slice(0, kept.length).map(({ id }) => id)).toEqual(kept.map(Number))
  for (const { id, error } of items.slice(kept.length)) {
    expect([id, error]).toEqual([
      undefined,
      'id must be a text, or a number of at most 16 digits up to 9007199254740991: send longer ones as text.',
    ])
  }
})

describe('long texts', () => {
  const quotes = (count: number) => `"${'""'.repeat(count)}"`
  const rowOf = (columns: string, cells: string) => itemsOf(`${columns}\n9.5,38.5,${cells}\n`, 'text/csv')
  const RULE = /^farmer must be a text of at most 1000 characters/

  test('a long cell is an error of its point, named with its column, and of no other one', async () => {
    const passing = `lat,lng,farmer\n9.5,38.5,${quotes(500)}\n9.5,38.5,${quotes(350_000)}\n9.5,38.5,Abebe\n`
    const [short, long, last] = await itemsOf(passing, 'text/csv', '?pass=farmer')
    expect(short.pass.farmer).toBe('"'.repeat(500))
    expect(long.error).toMatch(RULE)
    expect(last.pass.farmer).toBe('Abebe')
    const [id] = await rowOf('lat,lng,id', quotes(350_000))
    expect(id.error).toBe('id must be at most 200 characters long.')
    const [lat] = await itemsOf(`lng,lat\n38.5,"9,${'9'.repeat(4000)}"\n`)
    expect(lat.error).toBe('lat must be a number from -90 to 90.')
  })

  test('a long cell of a column that nothing names is ignored as a short one is', async () => {
    const [item] = await rowOf('lat,lng,farmer', quotes(350_000))
    expect(item).toEqual((await rowOf('lat,lng,farmer', 'Abebe'))[0])
  })

  test('a long member is an error of its point in lines, in JSON and in Features', async () => {
    const farmer = '"'.repeat(350_000)
    const point = { lat: 9.5, lng: 38.5, farmer }
    const [line] = await itemsOf(JSON.stringify(point), NDJSON, '?pass=farmer')
    const [inJson] = await itemsOf(JSON.stringify({ points: [point] }), 'application/json', '?pass=farmer')
    const feature = { type: 'Feature', geometry: { type: 'Point', coordinates: [38.5, 9.5] } }
    const collection = {
      type: 'FeatureCollection',
      features: [{ ...feature, properties: { farmer } }],
    }
    const [inFeature] = await itemsOf(JSON.stringify(collection), 'application/geo+json', '?pass=farmer')
    for (const { error } of [line, inJson, inFeature]) expect(error).toMatch(RULE)
  })

  test('a table with a long name of a column is refused, with the number of the column', async () => {
    expect(await refusalOf(`lat,lng,${'x'.repeat(4001)}\n9.5,38.5,1`)).toBe(
      'The name of column 3 must be at most 4000 characters long.',
    )
    expect(await itemsOf(`lat,lng,${'x'.repeat(4000)}\n9.5,38.5,1`)).toHaveLength(1)
  })

  test('a point of more than 1,000 members is refused by itself in lines', async () => {
    const members = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]))
    const lines = [998, 999].map((count) => JSON.stringify({ lat: 9.5, lng: 38.5, ...members(count) }))
    const [most, tooMany] = await itemsOf(lines.join('\n'), NDJSON)
    expect(most.error).toBeUndefined()
    expect(tooMany.error).toBe('The line has an object with more than 1000 members.')
    const objects = {
      points: [
        { lat: 9.5, lng: 38.5, ...members(998) },
        { lat: 9.5, lng: 38.5, ...members(998) },
      ],
    }
    expect(await itemsOf(JSON.stringify(objects), 'application/json')).toHaveLength(2)
  })

  test('a number of 300,000 digits to pass is read as a short one is', async () => {
    const zeros = '0'.repeat(300_000)
    const numbers = ['1.0', `2.${zeros}`, `3.${zeros}1`, `4${zeros}`]
    const body = numbers.map((text) => `{"lat":9.5,"lng":38.5,"farmer":${text}}\n`).join('')
    const items = await itemsOf(body, NDJSON, '?pass=farmer')
    expect(items.map(({ error }) => error !== undefined)).toEqual([false, false, true, true])
  })

  test('the place of a mistake is looked for in a line of 8 kB at most', async () => {
    const lineOf = (length: number) => `{"lat":9.5,"lng":38.5,"farmer":[${'1,'.repeat(length / 2)}`
    const [short, long] = await itemsOf(`${lineOf(8000)}\n${lineOf(9000)}\n`, NDJSON)
    expect(short.error).toMatch(/^The line is not valid JSON at column \d+: close it with \]\}\.$/)
    expect(long.error).toBe('The line is not valid JSON.')
  })

  test('others go on while a table is read, while numbers are compared, and while items are written', async () => {
    let pauses = 0
    const pause = async () => {
      pauses++
    }
    const rows = '9.5,38.5,0.1234567890123456789\n'.repeat(1000)
    await BATCH_READERS['text/csv']?.(`lat,lng,farmer\n${rows}`, JSON.parse, pause)
    expect(pauses).toBeGreaterThanOrEqual(20)
    pauses = 0
    const lines = '{"farmer":0.1234567890123456789}\n'.repeat(1000)
    await findRoundedNumbers(lines, ['farmer'], pause)
    expect(pauses).toBeGreaterThanOrEqual(10)
    pauses = 0
    const written = { opening: '', separator: '', write: String, closing: () => '' }
    for await (const _ of writeItems(written, sliceOf(1000), { pause }));
    expect(pauses).toBeGreaterThanOrEqual(20)
  })
})

async function* sliceOf(length: number) {
  yield Array.from({ length }, (_, at) => at)
}

async function refusalOf(payload: string | Buffer, type = 'text/csv', query = '') {
  const response = await send(service.app, 'yield', { payload, type, query })
  expect(response.status, response.text).toBe(400)
  return response.body.error
}
