import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import type { TestApp } from '#test/setup/app.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { openFor } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { PASSWORD } from '#test/setup/people.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** As small as one can be: each frame of a map is drawn without a graphics card. */
export const DESKTOP = { width: 1000, height: 640 }
export const PHONE = { width: 390, height: 844 }

/** A browser for all pages of a file, and the address of a service. */
export interface Visitors {
  url: string
  open(path: string, options?: VisitOptions): Promise<Visit>
  /** The same browser, for another service. */
  at(service: TestApp): Promise<Visitors>
  close(): Promise<void>
}

export interface VisitOptions extends BrowserContextOptions {
  /** A script that runs before those of the page. */
  before?: string
}

/** A page of a visitor who has none of what others were sent. */
export interface Visit {
  page: Page
  /** Errors and warnings, failed requests, and requests to other hosts. */
  complaints: string[]
  /** The addresses of all requests. */
  asked: string[]
  close(): Promise<void>
}

/** What Chromium says of drawing without a graphics card. */
const OF_THE_MACHINE =
  /GPU stall due to ReadPixels|GroupMarkerNotSet|swiftshader|software WebGL|Service Worker registration blocked/i

/** Has a service listen, and starts a browser. */
export async function receiveVisitors(service: TestApp): Promise<Visitors> {
  const browser = await chromium.launch({
    executablePath: CHROMIUM as string,
    // Maps are drawn without a graphics card, which other parts of a page need not be; and Chromium has no sandbox as root,
    // which containers and CI run as.
    args: [
      ...['--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-gpu-compositing'],
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
    ],
  })
  return visitorsAt(service, browser)
}

/** Has a service run for the tests of a `describe`, and a browser in which a visitor has opened a page of it. */
export function openPages<Service extends TestApp>(start: () => Promise<Service>, path: string) {
  const service = openFor(start)
  const visitors = openFor(() => receiveVisitors(service))
  return { service, visitors, visit: openFor(() => visitors.open(path)) }
}

async function visitorsAt({ app }: TestApp, browser: Browser): Promise<Visitors> {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  return {
    url,
    async open(path, { before, ...options } = {}) {
      const context = await browser.newContext({
        viewport: DESKTOP,
        serviceWorkers: 'block',
        reducedMotion: 'reduce',
        ...options,
      })
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE.timeout)
      const complaints = complaintsOf(page, url)
      const asked: string[] = []
      page.on('request', (request) => asked.push(request.url()))
      if (before) await page.addInitScript(before)
      await page.goto(url + path)
      return { page, complaints, asked, close: () => context.close() }
    },
    at: (service) => visitorsAt(service, browser),
    close: () => browser.close(),
  }
}

function complaintsOf(page: Page, url: string): string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    const text = message.text()
    if (['error', 'warning'].includes(message.type()) && !OF_THE_MACHINE.test(text)) complaints.push(text)
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('request', (request) => {
    const to = request.url()
    if (!to.startsWith(`${url}/`) && !/^(data|blob):/.test(to)) complaints.push(`asked ${to}`)
  })
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText
    // What is not wanted any more is given up.
    if (reason !== 'net::ERR_ABORTED') complaints.push(`${request.url()} failed: ${reason}`)
  })
  return complaints
}

/** The rule of axe that none comes without the one above it. */
export const HEADINGS = 'heading-order'

/** Logs in at a page that asks for it. */
export async function logInAt(page: Page, email: string): Promise<void> {
  // The page of somebody who is still logged in has such fields, too.
  await page.getByRole('button', { name: 'Log in' }).waitFor()
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Log in' }).click()
}

/** Opens what is folded below a title. */
export async function unfold(page: Page, title: string): Promise<void> {
  await page.locator('summary').getByText(title, { exact: true }).click()
}

/** Waits until the map has drawn all that is to be seen. */
export async function drawn(page: Page): Promise<void> {
  await page.locator('.pane[data-state="idle"]').first().waitFor()
}

/** Waits until an expression is true in the page; `page.waitForFunction` is refused by the policy of the pages. */
export async function until(page: Page, expression: string): Promise<void> {
  await vi.waitFor(
    async () => expect([expression, await page.evaluate(expression)]).toEqual([expression, true]),
    PATIENCE,
  )
}

/** What axe finds wrong in a page, and where, as far as it is serious, or about the order of headings. */
export async function seriousFindings(page: Page, options: object = {}): Promise<string[]> {
  if (!(await page.evaluate('"axe" in window'))) await page.evaluate(AXE)
  const wanted = JSON.stringify({ resultTypes: ['violations'], ...options })
  const findings = await page.evaluate<{ id: string; impact: string; nodes: { target: string[] }[] }[]>(
    `axe.run(document, ${wanted}).then(({ violations }) => violations)`,
  )
  return findings
    .filter(({ id, impact }) => ['serious', 'critical'].includes(impact) || id === HEADINGS)
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
}

/** What a page saves where a button is pressed; of a table without its byte order mark. */
export async function savedBy(button: Locator): Promise<string> {
  const [download] = await Promise.all([button.page().waitForEvent('download'), button.click()])
  const chunks = []
  for await (const chunk of await download.createReadStream()) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  if (!download.suggestedFilename().endsWith('.csv')) return text
  // Excel reads a table without the mark in the code page of its computer.
  expect(text.charAt(0)).toBe('\ufeff')
  return text.slice(1)
}
