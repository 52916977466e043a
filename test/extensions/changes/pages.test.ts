// Runs on either database: pages ask for what other tests try on both.
import { describe, expect, test } from 'vitest'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { createTestAppWithPerson, makeAdmin } from '#test/setup/people.ts'
import { logInAt, openPages } from '#test/web/pages.ts'

describe.skipIf(!CHROMIUM)('the page of admins', () => {
  const { service, visit } = openPages(async () => {
    const made = await createTestAppWithPerson()
    await makeAdmin(made)
    return made
  }, '/operations')

  test('compares a release that is chosen in its list with another one', async () => {
    const { page } = visit
    await logInAt(page, service.person.email)
    const { releases } = (await service.get('/catalog')).body
    const { release } = releases.find(
      (one: { country_code: string; product: string }) =>
        one.country_code === 'rwa' && one.product === 'yield',
    )
    await page.getByRole('button', { name: `Show ${release}` }).click()
    await page.getByRole('button', { name: 'Compare this release' }).click()
    await page.getByRole('button', { name: 'Compare another one with it' }).click()
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await page.locator('table', { hasText: 'All areas together' }).waitFor()
    expect(visit.complaints).toEqual([])
  })
})
