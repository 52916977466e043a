import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { listCountries } from '#src/catalog/reference-queries.ts'
import { Gazetteer } from '#src/extensions/places/gazetteer.ts'
import { type AreaName, listAreaNames } from '#src/extensions/places/name-queries.ts'
import type { Sent } from '#test/setup/calls.ts'
import { fieldOf, keepFields } from '#test/setup/fields.ts'
import { openService } from '#test/setup/open-service.ts'
import { newPerson } from '#test/setup/people.ts'
import { rectangle } from '#test/setup/square.ts'

const service = openService()

let areas: AreaName[]
beforeAll(async () => {
  ;({ areas } = await listAreaNames(service.database.reader))
})

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

/** The names of places that answer for all products, and for one. */
const PATHS = ['/advisory', '/advisory/yield', '/advisory/forage']

const normal = (body: { yield_data: { scenario: string; yield_kg_ha: number }[] }) =>
  body.yield_data.find(({ scenario }) => scenario === 'Normal')?.yield_kg_ha

describe('a position as a place', () => {
  test.each([
    ['9.5N 38.5E', 9.5, 38.5, 'eth', 'wheat'],
    ['geo:-1.95,30.06', -1.95, 30.06, 'rwa', 'potato'],
    ['POINT(30.06 -1.95)', -1.95, 30.06, 'rwa', 'potato'],
    ['https://maps.google.com/?q=9.5,38.5', 9.5, 38.5, 'eth', 'wheat'],
    ['6gcrmq2f', -1.34875, 36.77375, 'ken', undefined],
  ])('answers as its point does: %s', async (asked, lat, lng, country_code, crop) => {
    for (const path of crop ? PATHS : ['/advisory', '/advisory/forage']) {
      const { body } = await get(path, { place: asked })
      const { place, country_source, ...rest } = body
      expect(place).toEqual({ asked, found: `${lat}, ${lng}`, kind: 'position', near: false })
      const { body: at } = await get(`${path}/point`, { lat, lng, country_code, crop })
      expect(rest).toEqual(at)
      expect(country_source).toBe(path === '/advisory' ? 'place' : undefined)
    }
  })

  test('may have provenance, and is kept in the history', async () => {
    const query = { place: '9.5 38.5', provenance: 'true' }
    const { body } = await get('/advisory/yield', query, { by: service.person })
    expect(body.provenance[0].release).toBe(body.release)
    const kept = await service.get(`/history/${body.history_id}`, { by: service.person })
    expect(kept.body.request).toMatchObject({ lat: 9.5, lng: 38.5, country_code: 'eth', crop: 'wheat' })
  })

  test('that is plain and not read is told how positions are written, at each door', async () => {
    const rule =
      "is not read as a position: a position is such as 9.5 38.5 (latitude, then longitude), 9°30'N 38°30'E, or the grid code 6GCRMQ2F."
    for (const path of PATHS) {
      const { status, body } = await get(path, { place: '37P 412345 1050000' })
      expect([status, body.error]).toEqual([400, `place ${rule}`])
    }
    // It is asked letter by letter.
    const { status, body } = await get('/places', { name: "9°30' 3" })
    expect([status, body.items, body.position]).toEqual([200, [], null])
    const swapped = await get('/advisory', { place: '138.5, 9.5' })
    expect([swapped.status, swapped.body.error]).toEqual([
      400,
      expect.stringContaining('did you mean lng, lat?'),
    ])
  })

  test('by lat and lng is sent on to the operation for points', async () => {
    const ask = async (url: string) => {
      const { status, body } = await service.get(url)
      return [status, body.error]
    }
    expect(await ask('/advisory/yield?lat=9.5&lng=38.5&crop=wheat')).toEqual([
      400,
      'place is required: for a position send GET /advisory/yield/point?lat=9.5&lng=38.5&crop=wheat.',
    ])
    expect(await ask('/advisory?latitude=9.5&lon=38.5')).toEqual([
      400,
      'place is required: for a position send GET /advisory/point?lat=9.5&lng=38.5.',
    ])
    expect(await ask('/advisory/forage?place=Fiche&lat=9.5&lng=38.5')).toEqual([
      400,
      'place must stand alone: for a position send GET /advisory/forage/point?lat=9.5&lng=38.5.',
    ])
    expect(await ask('/advisory/yield?lat=9.5')).toEqual([400, 'place is required.'])
    expect(await ask('/advisory/yield?place=a&place=b')).toEqual([400, 'place must be given once.'])
    expect(await ask(`/advisory/yield?place=${'x'.repeat(201)}`)).toEqual([
      400,
      'place must be at most 200 characters long.',
    ])
  })
})

