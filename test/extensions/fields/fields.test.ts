import { request as httpRequest, type IncomingMessage } from 'node:http'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { collectionOf, linesOf, rowsOf } from '#test/advice/polygons/ask.ts'
import type { Caller } from '#test/setup/calls.ts'
import { GEOJSON, keepFields } from '#test/setup/fields.ts'
import { openService } from '#test/setup/open-service.ts'
import { newPerson } from '#test/setup/people.ts'
import { tellRefusals } from '#test/setup/refusals.ts'
import { onePixelRelease } from '#test/setup/releases.ts'
import { rectangle, ringOf } from '#test/setup/square.ts'

const service = openService({ settings: { RELEASE_MAX_AGE_MS: '0' } })

interface Feature {
  type: 'Feature'
  id: string | number
  geometry: object
  properties?: object | null
}

/** Fields of a hectare each, on a lattice where the demo has wheat in Ethiopia. */
const FEATURES: Feature[] = Array.from({ length: 30 }, (_, index) => {
  const [west, south] = [38.5 + 0.003 * (index % 6), 9.5 + 0.003 * Math.floor(index / 6)]
  return {
    type: 'Feature',
    id: `UPI-1/02/${index}`,
    geometry: rectangle(west, south, west + 0.001, south + 0.001),
    properties: { name: `Field, ${index}`, farmer: `A-${index}` },
  }
})

const NDJSON = 'application/x-ndjson'

const put = (name: string, payload: string | object, type = GEOJSON, by: Caller = service.person) =>
  keepFields(service, name, typeof payload === 'string' ? payload : JSON.stringify(payload), { by, type })

const get = (path: string, accept = 'application/json', by: Caller = service.person) =>
  service.get(`/fields${path}`, { by, headers: { accept } })

const byId = (a: { id?: unknown }, b: { id?: unknown }) => (String(a.id) < String(b.id) ? -1 : 1)

async function idsIn(name: string): Promise<string[]> {
  const { body } = await get(`/${name}`)
  return body.items.map(({ id }: { id: string }) => id).sort()
}

