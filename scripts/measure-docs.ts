/**
 * Measures the page at /docs in Chromium: CPU until it is loaded, until an operation is expanded, and until its answer
 * is shown, and the pixels from the top of an operation to *Execute*. Times are those of the page's thread.
 *
 *     npm run docs-page -- http://127.0.0.1:3000
 */
import { type CDPSession, chromium, type Locator, type Page } from 'playwright-core'
import { CHROMIUM } from '#test/setup/chromium.ts'

const [url = 'http://127.0.0.1:3000'] = process.argv.slice(2)

const WINDOWS = {
  desktop: { width: 1440, height: 900 },
  phone: { width: 390, height: 844 },
}

/** The first one, and some that have more to show. */
const OPERATIONS = [
  'yieldAtPoint',
  'fertilizerAtPoint',
  'isfmAtPoint',
  'forageAtPoint',
  'yieldAtPoints',
  'getCatalog',
  'yieldInPolygon',
  'register',
]

if (CHROMIUM === undefined) throw new Error('There is no Chromium: CHROME_PATH says where it is.')
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
})
for (const [name, viewport] of Object.entries(WINDOWS)) {
  const page = await browser.newPage({ viewport })
  console.log(`${name}, ${viewport.width} x ${viewport.height}`)
  await measure(page, await page.context().newCDPSession(page))
  await page.close()
}
await browser.close()

async function measure(page: Page, session: CDPSession): Promise<void> {
  // Time that the thread computed, not that other processes took from it.
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  await page.goto(`${url}/docs`)
  await page.locator('.copy').first().waitFor()
  await settle(page)
  const loaded = await secondsOf(session)
  report('load', loaded)

  const [first, ...others] = OPERATIONS as [string, ...string[]]
  const expanded = await expand(page, session, first)
  const block = blockOf(page, first)
  const before = await secondsOf(session)
  await block.getByRole('button', { name: 'Execute' }).click()
  await block.locator('.live-responses-table').waitFor()
  await settle(page)
  const executed = (await secondsOf(session)) - before
  report('execute', executed)
  report('usable: load, expand and execute', loaded + expanded + executed)
  await close(page, first)
  for (const operation of others) {
    await expand(page, session, operation)
    await close(page, operation)
  }
}

function blockOf(page: Page, operation: string): Locator {
  return page.locator(`#op-${operation}`)
}

/** @returns the seconds that it took */
async function expand(page: Page, session: CDPSession, operation: string): Promise<number> {
  const block = blockOf(page, operation)
  await settle(page)
  const before = await secondsOf(session)
  await block.locator('> summary').click()
  await block.locator('.try').click()
  const button = block.getByRole('button', { name: 'Execute' })
  await button.waitFor()
  await settle(page)
  const seconds = (await secondsOf(session)) - before
  const top = (await block.boundingBox())?.y ?? Number.NaN
  const pixels = ((await button.boundingBox())?.y ?? Number.NaN) - top
  report(`expand ${operation}`, seconds, `${Math.round(pixels)} px to Execute`)
  return seconds
}

async function close(page: Page, operation: string): Promise<void> {
  await blockOf(page, operation).locator('> summary').click()
  await settle(page)
}

/** Until the page has nothing more to draw. */
async function settle(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle')
  await page.evaluate(
    'new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(() => requestIdleCallback(resolve, { timeout: 5000 }), { timeout: 5000 })))',
  )
}

async function secondsOf(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics')
  return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
}

function report(what: string, seconds: number, beside = ''): void {
  console.log(`  ${seconds.toFixed(2).padStart(5)} s  ${what.padEnd(34)} ${beside}`.trimEnd())
}
