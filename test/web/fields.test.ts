// Runs on either database: pages ask for what other tests try on both.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { insertRelease } from '#src/ingest/queries.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { expectFigures, expectState } from '#test/setup/page-state.ts'
import { createTestAppWithPerson, makeAdmin, PASSWORD } from '#test/setup/people.ts'
import { releaseDescription } from '#test/setup/releases.ts'
import { figuresOfAreas, figuresOfFifths, figuresOfLayers, figuresOfReport } from './figures.ts'
import { allFaultsOf, looksOf } from './looks.ts'
import { drawn, openPages, PHONE, savedBy, unfold, until } from './pages.ts'

const CORNERS = '9.5, 38.5\n9.5, 38.51\n9.51, 38.51\n9.51, 38.5'
const FIELD = rectangle(38.5, 9.5, 38.51, 9.51)

describe.skipIf(!CHROMIUM)('the pages of fields, points, districts and operations, in a browser', () => {
  const { service, visitors, visit } = openPages(async () => {
    const made = await createTestAppWithPerson()
    await makeAdmin(made)
    return made
  }, '/field')

  test('a field is drawn on the map, and its corners stand beside it', async () => {
    const { page } = visit
    await drawn(page)
    await page.getByRole('button', { name: 'Draw on the map' }).click()
    await page.getByText('Click each corner').waitFor()
    const canvas = page.locator('.pane canvas')
    const corners = [
      { x: 200, y: 100 },
      { x: 300, y: 100 },
      { x: 300, y: 200 },
      { x: 210, y: 190 },
    ]
    const press = async (name: string) => {
      await page.getByRole('button', { name }).focus()
      await page.keyboard.press('Enter')
    }
    const focused = () => page.evaluate('document.activeElement.textContent')
    await canvas.click({ position: { x: 100, y: 100 } })
    await press('Done')
    await page.getByText('A field has at least three corners. Click each corner').waitFor()
    await press('Undo')
    for (const position of corners) await canvas.click({ position })
    await press('Undo')
    expect(await focused()).toBe('Undo')
    await press('Done')
    await page.getByText('3 corners').waitFor()
    expect(await focused()).toBe('Clear')
    const outline = page.getByRole('textbox', { name: 'Corners' })
    expect((await outline.inputValue()).split('\n')).toHaveLength(3)
    expect(await page.getByRole('button', { name: /^(Done|Undo)$/ }).count()).toBe(0)
    await press('Clear')
    expect([await outline.inputValue(), await focused()]).toEqual(['', 'Draw on the map'])
    // With the keyboard at its end.
    await page.getByRole('button', { name: 'Draw on the map' }).click()
    await page.getByText('Click each corner').waitFor()
    for (const position of corners) await canvas.click({ position })
    await page.keyboard.press('Enter')
    await page.getByText('4 corners').waitFor()
  })

  test('the map goes to where the visitor is, and says why where the browser does not tell', async () => {
    const { page } = visit
    const context = page.context()
    await context.setGeolocation({ latitude: -1.6, longitude: 29.5, accuracy: 12 })
    await page.getByRole('button', { name: 'My position' }).click()
    await page.getByText('Your browser does not share your position with this page.').waitFor()
    await context.grantPermissions(['geolocation'])
    const base = page.waitForResponse('**/basemap/africa.geojson')
    await page.getByRole('button', { name: 'My position' }).click()
    await page.getByText('The dot is your position, within 12 m.').waitFor()
    expect((await base).status()).toBe(200)
    expect(visit.asked.map((address) => address.split('/').at(-1))).toContain('land.geojson')
    await context.clearPermissions()
  })

  test('the number to buy is seen on a phone without scrolling, and quantiles where they differ', async () => {
    const ring = '8, 38\n8, 39\n9, 39\n9, 38'
    const hash = new URLSearchParams({ country: 'eth', crop: 'wheat', outline: ring })
    const phone = await visitors.open(`/field#${hash}`, { viewport: PHONE, hasTouch: true })
    const { page } = phone
    await page.getByRole('button', { name: 'Get the advice' }).click()
    await logInAsked(page)
    const total = page.getByRole('columnheader', { name: 'In all' })
    await total.waitFor()
    const { x = 0, width = PHONE.width } = (await total.boundingBox()) ?? {}
    expect(x + width).toBeLessThan(PHONE.width)
    await unfold(page, 'All seasons, odds and ranges')
    const all = page.getByRole('table', { name: 'All seasons, odds and ranges' })
    const columns = await all.locator('thead th').allInnerTexts()
    expect(columns.slice(0, 3)).toEqual(['Of', 'In all', 'Mean'])
    expect(columns.slice(5)).toEqual(['Low (10 %)', 'Middle', 'High (90 %)'])
    await phone.close()
  })

  test('a field that is typed is asked for after a login in between, and answered as the API does', async () => {
    const { page } = visit
    await page.getByLabel('Name of the field').fill('Upper field')
    await page.getByRole('textbox', { name: 'Corners' }).fill('9.5, 38.5')
    await page.getByRole('button', { name: 'Get the advice' }).click()
    await page.getByText('A field has at least three corners.').first().waitFor()
    await page.getByRole('textbox', { name: 'Corners' }).fill(CORNERS)
    expect(await page.getByText('A field has at least three corners.').count()).toBe(0)
    await page.getByRole('button', { name: 'Get the advice' }).click()
    await logInAsked()
    await page.locator('.report').waitFor()
    await unfold(page, 'All seasons, odds and ranges')
    const products = ['yield', 'fertilizer', 'isfm', 'forage']
    const payload = { geometry: FIELD, country_code: 'eth', quantiles: [0.1, 0.5, 0.9] }
    const found = products.map(async (product) => [product, await asked(`/advisory/${product}`, payload)])
    const answers = Object.fromEntries(await Promise.all(found))
    const ofNormal = (entries: Record<string, unknown>[], input?: string) =>
      entries.find((one) => one.scenario === 'Normal' && (!input || one.fertilizer_type === input))
    const { fertilizer_data, location } = answers.fertilizer
    const bags = (input: string) => Math.ceil(Number(ofNormal(fertilizer_data, input)?.total_kg) / 50)
    const tons = (Number(ofNormal(answers.yield.yield_data)?.yield_kg_ha) * location.area_ha) / 1000
    const summary = `For ${location.area_ha.toPrecision(4)} ha in a normal season: ${bags('Urea')} bags of Urea, ${bags('DAP')} of DAP, about ${tons.toPrecision(3)} t of wheat.`
    const { yield_kg_ha: mean, range } = ofNormal(answers.yield.yield_data) as {
      yield_kg_ha: number
      range: { low: number; high: number }
    }
    const [value, low, high] = [mean, range.low, range.high].map((one) =>
      Math.round(one).toLocaleString('en'),
    )
    const first = `Wheat yield, normal season: ${value} kg/ha, ${low} to ${high}`
    await expectState(page.locator('.report'), 'report', figuresOfReport(answers), [first, summary])
    const link = page.getByRole('link', { name: 'Be told when this changes' })
    const wanted = new URLSearchParams((await link.getAttribute('href'))?.replace('account#', ''))
    const field = { country: 'eth', crop: 'wheat', name: 'Upper field', outline: CORNERS }
    expect(Object.fromEntries(wanted)).toEqual(field)
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
    const feature = { type: 'Feature', properties: { name: 'Lower' }, geometry: FIELD }
    const buffer = Buffer.from(JSON.stringify(feature))
    const file = { name: 'lower.geojson', mimeType: 'application/geo+json', buffer }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('lower.geojson is taken over.').waitFor()
    expect(await page.getByLabel('Name of the field').inputValue()).toBe('Lower')
  })

  test('a table of points is answered as the API does, row by row, and goes back with the values', async () => {
    const { page } = visit
    await page.goto(`${visitors.url}/points#product=fertilizer`)
    const farms = readFileSync(join(import.meta.dirname, '../../examples/rwanda/farms.csv'), 'utf8').trimEnd()
    const rows = farms.split('\n').slice(1)
    // More than one call takes.
    const csv = `${farms}\n${rows.join('\n')}\n${rows.join('\n')}\nbad,Nowhere,north,29,1\n`
    const file = { name: 'farms.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('1500 of 1501 points are in Rwanda.').waitFor()
    await page.getByRole('button', { name: 'Use Rwanda, potato' }).click()
    expect(await page.getByText('points are in').count()).toBe(0)
    await page.getByRole('button', { name: 'Get the advice for 1501 points' }).click()
    await page.getByText('without.').waitFor()
    const answer = await asked('/advisory/fertilizer/points?country_code=rwa&crop=potato', csv, 'text/csv')
    const wrong = answer.items.filter(({ error }: { error?: string }) => error)
    const done = `Done: ${1501 - wrong.length} points with values, ${wrong.length} without.`
    const saved = await savedBy(page.getByRole('button', { name: 'Download as CSV' }))
    const lines = saved.trimEnd().split('\r\n')
    expect(lines).toHaveLength(1502)
    const [first] = answer.items
    const valuesOf = ({ fertilizer_data: data = [] }: { fertilizer_data?: { rate_kg_ha: number }[] }) =>
      [1, 0, 2, 3, 5, 4, 6, 7].flatMap((place) => data[place]?.rate_kg_ha ?? [])
    const shown = rows.slice(0, 25).map((row, at) => {
      const [id = '', name = '', lat, lng] = row.split(',')
      return [id, [Number(name.slice(-3)), ...valuesOf(answer.items[at]), Number(lat), Number(lng)]]
    })
    const ofLegend = answer.items
      .filter(({ error }: { error?: string }) => !error)
      .flatMap((item: Parameters<typeof valuesOf>[0]) => valuesOf(item).slice(0, 1))
    const figures = {
      'Results, in kg/ha': Object.fromEntries(shown),
      'Fertilizer, DAP, Normal kg/ha': figuresOfFifths(ofLegend),
    }
    await expectState(page.locator('main'), 'points', figures, [done])
    const values = valuesOf(first)
    expect(lines[1]).toBe([rows[0], ...values, first.release, first.synthetic, '', ''].join(','))
    expect(lines.at(-1)).toContain('lat must be a number from -90 to 90')
    await page.getByRole('button', { name: 'Why there is no value' }).click()
    expect(await page.locator('tbody tr').first().innerText()).not.toBe('')
  })

  test('all districts, asked for once, are on a map with a legend and in a table, without a login', async () => {
    const request = { admin: { country_code: 'rwa', level: 1 }, crop: 'potato' }
    const { items } = await asked('/advisory/yield/polygons', request)
    const {
      page,
      complaints,
      asked: requests,
      close,
    } = await visitors.open('/districts#product=yield&country=rwa&level=1&scenario=Normal')
    await page.locator('tbody tr').first().waitFor()
    await page.getByRole('button', { name: 'Normal', exact: true }).click()
    // The legend is of the means that are shown.
    const legendOf = (season: string) =>
      figuresOfFifths(
        items.map(({ yield_data }: { yield_data: { scenario: string; yield_kg_ha: number }[] }) =>
          Number(yield_data.find(({ scenario }) => scenario === season)?.yield_kg_ha),
        ),
      )
    const legend = { 'Yield, Normal kg/ha': legendOf('Normal') }
    const means = { 'Each value is the mean of the area.': figuresOfAreas(items) }
    await expectState(page.locator('main'), 'districts', { ...legend, ...means })
    await page.getByLabel('Number').selectOption('max')
    const largest = { 'Largest value of each area. The map has the means.': figuresOfAreas(items, 'max') }
    await expectFigures(page.locator('main'), { ...legend, ...largest })
    await page.getByLabel('Season').selectOption('Below Normal')
    expect(await page.locator('.legend h2').innerText()).toBe('Yield, Below Normal kg/ha')
    // Whatever is shown of them.
    await drawn(page)
    expect(requests.filter((address) => address.includes('areas-rwa-1/items'))).toHaveLength(1)
    // An area that is chosen is the same in the table and in the address.
    await page.locator('tbody button').first().click()
    const name = await page.locator('tr.chosen button').innerText()
    const { id } = items.find(({ location }: { location: { name: string } }) => location.name === name)
    const address = new URLSearchParams(new URL(page.url()).hash.slice(1))
    expect(Object.fromEntries(address)).toMatchObject({ scenario: 'Below Normal', area: id })
    const saved = await savedBy(page.getByRole('button', { name: 'Download as CSV' }))
    expect(saved.split('\r\n')).toHaveLength(items.length + 2)
    // The keyboard stays at a choice that makes the page anew.
    await page.locator('[name=level]').focus()
    await page.locator('[name=level]').selectOption('2')
    await page.locator('main:not([aria-busy]) [name=level]:focus').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('admins see what is published, and how the service is used', async () => {
    const { page } = visit
    await page.goto(`${visitors.url}/operations`)
    await page.getByText('What answers now').first().waitFor()
    const { releases } = (await service.get('/catalog')).body
    const codes = releases.map((one: { release: string }) => one.release)
    const published = page.locator('table', { hasText: 'What answers now' })
    expect(await published.locator('tbody tr').count()).toBe(codes.length)
    await expectState(published, 'published', {}, codes)
    const { release } = releases.find(
      (one: { country_code: string; product: string }) =>
        one.country_code === 'rwa' && one.product === 'yield',
    )
    await page.getByRole('button', { name: `Show ${release}` }).click()
    const { layers } = (await service.get(`/releases/${release}`)).body
    const described = page.locator('table', { hasText: `Layers of ${release}` })
    await described.waitFor()
    expect(await described.locator('tbody tr').count()).toBe(layers.length)
    await expectState(described, 'layers', { [`Layers of ${release}`]: figuresOfLayers(layers) })
    await page.locator('table', { hasText: 'By operation' }).waitFor()
    const slow = page.locator('table', { hasText: 'Single calls, the slowest first' })
    // What takes longest is asked for by all who have an account.
    await slow.locator('tr', { hasText: 'login' }).first().waitFor()
    const [first = 0, second = 0] = (await slow.locator('tbody td:first-child').allInnerTexts()).map((text) =>
      Number(text.replaceAll(',', '')),
    )
    expect(first).toBeGreaterThanOrEqual(second)
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
    const cells = await row.locator('td').allInnerTexts()
    expect(cells.slice(0, 3)).toEqual([code, 'interrupted', '3 hours ago'])
    await writer.deleteFrom('release').where('id', '=', id).execute()
  })

  test('no page has a serious fault of accessibility, and each fits a phone, in light and dark', async () => {
    const { page, complaints, close } = await visitors.open('/account', { viewport: PHONE })
    const looks: string[] = []
    for (const path of ['/account', '/field', '/points', '/districts']) {
      await page.emulateMedia({ colorScheme: 'light' })
      await page.goto(visitors.url + path)
      await page.locator('main:not([aria-busy=true]) :is(input, select)').first().waitFor()
      await until(page, "!document.querySelector('[aria-busy=true]')")
      looks.push(`${path}, light\n\n${await looksOf(page)}\n`)
      expect([path, await allFaultsOf(page)]).toEqual([path, []])
      looks.push(`${path}, dark\n\n${await looksOf(page)}\n`)
    }
    await expect(looks.join('\n')).toMatchFileSnapshot('looks.txt')
    expect(complaints).toEqual([])
    await close()
    await visit.page.setViewportSize(PHONE)
    await visit.page.goto(`${visitors.url}/operations#country=rwa&level=1`)
    await visit.page.locator('.card').first().waitFor()
    await until(visit.page, "!document.querySelector('[aria-busy=true]')")
    expect(await allFaultsOf(visit.page)).toEqual([])
    expect(visit.complaints).toEqual([])
  })

  async function logInAsked(page = visit.page): Promise<void> {
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('E-mail').fill(service.person.email)
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Log in' }).click()
  }

  async function asked(url: string, payload: object | string, type = 'application/json') {
    const headers = { 'content-type': type, accept: 'application/json' }
    return (await service.post(url, { by: service.person, headers, payload })).body
  }
})
