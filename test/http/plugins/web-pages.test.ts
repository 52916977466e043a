import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { mapLinks } from '#schemas/service.ts'
import { buildApp } from '#src/app.ts'
import type { Config } from '#src/config.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { WEB_PAGES } from '#src/http/plugins/web-pages.ts'
import type { TestApp } from '#test/setup/app.ts'
import { openApp } from '#test/setup/open-service.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const service = openApp({ template: 'empty' })

const frontPage = (headers = {}, { app }: Pick<TestApp, 'app'> = service, url = '/') =>
  app.inject({ url, headers: { accept: BROWSER, ...headers } })

/** What a page loads, as a browser at `url` would ask for it. */
function filesOf(page: string, url: string): string[] {
  const [, base = ''] = /<base href="([^"]+)">/.exec(page) ?? []
  const named = [...page.matchAll(/<(?:link|script)[^>]*(?:href|src)="([^"]+)"/g)].map(
    ([, link = '']) => link,
  )
  const imports = JSON.parse(/<script type="importmap">(.*?)<\/script>/.exec(page)?.[1] ?? '{}').imports
  return [...named, ...(Object.values(imports) as string[])].map(
    (link) => new URL(link, new URL(base, `http://localhost${url}`)).pathname,
  )
}

test.each(['/nothing', '/account/nothing'])('a browser gets a page at %s, others the error', async (url) => {
  const { statusCode, headers, body } = await frontPage({}, service, url)
  expect([statusCode, headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  expect(headers.vary).toContain('Accept')
  for (const file of filesOf(body, url)) {
    expect([file, (await service.app.inject(file)).statusCode]).toEqual([file, 200])
  }
  for (const accept of ['*/*', 'application/json', BROWSER.replace('text/html', 'image/png')]) {
    const { statusCode, json } = await service.app.inject({ url, headers: { accept } })
    expect([statusCode, json().code]).toEqual([404, 'NOT_FOUND'])
  }
  const post = await service.app.inject({ url, method: 'POST', headers: { accept: BROWSER } })
  expect([post.statusCode, post.json().code]).toEqual([404, 'NOT_FOUND'])
})

describe('the front page', () => {
  test.each([
    undefined,
    'application/json',
    'text/html;q=0.5, */*',
    'image/png',
    // Two headers, of which neither asks for a page.
    '*/*, application/json;q=x',
    'application/json;q=2, text/html',
  ])('is the links of the API for Accept: %s', async (accept) => {
    const asked = { url: '/', headers: { ...(accept && { accept }) } }
    const { statusCode, headers, json } = await service.app.inject(asked)
    expect([statusCode, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    expect(json()).toEqual({
      name: 'Agricultural advisory service',
      openapi: '/openapi.json',
      openapi_parts: Object.fromEntries(
        ['points', 'fields', 'account', 'operations'].map((part) => [part, `/openapi/${part}.json`]),
      ),
      catalog: '/catalog',
      ...Object.assign({}, ...EXTENSIONS.map(({ links = {} }) => mapLinks(links, ({ path }) => path))),
      extensions: EXTENSIONS.map(({ name }) => name),
    })
    expect(headers.vary).toContain('Accept')
  })

  test('is a page in a browser, which asks each time whether it is still the same', async () => {
    const { statusCode, headers, body } = await frontPage()
    expect([statusCode, headers['cache-control']]).toEqual([200, 'no-cache'])
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    expect(headers.vary).toContain('Accept')
    expect(body).toContain('<title>Agricultural advisory service</title>')
    const again = await frontPage({ 'if-none-match': String(headers.etag) })
    expect([again.statusCode, again.body]).toEqual([304, ''])
  })

  test('may run no script but those of the service', async () => {
    const policy = String((await frontPage()).headers['content-security-policy'])
    expect(policy).not.toContain('unsafe')
    expect(policy).not.toMatch(/https?:|blob:|\*/)
    expect(policy).toContain("worker-src 'self'")
  })

  test('has files that are there, below BASE_PATH', async () => {
    const base = '/agro/v0'
    const prefixed = await serviceWith({ BASE_PATH: base })
    const named = filesOf((await frontPage({}, prefixed, `${base}/`)).body, `${base}/`)
    // The catalog is asked for as well, with the script that shows it.
    expect(named).toContain(`${base}/catalog`)
    const files = named.filter((url) => url.startsWith(`${base}/web/`))
    expect(files.length).toBeGreaterThan(6)
    for (const url of files) {
      const { statusCode, headers } = await prefixed.app.inject(url)
      expect([url, statusCode, headers['cache-control']]).toEqual([url, 200, 'public, max-age=86400'])
    }
    const worker = await prefixed.app.inject(`${base}/web/service-worker.js`)
    expect(worker.headers['service-worker-allowed']).toBe(`${base}/`)
    const shell = JSON.parse(/^const SHELL = (.*)$/m.exec(worker.body)?.[1] ?? '')
    for (const url of shell.files) expect((await prefixed.app.inject(url)).statusCode).toBe(200)
  })
})

describe('a file of a page', () => {
  const fileOf = async (name: string) =>
    filesOf((await frontPage()).body, '/').find((url) => url.endsWith(name)) as string

  test('is compressed, and not sent again to those who have it', async () => {
    const url = await fileOf('/maplibre-gl.mjs')
    const plain = await service.app.inject(url)
    const answer = await service.app.inject({ url, headers: { 'accept-encoding': 'gzip, br' } })
    expect(answer.headers['content-encoding']).toBe('br')
    expect(answer.headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(brotliDecompressSync(answer.rawPayload).equals(plain.rawPayload)).toBe(true)
    const again = await service.get(url, { headers: { 'if-none-match': String(answer.headers.etag) } })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  test('of another version is answered, and not to be kept under its address', async () => {
    const url = (await fileOf('/main.bundle.js')).replace(/web\/[^/]+\//, 'web/another/')
    const { status, headers } = await service.get(url)
    expect([status, headers['cache-control']]).toEqual([200, 'no-cache'])
  })

  test.each([
    ...['tsconfig.json', 'map/main.ts', '../package.json', '%2e%2e/%2e%2e/package.json'],
    ...['toString', 'lib/maplibre-gl/package.json'],
  ])('is one of those that pages need: %s is none', async (name) => {
    const { status, headers } = await service.get(`/web/1/${name}`)
    expect([status, headers['content-type']]).toEqual([404, 'application/json; charset=utf-8'])
  })
})

const asked = { 'accept-encoding': 'gzip' }

/** What a module imports before it runs, by the addresses that browsers make of it. Libraries have names instead. */
const importsOf = (url: string, text: string) =>
  [...text.matchAll(/\b(?:from|import)\s*['"](\.{1,2}\/[^'"]+)['"]/g)].map(
    ([, specifier = '']) => new URL(specifier, `http://localhost${url}`).pathname,
  )

const PAGES = [...WEB_PAGES, ...EXTENSIONS.flatMap(({ pages = [] }) => pages)]

/** What the files of a first view may take, compressed, without the library that draws maps. */
const FIRST_VIEW_BYTES = 30_000

test.each(PAGES.map(({ path }) => path))(
  'the first view of a page takes less than 30 kB, compressed, without the library that draws maps: %s',
  async (path) => {
    const page = await service.app.inject({ url: path, headers: { accept: BROWSER, ...asked } })
    const inPage = filesOf(gunzipSync(page.rawPayload).toString(), path)
    const files = new Set(inPage.filter((url) => !url.includes('/lib/')))
    let bytes = page.rawPayload.length
    // What is added while it goes on is seen, too.
    for (const url of files) {
      const file = await service.app.inject({ url, headers: asked })
      expect([url, file.statusCode]).toEqual([url, 200])
      bytes += file.rawPayload.length
      const isCompressed = file.headers['content-encoding'] === 'gzip'
      const text = (isCompressed ? gunzipSync(file.rawPayload) : file.rawPayload).toString()
      if (url.endsWith('.js')) for (const imported of importsOf(url, text)) files.add(imported)
    }
    expect(bytes).toBeGreaterThan(10_000)
    expect(bytes).toBeLessThan(FIRST_VIEW_BYTES)
    // Where one file names the next, each costs a round trip, which is long on a phone.
    expect(inPage).toEqual(expect.arrayContaining([...files]))
  },
)

test.each([...PAGES.map(({ path }) => path), '/docs', '/docs/rules'])(
  'the typeface of a page is from this service, is asked for at once, and takes at most 60 kB: %s',
  async (path) => {
    const { body, headers } = await service.app.inject({ url: path, headers: { accept: BROWSER } })
    expect(headers['content-security-policy']).toContain("font-src 'self'")
    const [, base = path] = /<base href="([^"]+)">/.exec(body) ?? []
    const named = [...body.matchAll(/<link rel="preload" as="font"[^>]* href="([^"]+)" crossorigin>/g)]
    const fonts = named.map(([, link = '']) => new URL(link, `http://localhost${base}`).pathname)
    expect(fonts.length).toBeGreaterThan(0)
    const [root = ''] = fonts[0]?.split('lib/') ?? []
    const style = await service.app.inject(`${root}styles/page.css`)
    const used = [...style.body.matchAll(/url\("\.\.\/([^"]+\.woff2)"\)/g)].map(([, name]) => root + name)
    // Those of letters that few names have are asked for where there is one.
    expect(used).toEqual(expect.arrayContaining(fonts))
    let bytes = 0
    for (const url of used) {
      const font = await service.app.inject(url)
      const { 'content-type': type, 'cache-control': caching } = font.headers
      expect([url, font.statusCode, type, caching]).toEqual([url, 200, 'font/woff2', 'public, max-age=86400'])
      bytes += font.rawPayload.length
    }
    expect(bytes).toBeLessThanOrEqual(60_000)
  },
)

async function serviceWith(settings: Partial<Config>): Promise<Pick<TestApp, 'app'>> {
  const app = await buildApp({ ...service.testDatabase.config, ...settings }, service.database)
  onTestFinished(() => app.close())
  return { app }
}
