// Runs on either database: pages ask for what other tests try on both.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createTestApp } from '#test/setup/app.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { expectFigures, expectState } from '#test/setup/page-state.ts'
import { newPerson } from '#test/setup/people.ts'
import { figuresOfAreas, figuresOfClasses, figuresOfPlace } from './figures.ts'
import { allFaultsOf } from './looks.ts'
import { DESKTOP, drawn, openPages, PHONE, until } from './pages.ts'

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

/** What the table of areas asks for. */
const ITEMS = '**/ogc/collections/advisory-*/items*'

const FIELD = 'lat=9.5&lng=38.5'
const AT_FIELD = 'at=9.5,38.5'

describe.skipIf(!CHROMIUM)('the map, in a browser', () => {
  const { service, visitors, visit } = openPages(createTestApp, '/')

  const hash = () => decodeURIComponent(new URL(visit.page.url()).hash.replaceAll('+', ' '))
  const answerOf = async (url: string) => (await service.get(url)).body
  const choose = (name: string, option: string) =>
    visit.page.getByRole('combobox', { name, exact: true }).selectOption(option)

  test('opens on the normal season, with its legend', async () => {
    const { page } = visit
    await drawn(page)
    const { layers } = await answerOf('/releases/synthetic-yield-eth-wheat-2026-07-v1/layers')
    const { classes } = layers.find(({ scenario }: { scenario: string }) => scenario === 'Normal')
    const legend = { 'Yield, Normal kg/ha': figuresOfClasses(classes) }
    await expectState(page.locator('main'), 'map', legend)
    expect(hash()).toContain('product=yield')
  })

  test('asks again by itself, and says so, where the service is busy', async () => {
    const { page, close } = await visitors.open('/field')
    // What the line under the head has said; it is gone before a busy machine looks.
    await page.addInitScript(`addEventListener('DOMContentLoaded', () => {
      window.said = []
      const look = () => window.said.push(document.querySelector('.offline')?.textContent ?? '')
      new MutationObserver(look).observe(document.body, { childList: true, subtree: true })
    })`)
    let refusals = 0
    await page.route('**/catalog', (route) =>
      refusals++ === 0
        ? route.fulfill({
            status: 503,
            headers: { 'retry-after': '1' },
            json: { error: 'Busy.', code: 'OVERLOADED' },
          })
        : route.continue(),
    )
    await page.reload()
    await page.locator('main:not([aria-busy]) > h2').waitFor()
    const said = (await page.evaluate('window.said')) as string[]
    expect(new Set(said.filter((text) => text !== ''))).toEqual(
      new Set(['The service is busy; trying again in 1 s.']),
    )
    expect(await page.locator('.offline').textContent()).toBe('')
    expect(await page.getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await close()
  })

  test('waits for the first release of a demo, and goes on by itself', async () => {
    const { page, close } = await visitors.open('/field')
    const catalog = await answerOf('/catalog')
    const demo = { loaded: 0, of: 10 }
    let looks = 0
    const ready = page.route('**/health/ready', (route) => route.fulfill({ json: { status: 'ok', demo } }))
    await page.route('**/catalog', (route) =>
      route.fulfill({ json: looks++ === 0 ? { ...catalog, releases: [] } : catalog }),
    )
    await ready
    await page.reload()
    await page.getByText('The service is still preparing. This page goes on by itself').waitFor()
    await page.getByRole('button', { name: 'Get the advice' }).waitFor()
    expect([await page.locator('.offline').textContent(), looks]).toEqual(['', 2])
    await close()
  })

  test('says how much of the demo is there while others of its releases are being loaded', async () => {
    const { page } = visit
    const demo = { loaded: 3, of: 10 }
    await page.route('**/health/ready', (route) => route.fulfill({ json: { status: 'ok', demo } }))
    await page.reload()
    await drawn(page)
    await page.getByText('Demonstration data are still being loaded: 3 of 10 releases are there.').waitFor()
    await page.unroute('**/health/ready')
  })

  test('is there without the tiles that do not come, and a click finds its place before that', async () => {
    const { page, close } = await visitors.open('/field')
    const tiles = hold(page, '**/tiles/*/*/*')
    await page.goto(`${visitors.url}/`)
    await tiles.next()
    const clickAt = async (x: number) => {
      const before = page.url()
      await page.locator('.pane').click({ position: { x, y: 150 } })
      await page.waitForURL((url) => url.href !== before && url.hash.includes('at='))
      return new URL(page.url()).hash
    }
    const hidden = await clickAt(200)
    await page.locator('.pane[data-state="drawing"]:not([aria-busy])').waitFor()
    await tiles.end()
    await drawn(page)
    expect([(await clickAt(260)) === hidden, await clickAt(200)]).toEqual([false, hidden])
    await close()
  })

  test('has no place that was given up while it was asked for', async () => {
    const { page } = visit
    const calls = hold(page, '**/advisory/point?*')
    await page.evaluate("location.hash = 'at=9.5,38.5'")
    await calls.next()
    const givenUp = page.waitForEvent('requestfailed')
    await page.evaluate("location.hash = 'product=yield'")
    expect((await givenUp).url()).toContain('/advisory/point?')
    await until(page, "!document.querySelector('.place[aria-busy]')")
    expect(await page.locator('.place .product').count()).toBe(0)
    await calls.end()
  })

  test('says what all products have at the place that is clicked, as the API does', async () => {
    const { page } = visit
    await page.locator('.pane canvas').click()
    await page.locator('.place .product').first().waitFor()
    const [, lat, lng] = /at=([-\d.]+),([-\d.]+)/.exec(hash()) ?? []
    const answer = await answerOf(`/advisory/point?lat=${lat}&lng=${lng}&country_code=eth`)
    const place = page.locator('.place')
    expect(await place.locator('.calls code').textContent()).toContain(`?lat=${lat}&lng=${lng}&`)
    expect([lat, lng].filter((degrees = '') => /\.\d{6}/.test(degrees))).toEqual([])
    await expectFigures(place, figuresOfPlace(answer))
  })

  test('says once that its values are made up', async () => {
    const { page } = visit
    expect(await page.getByText(/not advice/i).count()).toBe(1)
    expect(await page.getByText('Demonstration data, made by a formula. Not advice.').isVisible()).toBe(true)
  })

  test('follows its choosers, and a link opens the same view again', async () => {
    const { page } = visit
    await choose('Advice on', 'fertilizer')
    await page.locator('.legend h2', { hasText: 'Fertilizer' }).waitFor()
    await choose('Input', 'Urea')
    await choose('Season', 'Below Normal')
    await page.locator('.legend h2', { hasText: 'Urea, Below Normal' }).waitFor()
    const link = page.url()
    const again = await visitors.open(link.slice(visitors.url.length))
    await again.page.locator('.legend h2', { hasText: 'Fertilizer, Urea, Below Normal' }).waitFor()
    expect(await again.page.locator('.place h2').innerText()).toBe(
      await page.locator('.place h2').innerText(),
    )
    expect(again.page.url()).toBe(link)
    expect(again.complaints).toEqual([])
    await again.close()
  })

  test('compares two scenarios side by side', async () => {
    const { page } = visit
    await choose('Compare with', 'Normal')
    await page.locator('.pane.over[data-state="idle"]').waitFor()
    expect(await page.locator('.canvas p').allInnerTexts()).toEqual(['Below Normal', 'Normal'])
    // The values of the map below are none of its own while its own are on their way.
    const background = await page.evaluate(
      "getComputedStyle(document.querySelector('.over')).backgroundColor",
    )
    expect(background).toMatch(/^rgb\(/)
    await page.getByLabel('Where the two maps meet').fill('30')
    expect(await page.locator('.pane.over').evaluate((pane) => pane.style.clipPath)).toBe(
      'inset(0px 0px 0px 30%)',
    )
    await choose('Compare with', '')
    await page.locator('.pane.over').waitFor({ state: 'detached' })
  })

  test('computes quantities for an area that is typed in', async () => {
    const { page } = visit
    await page.getByText('For an area').click()
    await page.getByLabel('Area in hectares').fill('2')
    await page.goto(`${visitors.url}/#${AT_FIELD}&ha=2`)
    // Until then the table is that of the place before.
    await page.locator('.place', { hasText: 'Latitude 9.5, longitude 38.5' }).waitFor()
    const asked = `/advisory/point?${FIELD}&country_code=eth&bags=DAP:50,Urea:50`
    const answer = await answerOf(`${asked}&area=2%20ha`)
    const releases = ['yield', 'fertilizer', 'isfm', 'forage'].map((product) => answer[product].release)
    const figures = figuresOfPlace(answer, '2 ha')
    await expectState(page.locator('.place'), 'place', figures, releases)
    // Another link to the same place keeps the price.
    await page.getByLabel('Price of a bag of DAP').fill('1500')
    await page.goto(`${visitors.url}/#${AT_FIELD}&ha=30`)
    const { quantity } = (await answerOf(`${asked}&area=30%20ha`)).fertilizer.fertilizer_data[0]
    const price = (1500 * quantity.bags).toLocaleString('en')
    await page.locator('.quantities').getByText(price, { exact: true }).first().waitFor()
    expect(await page.getByLabel('Area in hectares').inputValue()).toBe('30')
  })

  testOnServer('has calls to copy that answer what is shown, as they are', async () => {
    const { page } = visit
    const { yield: expected } = await answerOf(`/advisory/point?${FIELD}&country_code=eth`)
    await page.locator('.calls summary').click()
    const run = promisify(execFile)
    for (const [language, program, ...args] of [
      ['curl', 'sh', '-c'],
      ['JavaScript', process.execPath, '--input-type=module', '-e'],
      ['Python', 'python3', '-c'],
    ] as const) {
      await page.getByRole('combobox', { name: 'Language' }).selectOption(language)
      const call = await page.locator('.calls code').innerText()
      const answer = run(program, [...args, call], { env: { PATH: process.env.PATH } })
      // Where there is no Python, nobody copies a call in it.
      const { stdout } = await answer.catch((error) => {
        if (error.code === 'ENOENT' && language === 'Python') return { stdout: expected.release }
        throw error
      })
      expect([language, stdout]).toEqual([language, expect.stringContaining(expected.release)])
    }
  })

  test('finds places by coordinates and by name, with the keyboard alone', async () => {
    const { page } = visit
    await page.getByLabel('Area or coordinates').focus()
    await page.keyboard.type('-1, 36.5')
    await page.keyboard.press('Enter')
    await page.locator('.product.none', { hasText: 'has forage only' }).first().waitFor()
    expect(hash()).toContain('at=-1,36.5')
    const answer = await answerOf('/advisory/point?lat=-1&lng=36.5')
    await expectState(page.locator('.place'), 'place-with-forage', figuresOfPlace(answer))
    await page.getByLabel('Area or coordinates').fill('rwan')
    await page.getByRole('button', { name: 'Rwanda', exact: true }).click()
    await page.locator('.place h2').waitFor()
    await until(page, "location.hash.includes('country=rwa')")
    await page.getByLabel('Area or coordinates').fill('nairobi')
    await page
      .getByRole('button', { name: /^Nairobi/ })
      .first()
      .click()
    // Kenya has no yields.
    await page.locator('.legend h2', { hasText: 'Forage' }).waitFor()
    await page.locator('.place h2', { hasText: /^Nairobi/ }).waitFor()
    expect(hash()).toContain('country=ken')
    await page.getByLabel('Area or coordinates').fill('Addis Ababba')
    await page.getByText('No area is called “Addis Ababba”. Similar names:').waitFor()
    expect(await page.locator('.search .results button').allInnerTexts()).toEqual(['Addis Ababa, Ethiopia'])
  })

  test('shows the mean of an area under its name, where it is searched for, linked to, or chosen in the table', async () => {
    const { page, complaints, close } = await visitors.open('/#product=yield', { viewport: DESKTOP })
    const { yield: mean } = await answerOf('/advisory?place=Amhara')
    const { yield_kg_ha: normal } = mean.yield_data.find(
      (entry: { scenario: string }) => entry.scenario === 'Normal',
    )
    const figure = Math.round(normal).toLocaleString('en')
    const showsMean = async () => {
      await page.locator('.place h2', { hasText: /^Amhara$/ }).waitFor()
      await page.getByText('The values are means of the whole area.').waitFor()
      await page.locator('.place .product', { hasText: figure }).first().waitFor()
      expect(new URL(page.url()).hash).toContain('area=eth%2F1%2FETH-03')
    }
    await page.getByLabel('Area or coordinates').fill('Amhara')
    await page.keyboard.press('Enter')
    await showsMean()
    expect(await page.locator('.place .calls code').textContent()).toContain('/advisory?place=ETH-03&level=1')
    await page.reload()
    await showsMean()
    await page.goto(`${visitors.url}/#product=yield&country=eth&as=table`)
    await page.locator('.sheet').getByRole('button', { name: 'Amhara', exact: true }).click()
    await showsMean()
    // Several are called so, or only nearly: the visitor chooses.
    for (const text of ['North Shewa', 'Sheva']) {
      await page.getByLabel('Area or coordinates').fill(text)
      await page.keyboard.press('Enter')
      await page.locator('.search .results button').first().waitFor()
      await showsMean()
    }
    expect(complaints).toEqual([])
    await close()
  })

  test('has the table of the level that was chosen last, whatever comes late', async () => {
    const { page } = visit
    const calls = hold(page, ITEMS)
    await page.goto(`${visitors.url}/#product=yield&country=rwa&as=table&at=-1.95,30.06`)
    const first = await calls.next()
    await page.getByLabel('Areas of level').selectOption('2')
    await (await calls.next())()
    const rows = page.locator('.sheet tbody tr')
    await rows.first().waitFor()
    const shown = await rows.count()
    const late = page.waitForResponse(ITEMS)
    await first()
    await (await late).finished()
    // Whatever the page does with it, it has done once this is back.
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    expect(await rows.count()).toBe(shown)
    await calls.end()
  })

  test('has a table with a value for each area, which is sorted', async () => {
    const { page } = visit
    const rows = page.locator('.sheet tbody tr')
    const { boundaries } = await answerOf('/catalog')
    const { areas } = boundaries.find(
      (one: { country_code: string; level: number }) => one.country_code === 'rwa' && one.level === 1,
    )
    await page.getByLabel('Areas of level').selectOption('1')
    await expect.poll(() => rows.count()).toBe(areas)
    const names = await rows.locator('td:first-child').allInnerTexts()
    expect(names).toEqual(names.toSorted((one, other) => one.localeCompare(other)))
    await page.getByRole('button', { name: 'Normal', exact: true }).click()
    const payload = { admin: { country_code: 'rwa', level: 1 }, crop: 'potato' }
    const by = await newPerson(service.app)
    const { items } = (await service.post('/advisory/yield/polygons', { by, payload })).body
    const means = { 'Each value is the mean of the area.': figuresOfAreas(items) }
    await expectState(page.locator('.sheet'), 'areas', means)
    expect(visit.complaints).toEqual([])
  })

  test('has no serious fault of accessibility and fits a phone, as a map or a table, in light and dark', async () => {
    const compared = `${AT_FIELD}&ha=1&compare=scenario:Normal`
    const phone = { viewport: PHONE, hasTouch: true }
    const { page, complaints, close } = await visitors.open(`/#${compared}`, phone)
    for (const [hash, shown] of [
      [compared, '.place .product'],
      ['as=table&country=rwa', '.sheet'],
    ] as const) {
      await page.evaluate(`location.hash = '${hash}'`)
      await page.locator(shown).first().waitFor()
      expect([hash, await allFaultsOf(page)]).toEqual([hash, []])
    }
    expect(complaints).toEqual([])
    await close()
  })

  test('shows the table where the browser cannot draw the map', async () => {
    const before = `HTMLCanvasElement.prototype.getContext = () => null`
    const { page, complaints, close } = await visitors.open('/#country=rwa', { before, viewport: DESKTOP })
    await page.locator('.sheet').waitFor()
    await expectState(page.locator('.stage .message'), 'map-not-drawn')
    expect(complaints).toEqual([])
    await close()
  })

  test('opens again without a network', async () => {
    const { page, close } = await visitors.open('/', { serviceWorkers: 'allow' })
    await page.evaluate('navigator.serviceWorker.ready.then(() => undefined)')
    // What this visit has asked for before the worker was there, it asks for again.
    await page.reload()
    await drawn(page)
    await page.context().setOffline(true)
    await page.reload()
    await page.getByText('The service cannot be reached.').waitFor()
    // The browser has never been at this page: all of it, and what is published, is what the worker keeps.
    await page.goto(`${visitors.url}/field`)
    const countries = page.getByLabel('Country').locator('option')
    await countries.first().waitFor({ state: 'attached' })
    const { countries: published } = await answerOf('/catalog')
    const names = published.map(({ name }: { name: string }) => name)
    expect(await countries.allInnerTexts()).toEqual(names)
    await close()
  })

  test('shows nothing of a run over points that another has replaced', async () => {
    const { page, close } = await visitors.open('/points#product=fertilizer&country=rwa')
    const rows = Array.from({ length: 1001 }, (_, at) => `${at},-1.95,30.06\n`)
    const buffer = Buffer.from(`id,lat,lng\n${rows.join('')}`)
    const csv = { name: 'farms.csv', mimeType: 'text/csv', buffer }
    await page.locator('input[type=file]').setInputFiles(csv)
    const calls = hold(page, '**/advisory/fertilizer/points?*')
    const start = page.getByRole('button', { name: 'Get the advice for 1001 points' })
    await start.click()
    await (await calls.next())()
    await calls.next()
    await start.click()
    const goOn = await calls.next()
    expect(await page.getByText('Download as CSV').count()).toBe(0)
    await goOn()
    await (await calls.next())()
    await page.getByText('Done: 1001 points with values.').waitFor()
    expect(await page.getByText('Download as CSV').count()).toBe(1)
    await close()
  })

  test('has tiles of an operator below its values, with the name of their source', async () => {
    const asked: string[] = []
    const host = createServer(({ url = '' }, answer) => {
      asked.push(url)
      answer.writeHead(200, { 'content-type': 'image/png', 'access-control-allow-origin': '*' }).end(PIXEL)
    })
    onTestFinished(() => void host.close())
    await once(host.listen(0, '127.0.0.1'), 'listening')
    const tiles = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
    const settings = { BASEMAP_URL: `${tiles}/{z}/{x}/{y}.png`, BASEMAP_ATTRIBUTION: '© <b>Example</b>' }
    const other = await createTestApp({ settings })
    onTestFinished(() => other.close())
    const others = await visitors.at(other)
    const { page, complaints, close } = await others.open('/#map=8,-1.95,30.06')
    await drawn(page)
    expect(asked).toContain('/9/298/258.png')
    expect(await page.locator('.maplibregl-ctrl-attrib').innerText()).toBe('© <b>Example</b>')
    expect(complaints.toSorted()).toEqual(asked.map((path) => `asked ${tiles}${path}`).toSorted())
    await close()
  })
})

/** Holds calls back until they are told to go on, one after the other. */
function hold(page: Page, pattern: string) {
  const held: (() => Promise<void>)[] = []
  let arrived = () => {}
  const ready = page.route(pattern, (route) => {
    held.push(() => route.continue())
    arrived()
  })
  return {
    async next(): Promise<() => Promise<void>> {
      await ready
      while (held.length === 0) {
        await new Promise<void>((resolve) => {
          arrived = resolve
        })
      }
      return held.shift() as () => Promise<void>
    },
    /** Lets all others through. */
    end: () => page.unroute(pattern),
  }
}
