import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { findPointInside } from '#src/advice/location/queries.ts'
import { listCountries } from '#src/catalog/reference-queries.ts'
import { Gazetteer } from '#src/lookup/gazetteer.ts'
import { type AreaName, findAreasAt, listAreaNames } from '#src/lookup/queries.ts'
import { collectionOf } from '#test/advice/polygons/ask.ts'
import { call, type Sent, withKey } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'
import { newPerson } from '#test/setup/people.ts'
import { rectangle } from '#test/setup/square.ts'

const service = openService()

const get = (
  path: string,
  query: Record<string, string | number | undefined> = {},
  sent?: Sent,
  method = 'GET',
) => {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) text.set(name, String(value))
  return call(service.app, `${method} ${path}?${text}`, sent)
}

let areas: AreaName[]
beforeAll(async () => {
  ;({ areas } = await listAreaNames(service.database.reader))
})

const areaOf = (code: string) => areas.find((area) => area.code === code) as AreaName

const FICHE = 'ETH-09-12-01'

describe('a search for areas', () => {
  test('finds them by name, by code, and with what they lie in', async () => {
    const found = async (name: string) => (await get('/places', { name })).body
    const { lat, lng } = areaOf(FICHE)
    const item = {
      country_code: 'eth',
      level: 3,
      code: FICHE,
      name: 'Fiche',
      parent: 'North Shewa (Oromia)',
      lat: expect.closeTo(lat, 6),
      lng: expect.closeTo(lng, 6),
    }
    for (const name of [
      'Fiche',
      FICHE,
      'FICHE OROMIA',
      'fiche, north shewa oromia, oromia, Ethiopia',
      'fich',
    ]) {
      expect([name, await found(name)]).toEqual([name, { items: [item], is_near: false, position: null }])
    }
    expect(await found('Fishe, Oromiya')).toEqual({ items: [item], is_near: true, position: null })
    for (const text of ['9.5N 38.5E', '(9.5, 38.5)']) {
      expect(await found(text)).toEqual({ items: [], is_near: false, position: { lat: 9.5, lng: 38.5 } })
    }
    expect(await found('Fiche, Kenya')).toEqual({ items: [], is_near: false, position: null })
  })

  test('keeps to a country, a level and a number', async () => {
    const codes = async (query: Record<string, string | number>) =>
      (await get('/places', query)).body.items.map(({ code }: { code: string }) => code)
    expect(await codes({ name: 'addis ababa', level: 1 })).toEqual(['ETH-01'])
    expect(await codes({ name: 'shewa', limit: 2 })).toEqual(['ETH-03-07', 'ETH-09-11'])
    expect(await codes({ name: 'addis ababa', country_code: ' KEN ' })).toEqual([])
    const { status, body } = await get('/places', { name: 'x', country_code: 'xx' })
    expect([status, body.details[0].allowed]).toEqual([400, ['eth', 'gha', 'ken', 'rwa']])
  })

  test('is for everybody, and answered by its tag', async () => {
    const { headers } = await get('/places', { name: 'Fiche' })
    expect(headers['cache-control']).toBe('private, no-cache')
    const again = await get(
      '/places',
      { name: 'Fiche' },
      { headers: { 'if-none-match': String(headers.etag) } },
    )
    expect([again.status, again.text]).toEqual([304, ''])
  })
})

