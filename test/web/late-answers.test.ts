import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { drawn, receiveVisitors, until, type Visitors } from './pages.ts'

let service: TestAppWithPerson
let visitors: Visitors

/** What the table of areas asks for. */
const ITEMS = '**/ogc/collections/advisory-*/items*'

describe.skipIf(!CHROMIUM)('answers that come late, in a browser', () => {
  beforeAll(async () => {
    service = await createTestAppWithPerson()
    visitors = await receiveVisitors(service)
  })
  afterAll(async () => {
    await visitors?.close()
    await service?.close()
  })

  test('a run over points that another has replaced shows nothing', async () => {
    const { page, close } = await visitors.open('/points#product=fertilizer&country=rwa')
    const rows = Array.from({ length: 1001 }, (_, at) => `${at},-1.95,30.06\n`)
    const csv = {
      name: 'farms.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`id,lat,lng\n${rows.join('')}`),
    }
    await page.locator('input[type=file]').setInputFiles(csv)
    const calls = hold(page, '**/advisory/fertilizer/points?*')
    const start = page.getByRole('button', { name: 'Get the advice for 1001 points' })
    await start.click()
    await (await calls.next())()
    await calls.next()
    await start.click()
    const goOn = await calls.next()
    expect(await page.getByText('Download as CSV').count()).toBe(0)
    await goOn()
    await (await calls.next())()
    await page.getByText('Done: 1001 points with values.').waitFor()
    expect(await page.getByText('Download as CSV').count()).toBe(1)
    await close()
  })

  test('the table is that of the level that was chosen last', async () => {
    const { page, close } = await visitors.open('/docs')
    const calls = hold(page, ITEMS)
    await page.goto(`${visitors.url}/#product=yield&country=rwa&as=table`)
    const first = await calls.next()
    await page.getByLabel('Areas of level').selectOption('2')
    await (await calls.next())()
    const rows = page.locator('.areas-table tbody tr')
    await rows.first().waitFor()
    const shown = await rows.count()
    const late = page.waitForResponse(ITEMS)
    await first()
    await (await late).finished()
    // Whatever the page does with it, it has done once this is back.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    expect(await rows.count()).toBe(shown)
    await close()
  })

  test('a place that is given up while it is asked for does not come back', async () => {
    const { page, close } = await visitors.open('/')
    await drawn(page)
    const calls = hold(page, '**/advisory/point?*')
    await page.evaluate("location.hash = 'at=9.5,38.5'")
    await calls.next()
    const givenUp = page.waitForEvent('requestfailed')
    await page.evaluate("location.hash = 'product=yield'")
    expect((await givenUp).url()).toContain('/advisory/point?')
    await until(page, "!document.querySelector('.place[aria-busy]')")
    expect(await page.locator('.place .product').count()).toBe(0)
    await close()
  })

  test('the map of districts asks for their shapes once, whatever is shown of them', async () => {
    const { page, close } = await visitors.open('/districts#product=yield&country=rwa&level=2')
    let asked = 0
    page.on('request', (request) => {
      if (request.url().includes('areas-rwa-2/items')) asked++
    })
    await page.locator('tbody tr').first().waitFor()
    await page.locator('[name=figure]').selectOption('min')
    await page.locator('[name=figure]').selectOption('max')
    await drawn(page)
    expect(asked).toBe(1)
    await close()
  })
})

/** Holds calls back until they are told to go on, one after the other. */
function hold(page: Page, pattern: string) {
  const held: (() => Promise<void>)[] = []
  let arrived = () => {}
  const ready = page.route(pattern, (route) => {
    held.push(() => route.continue())
    arrived()
  })
  return {
    async next(): Promise<() => Promise<void>> {
      await ready
      while (held.length === 0) {
        await new Promise<void>((resolve) => {
          arrived = resolve
        })
      }
      return held.shift() as () => Promise<void>
    },
  }
}
