// Runs on either database: pages ask for what other tests try on both.
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { Database } from '#src/data/database.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { CODES, CONDITIONS, OUTLOOK, slopes } from '#test/advice/certainty/releases.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { expectFigures, expectState } from '#test/setup/page-state.ts'
import { createTestAppWithPerson, PASSWORD } from '#test/setup/people.ts'
import { rectangle } from '#test/setup/square.ts'
import { figuresOfPlace, figuresOfReport } from './figures.ts'
import { allFaultsOf } from './looks.ts'
import { openPages, savedBy, unfold } from './pages.ts'

const { question } = CONDITIONS

/** In pixels of {@link OUTLOOK} in the west, and of a foot slope and of an unknown landscape. */
const FOOT = 'at=9.5,38.2'
const UNKNOWN = 'at=9.5,39.2'

const NARROW = { width: 320, height: 800 }

const start = () =>
  createTestAppWithPerson({
    template: 'empty',
    prepare: async (database: Database) => {
      await loadRelease(database, OUTLOOK)
      await loadRelease(database, slopes(CODES))
    },
  })

describe.skipIf(!CHROMIUM)('pages of releases with odds, ranges and conditions, in a browser', () => {
  const { service, visitors, visit } = openPages(start, `/#product=yield&country=eth&${FOOT}`)

  const sectionOf = (title: string, page = visit.page) => page.locator('.place .product', { hasText: title })
  const answerAt = async (query: string) =>
    (await service.get(`/advisory/point?country_code=eth&${query}`)).body
  /** That the tables of the panel have what the API answers. */
  const expectAnswer = async (query: string) =>
    expectFigures(visit.page.locator('.place'), figuresOfPlace(await answerAt(query)))
  const chooser = () => visit.page.locator('.place').getByRole('combobox', { name: question })
  const condition = () => new URLSearchParams(new URL(visit.page.url()).hash.slice(1)).get('condition')

  test('the panel has the odds of seasons, their ranges and what is expected', async () => {
    await sectionOf('Yield').waitFor()
    expect(await sectionOf('Yield').locator('.odds').first().getAttribute('title')).toBe('30 %')
    const answer = await answerAt('lat=9.5&lng=38.2')
    await expectState(visit.page.locator('.place'), 'odds-and-ranges', figuresOfPlace(answer))
  })

  test('lines and bars have one scale, which the highest end fills', async () => {
    const shares = await sectionOf('Yield')
      .locator('.scale')
      .evaluateAll((scales) =>
        scales.map((scale) =>
          [...scale.children].map((one) => {
            const [outer, inner] = [scale.getBoundingClientRect(), one.getBoundingClientRect()]
            const shareOf = (x: number) => Math.round(((x - outer.left) / outer.width) * 1000) / 1000
            return [shareOf(inner.left), shareOf(inner.right)]
          }),
        ),
      )
    const highest = 3128.16
    const expected = [
      [
        [0, 2000],
        [1500, 2600],
      ],
      [
        [0, 3000],
        [2871.84, highest],
      ],
      [[0, 1000]],
      [[0, 3000]],
      [[0, 2300]],
    ]
    expect(shares).toEqual(
      expected.map((bars) => bars.map((ends) => ends.map((end) => expect.closeTo(end / highest, 2)))),
    )
  })

  test('the condition is that of the landscape, until another one is chosen, which the address says', async () => {
    const { page } = visit
    const options = await chooser().locator('option').allInnerTexts()
    const titles = CONDITIONS.list.map(({ title }) => title)
    expect(options).toEqual([`As on the landscape map: ${titles[0]}`, ...titles])
    expect(condition()).toBeNull()
    await chooser().focus()
    await chooser().selectOption('Hill')
    await sectionOf('Fertilizer').locator('.value').getByText('30', { exact: true }).waitFor()
    await expectAnswer('lat=9.5&lng=38.2&condition=hill')
    expect(condition()).toBe('hill')
    // The keyboard stays where it was.
    expect(await chooser().evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true)
    expect(await page.locator('.calls code').textContent()).toContain('condition=hill')
    expect((await chooser().locator('option').allInnerTexts())[0]).toBe('As on the landscape map')
  })

  test('a link has the condition, and another place is asked for it', async () => {
    const { page } = visit
    await page.goto(`${visitors.url}/#product=yield&country=eth&condition=mid+slope&${UNKNOWN}`)
    await sectionOf('Fertilizer').locator('.value').getByText('22', { exact: true }).waitFor()
    expect(await chooser().inputValue()).toBe('mid slope')
  })

  test('the default answers where nothing says which it is, and the chooser says so', async () => {
    const { page } = visit
    await chooser().selectOption('')
    // The figures are those of before, which say nothing about whether the answer is there.
    await chooser()
      .locator('option:checked', { hasText: /^Not known: as Mid slope$/ })
      .waitFor({ state: 'attached' })
    expect(condition()).toBeNull()
    await expectAnswer('lat=9.5&lng=39.2')
    await page.getByText('For an area').click()
    await page.getByLabel('Area in hectares').fill('2')
    const table = page.locator('.quantities table', { hasText: 'Fertilizer' })
    expect(await table.locator('tbody tr').last().locator('th, td').allInnerTexts()).toEqual([
      ...['Urea', 'Normal', 'Mid slope', '44 kg', '1'],
    ])
    // By its keys: a field of numbers would drop the comma.
    await page.getByLabel('Area in hectares').fill('')
    await page.getByLabel('Area in hectares').pressSequentially('2,5')
    await page.getByLabel('Kilograms in a bag').fill('25')
    await page.getByLabel('Price of a bag of Urea').fill('1 200,5')
    const last = () => table.locator('tbody tr').last().locator('th, td').allInnerTexts()
    expect(await last()).toEqual(['Urea', 'Normal', 'Mid slope', '55.0 kg', '3', '3,601.5'])
    await chooser().selectOption('hill')
    await expect.poll(() => chooser().locator('option:checked').innerText()).toBe('Hill')
    await expect.poll(last).toEqual(['Urea', 'Normal', 'Hill', '80.0 kg', '4', '4,802'])
    expect(await page.getByLabel('Area in hectares').inputValue()).toBe('2,5')
    expect(visit.complaints).toEqual([])
  })

  test('a condition that no release has is as if none was asked for', async () => {
    const { page, complaints, close } = await visitors.open(`/#country=eth&condition=valley&${FOOT}`)
    await sectionOf('Fertilizer', page).locator('.value').getByText('10', { exact: true }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  test('the panel fits a narrow phone without a serious fault of accessibility, in light and dark', async () => {
    const { page, close } = await visitors.open(`/#country=eth&${UNKNOWN}&ha=1`, { viewport: NARROW })
    await sectionOf('Fertilizer', page).waitFor()
    expect(await allFaultsOf(page)).toEqual([])
    await close()
  })

  test('the report of a field has odds, ranges and expected values, and asks for the condition', async () => {
    const wanted = { country: 'eth', crop: 'wheat', outline: '9.2,38.25\n9.2,38.75\n9.8,38.75\n9.8,38.25' }
    const { page, complaints, close } = await visitors.open(`/field#${new URLSearchParams(wanted)}`)
    await page.getByRole('button', { name: 'Get the advice' }).click()
    await logIn(page)
    await page.locator('.report').waitFor()
    await unfold(page, 'All seasons, odds and ranges')
    const geometry = rectangle(38.25, 9.2, 38.75, 9.8)
    const payload = { geometry, country_code: 'eth', crop: 'wheat', quantiles: [0.1, 0.5, 0.9] }
    const answerOf = async (product: string, condition?: string) => {
      const headers = { prefer: 'history=none' }
      const asked = { by: service.person, headers, payload: { ...payload, condition } }
      return (await service.post(`/advisory/${product}`, asked)).body
    }
    const answers = { yield: await answerOf('yield'), fertilizer: await answerOf('fertilizer') }
    await expectState(page.locator('.report'), 'report-with-odds', figuresOfReport(answers))
    const summary = () => page.locator('.summary').innerText()
    const bagsOf = async () => Number(/([\d,]+) bags of Urea/.exec(await summary())?.[1]?.replaceAll(',', ''))
    const mixed = await bagsOf()
    expect(await allFaultsOf(page)).toEqual([])
    const condition = page.getByLabel('Condition of the field, for fertilizer')
    await condition.selectOption('Hill')
    // What was opened stays open.
    await page.getByText('Values for Hill.').waitFor()
    expect(await condition.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true)
    expect(await bagsOf()).toBeGreaterThan(mixed)
    const fertilizer = await answerOf('fertilizer', 'hill')
    await expectFigures(page.locator('.report'), figuresOfReport({ ...answers, fertilizer }))
    expect(complaints).toEqual([])
    // What the answers were is listed in the history.
    await page.goto(`${visitors.url}/account/history`)
    // One item a question: all products first, then the fertilizer on a hill.
    const [hill, all] = await Promise.all([0, 1].map((at) => page.locator('.item').nth(at)))
    await hill?.getByText('30.5 kg/ha of Urea in a normal season').waitFor()
    expect(await page.locator('.item').count()).toBe(2)
    expect(await all?.locator('.answers th').allInnerTexts()).toEqual(['Yield', 'Fertilizer'])
    await all?.getByText('All values, feedback, deletion').click()
    await all?.getByText(/Dominant 2,600 kg\/ha$/).waitFor()
    await close()
  })

  test('points name the condition in the columns of the table and of the file', async () => {
    const { page, complaints, close } = await visitors.open('/points#product=fertilizer&country=eth')
    const buffer = Buffer.from('id,lat,lng\nfoot,9.5,38.2\nhill,9.5,38.8\n')
    await page.locator('input[type=file]').setInputFiles({ name: 'farms.csv', mimeType: 'text/csv', buffer })
    await page.getByRole('button', { name: 'Get the advice for 2 points' }).click()
    await page.getByText('Done: 2 points with values.').waitFor()
    const [head, ...lines] = (await savedBy(page.getByRole('button', { name: 'Download as CSV' })))
      .trimEnd()
      .split('\r\n')
      .map((line) => line.split(',').slice(0, 6).join(','))
    expect([head, ...lines].map((line) => line?.replaceAll('"', ''))).toEqual([
      'id,lat,lng,rate_kg_ha DAP, Normal,rate_kg_ha Urea',
      'foot,9.5,38.2,5,10,',
      'hill,9.5,38.8,6,,31',
    ])
    expect(complaints).toEqual([])
    await close()
  })

  async function logIn(page: Page) {
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('E-mail').fill(service.person.email)
    await dialog.getByLabel('Password').fill(PASSWORD)
    await dialog.getByRole('button', { name: 'Log in' }).click()
  }
})