/** A name as the search compares it, by the rules of Unicode alone. */
const plain = (name: string) =>
  name
    .normalize('NFD')
    .replace(/\p{M}|'/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase()

/** Whether one text becomes the other by a letter more, less or another, or by two neighbours exchanged. */
function isOneSlip(a: string, b: string): boolean {
  if (a.length > b.length) return isOneSlip(b, a)
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const rests = [a.slice(start), b.slice(start)] as [string, string]
  if (a.length < b.length) return rests[0] === rests[1].slice(1)
  const [c, d] = rests
  return c.slice(1) === d.slice(1) || (c[0] === d[1] && c[1] === d[0] && c.slice(2) === d.slice(2))
}

test('every area is found by its code and its name, in capitals without accents, and with one typing error', async () => {
  const gazetteer = new Gazetteer(await listCountries(service.database.reader))
  for (const area of areas) gazetteer.add(area)
  const all = { countryCode: null, level: null }
  expect(areas.length).toBeGreaterThan(400)
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  for (const { code, name, level, countryCode } of areas) {
    const wanted = expect.objectContaining({ code, level, countryCode })
    for (const text of [code, name, plain(name).toUpperCase()]) {
      expect([text, gazetteer.search(text, all).areas]).toEqual([text, expect.arrayContaining([wanted])])
    }
  }
  const mistakes = fc.record({
    area: fc.constantFrom(...areas),
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
    letter: fc.constantFrom(...letters),
    kind: fc.constantFrom('more', 'less', 'other', 'exchanged'),
  })
  let unique = 0
  fc.assert(
    fc.property(mistakes, ({ area, at, letter, kind }) => {
      const key = plain(area.name)
      const index = Math.floor(at * key.length)
      const [before, after] = [key.slice(0, index), key.slice(index + 1)]
      const typed = {
        more: before + letter + key.slice(index),
        less: before + after,
        other: before + letter + after,
        exchanged: before + (key[index + 1] ?? '') + key[index] + key.slice(index + 2),
      }[kind]
      const same = areas.filter(({ name }) => plain(name) === key)
      const others = areas.filter((other) => !same.includes(other))
      const isUnique =
        typed.trim() === typed &&
        !/ {2}/.test(typed) &&
        Math.min(typed.length, key.length) >= 3 &&
        !areas.some(({ name, code }) => plain(name).includes(typed) || plain(code) === typed) &&
        !others.some(({ name }) => isOneSlip(plain(name), typed))
      if (!isUnique) return
      unique++
      const { areas: found, similar } = gazetteer.search(typed, all)
      // Words of it may be an area and what it lies in.
      if (found.length > 0) return
      expect(similar.slice(0, same.length).map(({ name }) => name)).toEqual(same.map(({ name }) => name))
    }),
    { numRuns: 1000 },
  )
  expect(unique).toBeGreaterThan(300)
})

test('the point of an area lies in it', async () => {
  const db = service.database.reader
  for (const area of areas) {
    const inside = await findPointInside(db, area)
    const [found] = await findAreasAt(db, inside ? [inside] : [])
    expect(found?.map(({ id }) => id)).toContain(area.id)
  }
})

const POINTS = ['/advisory/yield/point', '/advisory/point', '/advisory/forage/point']

describe('a place of a point', () => {
  test.each(POINTS)('is answered as its position is: %s', async (path) => {
    const { body } = await get(path, { place: 'Fiche, Oromia' })
    const { lat, lng } = body.location
    expect(body.location).toEqual({ name: 'Fiche', lat, lng, type: 'point' })
    const position = { lat, lng, name: 'Fiche', country_code: 'eth', crop: 'wheat' }
    const { country_source, ...rest } = body
    expect(rest).toEqual((await get(path, position)).body)
    expect(country_source).toBe(path === '/advisory/point' ? 'place' : undefined)
    const head = await get(path, { place: 'Fiche, Oromia' }, {}, 'HEAD')
    expect([head.status, head.text]).toEqual([200, ''])
    expect(head.headers['cache-control']).toBe('public, max-age=60, stale-if-error=86400')
  })

  test.each([
    ['9.5N 38.5E', 9.5, 38.5],
    ['geo:-1.95,30.06', -1.95, 30.06],
    ['6gcrmq2f', -1.34875, 36.77375],
  ])('may be coordinates or a grid code: %s', async (place, lat, lng) => {
    for (const path of ['/advisory/point', '/advisory/forage/point']) {
      const named = (await get(path, { place })).body
      const country_code = lat > 0 ? 'eth' : lat < -1.5 ? 'rwa' : 'ken'
      const { country_source: _, ...rest } = named
      const crop = { eth: 'wheat', rwa: 'potato', ken: 'wheat' }[country_code]
      const { country_source: __, ...plain } = (await get(path, { lat, lng, country_code, crop })).body
      expect(rest.location).toEqual({ name: 'Point', lat, lng, type: 'point' })
      if (country_code !== 'ken' || path !== '/advisory/point') expect(rest).toEqual(plain)
    }
  })

  test('keeps the name, the country and the crop that are sent', async () => {
    const sent = { place: 'Kigali', name: 'Mine', country_code: 'rwa', crop: 'potato' }
    const { body } = await get('/advisory/yield/point', sent)
    expect(body).toMatchObject({ location: { name: 'Mine' }, country_code: 'rwa', crop: 'potato' })
    const elsewhere = await get('/advisory/yield/point', { place: 'Kigali', country_code: 'eth' })
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 'UNKNOWN_AREA'])
    const other = await get('/advisory/yield/point', { place: 'Kigali' })
    expect(other.body).toMatchObject({ country_code: 'rwa', crop: 'potato' })
  })

  test('may be asked for as a table and as a text', async () => {
    const { body } = await get('/advisory/yield/point', { place: 'Fiche' })
    const table = await get('/advisory/yield/point', { place: 'Fiche', format: 'csv' })
    const { name, lat, lng } = body.location
    const [row] = parse(table.text, { columns: true }) as Record<string, string>[]
    expect(row).toMatchObject({ name, lat: String(lat), lng: String(lng), release: body.release })
    const text = await get(
      '/advisory/yield/point',
      { place: 'Fiche', max_segments: 3 },
      { headers: { accept: 'text/plain' } },
    )
    expect(text.text).toMatch(/^Fiche\. .*Yield \(wheat\)/)
  })

  test('that may be several, or none, is said in a text as well, which gateways send on', async () => {
    for (const path of ['/advisory/point', '/advisory/yield/point', '/advisory/yield']) {
      const several = await get(path, { place: 'North Shewa', format: 'text' })
      expect([several.status, several.text]).toEqual([
        404,
        'Several places may be meant. Send the code of one: ETH-03-07 North Shewa (Amhara); ETH-09-12 North Shewa (Oromia).',
      ])
      const none = await get(path, { place: 'Atlantis', format: 'text' })
      expect([none.status, none.text]).toEqual([404, 'The place is not known.'])
    }
  })

  test('with a typing error that leaves one area is that area', async () => {
    const { body } = await get('/advisory/yield/point', { place: 'Fiche, Oromiya' })
    expect(body.location.name).toBe('Fiche')
  })

  test('that may be several, or none, is not answered', async () => {
    const several = await get('/advisory/point', { place: 'North Shewa' })
    expect([several.status, several.body]).toEqual([
      404,
      {
        error: 'Several areas may be meant: send the code of one.',
        code: 'UNKNOWN_AREA',
        details: [
          {
            field: 'place',
            message:
              'place must be the code of one area: ETH-03-07 is North Shewa (Amhara), level 2, in Amhara; ETH-09-12 is North Shewa (Oromia), level 2, in Oromia',
            allowed: ['ETH-03-07', 'ETH-09-12'],
          },
        ],
      },
    ])
    const none = await get('/advisory/point', { place: 'Atlantis' })
    expect([none.status, none.body.error]).toEqual([404, 'There is no area with this code or name.'])
    expect(none.headers['cache-control']).toBe('no-store')
  })

  test('stands alone, without a position', async () => {
    for (const query of [
      { place: 'Fiche', lat: 9 },
      { place: 'Fiche', lat: 9, lng: 38 },
    ]) {
      const { status, body } = await get('/advisory/yield/point', query)
      const sent = Object.keys(query)
      expect([status, body.details.map(({ field }: { field: string }) => field)]).toEqual([400, sent])
    }
    const neither = await get('/advisory/yield/point', { place: '' })
    expect([neither.status, neither.body.error]).toEqual([400, 'lat is required; lng is required.'])
    const twice = await call(service.app, 'GET /advisory/yield/point?place=a&place=b')
    expect([twice.status, twice.body.error]).toEqual([400, 'place must be given once.'])
    const long = await get('/advisory/yield/point', { place: 'x'.repeat(201) })
    expect([long.status, long.body.error]).toEqual([400, 'place must be at most 200 characters long.'])
    const swapped = await get('/advisory/yield/point', { place: '138.5, 9.5' })
    expect([swapped.status, swapped.body.error]).toEqual([
      400,
      expect.stringContaining('did you mean lng, lat?'),
    ])
  })

  test('is no field of a body', async () => {
    const { status, headers } = await call(service.app, 'POST /advisory/yield/point', {
      payload: { place: 'Fiche' },
    })
    expect([status, headers['advisory-ignored']]).toEqual([400, 'place'])
  })

  test('is in the history by its position', async () => {
    const { body } = await get('/advisory/yield/point', { place: 'Fiche' }, { by: service.person })
    const kept = await call(service.app, `GET /history/${body.history_id}`, { by: service.person })
    const { name, lat, lng } = body.location
    expect(kept.body.request).toEqual({ name, lat, lng, country_code: 'eth', crop: 'wheat' })
  })
})

