// Runs on either database: pages ask for what other tests try on both.
import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { createTestApp } from '#test/setup/app.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { expectState } from '#test/setup/page-state.ts'
import { PASSWORD } from '#test/setup/people.ts'
import { allFaultsOf } from './looks.ts'
import { openPages, PHONE, savedBy, unfold, until } from './pages.ts'

const EMAIL = 'amina@example.org'

describe.skipIf(!CHROMIUM)('the pages of an account, in a browser', () => {
  const { service, visitors, visit } = openPages(createTestApp, '/account')

  test('make an account, and say what is wrong beside the field that it is about', async () => {
    const { page } = visit
    await page.getByRole('button', { name: 'Make an account' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Amina Bekele')
    await page.getByLabel('E-mail').fill(EMAIL)
    await page.getByLabel('New password').fill('short')
    await page.getByRole('button', { name: 'Make an account' }).click()
    await page.locator('[name=password][aria-invalid=true]:focus').waitFor()
    await expectState(page.locator('main'), 'account-refused')
    expect(takeRefusals(400)).toBe(1)
    await page.getByLabel('New password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Make an account' }).click()
    await page.getByText('Logged in as Amina Bekele.').waitFor()
    await expectState(page.locator('main'), 'account')
    for (const summary of await page.locator('summary').all()) await summary.click()
    await expectState(page.locator('main'), 'account-forms')
  })

  test('stay logged in over a reload; no token is kept but the one that is changed at each use', async () => {
    const { page } = visit
    const kept = () =>
      page.evaluate<string[]>(
        '[...Object.values(sessionStorage), ...Object.values(localStorage)].filter((text) => text !== "")',
      )
    const [before] = await kept()
    await page.reload()
    await page.getByText('Logged in as Amina Bekele.').waitFor()
    const [after, ...others] = await kept()
    expect([before === after, others, await page.context().cookies()]).toEqual([false, [], []])
    expect(after).not.toContain('.')
  })

  test('are logged in and out together with other tabs, and no longer once all are closed', async () => {
    const { page, close } = await visitors.open('/account')
    const context = page.context()
    const isIn = (tab: Page) => tab.getByText('Logged in as Amina Bekele.').waitFor()
    await fillLogin(page, PASSWORD)
    await isIn(page)
    const other = await context.newPage()
    await other.goto(`${visitors.url}/account`)
    await isIn(other)
    // Each changes the token, at the same moment.
    await Promise.all([page.reload(), other.reload()])
    await Promise.all([isIn(page), isIn(other)])
    await other.getByRole('button', { name: 'Log out' }).click()
    await fillLogin(page, PASSWORD)
    await Promise.all([isIn(page), isIn(other)])
    for (const tab of [page, other]) await tab.close()
    const later = await context.newPage()
    await later.goto(`${visitors.url}/account`)
    await later.getByRole('button', { name: 'Log in' }).waitFor()
    expect(await later.evaluate('localStorage.length')).toBe(0)
    await close()
  })

  test('make a key, which is shown once and works, and delete it', async () => {
    const { page } = visit
    await unfold(page, 'Make a key')
    await page.getByLabel('What the key is for').fill('Dashboard')
    await page.getByRole('button', { name: 'Make a key' }).click()
    const key = await page.getByLabel('The key for Dashboard', { exact: true }).innerText()
    expect(await profileWith(key)).toBe(403)
    await page.reload()
    const item = page.locator('.item', { hasText: 'Dashboard' })
    await item.waitFor()
    expect(await page.getByLabel('The key for Dashboard', { exact: true }).count()).toBe(0)
    expect(await item.innerText()).toContain(key.slice(0, 9))
    page.once('dialog', (dialog) => dialog.accept())
    await page.getByRole('button', { name: 'Delete the key for Dashboard' }).click()
    await page.getByText('There are no keys.').waitFor()
    expect(await profileWith(key)).toBe(401)
  })

  test('ask for the password again where it was given long ago, and go on', async () => {
    const { page } = visit
    const { writer } = service.database
    await sql`update session set authenticated_at = authenticated_at - interval '11 minutes'`.execute(writer)
    await unfold(page, 'Make a key')
    await page.getByLabel('What the key is for').fill('Sensors')
    await page.getByRole('button', { name: 'Make a key' }).click()
    await page.getByRole('dialog').getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Go on' }).click()
    await page.getByLabel('The key for Sensors', { exact: true }).waitFor()
    expect(takeRefusals(403)).toBe(1)
  })

  test('change the password, and log in with the new one alone', async () => {
    const { page } = visit
    await unfold(page, 'Change the password')
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.getByLabel('New password').fill('and is cut before the rain')
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('The password is changed.').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await fillLogin(page, PASSWORD)
    await page.locator('form [role=alert]:not([hidden])').waitFor()
    expect(takeRefusals(401)).toBe(1)
    await fillLogin(page, 'and is cut before the rain')
    await page.getByText('Logged in as Amina Bekele.').waitFor()
  })

  test('show what was answered, take feedback on it, and give all of it as a file', async () => {
    const { page } = visit
    const by = await newToken()
    const asked = 'POST /advisory/yield/point?lat=9.5&lng=38.5&name=Upper%20field'
    const { history_id, yield_data } = (await service.ask(asked, { by })).body
    await page.getByRole('link', { name: 'History' }).click()
    const item = page.locator('.item', { hasText: 'Upper field' })
    await item.getByText('All values, feedback, deletion').click()
    const { yield_kg_ha, range } = yield_data.find(
      ({ scenario }: { scenario: string }) => scenario === 'Normal',
    )
    await expectState(item, 'history', { '': { Yield: [yield_kg_ha, range.low, range.high] } })
    await item.getByText('How good was it?').click()
    await item.getByLabel('Rating').selectOption('5')
    await item.getByLabel('What was seen in the field').fill('3100')
    await item.getByRole('button', { name: 'Send' }).click()
    await item.getByText('Your rating: 5 of 5').waitFor()
    const { body: kept } = await service.get(`/history/${history_id}`, { by })
    expect(kept.feedback).toMatchObject({ rating: 5, observed: { yield_kg_ha: 3100 } })

    const csv = await service.get('/history/my?all=true', { by, headers: { accept: 'text/csv' } })
    expect(await savedBy(page.getByRole('button', { name: 'Download as CSV' }))).toBe(csv.text)

    await page.getByLabel('Advice on').selectOption('forage')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await page.getByText('Nothing was asked for yet').waitFor()
    expect(new URL(page.url()).hash).toBe('#product=forage')
    await page.goBack()
    page.once('dialog', (dialog) => dialog.accept())
    await item.getByText('All values, feedback, deletion').click()
    await item.getByRole('button', { name: 'Delete Upper field, Yield' }).click()
    await item.waitFor({ state: 'detached' })
  })

  test('have no serious fault of accessibility, and fit a phone, in light and dark', async () => {
    const { page } = visit
    await page.setViewportSize(PHONE)
    for (const [path, shown] of [
      ['/account', 'Keys for servers'],
      ['/account/history', 'Download as CSV'],
    ]) {
      await page.goto(visitors.url + path)
      await page
        .getByText(shown as string)
        .last()
        .waitFor()
      await until(page, "!document.querySelector('[aria-busy=true]')")
      expect([path, await allFaultsOf(page)]).toEqual([path, []])
    }
  })

  test('delete the account, with all that there is of it', async () => {
    const { page } = visit
    await page.goto(`${visitors.url}/account`)
    await unfold(page, 'Delete the account')
    await page.getByLabel('Type the e-mail').fill('somebody@example.org')
    const remove = page.locator('form').getByRole('button', { name: 'Delete the account' })
    await remove.click()
    await page.getByText('That is not amina@example.org.').waitFor()
    await page.getByLabel('Type the e-mail').fill(EMAIL)
    await remove.click()
    await page.getByRole('button', { name: 'Log in' }).waitFor()
    expect(await page.evaluate('sessionStorage.length + localStorage.length')).toBe(0)
    expect(visit.complaints).toEqual([])
  })

  const profileWith = async (key: string) => (await service.get('/user/profile', { by: key })).status

  async function newToken(password = 'and is cut before the rain'): Promise<string> {
    const payload = { email: EMAIL, password }
    return (await service.post('/auth/login', { payload })).body.access_token
  }

  /** Browsers complain of each answer that refuses something; such as were meant are taken away. */
  function takeRefusals(status: number): number {
    const isMeant = (complaint: string) => complaint.includes(`status of ${status} `)
    const others = visit.complaints.filter((complaint) => !isMeant(complaint))
    return visit.complaints.splice(0, Infinity, ...others).filter(isMeant).length
  }
})

async function fillLogin(page: Page, password: string): Promise<void> {
  // The page of who is still logged in has such fields, too.
  await page.getByRole('button', { name: 'Log in' }).waitFor()
  await page.getByLabel('E-mail').fill(EMAIL)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
}
