// Runs on either database: pages ask for what other tests try on both.
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertRelease } from '#src/ingest/queries.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { createTestAppWithPerson, makeAdmin, PASSWORD, type TestAppWithPerson } from '#test/setup/people.ts'
import { releaseDescription } from '#test/setup/releases.ts'
import { receiveVisitors, textOf, type Visit, type Visitors } from './pages.ts'

let service: TestAppWithPerson
let visitors: Visitors
let visit: Visit

describe.skipIf(!CHROMIUM)('the page of operations, in a browser', () => {
  beforeAll(async () => {
    service = await createTestAppWithPerson()
    await makeAdmin(service)
    visitors = await receiveVisitors(service)
    visit = await visitors.open('/account')
    const { page } = visit
    await page.getByLabel('E-mail').fill(service.person.email)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Log out' }).first().waitFor()
  })
  afterAll(async () => {
    await visit?.close()
    await visitors?.close()
    await service?.close()
  })

  test('admins see what is published, what a release changes, and how the service is used', async () => {
    const { page } = visit
    await page.goto(`${visitors.url}/operations`)
    await page.getByText('What answers now').first().waitFor()
    const { releases } = (await service.app.inject('/catalog')).json()
    expect(await page.locator('table', { hasText: 'What answers now' }).locator('tbody tr').count()).toBe(
      releases.length,
    )
    const { release } = releases.find(
      (one: { country_code: string; product: string }) =>
        one.country_code === 'rwa' && one.product === 'yield',
    )
    await page.getByRole('button', { name: `Show ${release}` }).click()
    const { layers } = (await service.app.inject(`/releases/${release}`)).json()
    const described = page.locator('table', { hasText: `Layers of ${release}` })
    await described.waitFor()
    expect(await described.locator('tbody tr').count()).toBe(layers.length)
    await page.getByRole('button', { name: 'Compare this release' }).click()
    await page.getByRole('button', { name: 'Compare another one with it' }).click()
    await page.getByRole('button', { name: 'Compare', exact: true }).click()
    await page.locator('table', { hasText: 'All areas together' }).waitFor()
    await page.locator('table', { hasText: 'By operation' }).waitFor()
    const slow = page.locator('table', { hasText: 'Single calls, the slowest first' })
    // What takes longest is asked for by all who have an account.
    await slow.locator('tr', { hasText: 'login' }).first().waitFor()
    const [first = 0, second = 0] = (await slow.locator('tbody td:first-child').allInnerTexts()).map((text) =>
      Number(text.replaceAll(',', '')),
    )
    expect(first).toBeGreaterThanOrEqual(second)
    expect(visit.complaints).toEqual([])
  })

  test('admins see which loads are not complete, and whether anybody goes on with them', async () => {
    const { page } = visit
    const { writer } = service.database
    await page.getByText('There are none: all that was loaded is complete.').waitFor()
    const { id, code } = await insertRelease(writer, releaseDescription({ forecastPeriod: '2034-01-01' }))
    await sql`update release set created_at = now() - interval '3 hours' where id = ${id}`.execute(writer)
    await page.reload()
    const row = page.locator('table', { hasText: 'Releases that are not complete' }).locator('tbody tr')
    await row.waitFor()
    expect((await row.locator('td').allInnerTexts()).slice(0, 3)).toEqual([
      code,
      'interrupted',
      '3 hours ago',
    ])
    await writer.deleteFrom('release').where('id', '=', id).execute()
    expect(visit.complaints).toEqual([])
  })

  test('admins see what of each area has values, and why there are none, with a link and as a file', async () => {
    const { page } = visit
    const card = page.locator('section', { hasText: 'How much of each area has values' })
    await card.getByLabel('Country').selectOption('rwa')
    await card.getByLabel('Areas of level').selectOption('2')
    await card.getByLabel('Advice on').selectOption('yield')
    await card.getByRole('button', { name: 'Show the coverage' }).click()
    await card.locator('tbody tr').first().waitFor()
    expect(new URL(page.url()).hash).toBe('#country=rwa&level=2&product=yield')
    const url = '/coverage?country_code=rwa&level=2&product=yield'
    const csv: string = (await service.app.inject({ url, headers: { accept: 'text/csv' } })).body
    expect(await card.locator('tbody tr').count()).toBe(Math.min(100, csv.trim().split('\r\n').length - 1))
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      card.getByRole('button', { name: 'Download the coverage as CSV' }).click(),
    ])
    expect(await textOf(download)).toBe(csv)
    await card.getByLabel('Areas of level').selectOption('1')
    await page.reload()
    await card.locator('tbody tr').first().waitFor()
    expect(await card.getByLabel('Areas of level').inputValue()).toBe('2')
    expect(visit.complaints).toEqual([])
  })
})