describe('a collection', () => {
  test('comes back as it was sent, in each format, and can be sent again', async () => {
    const { status, body } = await put('coop', collectionOf(FEATURES))
    expect(status).toBe(200)
    expect(body).toMatchObject({ collection: 'coop', fields: 30, refused: 0, refusals: [] })

    const headers = await service.head('/fields/coop', {
      by: service.person,
      headers: { accept: GEOJSON },
    })
    expect([headers.status, headers.headers['content-type'], headers.text]).toEqual([200, GEOJSON, ''])
    const { features } = (await get('/coop', GEOJSON)).body
    expect(features.toSorted(byId)).toEqual(FEATURES.toSorted(byId))
    expect((await put('again', (await get('/coop', GEOJSON)).text)).body.fields).toBe(30)

    const lines = FEATURES.map((feature) => JSON.stringify(feature)).join('\n')
    expect((await put('lines', lines, NDJSON)).body.fields).toBe(30)
    expect(linesOf((await get('/lines', NDJSON)).text)).toEqual(linesOf((await get('/coop', NDJSON)).text))
  })

  test('is replaced as a whole, and is listed with its size', async () => {
    await put('season', collectionOf(FEATURES))
    await put('season', collectionOf(FEATURES.slice(0, 3)))
    expect(await idsIn('season')).toEqual(FEATURES.slice(0, 3).map(({ id }) => id))
    const { items, fields, most_fields } = (await get('')).body
    expect(items.map(({ collection }: { collection: string }) => collection)).toEqual([
      'again',
      'coop',
      'lines',
      'season',
    ])
    expect(items.find(({ collection }: { collection: string }) => collection === 'season').fields).toBe(3)
    expect([fields, most_fields]).toEqual([3 * 30 + 3, 500_000])
  })

  test('has its wrong fields refused with id and reason, and the others stored', async () => {
    const of = (id: unknown, geometry: unknown, more: object = {}) => ({
      type: 'Feature',
      id,
      geometry,
      ...more,
    })
    const polygon = (text: string) => ({ type: 'Polygon', coordinates: [ringOf(text)] })
    const wave = Array.from({ length: 10_000 }, (_, at) => [38.5 + at * 1e-5, 9.5 + (at % 2) * 1e-6])
    const sent = [
      FEATURES[0],
      of('crossing', polygon('38.5 9.5, 38.501 9.501, 38.501 9.5, 38.5 9.501, 38.5 9.5')),
      of('empty', { type: 'Polygon', coordinates: [] }),
      of('nothing', null),
      of('swapped', rectangle(9.5, 38.5, 9.501, 38.501)),
      FEATURES[0],
      of('vertices', { type: 'Polygon', coordinates: [[...wave, [38.6, 9.6], wave[0]]] }),
      of('crs', {
        ...rectangle(38.5, 9.5, 38.501, 9.501),
        crs: { type: 'name', properties: { name: 'EPSG:32637' } },
      }),
      of('metres', rectangle(471_000, 1_050_000, 471_100, 1_050_100)),
      of('far', rectangle(2.3, 48.8, 2.301, 48.801)),
      of(undefined, FEATURES[0]?.geometry),
      of('x'.repeat(201), FEATURES[0]?.geometry),
      of('properties', FEATURES[0]?.geometry, { properties: { note: 'x'.repeat(4000) } }),
      of('point', { type: 'Point', coordinates: [38.5, 9.5] }),
      { type: 'Polygon' },
      FEATURES[1],
    ]
    const { status, body } = await put('mixed', collectionOf(sent))
    expect(status).toBe(200)
    expect([body.fields, body.refused]).toEqual([2, 14])
    const refused = body.refusals.map(
      ({ row, id = '-', code, error }: Record<string, string>) =>
        `${row} ${String(id).slice(0, 20)} ${code}\n  ${error}\n`,
    )
    await expect(refused.join('\n')).toMatchFileSnapshot('refused-fields.txt')
    expect(await idsIn('mixed')).toEqual([FEATURES[0]?.id, FEATURES[1]?.id])
  })

  test('comes back from a table of its own, with ids and properties that a spreadsheet would take for formulas', async () => {
    const odd = ['-17', '@x', '=1;-2', "'a", ' b;\n=c'].map((id, index) => ({
      ...(FEATURES[index] as Feature),
      id,
      properties: index === 4 ? null : { name: `=${id}`, note: '5;=6;-7 "quoted", a\nline', of: [1, { id }] },
    }))
    expect((await put('odd', collectionOf(odd))).body).toMatchObject({ fields: 5, refused: 0 })
    const { text } = await get('/odd?format=csv')
    expect(text).toBe((await get('/odd', 'text/csv')).text)
    expect(text).not.toMatch(/[;\n]["\s]*[-=@]/)
    expect((await put('even', text, 'text/csv')).body).toMatchObject({ fields: 5, refused: 0 })
    const [before, after] = await Promise.all(['/odd', '/even'].map((name) => get(name, GEOJSON)))
    expect(after?.body.features).toEqual(before?.body.features)
    const broken = text.replace('""name""', 'name')
    expect((await put('broken', broken, 'text/csv')).body).toMatchObject({
      ...{ fields: 4, refused: 1 },
      refusals: [expect.objectContaining({ code: 'MALFORMED_JSON' })],
    })
  })

  test('is read as CSV with well-known text, cells in quotes and properties as texts', async () => {
    const ring = '38.5 9.5,38.501 9.5,38.501 9.501,38.5 9.501,38.5 9.5'
    const rows = [
      'ID,The_Geom,name,remark,properties',
      `7,"POLYGON((${ring}))","Upper\nfield",,null`,
      `b,"SRID=4326;MULTIPOLYGON(((${ring})))",,"a ""quoted"" one",`,
      `c,"SRID=32637;POLYGON((${ring}))",,,`,
      'd,POINT(38.5 9.5),,,',
    ]
    const { body } = await put('csv', rows.join('\r\n'), 'text/csv')
    expect(body.refusals.map(({ row, id, code }: Record<string, unknown>) => [row, id, code])).toEqual([
      [3, 'c', 'INVALID_GEOMETRY'],
      [4, 'd', 'INVALID_PARAMETERS'],
    ])
    const { items } = (await get('/csv')).body
    expect(items.map(({ id, name, properties }: Record<string, unknown>) => [id, name, properties])).toEqual([
      ['7', 'Upper\nfield', { name: 'Upper\nfield', properties: 'null' }],
      ['b', null, { remark: 'a "quoted" one' }],
    ])
  })
})

describe('an upload that fails', () => {
  let url: string

  beforeAll(async () => {
    url = await service.app.listen({ port: 0, host: '127.0.0.1' })
  })

  test('gets the reason, and leaves the collection as it was', async () => {
    await put('whole', collectionOf(FEATURES.slice(0, 2)))
    const text = JSON.stringify(collectionOf(FEATURES))
    const cases: [name: string, body: string, type?: string][] = [
      ['cut off within a feature', text.slice(0, 1000)],
      ['cut off between two features', text.slice(0, text.indexOf(',{"type":"Feature","id":"UPI-1/02/5"'))],
      ['cut off before its last bracket', text.slice(0, -1)],
      ['no feature', JSON.stringify(collectionOf([]))],
      ['no valid feature', JSON.stringify(collectionOf([{ type: 'Feature', id: 'a', geometry: null }]))],
      ['a Feature alone', JSON.stringify(FEATURES[0])],
      ['features that are no list', '{"type":"FeatureCollection","features":{}}'],
      ['features that are no objects', '{"type":"FeatureCollection","features":[1]}'],
      ['features without a comma between', '{"type":"FeatureCollection","features":[{} {}]}'],
      [
        'another system of coordinates',
        text.replace('{', '{"crs":{"type":"name","properties":{"name":"EPSG:32637"}},'),
      ],
      [
        'the same at its end',
        text.replace(/\}$/, ',"crs":{"type":"name","properties":{"name":"EPSG:32637"}}}'),
      ],
      ['no body', ''],
      ['a table without a shape', 'id,name\r\n1,a\r\n', 'text/csv'],
      ['a table with an open quote', 'id,wkt\r\n1,"POLYGON((', 'text/csv'],
      ['another media type', '<gml/>', 'application/gml+xml'],
      ['a name with a slash', text, 'name/with'],
    ]
    const asked = cases.map(([name, body, type = GEOJSON]) => {
      const path = type === 'name/with' ? 'a%2Fb' : 'whole'
      return [name, () => put(path, body, type === 'name/with' ? GEOJSON : type)] as const
    })
    await expect(await tellRefusals(asked)).toMatchFileSnapshot('refused-uploads.txt')
    expect(await idsIn('whole')).toEqual(FEATURES.slice(0, 2).map(({ id }) => id))
    const { rows } = await service.database.pool.query(
      "select count(*)::integer as drafts from field_collection where state = 'draft'",
    )
    expect(rows).toEqual([{ drafts: 0 }])
  })

  test('because its client goes in the middle leaves nothing', async () => {
    const text = JSON.stringify(collectionOf(FEATURES))
    await new Promise<void>((resolve) => {
      const sending = httpRequest(`${url}/fields/gone`, {
        method: 'PUT',
        headers: { ...service.person.headers, 'content-type': GEOJSON, 'content-length': text.length },
      })
      sending.on('error', () => resolve())
      sending.write(text.slice(0, 5000), () => setImmediate(() => sending.destroy()))
    })
    await expect
      .poll(
        async () =>
          (
            await service.database.pool.query(
              "select from field_collection where name = 'gone' and state <> 'gone'",
            )
          ).rowCount,
      )
      .toBe(0)
    expect((await get('/gone')).status).toBe(404)
  })

  test('because of its beginning is refused at once, and ends its connection, where nothing reads the rest', async () => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sending = httpRequest(`${url}/fields/early`, {
        method: 'PUT',
        headers: { ...service.person.headers, 'content-type': GEOJSON, 'content-length': 20_000_000 },
      })
      sending.on('response', resolve).on('error', reject)
      sending.write(`{"more":"${'x'.repeat(100_000)}`)
    })
    answer.destroy()
    expect([answer.statusCode, answer.headers.connection]).toEqual([400, 'close'])
  })

  test('after its draft was removed keeps the collection of before', async () => {
    const { pool } = service.database
    await put('paused', collectionOf(FEATURES.slice(0, 2)))
    const url = service.app.listeningOrigin
    const text = JSON.stringify(collectionOf(FEATURES))
    const sending = httpRequest(`${url}/fields/paused`, {
      method: 'PUT',
      headers: { ...service.person.headers, 'content-type': GEOJSON, 'content-length': text.length },
    })
    const answered = new Promise<number>((resolve, reject) => {
      sending.on('response', ({ statusCode = 0 }) => resolve(statusCode)).on('error', reject)
    })
    sending.write(text.slice(0, 1000))
    const drafts = "field_collection set state = 'gone' where name = 'paused' and state = 'draft'"
    await expect.poll(async () => (await pool.query(`update ${drafts}`)).rowCount).toBe(1)
    sending.end(text.slice(1000))
    expect(await answered).toBe(408)
    expect(await idsIn('paused')).toEqual(FEATURES.slice(0, 2).map(({ id }) => id))
  })

  test('because the account has too many fields says so', async () => {
    const { rows } = await service.database.pool.query(
      `insert into field_collection (user_id, name, state, fields) values ($1, 'large', 'kept', 499999) returning id`,
      [service.person.user.id],
    )
    expect((await put('more', collectionOf(FEATURES))).text).toMatch(/TOO_MANY_FIELDS.*"LIMIT_REACHED"/)
    await service.database.pool.query('delete from field_collection where id = $1', [rows[0].id])
  })
})

