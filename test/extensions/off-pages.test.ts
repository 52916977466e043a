// Runs on either database: pages ask for what other tests try on both.
import { describe, expect, test } from 'vitest'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { expectState } from '#test/setup/page-state.ts'
import { createTestAppWithPerson, makeAdmin } from '#test/setup/people.ts'
import { drawn, logInAt, openPages, until } from '#test/web/pages.ts'

describe.skipIf(!CHROMIUM)('pages without any extension, in a browser', () => {
  const { service, visitors, visit } = openPages(async () => {
    const off = EXTENSIONS.map(({ name }) => `-${name}`).join()
    const made = await createTestAppWithPerson({ settings: { EXTENSIONS: off } })
    await makeAdmin(made)
    return made
  }, '/#at=-1.6,29.5&country=rwa')

  test('show values on the map, without borders and without a table', async () => {
    const { page, asked, complaints } = visit
    await drawn(page)
    await page.locator('.place .product').first().waitFor()
    expect(await page.locator('[name=mode]').count()).toBe(0)
    expect(await page.locator('.place a[href^="account"]').count()).toBe(0)
    await page.goto(`${visitors.url}/#country=rwa&as=table`)
    await page.reload()
    await page.getByText('This service does not list its areas').waitFor()
    await page.goto(`${visitors.url}/districts`)
    await page.getByText('This service does not list its areas').waitFor()
    expect(asked.filter((address) => address.includes('/ogc'))).toEqual([])
    expect(complaints).toEqual([])
  })

  test('have the sections of the core alone', async () => {
    const { page, complaints } = visit
    await page.goto(`${visitors.url}/account`)
    await logInAt(page, service.person.email)
    await page.getByText('Logged in as').waitFor()
    await until(page, "!document.querySelector('[aria-busy=true]')")
    await expectState(page.locator('main'), 'account-without-extensions')
    await page.getByRole('link', { name: 'Operations' }).click()
    await page.locator('table', { hasText: 'By operation' }).waitFor()
    await page
      .getByRole('button', { name: /^Show / })
      .first()
      .click()
    await page.locator('table', { hasText: 'Layers of' }).waitFor()
    expect(await page.getByRole('button', { name: /^Compare/ }).count()).toBe(0)
    await until(page, "!document.querySelector('[aria-busy=true]')")
    expect(complaints).toEqual([])
  })

  test('of extensions are not there', async () => {
    for (const { path } of EXTENSIONS.flatMap(({ pages = [] }) => pages))
      expect([path, (await service.get(path)).status]).toEqual([path, 404])
  })
})