describe('a place by its name at an operation for points', () => {
  test('is sent on to the operation for places', async () => {
    const of = (path: string) =>
      `place must be left out here, where lat and lng are required: for a place by its name send GET ${path}.`
    const yieldOf = of('/advisory/yield?place=Fiche%2C%20Oromia')
    for (const query of [{}, { lat: 9.5, lng: 38.5 }]) {
      const { status, body } = await get('/advisory/yield/point', { place: 'Fiche, Oromia', ...query })
      expect([status, body.error]).toEqual([400, yieldOf])
    }
    const everything = await get('/advisory/point', { place: 'Fiche' })
    expect([everything.status, everything.body.error]).toEqual([400, of('/advisory?place=Fiche')])
    const post = (url: string, payload?: object) => service.post(url, payload && { payload })
    const body = await post('/advisory/yield/point', { place: 'Fiche, Oromia' })
    expect([body.status, body.body.error]).toEqual([400, yieldOf])
    const query = await post('/advisory/yield/point?place=Fiche%2C+Oromia')
    expect([query.status, query.body.error]).toEqual([400, yieldOf])
  })

  test('is an unknown field of a body that has a position', async () => {
    const payload = { place: 'Home', lat: 9.5, lng: 38.5 }
    const { status, headers } = await service.post('/advisory/yield/point', { payload })
    expect([status, headers['advisory-ignored']]).toEqual([200, 'place'])
  })
})

describe('a name that is no name of one area', () => {
  const sheka = {
    name: 'Sheka',
    code: 'ETH-13-03',
    country_code: 'eth',
    level: 2,
    within: 'South West Ethiopia, Ethiopia',
  }

  test.each(PATHS)('is asked back where it is only near to one: %s', async (path) => {
    const near = await get(path, { place: 'Sheva' })
    expect([near.status, near.body.code, near.body.error, near.body.did_you_mean]).toEqual([
      404,
      'UNKNOWN_AREA',
      'There is no area with this code or name: did you mean Sheka (ETH-13-03)?',
      [sheka],
    ])
    expect(near.headers['cache-control']).toBe('no-store')
    for (const [text, meant] of [
      ['Dodoma', 'Dodowa'],
      ['Moyo', 'Molo'],
      ['fich', 'Fiche'],
      ['Fiche, Oromiyya', 'Fiche'],
      ['Tigra', 'Tigray'],
    ]) {
      const { status, body } = await get(path, { place: text })
      expect([text, status, body.did_you_mean?.[0].name]).toEqual([text, 404, meant])
    }
  })

  test.each(PATHS)('is asked back where several have it: %s', async (path) => {
    const several = await get(path, { place: 'North Shewa' })
    expect([several.status, several.body.error, several.body.details]).toEqual([
      404,
      'Several areas may be meant: send the code of one.',
      [
        {
          field: 'place',
          message:
            'place must be the code of one area: ETH-03-07 is North Shewa (Amhara), level 2, in Amhara; ETH-09-12 is North Shewa (Oromia), level 2, in Oromia',
          allowed: ['ETH-03-07', 'ETH-09-12'],
        },
      ],
    ])
    const text = await get(path, { place: 'North Shewa', format: 'text' })
    expect([text.status, text.text]).toEqual([
      404,
      'Which place is meant? Send its code: ETH-03-07 North Shewa (Amhara); ETH-09-12 North Shewa (Oromia).',
    ])
  })

  test.each(PATHS)('is not known: %s', async (path) => {
    const none = await get(path, { place: 'Atlantis' })
    expect([none.status, none.body.error, none.body.did_you_mean]).toEqual([
      404,
      'There is no area with this code or name. A place is a code or name of GET /places, or a position such as 9.5 38.5.',
      [],
    ])
    const text = await get(path, { place: 'Atlantis', format: 'text' })
    expect([text.status, text.text]).toEqual([404, 'The place is not known.'])
  })
})