describe('advice', () => {
  test('on a collection is that on the same polygons, with the ids of the fields, in each format', async () => {
    await put('advised', collectionOf(FEATURES))
    for (const product of ['yield', 'fertilizer', 'isfm', 'forage']) {
      const same = await service.post(`/advisory/${product}/polygons?format=ndjson`, {
        by: service.person,
        headers: { 'content-type': GEOJSON },
        payload: JSON.stringify(collectionOf(FEATURES)),
      })
      const expected = linesOf(same.text).sort(byId)
      const saved = await get(`/advised/advice?product=${product}`, NDJSON)
      expect(saved.status).toBe(200)
      expect(linesOf(saved.text).sort(byId)).toEqual(expected)
      const { items } = (await get(`/advised/advice?product=${product}`)).body
      expect(items.map(({ id }: { id: string }) => id).sort()).toEqual(expected.map(({ id }) => id))
    }
    const table = rowsOf((await get('/advised/advice?product=yield&quantiles=0.5', 'text/csv')).text)
    expect(table).toHaveLength(30)
    const { features } = (await get('/advised/advice?product=yield', GEOJSON)).body
    expect(features.map(({ geometry }: Feature) => JSON.stringify(geometry)).sort()).toEqual(
      FEATURES.map(({ geometry }) => JSON.stringify(geometry)).sort(),
    )
  })

  test('weighs the pixels of a field once for all releases on a grid', async () => {
    const { pool } = service.database
    await put('weighed', collectionOf(FEATURES))
    await get('/weighed/advice?product=yield', NDJSON)
    const ofCollection =
      "collection_id = (select id from field_collection where name = 'weighed' and state = 'kept')"
    const countWeights = async () =>
      (await pool.query(`select from field_weights where ${ofCollection}`)).rowCount
    // Odds have a grid of their own.
    await expect.poll(countWeights).toBe(2)
    const sent = await service.post('/advisory/fertilizer/polygons?format=ndjson', {
      by: service.person,
      headers: { 'content-type': GEOJSON },
      payload: JSON.stringify(collectionOf(FEATURES)),
    })
    // Shapes are not read again: these could not be.
    await pool.query(`update field set shape = '\\x00' where ${ofCollection}`)
    const saved = await get('/weighed/advice?product=fertilizer', NDJSON)
    expect(saved.text.split('\n').sort()).toEqual(sent.text.split('\n').sort())
    expect(await countWeights()).toBe(2)
  })

  test('waits for its turn with each field that it computes, with new weights and with stored ones', async () => {
    const waits = vi.spyOn(service.app.slices, 'next')
    onTestFinished(waits.mockRestore)
    await put('many', collectionOf(FEATURES))
    for (const format of [NDJSON, 'text/csv', GEOJSON]) {
      await get('/many/advice?product=yield', format)
      expect(waits.mock.calls.splice(0).length).toBeGreaterThanOrEqual(2 * FEATURES.length)
    }
  })

  test('that a deletion overtakes has no weights of other fields, and says that it is not whole', async () => {
    const { pool } = service.database
    await put('going', collectionOf(FEATURES))
    const ofCollection =
      "collection_id = (select id from field_collection where name = 'going' and state = 'kept')"
    const whole = linesOf((await get('/going/advice?product=yield', NDJSON)).text)
    await expect
      .poll(async () => (await pool.query(`select from field_weights where ${ofCollection}`)).rowCount)
      .toBe(2)
    await pool.query(`delete from field where ${ofCollection} and id = 'UPI-1/02/0'`)
    const left = linesOf((await get('/going/advice?product=yield', NDJSON)).text)
    expect(left.slice(0, -1)).toEqual(whole.filter(({ id }) => id !== 'UPI-1/02/0'))
    expect(left.at(-1)).toEqual({ error: 'The collection was deleted meanwhile.', code: 'NOT_FOUND' })
    expect((await get('/going')).body.code).toBe('NOT_FOUND')
  })

  test('on one saved field is that on its polygon, and the history has the polygon', async () => {
    await put('one', collectionOf(FEATURES.slice(0, 1)))
    const ask = async (payload: object) =>
      (await service.post('/advisory/yield', { by: service.person, payload })).body
    const { history_id: _, ...drawn } = await ask({ geometry: FEATURES[0]?.geometry, name: 'Field, 0' })
    const { history_id, ...saved } = await ask({ field: `one/${FEATURES[0]?.id}` })
    expect(saved).toEqual(drawn)
    const item = (await service.get(`/history/${history_id}`, { by: service.person })).body
    expect(item.request).toEqual({ geometry: FEATURES[0]?.geometry, name: 'Field, 0' })
  })

  test('takes quantities and a data value set of DHIS2', async () => {
    await put('amounts', collectionOf(FEATURES.slice(0, 2)))
    const { items } = (await get('/amounts/advice?product=fertilizer&bags=Urea:50')).body
    expect(items[0].fertilizer_data[0]).toHaveProperty('quantity')
    const dhis2 = { data_elements: [{ column: 'yield_kg_ha Normal', data_element: 'fbfJHSPpUQD' }] }
    const payload = { fields: 'amounts', format: 'dhis2', dhis2 }
    const { body } = await service.post('/advisory/yield/polygons', { by: service.person, payload })
    expect(body.dataValues.map(({ orgUnit }: { orgUnit: string }) => orgUnit).sort()).toEqual(
      FEATURES.slice(0, 2).map(({ id }) => id),
    )
  })

  test('that cannot be given is refused', async () => {
    const ask =
      (payload: object, path = '') =>
      () =>
        service.post(`/advisory/yield${path}`, { by: service.person, payload })
    const refusals = await tellRefusals([
      ['no such collection', ask({ fields: 'none' }, '/polygons')],
      [
        'a collection and areas',
        ask({ fields: 'one', admin: { country_code: 'eth', level: 1 } }, '/polygons'),
      ],
      ['no such field', ask({ field: 'one/none' })],
      ['a field without an id', ask({ field: 'one' })],
      ['a field and a polygon', ask({ field: 'one/a', geometry: FEATURES[0]?.geometry })],
      ['no product', () => get('/one/advice')],
      ['an unknown product', () => get('/one/advice?product=maize')],
      ['a crop that the country lacks', () => get('/one/advice?product=yield&crop=cassava')],
      [
        'an unknown parameter, strictly',
        () =>
          service.get('/fields/one/advice?product=yield&foo=1', {
            by: service.person,
            headers: { prefer: 'handling=strict' },
          }),
      ],
      ['a data value set without a mapping', () => get('/one/advice?product=yield&format=dhis2')],
    ])
    await expect(refusals).toMatchFileSnapshot('refused-advice.txt')
  })
})

