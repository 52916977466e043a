import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

let behind: TestAppWithPerson
let prefixed: TestApp
beforeAll(async () => {
  behind = await createTestAppWithPerson({ settings: { TRUSTED_PROXIES: '10.0.0.0/8,::1' } })
  prefixed = await createTestApp({ settings: { BASE_PATH: '/agro', TRUSTED_PROXIES: '10.0.0.1' } })
})
afterAll(async () => {
  await behind.close()
  await prefixed.close()
})

interface Way {
  from?: string
  prefix?: string
  headers?: Record<string, string>
}

async function ask({ app }: TestApp, url: string, { from = '10.1.2.3', prefix, headers = {} }: Way = {}) {
  const response = await app.inject({
    url,
    remoteAddress: from,
    headers: { ...headers, ...(prefix !== undefined && { 'x-forwarded-prefix': prefix }) },
  })
  return { ...response.json(), link: response.headers.link }
}

describe('what names a path begins with', () => {
  test('BASE_PATH', async () => {
    expect((await ask(prefixed, '/agro/')).docs).toBe('/agro/docs')
    expect((await ask(prefixed, '/agro/nowhere')).error).toBe(
      'Path not found: GET /agro/nowhere. See /agro/docs.',
    )
    expect((await ask(prefixed, '/agro/user/profile')).error).toContain(
      'log in with POST /agro/auth/login and',
    )
    expect((await ask(prefixed, '/agro/catalog')).products[0].path).toMatch(/^\/agro\/advisory\//)
  })

  test('X-Forwarded-Prefix of a trusted proxy, everywhere', async () => {
    const way = { prefix: '/farm', headers: behind.person.headers }
    expect(await ask(behind, '/', way)).toMatchObject({
      docs: '/farm/docs',
      openapi: '/farm/openapi.json',
      catalog: '/farm/catalog',
      stac: '/farm/stac',
      ogc: '/farm/ogc',
    })
    expect((await ask(behind, '/nowhere', way)).error).toContain('See /farm/docs.')
    expect((await ask(behind, '/catalog', way)).products[0].path).toMatch(/^\/farm\/advisory\//)
    expect((await ask(behind, '/openapi.json', way)).servers).toEqual([{ url: '/farm' }])
    expect((await ask(behind, '/openapi.json')).servers).toEqual([{ url: '/' }])
    for (let item = 0; item < 2; item++) {
      const url = '/advisory/yield/point?lat=9.5&lng=38.5'
      await behind.app.inject({ method: 'POST', url, headers: behind.person.headers })
    }
    expect((await ask(behind, '/history/my?limit=1', way)).link).toMatch(
      /^<\/farm\/history\/my\?limit=1&cursor=/,
    )
  })

  test('both, where a proxy strips a prefix of a service that has one', async () => {
    const way = { from: '10.0.0.1', prefix: '/farm' }
    expect((await ask(prefixed, '/agro/', way)).docs).toBe('/farm/agro/docs')
    expect((await ask(prefixed, '/agro/openapi.json', way)).servers).toEqual([{ url: '/farm/agro' }])
  })

  test.each(['10.255.0.1', '::1', '::ffff:10.0.0.9'])('what the proxy %s says', async (from) => {
    expect((await ask(behind, '/', { from, prefix: '/farm' })).docs).toBe('/farm/docs')
  })

  test.each(['11.0.0.1', '127.0.0.1', '::2', '::ffff:11.0.0.1'])('nothing that %s says', async (from) => {
    expect((await ask(behind, '/', { from, prefix: '/farm' })).docs).toBe('/docs')
  })

  test.each([
    '//evil.example.org',
    'farm',
    '/farm/',
    '/a b',
    '/<script>',
    '/..',
    '/./farm',
    '/farm/../..',
    '/a,/b',
    `/${'x'.repeat(200)}`,
    'https://x',
    '/%2e',
  ])('nothing that is no prefix: %s', async (prefix) => {
    expect((await ask(behind, '/', { prefix })).docs).toBe('/docs')
  })
})

test('a service behind no proxy believes nobody', async () => {
  const open = await createTestApp()
  try {
    expect((await ask(open, '/', { from: '127.0.0.1', prefix: '/farm' })).docs).toBe('/docs')
  } finally {
    await open.close()
  }
})

test('which host a link leads to is what Host says, whatever a trusted proxy passes on', async () => {
  const headers = {
    host: 'advisory.example',
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'https',
  }
  const { links } = await ask(behind, '/ogc', { headers })
  expect(links[0].href).toBe('https://advisory.example/ogc?f=json')
})

describe('PUBLIC_URL', () => {
  test('is the address in all links, whatever Host and proxies say', async () => {
    const PUBLIC_URL = 'https://advisory.example:8443/farm'
    const named = await createTestAppWithPerson({
      settings: { PUBLIC_URL, TRUSTED_PROXIES: '10.0.0.1' },
    })
    try {
      const { app, person } = named
      const way = {
        from: '10.0.0.1',
        prefix: '/other',
        headers: { ...person.headers, host: 'a.example', 'x-forwarded-proto': 'http' },
      }
      expect((await ask(named, '/', way)).docs).toBe('/farm/docs')
      expect((await ask(named, '/ogc', way)).links[0].href).toBe(`${PUBLIC_URL}/ogc?f=json`)
      expect((await ask(named, '/stac', way)).links[0].href).toBe(`${PUBLIC_URL}/stac`)
      const [{ release: code }] = (await ask(named, '/catalog')).releases
      const [layer] = (await ask(named, `/releases/${code}/layers`, way)).layers
      expect(layer.tiles[0].startsWith(`${PUBLIC_URL}/releases/${code}/`)).toBe(true)
      const feed = await app.inject({ url: '/changes?format=atom', ...way })
      expect(feed.body).toContain(`<link rel="self" type="application/atom+xml" href="${PUBLIC_URL}/`)

      const url = '/advisory/yield/point?lat=9.5&lng=38.5'
      const given = await app.inject({ method: 'POST', url, headers: person.headers })
      const share = `/history/${given.json().history_id}/share`
      const shared = await app.inject({ method: 'POST', url: share, headers: way.headers })
      expect(shared.json().url).toBe(`${PUBLIC_URL}/cite/${shared.json().id}`)
    } finally {
      await named.close()
    }
  })

  test.each([
    'advisory.example',
    'ftp://advisory.example',
    'https://advisory.example/',
    'https://advisory.example/?x',
    'https://user@advisory.example',
    "https://x';id",
    'https://a b',
    'https://advisory.example/farm/',
  ])('is refused where it is none: %s', (PUBLIC_URL) => {
    expect(() => loadConfig({ PUBLIC_URL })).toThrow(
      'The configuration is not valid: PUBLIC_URL must be an address such as https://advisory.example/agro, without a slash at its end.',
    )
  })

  test('ends with BASE_PATH', () => {
    const settings = { BASE_PATH: '/agro', PUBLIC_URL: 'https://advisory.example' }
    expect(() => loadConfig(settings)).toThrow('PUBLIC_URL must end with BASE_PATH, which is /agro.')
  })
})