describe('a saved field as a place', () => {
  const place = 'coop/UPI/1'
  beforeAll(async () => {
    const field = fieldOf('UPI/1', rectangle(38.5, 9.5, 38.501, 9.501), { name: 'Slope' })
    expect((await keepFields(service, 'coop', [field])).status).toBe(200)
  })

  test.each(['yield', 'forage'])('answers as its polygon does: %s', async (product) => {
    const posted = await service.post(`/advisory/${product}`, {
      by: service.person,
      payload: { field: place },
    })
    const { status, headers, body } = await get(`/advisory/${product}`, { place }, { by: service.person })
    const { place: answered, ...rest } = body
    const { history_id: _, ...same } = posted.body
    expect([status, rest]).toEqual([200, same])
    expect(answered).toEqual({ asked: place, found: 'Slope', kind: 'field', near: false })
    expect(headers['cache-control']).toBe('private, no-store')
    const all = await get('/advisory', { place }, { by: service.person })
    const named = (data: object[]) => data.map((entry) => expect.objectContaining(entry))
    expect(same[`${product}_data`]).toEqual(named(all.body[product][`${product}_data`]))
    expect([all.body.location.name, all.body.country_code]).toEqual(['Slope', 'eth'])
  })

  test('is answered to its owner alone, with a key of the scope history', async () => {
    const other = await newPerson(service.app)
    const payload = { name: 'x', scopes: ['advisory'] }
    const made = await service.post('/auth/keys', { by: service.person, payload })
    const codes = [undefined, other, made.body.key].map(async (by) => {
      const answer = await get('/advisory/yield', { place }, by ? { by } : {})
      return [answer.status, answer.body.code]
    })
    expect(await Promise.all(codes)).toEqual([
      [401, 'UNAUTHORIZED'],
      [404, 'NOT_FOUND'],
      [403, 'INSUFFICIENT_SCOPE'],
    ])
  })
})