describe('changes since a release', () => {
  const rates = (urea: number, month: string) =>
    onePixelRelease({ Urea: urea, DAP: 50 }, { forecastPeriod: `${month}-01`, checksum: `${urea}` })

  const publish = async (source: ReturnType<typeof rates>) =>
    (await loadRelease(service.database, source)).code

  test('are those of values over the threshold, field by field, in each format', async () => {
    await put('changing', collectionOf(FEATURES.slice(0, 3)))
    const before = await publish(rates(100, '2026-08'))
    const after = await publish(rates(130, '2026-09'))
    const change = {
      input: 'Urea',
      scenario: 'Normal',
      before: 100,
      after: 130,
      change: 30,
      change_percent: 30,
    }

    const { body } = await get(`/changing/changes?since=${before}`)
    expect(body).toMatchObject({
      collection: 'changing',
      release: after,
      release_before: before,
      unit: 'kg/ha',
    })
    expect(body.items.map(({ id, changes }: Record<string, unknown>) => [id, changes]).sort()).toEqual(
      FEATURES.slice(0, 3).map(({ id }) => [id, [change]]),
    )
    expect(linesOf((await get(`/changing/changes?since=${before}`, NDJSON)).text)).toEqual(body.items)
    expect(rowsOf((await get(`/changing/changes?since=${before}&format=csv`)).text)).toHaveLength(3)
    const { features } = (await get(`/changing/changes?since=${before}`, GEOJSON)).body
    expect(features[0].properties).toMatchObject({ 'before Urea Normal': 100, 'after Urea Normal': 130 })

    const numberWith = async (query: string) =>
      (await get(`/changing/changes?since=${before}&${query}`)).body.items.length
    expect(await numberWith('threshold=30')).toBe(0)
    expect(await numberWith('threshold=29&threshold_kind=absolute')).toBe(3)
    expect(await numberWith(`release=${before}&threshold=0`)).toBe(0)
  })

  test('that cannot be computed are refused', async () => {
    expect((await get('/changing/changes')).body.code).toBe('INVALID_PARAMETERS')
    expect((await get('/changing/changes?since=none')).body.code).toBe('NOT_FOUND')
    expect((await get('/none/changes?since=none')).body.code).toBe('NOT_FOUND')
  })
})