describe('a saved field as a place', () => {
  const place = 'coop/UPI/1'
  let inside: { lat: number; lng: number }
  beforeAll(async () => {
    const geometry = rectangle(38.5, 9.5, 38.501, 9.501)
    const features = [{ type: 'Feature', id: 'UPI/1', geometry, properties: { name: 'Slope' } }]
    const sent = { by: service.person, headers: { 'content-type': 'application/geo+json' } }
    const payload = JSON.stringify(collectionOf(features))
    expect((await call(service.app, 'PUT /fields/coop', { ...sent, payload })).status).toBe(200)
    const { body } = await call(service.app, 'POST /advisory/yield', {
      by: service.person,
      payload: { field: place },
    })
    inside = body.location
  })

  test('is answered to its owner alone, and kept by no shared cache', async () => {
    const { status, headers, body } = await get('/advisory/yield/point', { place }, { by: service.person })
    expect(status).toBe(200)
    expect(body.location).toEqual({ name: 'Slope', lat: inside.lat, lng: inside.lng, type: 'point' })
    expect(headers['cache-control']).toBe('private, no-store')
    const other = await newPerson(service.app)
    const codes = [undefined, other].map(async (by) => {
      const answer = await get('/advisory/yield/point', { place }, by ? { by } : {})
      return [answer.status, answer.body.code]
    })
    expect(await Promise.all(codes)).toEqual([
      [401, 'UNAUTHORIZED'],
      [404, 'NOT_FOUND'],
    ])
  })

  test('needs a key with the scope history', async () => {
    const payload = { name: 'x', scopes: ['advisory'] }
    const made = await call(service.app, 'POST /auth/keys', { by: service.person, payload })
    const { status, body } = await get('/advisory/yield/point', { place }, { by: withKey(made.body.key) })
    expect([status, body.code]).toEqual([403, 'INSUFFICIENT_SCOPE'])
  })
})

