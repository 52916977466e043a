import { afterAll, describe, expect, test } from 'vitest'
import { yieldPrediction } from '#schemas/products/yield.ts'
import { composeText } from '#src/extensions/texts/compose.ts'
import { LANGUAGES, readLanguages, type Texts, textsIn } from '#src/extensions/texts/languages.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { folderOf, madeUpLanguage } from './language-files.ts'

const files = folderOf({
  'qaa.yaml': madeUpLanguage('qaa'),
  'qab.yaml': { ...madeUpLanguage('qab'), checked_by: undefined },
})
const served = LANGUAGES.served as Map<string, Texts>
for (const [code, texts] of readLanguages(files.url).served) served.set(code, texts)
afterAll(() => {
  served.delete('qaa')
  files.remove()
})

const service = openService()

const AT = 'lat=9.5&lng=38.5'
const IN_TEXT = { accept: 'text/plain' }

describe('format=text', () => {
  test.each([
    ['/advisory/yield/point', `${AT}&name=Abebe&max_segments=3`],
    ['/advisory/forage/point', AT],
    ['/advisory/point', `${AT}&max_segments=10`],
    ['/advisory/fertilizer/point', `${AT}&provenance=true&skill=true`],
    ['/advisory/yield/point', 'lat=0&lng=0'],
  ])('of %s?%s answers as Accept: text/plain does', async (path, query) => {
    for (const method of ['GET', 'HEAD']) {
      const byAccept = await get(`${path}?${query}`, IN_TEXT, method)
      const byAddress = await get(`${path}?${query}&format=text`, { accept: 'application/json' }, method)
      expect(byAddress.status).toBe(query.startsWith('lat=0') ? 404 : 200)
      expect(byAddress.text).toBe(byAccept.text)
      expect(shared(byAddress)).toEqual(shared(byAccept))
      expect(byAddress.headers['content-type']).toBe('text/plain; charset=utf-8')
      expect(byAddress.headers['content-language']).toBe('en')
      const { etag } = byAddress.headers
      if (etag)
        expect((await get(`${path}?${query}&format=text`, { 'if-none-match': etag })).status).toBe(304)
    }
  })

  test('is a format of GET alone, and of all products beside JSON', async () => {
    const url = `/advisory/point?${AT}`
    expect((await get(`${url}&format=csv`)).body.details[0].allowed).toEqual(['json', 'text'])
    expect((await get(`${url}&format=json`, IN_TEXT)).text).toBe((await get(url)).text)
    const posted = await get(`/advisory/yield/point?${AT}&format=text&lang=qaa`, {}, 'POST')
    expect(posted.body.ignored).toMatchObject([{ name: 'format' }, { name: 'lang' }])
  })
})

describe('the language of a text', () => {
  const url = `/advisory/yield/point?${AT}&format=text`

  test.each([
    ['', {}, 'en'],
    ['&lang=en', { 'accept-language': 'qaa' }, 'en'],
    ['&lang=qaa', {}, 'qaa'],
    ['&lang=', { 'accept-language': 'QAA-ET, en;q=0.5' }, 'qaa'],
    ['', { 'accept-language': 'fr, qaa;q=0.3, en;q=0.2' }, 'qaa'],
    ['', { 'accept-language': 'fr' }, 'en'],
    ['', { 'accept-language': '*' }, 'en'],
    ['', { 'accept-language': 'qab, qaa;q=x, en-GB' }, 'qaa'],
  ])('with "%s" and %j is %s', async (query, headers, language) => {
    const answer = await get(url + query, headers)
    expect(answer.headers['content-language']).toBe(language)
    expect(answer.text).toMatch(language === 'en' ? /^Demo data, not advice\. Yield/ : /^<Demo data, not/)
  })

  test('changes words, and neither numbers nor the names of crops', async () => {
    const [english, other] = await Promise.all(
      ['en', 'qaa'].map((lang) => get(`${url}&lang=${lang}&max_segments=9`)),
    )
    const expected = (english?.text ?? '')
      .replace('Demo data, not advice.', '<Demo data, not advice.>')
      .replace('Yield', 'Harvest')
      .replace('Jul', '<Jul>')
      .replaceAll(/Above Normal|Below Normal|Dominant|Normal|\d+ of 10 years|\d+ to \d+/g, '<$&>')
    expect(other?.text).toBe(expected)
    expect(other?.headers.etag).not.toBe(english?.headers.etag)
  })

  test('is that of Accept-Language where a body asks, which has no lang', async () => {
    const payload = { lat: 9.5, lng: 38.5, lang: 'qaa' }
    const ask = (language: string) =>
      service.post('/advisory/yield/point', {
        headers: { ...IN_TEXT, 'accept-language': language },
        payload,
      })
    expect((await ask('en')).headers['content-language']).toBe('en')
    expect((await ask('qaa')).text).toMatch(/^<Demo/)
  })

  test('is that of the reason for no value', async () => {
    const { status, headers, text } = await get(`/advisory/yield/point?lat=0&lng=0&format=text&lang=qaa`)
    expect([status, headers['content-language']]).toEqual([404, 'qaa'])
    expect(text).toBe('<There is no value: the place lies outside the country.>')
  })

  test('is one that is served: others are refused, and so are those that nobody has checked', async () => {
    for (const lang of ['xx', 'qab', 'EN']) {
      const { status, body } = await get(`${url}&lang=${lang}`)
      expect(status).toBe(400)
      expect(body.details).toEqual([
        { field: 'lang', message: 'lang must be one of en, qaa', allowed: ['en', 'qaa'] },
      ])
    }
  })
})

test('the answer for a polygon makes a text as that for a point does', async () => {
  const field = rectangle(38.5, 9.5, 38.6, 9.6)
  const ask = async (payload: object) =>
    (await service.post('/advisory/yield', { by: service.person, payload })).body
  const body = await ask({ geometry: field, name: 'Abebe' })
  const [above, normal, ...others] = body.yield_data
  const entries = [normal, above, ...others].map(({ scenario, yield_kg_ha, range, probability }) =>
    [
      `${scenario} ${Math.round(yield_kg_ha)}${range ? ` (${Math.round(range.low)} to ${Math.round(range.high)})` : ''} kg/ha`,
      ...(probability === undefined ? [] : [`${Math.round(probability * 10)} of 10 years`]),
    ].join(', '),
  )
  const text = `Demo data, not advice. Yield (wheat) Jul 2026: ${entries.join('; ')}.`
  expect(entries).toHaveLength(4)
  expect(composeText([yieldPrediction], body, textsIn(), 3)).toBe(`Abebe. ${text}`)
  expect(composeText([yieldPrediction], await ask({ geometry: field }), textsIn(), 3)).toBe(text)
  const [first] = body.yield_data
  expect(Object.keys(first)).toEqual(expect.arrayContaining(['min', 'max', 'stddev', 'covered_percent']))
})

const get = (url: string, headers = {}, method = 'GET') => service.ask(`${method} ${url}`, { headers })

/** The headers of an answer that are not of its request alone. */
const shared = ({ headers }: Awaited<ReturnType<typeof get>>) => {
  const { date: _, 'x-request-id': __, ...others } = headers
  return others
}
