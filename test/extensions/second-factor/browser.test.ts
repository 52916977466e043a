// Runs on either database: pages ask for what other tests try on both.
import { describe, expect, test } from 'vitest'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { expectState } from '#test/setup/page-state.ts'
import { createTestAppWithPerson, PASSWORD } from '#test/setup/people.ts'
import { codeOfStep, stepAt } from '#test/setup/totp.ts'
import { bytesOf, codeNow } from '#test/setup/two-factor.ts'
import { logInAt, openPages, unfold } from '#test/web/pages.ts'

describe.skipIf(!CHROMIUM)('the second factor, in the page of an account', () => {
  const { service, visit } = openPages(createTestAppWithPerson, '/account')

  test('is set up with an app, asked for at the next login, and turned off with a code', async () => {
    const { page, complaints } = visit
    const { email } = service.person
    const card = page.locator('section', { has: page.getByRole('heading', { name: 'Second factor' }) })
    await logInAt(page, email)
    await card.getByText('Off: the password alone opens the account.').waitFor()
    await unfold(page, 'Set it up')
    await card.getByLabel('Password').fill(PASSWORD)
    await card.getByRole('button', { name: 'Set it up' }).click()
    const secret = await card.getByLabel('Secret for the app', { exact: true }).innerText()
    const uri = await card.getByRole('link').getAttribute('href')
    expect(new URL(uri as string).searchParams.get('secret')).toBe(secret)
    await card.getByLabel('Code').fill(codeNow(secret))
    await card.getByRole('button', { name: 'Turn it on' }).click()
    const shown = await card.getByLabel('Recovery codes', { exact: true }).innerText()
    const codes = shown.split('\n')
    expect(codes).toHaveLength(10)

    await page.reload()
    await card.getByText('On. 10 recovery codes are left.').waitFor()
    expect(await card.getByLabel('Recovery codes', { exact: true }).count()).toBe(0)
    await unfold(page, 'Turn it off')
    await expectState(card, 'on')
    await page.getByRole('button', { name: 'Log out' }).click()
    await logInAt(page, email)
    await page.locator('[name=code]:focus').waitFor()
    await page.locator('[name=code]').fill(codes[0] as string)
    await page.getByRole('button', { name: 'Log in' }).click()
    await card.getByText('On. 9 recovery codes are left.').waitFor()
    expect(complaints.splice(0)).toEqual([expect.stringContaining('401')])

    await unfold(page, 'Turn it off')
    await card.getByLabel('Password').fill(PASSWORD)
    // A code counts once: that of the next half a minute.
    await card.getByLabel('Code').fill(codeOfStep(bytesOf(secret), stepAt(Date.now()) + 1))
    await card.getByRole('button', { name: 'Turn it off' }).click()
    await card.getByText('Off: the password alone opens the account.').waitFor()
    expect(complaints).toEqual([])
  })
})
