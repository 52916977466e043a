// Runs on both databases: polygons, many polygons and batches come from statements of their own.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Download } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertRelease } from '#src/ingest/load-queries.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { createTestAppWithPerson, makeAdmin, PASSWORD, type TestAppWithPerson } from '#test/setup/people.ts'
import { releaseDescription } from '#test/setup/releases.ts'
import { faultsOf } from './looks.ts'
import { drawn, PHONE, receiveVisitors, seriousFindings, until, type Visit, type Visitors } from './pages.ts'

const CORNERS = '9.5, 38.5\n9.5, 38.51\n9.51, 38.51\n9.51, 38.5'
const RING = [
  [38.5, 9.5],
  [38.51, 9.5],
  [38.51, 9.51],
  [38.5, 9.51],
  [38.5, 9.5],
]
const FIELD = { type: 'Polygon', coordinates: [RING] }

let service: TestAppWithPerson
let visitors: Visitors
let visit: Visit

describe.skipIf(!CHROMIUM)('the pages of fields, points and districts, in a browser', () => {
  beforeAll(async () => {
    service = await createTestAppWithPerson()
    await makeAdmin(service)
    visitors = await receiveVisitors(service)
    visit = await visitors.open('/field')
  })
  afterAll(async () => {
    await visit?.close()
    await visitors?.close()
    await service?.close()
  })

  test('a field is drawn on the map, and its corners stand beside it', async () => {
    const { page } = visit
    await drawn(page)
    await page.getByRole('button', { name: 'Draw on the map' }).click()
    await page.getByText('Click each corner').waitFor()
    const canvas = page.locator('.pane canvas')
    for (const [x, y] of [
      [200, 100],
      [300, 100],
      [300, 200],
    ] as const) {
      await canvas.click({ position: { x, y } })
    }
    await page.keyboard.press('Enter')
    await page.getByText('3 corners').waitFor()
    expect((await page.getByRole('textbox', { name: 'Corners' }).inputValue()).split('\n')).toHaveLength(3)
  })

  test('a field that is typed is asked for after a login in between, and answered as the API does', async () => {
    const { page } = visit
    await page.getByLabel('Name of the field').fill('Upper field')
    await page.getByRole('textbox', { name: 'Corners' }).fill('9.5, 38.5')
    await page.getByRole('button', { name: 'Get the advice' }).click()
    await page.getByText('A field has at least three corners.').first().waitFor()
    await page.getByRole('textbox', { name: 'Corners' }).fill(CORNERS)
    await page.getByRole('button', { name: 'Get the advice' }).click()
    await logInAsked()
    await page.locator('.report').waitFor()
    const answer = await asked('/advisory/fertilizer', { geometry: FIELD, quantiles: [0.1, 0.5, 0.9] })
    const text = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 4 })
    const section = page.locator('.report section', { hasText: 'Fertilizer' })
    const [first] = answer.fertilizer_data
    expect(await section.locator('tbody tr').first().locator('th, td').allInnerTexts()).toEqual([
      `${first.fertilizer_type}, ${first.scenario}`,
      ...[first.rate_kg_ha, ...first.quantiles.map(({ value }: { value: number }) => value)].map(text),
      text(first.covered_percent),
      text(first.total_kg),
    ])
    expect(await page.locator('.report h4').count()).toBe(4)
    expect(await page.locator('.report h3').innerText()).toBe('Upper field')
    const link = page.getByRole('link', { name: 'Be told when this changes' })
    const wanted = new URLSearchParams((await link.getAttribute('href'))?.replace('account#', ''))
    expect(Object.fromEntries(wanted)).toEqual({
      country: 'eth',
      crop: 'wheat',
      name: 'Upper field',
      outline: CORNERS,
    })
  })

  test('its report prints as one page, without what is around it', async () => {
    const { page } = visit
    await page.emulateMedia({ media: 'print' })
    const seen = await page
      .locator('nav, form, .drop, .map-card, .report :is(button, a)')
      .evaluateAll((all) => all.filter((one) => one.checkVisibility()).length)
    expect(seen).toBe(0)
    const pdf = (await page.pdf({ format: 'A4' })).toString('latin1')
    expect(pdf.match(/\/Type\s*\/Page\b/g)).toHaveLength(1)
    await page.emulateMedia({ media: 'screen' })
  })

  test('a link opens the same field again, and a file is one as well', async () => {
    const { page } = visit
    await page.reload()
    expect(await page.getByRole('textbox', { name: 'Corners' }).inputValue()).toBe(CORNERS)
    const buffer = Buffer.from(
      JSON.stringify({ type: 'Feature', properties: { name: 'Lower' }, geometry: FIELD }),
    )
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'lower.geojson', mimeType: 'application/geo+json', buffer })
    await page.getByText('lower.geojson is taken over.').waitFor()
    expect(await page.getByLabel('Name of the field').inputValue()).toBe('Lower')
  })

  test('a field in a country that has forage alone is answered, without a crop', async () => {
    const { page } = visit
    await page.getByLabel('Country').selectOption('ken')
    await page.getByLabel('Crop', { exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('textbox', { name: 'Corners' }).fill('-1, 36.5\n-1, 36.51\n-0.99, 36.51')
    await page.getByRole('button', { name: 'Get the advice' }).click()
    const forage = page.locator('.report section', { hasText: 'Forage' })
    await forage.locator('tbody tr').first().waitFor()
    expect(await page.locator('.report section tbody').count()).toBe(1)
  })

  test('a table of points is answered as the API does, row by row, and goes back with the values', async () => {
    const { page } = visit
    await page.goto(`${visitors.url}/points#product=fertilizer&country=rwa`)
    const farms = readFileSync(join(import.meta.dirname, '../../examples/rwanda/farms.csv'), 'utf8').trimEnd()
    const rows = farms.split('\n').slice(1)
    // More than one call takes.
    const csv = `${farms}\n${rows.join('\n')}\n${rows.join('\n')}\nbad,Nowhere,north,29,1\n`
    const file = { name: 'farms.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByRole('button', { name: 'Get the advice for 1501 points' }).click()
    await page.getByText('without.').waitFor()
    const answer = await asked('/advisory/fertilizer/points?country_code=rwa&crop=potato', csv, 'text/csv')
    const wrong = answer.items.filter(({ error }: { error?: string }) => error)
    expect(await page.locator('[role=status]', { hasText: 'Done' }).innerText()).toBe(
      `Done: ${1501 - wrong.length} points with values, ${wrong.length} without.`,
    )
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ])
    const lines = (await textOf(download)).trimEnd().split('\r\n')
    expect(lines).toHaveLength(1502)
    const [first] = answer.items
    const values = first.fertilizer_data.map(({ rate_kg_ha }: { rate_kg_ha: number }) => rate_kg_ha)
    expect(lines[1]).toBe([rows[0], ...values, first.release, first.synthetic, '', ''].join(','))
    expect(lines.at(-1)).toContain('lat must be a number from -90 to 90')
    await page.getByRole('button', { name: 'Why there is no value' }).click()
    expect(await page.locator('tbody tr').first().innerText()).not.toBe('')
  })

  test('all districts are in one table, which is sorted, and is a file as the API gives it', async () => {
    const { page } = visit
    const request = { admin: { country_code: 'rwa', level: 2 }, crop: 'potato' }
    const { items } = await asked('/advisory/yield/polygons', request)
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route('**/polygons', (route) => held.then(() => route.continue()), { times: 1 })
    await page.goto(`${visitors.url}/districts#product=yield&country=rwa&level=2`)
    await page.getByText(`0 of ${items.length} areas`).waitFor()
    letGo()
    await page.locator('tbody tr').first().waitFor()
    expect(await page.locator('progress').isVisible()).toBe(false)
    const means: number[] = items.map(
      (item: { yield_data: { yield_kg_ha: number }[] }) => item.yield_data[0]?.yield_kg_ha,
    )
    await page.getByRole('button', { name: 'Above Normal' }).click()
    const shown = await page.locator('tbody tr td:nth-child(3)').allInnerTexts()
    expect(shown).toEqual(
      means
        .toSorted((a, b) => a - b)
        .map((value) => value.toLocaleString('en', { maximumFractionDigits: 4 })),
    )
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download as CSV' }).click(),
    ])
    expect((await textOf(download)).split('\r\n')).toHaveLength(items.length + 2)
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
    await slow.locator('tr', { hasText: 'register' }).first().waitFor()
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
      'cut off: nobody loads it',
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

  test.each(['light', 'dark'] as const)(
    'no page has a serious fault of accessibility, and each fits a phone, %s',
    async (colorScheme) => {
      const { page } = visit
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize(PHONE)
      for (const path of ['/field', '/points', '/districts', '/operations#country=rwa&level=1']) {
        await page.goto(visitors.url + path)
        await page.locator('.card').first().waitFor()
        await until(page, "!document.querySelector('[aria-busy=true]')")
        expect([path, await seriousFindings(page)]).toEqual([path, []])
        expect([path, await faultsOf(page)]).toEqual([path, []])
      }
      expect(visit.complaints).toEqual([])
    },
  )

  async function logInAsked(): Promise<void> {
    const dialog = visit.page.getByRole('dialog')
    await dialog.getByLabel('E-mail').fill(service.person.email)
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Log in' }).click()
  }

  async function asked(url: string, payload: object | string, type = 'application/json') {
    const headers = { ...service.person.headers, 'content-type': type, accept: 'application/json' }
    return (await service.app.inject({ method: 'POST', url, headers, payload })).json()
  }
})

async function textOf(download: Download): Promise<string> {
  const chunks = []
  for await (const chunk of await download.createReadStream()) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}