describe('an area of a product', () => {
  test.each(['yield', 'fertilizer', 'forage'])(
    'is answered to everybody as POST does: %s',
    async (product) => {
      const path = `/advisory/${product}`
      const { status, headers, body } = await get(path, { place: 'Fiche, Oromia' })
      const payload = { admin: { country_code: 'eth', code: FICHE } }
      const posted = await call(service.app, `POST ${path}`, { by: service.person, payload })
      const { history_id: _, ...same } = posted.body
      expect([status, body]).toEqual([200, same])
      expect(headers['cache-control']).toBe('public, max-age=60, stale-if-error=86400')
      expect(headers['advisory-release']).toBe(body.release)
      const tag = { headers: { 'if-none-match': String(headers.etag) } }
      expect((await get(path, { place: 'Fiche, Oromia' }, tag)).status).toBe(304)
      const head = await get(path, { place: 'Fiche, Oromia' }, {}, 'HEAD')
      expect([head.status, head.text, head.headers.etag]).toEqual([200, '', headers.etag])
    },
  )

  test('takes the level, the release and the condition', async () => {
    const release = (await get('/advisory/fertilizer', { place: 'Oromia' })).body.release
    const query = { place: 'addis ababa', level: 2, release, condition: 'foot slope' }
    const { body } = await get('/advisory/fertilizer', query)
    expect(body.location.admin).toMatchObject({ level: 2, name: 'Addis Ababa' })
    const conditions = body.fertilizer_data.map(({ condition }: { condition: string }) => condition)
    expect(new Set(conditions)).toEqual(new Set(['foot slope']))
    expect(body.release).toBe(release)
  })

  test('is a text message where that is asked for', async () => {
    const asked = await get('/advisory/yield', { place: 'Fiche', format: 'text', max_segments: 2 })
    expect(asked.text).toMatch(/^Fiche\. .*Yield \(wheat\) .* kg\/ha/)
    expect(asked.headers['content-type']).toBe('text/plain; charset=utf-8')
    const accepted = await get(
      '/advisory/yield',
      { place: 'Fiche', max_segments: 2 },
      { headers: { accept: 'text/plain' } },
    )
    expect([accepted.text, accepted.headers.etag]).toEqual([asked.text, asked.headers.etag])
  })

  test('is an area, and one alone', async () => {
    const point = await get('/advisory/yield', { place: '9.5 38.5' })
    expect([point.status, point.body.error]).toEqual([400, 'place must be the code or the name of an area.'])
    const several = await get('/advisory/yield', { place: 'North Shewa' })
    expect([several.status, several.body.code]).toEqual([404, 'UNKNOWN_AREA'])
    expect(several.headers['cache-control']).toBe('no-store')
  })
})
