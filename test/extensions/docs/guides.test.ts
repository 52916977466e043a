import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { createReadings } from '#src/extensions/docs/readings.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'
import type { App } from '#src/http/app.ts'
import { openApp } from '#test/setup/open-service.ts'

const service = openApp({ settings: { RELEASE_MAX_AGE_MS: '0' } })

const READING_PATHS = createReadings(EXTENSIONS).list.map(({ path }) => path)

describe('the documents for integrators', () => {
  test.each([
    ['guide', 'docs/guide/integrators.md'],
    ['rules', 'docs/api.md'],
    ['operators', 'docs/guide/operators.md'],
  ])('have a table of contents: %s', async (path, file) => {
    const page = await pageAt(`/docs/${path}`)
    const chapters = [...readFileSync(file, 'utf8').matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)
    expect(chapters.length).toBeGreaterThan(5)
    const [, list = ''] =
      /<a [^>]*aria-current="page">[^<]*<\/a>([\s\S]*?)\n<li><a href="[a-z]/.exec(page) ?? []
    const named = [...list.matchAll(/<a href="#[^"]*">(.*?)<\/a>/g)].map(([, heading]) => heading)
    expect(named).toEqual(expect.arrayContaining(chapters.map((heading) => heading?.replaceAll('`', ''))))
    for (const chapter of chapters) expect(page).toMatch(new RegExp(`<h2 id="[^"]+">${chapter}</h2>`))
  })

  test('have code in colours, and answers in JSON that is indented', async () => {
    const page = await pageAt('/docs/guide')
    expect(page).toContain('<td>404 <code>NO_DATA</code>')
    expect(page).toContain('<span class="name">&#34;yield_data&#34;</span>: [\n    {')
  })

  test.each(['', '/', ...READING_PATHS.map((path) => `/${path}`)].map((path) => `/docs${path}`))(
    'have links from %s that lead to a chapter',
    async (url) => {
      const page = await pageAt(url)
      const links = [...page.matchAll(/href="((?!https?:)[^"?]*#[^/"][^"]*)"/g)]
      const chapters = new Map<string, ReturnType<typeof idsOf>>()
      for (const [, link = ''] of links) {
        const { pathname, hash } = new URL(link, `http://localhost${url}`)
        const ids = chapters.get(pathname) ?? idsOf(await pageAt(pathname))
        chapters.set(pathname, ids)
        expect([link, ids.has(hash.slice(1))]).toEqual([link, true])
      }
      // A file of the repository is not here.
      expect(page).not.toMatch(/href="[^"]*\.md/)
      expect(linksOf(page, url).length).toBeGreaterThan(4)
    },
  )
})

const DOCUMENTS = ['', '/', ...READING_PATHS.map((path) => `/${path}`)].map((path) => `/docs${path}`)

describe('the documents that are served', () => {
  test('are all guides, and each names them all', async () => {
    const guides = readdirSync('docs/guide').map((file) => {
      const name = file.replace('.md', '')
      return EXTENSIONS.find((one) => one.name === name)?.guide?.path ?? name
    })
    const paths = guides
      .filter((name) => name !== 'calls')
      .map((name) => (name === 'integrators' ? 'guide' : name))
    expect(READING_PATHS).toEqual(expect.arrayContaining(paths))
    for (const url of DOCUMENTS) {
      const links = linksOf(await pageAt(url), url)
      expect(links).toEqual(expect.arrayContaining(READING_PATHS.map((path) => `/docs/${path}`)))
    }
  })

  test('have no link that leads nowhere', async () => {
    const links = new Map<string, string>()
    for (const url of DOCUMENTS) for (const link of linksOf(await pageAt(url), url)) links.set(link, url)
    expect(links.size).toBeGreaterThan(READING_PATHS.length)
    for (const [link, url] of links) {
      const { status } = await service.get(link)
      expect([url, link, status]).toEqual([url, link, 200])
    }
  })

  test.each(DOCUMENTS)(
    'name the address that serves them, in commands and in inline code: %s',
    async (url) => {
      const host = 'advisory.example:8080'
      const { text } = await service.get(url, { headers: { host } })
      const elsewhere = await pageAt(url)
      for (const page of [text, elsewhere]) expect(page).not.toContain('127.0.0.1:3000')
      expect(text.replaceAll(`http://${host}`, 'http://localhost:80')).toBe(elsewhere)
    },
  )

  test('have inline code that installs a client from there', async () => {
    const { text } = await service.get('/docs/clients', { headers: { host: 'advisory.example' } })
    expect(text).toContain('<code>npm install http://advisory.example/docs/clients/agro-advisory.tgz</code>')
  })

  test('name PUBLIC_URL whatever Host says, and no host that is none', async () => {
    const PUBLIC_URL = 'https://advisory.example/farm'
    const app = await buildApp({ ...service.testDatabase.config, PUBLIC_URL }, service.database)
    onTestFinished(() => app.close())
    const { body } = await app.inject({ url: '/docs/clients', headers: { host: 'evil.example' } })
    expect(body).toContain(`${PUBLIC_URL}/docs/clients/agro-advisory.tgz`)
    expect(body).not.toContain('evil.example')
    const wrong = await service.get('/docs/clients', { headers: { host: '"><script>' } })
    expect(wrong.status).toBe(400)
  })
})

describe('the page of the documentation', () => {
  const BASE_PATH = '/agro/v0'
  let prefixed: App
  beforeAll(async () => {
    prefixed = await buildApp({ ...service.testDatabase.config, BASE_PATH }, service.database)
    return () => prefixed.close()
  })

  const NAMED = ['/docs/rules', '/docs/agents', '/docs/gis', '/docs/changelog', '/openapi.yaml']
  test.each([
    ['', '/docs', NAMED],
    ['', '/docs/?x=/docs', NAMED],
    [BASE_PATH, '/docs', NAMED],
    [BASE_PATH, '/docs/', NAMED],
    [BASE_PATH, '/docs/rules', ['/docs/']],
  ])('has links that lead somewhere, below the path "%s", at %s', async (base, url, named) => {
    const app = base === '' ? service.app : prefixed
    const links = linksOf((await app.inject(base + url)).body, base + url)
    expect(links).toEqual(expect.arrayContaining(named.map((path) => base + path)))
    for (const link of links) {
      const { statusCode, headers } = await app.inject(link)
      expect([link, statusCode]).toEqual([link, 200])
      if (/\/docs\/static\/(?!swagger-initializer)/.test(link))
        expect(headers['cache-control']).toBe('public, max-age=86400')
    }
  })

  test('says that data are synthetic as long as such are published', async () => {
    const says = async () => (await pageAt('/docs')).includes('The data are synthetic.')
    expect(await says()).toBe(true)
    const { writer } = service.database
    const published = await writer.selectFrom('publication').selectAll().execute()
    await writer.deleteFrom('publication').execute()
    expect(await says()).toBe(false)
    await writer.insertInto('publication').values(published).execute()
    expect(await says()).toBe(true)
    await writer.updateTable('release').set({ synthetic: false }).execute()
    expect(await says()).toBe(false)
  })
})

describe('an operation', () => {
  const operations = async () =>
    [...(await pageAt('/docs')).matchAll(/id="op-(\w+)"/g)].map(([, id]) => `/docs/operations/${id}`)

  test('of the document is on the page, each once, and has its fields, its errors and its code', async () => {
    const { paths } = (await service.get('/openapi.json')).body
    const ids = Object.values<Record<string, { operationId: string }>>(paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => `/docs/operations/${operationId}`),
    )
    const urls = await operations()
    expect(urls.toSorted()).toEqual(ids.toSorted())
    for (const url of urls) {
      const { status, text } = await service.get(url, { headers: { host: 'advisory.example' } })
      expect([url, status]).toEqual([url, 200])
      for (const language of ['sh', 'js', 'python'])
        expect(text).toContain(`<code class="language-${language}">`)
      expect(text).toContain('http://advisory.example/')
      expect(text).toContain('<h4>Errors</h4>')
      expect(text).not.toMatch(/undefined|\[object Object\]|127\.0\.0\.1/)
    }
  })

  test('says what its fields mean, also of members of members', async () => {
    const page = await pageAt('/docs/operations/yieldAtPoint')
    expect(page).toMatch(/<dt><code>lat<\/code> <span class="small">number, required<\/span>/)
    expect(page).toContain('Members of <code>yield_data</code>')
  })

  test('that is unknown is a 404', async () => {
    expect((await service.get('/docs/operations/nothing')).status).toBe(404)
  })

  test('has code that runs as it stands, where nothing is missing', async () => {
    const port = await portOf()
    for (const id of ['yieldAtPoint', 'getYieldAtPoint', 'yieldAtPoints', 'getCatalog']) {
      const page = await pageAt(`/docs/operations/${id}`)
      const answers = []
      for (const [language, [program, ...options]] of Object.entries(RUN)) {
        const [, html = ''] =
          new RegExp(`<code class="language-${language}">([\\s\\S]*?)</code>`).exec(page) ?? []
        const code = textOfHtml(html).replaceAll('http://localhost:80', `http://127.0.0.1:${port}`)
        const shown = language === 'js' ? code.replace('await response.json()', 'JSON.stringify($&)') : code
        const printed =
          language === 'python' ? shown.replace(/print\((.*)\)$/, 'print(json.dumps($1))') : shown
        const { stdout } = await promisify(execFile)(program, [...options, printed])
        answers.push(JSON.parse(stdout))
      }
      expect([id, answers[0]]).toEqual([id, expect.not.objectContaining({ code: expect.anything() })])
      expect(answers).toEqual([answers[0], answers[0], answers[0]])
    }
  })
})

