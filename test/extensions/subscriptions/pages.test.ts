// Runs on either database: pages ask for what other tests try on both.
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { fieldOf, keepFields } from '#test/setup/fields.ts'
import { expectState } from '#test/setup/page-state.ts'
import { createTestAppWithPerson } from '#test/setup/people.ts'
import { logInAt, openPages, unfold } from '#test/web/pages.ts'

describe.skipIf(!CHROMIUM)('subscriptions, in the page of an account', () => {
  const { service, visitors, visit } = openPages(createTestAppWithPerson, '/account')

  test('are not asked for before a login', async () => {
    await logInAt(visit.page, service.person.email)
    await visit.page.getByText('There are no subscriptions.').waitFor()
    expect(visit.complaints).toEqual([])
  })

  test('name all that is empty and has to be filled in, before anything is sent', async () => {
    const { page, asked } = visit
    await unfold(page, 'Subscribe')
    const before = asked.length
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText('Latitude: fill it in.').waitFor()
    expect(await page.locator('.wrong:not(:empty)').allInnerTexts()).toEqual([
      'Latitude: fill it in.',
      'Longitude: fill it in.',
      'Address to send to: enter an https address.',
    ])
    expect([await page.locator('form [role=alert]:visible').count(), asked.slice(before)]).toEqual([0, []])
  })

  test('say at the point that it lies elsewhere, and how it may be meant', async () => {
    const { page } = visit
    const latitude = page.getByLabel('Latitude')
    const subscribe = async (lat: string) => {
      await latitude.fill(lat)
      await page.getByRole('button', { name: 'Subscribe' }).click()
      await page.locator('[name=lat][aria-invalid=true]:focus').waitFor()
      expect(await page.locator('form [role=alert]:visible').count()).toBe(0)
      return page.locator('.wrong:not(:empty)').innerText()
    }
    await page.getByLabel('Address to send to').fill('https://hooks.example.org/agro')
    await page.getByLabel('Longitude').fill('9.5')
    expect(await subscribe('38.5')).toContain('did you mean lng, lat?')
    expect(await subscribe('138.5')).toBe('Latitude: enter a number from -90 to 90 (did you mean lng, lat?).')
    visit.complaints.splice(0)
  })

  test('subscribe to changes, with a secret that is shown once, enable it again, renew and delete it', async () => {
    const { page } = visit
    await page.getByLabel('Address to send to').fill('http://hooks.example.org/agro')
    await page.getByLabel('Latitude').fill('9.5')
    await page.getByLabel('Longitude').fill('38.5')
    await page.getByRole('textbox', { name: 'Name', exact: true }).first().fill('My field')
    const product = page.getByLabel('Advice on')
    await product.focus()
    await product.selectOption('fertilizer')
    expect(await product.evaluate('document.activeElement.name')).toBe('product')
    await page.getByLabel('Input or variety').selectOption('Urea')
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await page.locator('[name=url][aria-invalid=true]:focus').waitFor()
    await page.getByText('Address to send to: must begin with https://.').waitFor()
    expect(visit.complaints.splice(0)).toEqual([expect.stringContaining('status of 400')])
    await page.getByLabel('Address to send to').fill('https://hooks.example.org/agro')
    await page.getByRole('button', { name: 'Subscribe' }).click()
    const shown = page.getByLabel('The secret of My field', { exact: true })
    const secret = await shown.innerText()
    expect(secret).toMatch(/^whsec_/)
    const { writer } = service.database
    await sql`update subscription set disabled_at = now(), disabled_reason = 'gone'`.execute(writer)
    await page.reload()
    const item = page.locator('.item', { hasText: 'My field' })
    await item.getByText('Disabled: the address answered that it is gone').waitFor()
    const [made] = await subscribed()
    await expectState(item, 'disabled')
    const place = { type: 'point', lat: 9.5, lng: 38.5 }
    expect(made).toMatchObject({ product: 'fertilizer', input: 'Urea', place })
    expect(await shown.count()).toBe(0)
    await item.getByRole('button', { name: 'Enable My field again' }).click()
    await item.getByText('Active.').waitFor()
    await item.getByRole('button', { name: 'Renew the secret of My field' }).click()
    expect(await shown.innerText()).not.toBe(secret)
    page.once('dialog', (dialog) => dialog.accept())
    await item.getByRole('button', { name: 'Delete the subscription My field' }).click()
    await page.getByText('There are no subscriptions.').waitFor()
    expect([await subscribed(), await shown.count()]).toEqual([[], 0])
  })

  test('subscribe to changes in a field that comes with the address, in an area and in saved fields that are chosen', async () => {
    const { page } = visit
    const outline = '9.5, 38.5\n9.5, 38.51\n9.51, 38.51'
    const field = new URLSearchParams({ country: 'eth', name: 'Teff field', outline })
    await page.goto(`${visitors.url}/account#${field}`)
    await page.locator('h3:focus', { hasText: 'Told when values change' }).waitFor()
    expect(await page.getByLabel('Corners').inputValue()).toBe(outline)
    await page.getByLabel('Address to send to').fill('https://hooks.example.org/agro')
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByLabel('The secret of Teff field', { exact: true }).waitFor()
    expect(new URL(page.url()).hash).toBe('')
    await page.getByLabel('Where', { exact: true }).selectOption('In an administrative area')
    await page.getByLabel('Country').selectOption('rwa')
    await page.getByLabel('Area', { exact: true }).selectOption('RWA-02')
    await page.getByRole('textbox', { name: 'Name', exact: true }).first().fill('The south')
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByLabel('The secret of The south', { exact: true }).waitFor()
    await keepFields(service, 'north', [fieldOf(1)])
    await page.getByLabel('Where', { exact: true }).selectOption('In saved fields, one by one')
    await page.getByLabel('Country').selectOption('eth')
    await page.getByLabel('Collection', { exact: true }).selectOption('north')
    await page.getByRole('textbox', { name: 'Name', exact: true }).first().fill('The north')
    await page.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByLabel('The secret of The north', { exact: true }).waitFor()
    const corners = [38.5, 38.51, 38.51].map((lng, at) => [lng, [9.5, 9.5, 9.51][at]])
    const geometry = { type: 'Polygon', coordinates: [[...corners, corners[0]]] }
    const drawn = { name: 'Teff field', place: { type: 'polygon', geometry } }
    const chosen = { name: 'The south', place: { type: 'area', code: 'RWA-02', level: 1 } }
    const all = await subscribed()
    const saved = { name: 'The north', place: { type: 'fields', collection: 'north' } }
    for (const one of [drawn, chosen, saved]) expect(all).toContainEqual(expect.objectContaining(one))
  })

  async function subscribed() {
    return (await service.get('/subscriptions', { by: service.person })).body.items
  }
})
