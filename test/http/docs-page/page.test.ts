import type { AddressInfo } from 'node:net'
import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { openWatchedPage, type WatchedPage } from '#test/setup/browser.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { documentOf, operationsOf } from '#test/setup/document.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'

const DESKTOP = { width: 1000, height: 700 }

/** The tags that are open at first. */
const OPEN = ['advisory', 'places', 'catalog']

let service: TestApp
let watched: WatchedPage
let page: Page
let url: string

describe.skipIf(!CHROMIUM)('the page of the documentation, before anything is executed', () => {
  beforeAll(async () => {
    service = await createTestApp()
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    url = `http://127.0.0.1:${(service.app.server.address() as AddressInfo).port}/docs`
    watched = await openWatchedPage(DESKTOP)
    page = watched.page
    page.setDefaultTimeout(PATIENCE.timeout)
    await page.goto(url)
  })
  afterAll(async () => {
    await watched?.close()
    await service?.close()
  })

  test('opens the points, and its chooser has the other documents', async () => {
    await page.locator('.opblock').first().waitFor()
    const points = (await service.app.inject('/openapi/points.json')).json()
    const shownPaths = await page
      .locator('.opblock-summary-path')
      .evaluateAll((all) => all.map((path) => path.dataset.path))
    expect(new Set(shownPaths)).toEqual(new Set(Object.keys(points.paths)))
    const chooser = page.locator('.topbar select')
    const names = await chooser.locator('option').allInnerTexts()
    expect(names.map((name) => name.split(':')[0])).toEqual([
      'Points',
      'Fields',
      'Account',
      'Operations',
      'All operations',
    ])
    await chooser.selectOption({ index: 2 })
    // Tags of accounts are closed at first.
    await page.locator('.opblock-tag[data-tag="auth"]').click()
    await page.locator('#operations-auth-login').waitFor()
    expect(await page.locator('#operations-advisory-yieldAtPoint').count()).toBe(0)
    await page.locator('.opblock-tag[data-tag="auth"]').click()
  })

  test('keeps the token where another document is chosen', async () => {
    const { headers } = await newPerson(service.app)
    await page.locator('.btn.authorize').click()
    await page.locator('.auth-container input').fill(headers.authorization.replace('Bearer ', ''))
    await page.locator('.auth-container').getByRole('button', { name: 'Apply credentials' }).click()
    await page.locator('.modal-ux').getByRole('button', { name: 'Close' }).click()
    await page.locator('.topbar select').selectOption({ index: 1 })
    const block = page.locator('#operations-advisory-yieldInPolygon')
    await block.locator('.opblock-summary-control').click()
    await block.getByRole('button', { name: 'Execute' }).click()
    await block.locator('.live-responses-table .response .response-col_status', { hasText: '200' }).waitFor()
    await page.goto(url)
  })

  test('shows what people come for first, and accounts last', async () => {
    await page.locator('.opblock').first().waitFor()
    await page.locator('.topbar select').selectOption({ label: 'All operations' })
    await page.locator('.opblock-tag[data-tag="auth"]').waitFor()
    const tags = await page.locator('.opblock-tag').evaluateAll((all) => all.map((tag) => tag.dataset.tag))
    expect(tags).toEqual([
      'advisory',
      'places',
      'catalog',
      'subscriptions',
      'history',
      'service',
      'user',
      'auth',
    ])
    const document = await documentOf(service.app, 'all')
    const shown = operationsOf(document).filter(({ operation }) => OPEN.includes(String(operation.tags?.[0])))
    expect(await page.locator('.opblock').count()).toBe(shown.length)
    const first = page.locator('.opblock-summary-path')
    const paths = await first.evaluateAll((all) => all.slice(0, 4).map((path) => path.dataset.path))
    expect(paths).toEqual(
      ['yield', 'fertilizer', 'isfm', 'forage'].map((product) => `/advisory/${product}/point`),
    )
    // Points take no token, polygons do.
    expect(await page.locator('#operations-advisory-yieldAtPoint .authorization__btn').count()).toBe(0)
    expect(await page.locator('#operations-advisory-yieldInPolygon .locked').count()).toBe(1)
  })

  test('finds operations by words of their paths and summaries, in tags that are closed, too', async () => {
    const box = page.getByRole('searchbox', { name: 'Find an operation' })
    await box.fill('change PASSWORD')
    await page.locator('#operations-auth-changePassword').waitFor()
    expect(await page.locator('.opblock').count()).toBe(1)
    await box.fill('')
    await page.locator('#operations-advisory-yieldAtPoint').waitFor()
  })

  test('has links above the operations that open them where they can be seen', async () => {
    for (const link of await page.locator('.cards a[href^="#/"]').all()) {
      const [, tag, id] = String(await link.getAttribute('href')).split('/')
      await link.click()
      await page.locator(`#operations-${tag}-${id}.is-open`).waitFor()
      const block = page.locator(`#operations-${tag}-${id}`)
      await expect
        .poll(async () => Math.round((await block.boundingBox())?.y ?? -1), PATIENCE)
        .toSatisfy((top: number) => top >= 0 && top < DESKTOP.height / 2)
    }
    await page.goto(url)
    await page.reload()
  })

  test('has Execute near the top of an operation, and the body before the query', async () => {
    const block = page.locator('#operations-advisory-yieldAtPoint')
    for (const [width, height, most] of [
      [1440, 900, 900],
      [390, 844, 2 * 844],
    ] as const) {
      await page.setViewportSize({ width, height })
      if ((await block.locator('.opblock-body').count()) === 0)
        await block.locator('.opblock-summary-control').click()
      const topOf = async (part: Locator) => (await part.boundingBox())?.y ?? Number.NaN
      const [top, button] = [await topOf(block), await topOf(block.getByRole('button', { name: 'Execute' }))]
      const [body, query] = [await topOf(block.locator('textarea')), await topOf(block.locator('.in-query'))]
      expect(button - top).toBeLessThan(most)
      expect(body).toBeLessThan(query)
    }
    await page.setViewportSize(DESKTOP)
    await page.reload()
  })
})