test("fields are their owner's alone: others find none, nor does a key without the scope history", async () => {
  await put('private', collectionOf(FEATURES.slice(0, 2)))
  const other = await newPerson(service.app)
  expect((await get('', undefined, other)).body.items).toEqual([])
  for (const path of ['/private', '/private/advice?product=yield'])
    expect((await get(path, undefined, other)).status).toBe(404)
  expect((await service.delete('/fields/private', { by: other })).status).toBe(404)
  const { key } = (
    await service.post('/auth/keys', {
      by: service.person,
      payload: { name: 'a', scopes: ['advisory'] },
    })
  ).body
  expect((await get('/private', undefined, key)).body.code).toBe('INSUFFICIENT_SCOPE')
  const asked = [
    ['', { field: `private/${FEATURES[0]?.id}` }],
    ['/polygons', { fields: 'private' }],
  ] as const
  for (const [path, payload] of asked) {
    const { body } = await service.post(`/advisory/yield${path}`, { by: key, payload })
    expect(body.code).toBe('INSUFFICIENT_SCOPE')
  }
  expect((await get('/private')).status).toBe(200)
})

test('a deleted collection is gone at once, and so are all fields of a deleted account', async () => {
  const person = await newPerson(service.app)
  const keep = (name: string) => put(name, collectionOf(FEATURES), GEOJSON, person)
  await keep('first')
  await keep('second')
  expect((await service.delete('/fields/first', { by: person })).status).toBe(204)
  expect((await get('/first', undefined, person)).status).toBe(404)
  const left = async () => {
    const { rows } = await service.database.pool.query(
      'select (select count(*) from field where collection_id = collection.id)::integer as fields from field_collection as collection where user_id = $1',
      [person.user.id],
    )
    return rows
  }
  await expect.poll(left).toEqual([{ fields: 30 }])
  await service.database.pool.query('delete from app_user where id = $1', [person.user.id])
  service.app.jobs.wake('remove-fields')
  await expect.poll(left).toEqual([])
})