const RUN: Record<string, [string, ...string[]]> = {
  sh: ['bash', '-c'],
  js: ['node', '--input-type=module', '-e'],
  python: ['python3', '-c'],
}

const textOfHtml = (html: string) =>
  html.replaceAll(/<[^>]*>/g, '').replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))

test('the first calls run as they stand in curl, JavaScript and Python, and are answered the same', async () => {
  const port = await portOf()
  const guide = readFileSync('docs/guide/calls.md', 'utf8').replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
  const cards = guide.split(/^## /m).slice(1)
  expect(cards).toHaveLength(3)
  for (const card of cards) {
    const blocks = [...card.matchAll(/```(\w+)\n([\s\S]*?)\n```/g)]
    expect(blocks.map(([, language]) => language)).toEqual(Object.keys(RUN))
    const answers = []
    for (const [, language = '', code = ''] of blocks) {
      const [program, ...options] = RUN[language] as [string, ...string[]]
      const { stdout } = await promisify(execFile)(program, [...options, code])
      const { history_id: _, ...answer } = JSON.parse(stdout)
      answers.push(answer)
    }
    expect(answers[0]).not.toHaveProperty('code')
    expect(answers).toEqual([answers[0], answers[0], answers[0]])
  }
})

async function portOf(): Promise<number> {
  if (!service.app.server.listening) await service.app.listen({ host: '127.0.0.1', port: 0 })
  return (service.app.server.address() as AddressInfo).port
}

const pageAt = async (url: string) => (await service.get(url)).text

/** The addresses of this service that a page names, as a browser at `url` would ask for them. */
function linksOf(page: string, url: string): string[] {
  return [...page.matchAll(/(?:src|href)="((?!https?:)[^"#]+)"/g)].map(
    ([, link = '']) => new URL(link, `http://localhost${url}`).pathname,
  )
}

/** What GitHub and browsers find by the part of a link behind `#`. */
const idsOf = (page: string) => new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