describe('an area', () => {
  test.each(['yield', 'fertilizer', 'forage'])(
    'is answered to everybody as POST does: %s',
    async (product) => {
      const path = `/advisory/${product}`
      const { status, headers, body } = await get(path, { place: 'Fiche, Oromia' })
      const payload = { admin: { country_code: 'eth', code: FICHE } }
      const posted = await service.post(path, { by: service.person, payload })
      const { history_id: _, ...same } = posted.body
      const { place, ...rest } = body
      expect([status, rest]).toEqual([200, same])
      expect(place).toEqual({
        ...{ asked: 'Fiche, Oromia', found: 'Fiche', kind: 'area', near: false },
        ...{ code: FICHE, country_code: 'eth', level: 3 },
      })
      expect(headers['cache-control']).toBe('public, max-age=60, stale-if-error=86400')
      expect(headers['advisory-release']).toBe(body.release)
      const tag = { headers: { 'if-none-match': String(headers.etag) } }
      expect((await get(path, { place: 'Fiche, Oromia' }, tag)).status).toBe(304)
      const head = await get(path, { place: 'Fiche, Oromia' }, {}, 'HEAD')
      expect([head.status, head.text, head.headers.etag]).toEqual([200, '', headers.etag])
    },
  )

  test('has a section of each product where none is named', async () => {
    const { body } = await get('/advisory', { place: 'Fiche' })
    const one = (await get('/advisory/yield', { place: 'Fiche' })).body
    const { location, place, ...section } = one
    const { name, lat, lng, type } = location
    expect([body.location, body.place]).toEqual([{ name, lat, lng, type }, place])
    const values = one.yield_data.map(
      ({ min: _, max: __, stddev: ___, covered_percent: ____, ...entry }: Record<string, unknown>) => entry,
    )
    expect(body.yield).toEqual({ ...section, yield_data: values })
    expect(Object.keys(body)).toEqual([
      ...['location', 'country_code', 'crop', 'yield', 'fertilizer', 'isfm', 'forage', 'place'],
    ])
    const kenya = (await get('/advisory', { place: 'Nairobi City' })).body
    expect([kenya.yield.code, kenya.yield.yield_data]).toEqual(['CROP_NOT_AVAILABLE', null])
    expect(kenya.forage.forage_data.length).toBeGreaterThan(0)
    const wrong = await get('/advisory', { place: 'Fiche', provenance: 'true' })
    expect([wrong.status, wrong.body.error]).toEqual([
      400,
      'provenance must be left out: only the answer for one point has it.',
    ])
  })

  test('is found by a usual spelling and without words of its kind', async () => {
    for (const [asked, found] of [
      ['Addis Abeba', 'Addis Ababa'],
      ['Kigali', 'City of Kigali'],
      ['oromia region', 'Oromia'],
    ]) {
      const { body } = await get('/advisory', { place: asked })
      expect(body.place).toMatchObject({ asked, found, kind: 'area', near: true })
      expect(body.location.name).toBe(found)
    }
  })

  test('takes the level, the country, the release, the name and the condition', async () => {
    const release = (await get('/advisory/fertilizer', { place: 'Oromia' })).body.release
    const query = { place: 'addis ababa', level: 2, release, condition: 'foot slope', name: 'Mine' }
    const { body } = await get('/advisory/fertilizer', query)
    expect(body.location).toMatchObject({ name: 'Mine', admin: { level: 2, name: 'Addis Ababa' } })
    const conditions = body.fertilizer_data.map(({ condition }: { condition: string }) => condition)
    expect(new Set(conditions)).toEqual(new Set(['foot slope']))
    expect(body.release).toBe(release)
    const elsewhere = await get('/advisory/yield', { place: 'Kigali', country_code: 'eth' })
    expect([elsewhere.status, elsewhere.body.code]).toEqual([404, 'UNKNOWN_AREA'])
  })

  test('may be asked for as a text and as a table', async () => {
    const asked = await get('/advisory/yield', { place: 'Fiche', format: 'text', max_segments: 2 })
    expect(asked.text).toMatch(/^Fiche\. .*Yield \(wheat\) .* kg\/ha/)
    expect(asked.headers['content-type']).toBe('text/plain; charset=utf-8')
    const accepted = await get(
      '/advisory/yield',
      { place: 'Fiche', max_segments: 2 },
      { headers: { accept: 'text/plain' } },
    )
    expect([accepted.text, accepted.headers.etag]).toEqual([asked.text, asked.headers.etag])
    const { body } = await get('/advisory/yield', { place: 'Fiche' })
    const table = await get('/advisory/yield', { place: 'Fiche', format: 'csv' })
    const [row] = parse(table.text, { columns: true }) as Record<string, string>[]
    expect(row).toMatchObject({ name: 'Fiche', release: body.release })
    expect(Number(row?.['yield_kg_ha Normal'])).toBe(normal(body))
  })

  test('has amounts for a field in it', async () => {
    const { body } = await get('/advisory/fertilizer', { place: 'Fiche', area: '2 ha', bags: 'Urea:50' })
    expect(body.quantities.area).toEqual({ value: 2, unit: 'ha', ha: 2 })
    for (const { fertilizer_type, rate_kg_ha, quantity } of body.fertilizer_data) {
      expect(quantity.kg).toBeCloseTo(2 * rate_kg_ha, 6)
      expect(quantity.bag_kg).toBe(fertilizer_type === 'Urea' ? 50 : undefined)
    }
  })
})

const get = (
  path: string,
  query: Record<string, string | number | undefined> = {},
  sent?: Sent,
  method = 'GET',
) => {
  const text = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) text.set(name, String(value))
  return service.ask(`${method} ${path}?${text}`, sent)
}

const areaOf = (code: string) => areas.find((area) => area.code === code) as AreaName
