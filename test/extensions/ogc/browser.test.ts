// Runs on either database: pages ask for what other tests try on both.
import { describe, expect, test } from 'vitest'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { expectState } from '#test/setup/page-state.ts'
import { createTestAppWithPerson, makeAdmin } from '#test/setup/people.ts'
import { logInAt, openPages, savedBy } from '#test/web/pages.ts'

describe.skipIf(!CHROMIUM)('the coverage, in the page of admins', () => {
  const { service, visit } = openPages(async () => {
    const made = await createTestAppWithPerson()
    await makeAdmin(made)
    return made
  }, '/operations')

  test('admins see what of each area has values, and why there are none, with a link and as a file', async () => {
    const { page } = visit
    await logInAt(page, service.person.email)
    const card = page.locator('section', { hasText: 'How much of each area has values' })
    await card.getByLabel('Country').selectOption('rwa')
    await card.getByLabel('Areas of level').selectOption('2')
    await card.getByLabel('Advice on').selectOption('yield')
    await card.getByRole('button', { name: 'Show the coverage' }).click()
    await card.locator('tbody tr').first().waitFor()
    expect(new URL(page.url()).hash).toBe('#country=rwa&level=2&product=yield')
    const url = '/coverage?country_code=rwa&level=2&product=yield'
    const csv: string = (await service.get(url, { headers: { accept: 'text/csv' } })).text
    expect(await card.locator('tbody tr').count()).toBe(Math.min(100, csv.trim().split('\r\n').length - 1))
    expect(await savedBy(card.getByRole('button', { name: 'Download the coverage as CSV' }))).toBe(csv)
    await card.getByLabel('Areas of level').selectOption('1')
    await page.reload()
    await card.locator('tbody tr').first().waitFor()
    expect(await card.getByLabel('Areas of level').inputValue()).toBe('2')
    await card.getByLabel('Areas of level').selectOption('1')
    await card.getByRole('button', { name: 'Show the coverage' }).click()
    await card.getByText('5 areas with 5 rows').waitFor()
    await expectState(card, 'coverage')
    const { body } = await service.get('/coverage?country_code=rwa&level=1&product=yield')
    const areas: { name: string; products: { covered_percent: number }[] }[] = body.items
    const rows = await card.locator('tbody tr').all()
    const shown = await Promise.all(rows.map(async (row) => (await row.innerText()).split('\t').slice(0, 2)))
    expect(shown).toEqual(areas.map(({ name, products: [one] }) => [String(one?.covered_percent), name]))
    expect(visit.complaints).toEqual([])
  })
})
