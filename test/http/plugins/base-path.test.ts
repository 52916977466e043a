import { afterAll, beforeAll, describe, expect, test } from 'vitest'
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
      'There is no GET /agro/nowhere. GET /agro/docs lists all paths.',
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
    expect((await ask(behind, '/nowhere', way)).error).toContain('GET /farm/docs lists')
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
