// Runs on either database: the page of a pack asks none.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { PackVersion } from '#src/extensions/packs/html.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { YIELD } from '#test/maps/certain-releases.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openApp } from '#test/setup/open-service.ts'
import { expectState } from '#test/setup/page-state.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { figuresOfPlace } from '#test/web/figures.ts'
import { allFaultsOf } from '#test/web/looks.ts'
import { receiveVisitors } from '#test/web/pages.ts'
import { ASK_ALL, find, type Opened, WITHOUT_NEW_FUNCTIONS } from './browsers.ts'
import { drawPlaces, makePack } from './made-packs.ts'

/** More on demand: `PLACES=2000`. */
const PLACES = Number(process.env.PLACES ?? 300)

/** Of a district, a zone and a region. */
const AREAS = [
  ['eth', 'ETH-03-01-01'],
  ['eth', 'ETH-09-02'],
  ['rwa', 'RWA-01'],
] as const

const MEGABYTE = 2 ** 20
const MOST_HEAP = 150 * MEGABYTE
/** Runs of blocks of code, of which a slow phone has three seconds' worth: about twice what it takes. */
const MOST_STEPS = 12_000_000

/** A folder for pictures to look at, where there is one. */
const { SHOTS } = process.env

describe.skipIf(!CHROMIUM)('the file of an area, in a browser without a network', () => {
  const service = openApp()
  const mixed = openApp({ prepare: (database) => loadRelease(database, YIELD) })
  let browser: Browser
  let folder: string

  beforeAll(async () => {
    folder = await newFolder()
    browser = await chromium.launch({
      executablePath: CHROMIUM as string,
      args: ['--enable-precise-memory-info', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    })
  })
  afterAll(() => browser?.close())

  async function keep(country: string, code: string, version: PackVersion | null = null, of = service) {
    const { html, pack } = await makePack(of, country, code, version)
    const path = join(folder, `${code}${version ? ' versioned' : ''}.html`)
    await writeFile(path, html)
    return { pack, address: pathToFileURL(path).href, bytes: html.length }
  }

  async function open(
    address: string,
    { before = '', ...options }: BrowserContextOptions & { before?: string } = {},
  ): Promise<Opened> {
    const context = await browser.newContext({ offline: true, reducedMotion: 'reduce', ...options })
    await context.addInitScript(before)
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE.timeout)
    const complaints: string[] = []
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    page.on('pageerror', ({ message }) => complaints.push(message))
    page.on('request', (request) => {
      if (request.url() !== address) complaints.push(`asked ${request.url()}`)
    })
    await page.goto(address)
    await page.locator('.pack-main').waitFor()
    return { page, complaints }
  }

  test.each(AREAS)('shows what the service answers: %s %s', async (country, code) => {
    const { pack, address } = await keep(country, code)
    const places = drawPlaces(pack, PLACES, 3)
    const { page, complaints } = await open(address)
    const shown: (string | null)[] = []
    for (const place of places) {
      shown.push(...(await page.evaluate<(string | null)[]>(`(${ASK_ALL})(${JSON.stringify([place])})`)))
    }
    const differing: unknown[] = []
    for (const [index, place] of places.entries()) {
      const payload = { ...place, country_code: country, crop: pack.crops[0] }
      const answer = await service.post('/advisory/point', { payload })
      const { location: _, ...expected } = answer.body
      const { location: ___, ...own } = JSON.parse(shown[index] ?? '{}')
      if (JSON.stringify(own) !== JSON.stringify(expected)) differing.push([place, expected, own])
    }
    expect(differing.slice(0, 2)).toEqual([])
    const [, second] = pack.crops
    if (second !== undefined) {
      await page.getByLabel('Crop').selectOption(second)
      const body = JSON.parse((await page.locator('.calls code').textContent()) ?? '{}')
      expect(body.crop).toBe(second)
    }
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('opens in few steps and little memory, as on a slow phone', async () => {
    const { address, bytes } = await keep('ken', 'KEN')
    const context = await browser.newContext({ offline: true, viewport: { width: 360, height: 640 } })
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE.timeout)
    const client = await context.newCDPSession(page)
    await client.send('Profiler.enable')
    await client.send('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
    await page.goto(address)
    await page.locator('.legend').waitFor()
    const { result } = await client.send('Profiler.takePreciseCoverage')
    const functions = result.flatMap((script) => script.functions)
    const steps = functions.flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0)
    const heap = await client.send('Runtime.getHeapUsage')
    // Pixels are in buffers, which are no part of the heap.
    const { usedSize, backingStorageSize } = heap as typeof heap & { backingStorageSize: number }
    console.log(`${bytes} bytes: ${steps} steps, heap ${usedSize}, buffers ${backingStorageSize}`)
    expect(steps).toBeGreaterThan(0)
    expect(steps).toBeLessThan(MOST_STEPS)
    expect(backingStorageSize).toBeGreaterThan(0)
    expect(usedSize + backingStorageSize).toBeLessThan(MOST_HEAP)
    await context.close()
  })

  test.each([
    ['phone', { width: 320, height: 640 }],
    ['desk', { width: 1024, height: 768 }],
  ] as const)('can be read and used on a %s, light and dark', async (name, viewport) => {
    const { pack, address } = await keep('eth', 'ETH-09-02')
    const inside = pack.area.places[0] as { name: string }
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page, complaints } = await open(address, { viewport, colorScheme })
      await find(page, inside.name)
      await page.getByRole('heading', { level: 2, name: inside.name }).waitFor()
      await page.getByText('For an area').click()
      await page.getByLabel('Area in hectares').fill('999')
      await page.getByRole('table', { name: 'Fertilizer' }).last().waitFor()
      if (SHOTS) await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}.png`), fullPage: true })
      expect(await allFaultsOf(page)).toEqual([])
      expect(complaints).toEqual([])
      await page.emulateMedia({ media: 'print' })
      if (SHOTS)
        await page.screenshot({ path: join(SHOTS, `${name}-${colorScheme}-print.png`), fullPage: true })
      expect(await page.getByRole('button').count()).toBe(0)
      await page.context().close()
    }
  })

  test('asks for a newer file by one HEAD, where the reader wants that', async () => {
    const url = 'https://advisory.example/packs/eth/ETH-09-02.html'
    const { address } = await keep('eth', 'ETH-09-02', { tag: 'W/"old"', url })
    const { page } = await open(address, { offline: false })
    const asked: string[] = []
    let tag = '"old"'
    await page.route(`${url}**`, async (route) => {
      asked.push(route.request().method())
      const headers = {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'ETag',
        etag: tag,
      }
      await route.fulfill({ status: 200, headers })
    })
    await page.getByText('What this file has').click()
    const wanted = page.getByLabel('Ask the service for a newer file')
    expect([await wanted.isChecked(), asked]).toEqual([false, []])
    await wanted.check()
    await page.getByText('This is the newest file.').waitFor()
    tag = '"new"'
    await wanted.uncheck()
    await wanted.check()
    await page.getByText('The service has a newer file:').waitFor()
    expect(asked).toEqual(['HEAD', 'HEAD'])
    const refused = await page.evaluate(
      `fetch('https://elsewhere.example/').then(() => 'sent', () => 'refused')`,
    )
    expect(refused).toBe('refused')
    await page.context().close()
  })

  test('needs no function that browsers have since 2021', async () => {
    const { pack, address } = await keep('eth', 'ETH-09-02')
    const { page, complaints } = await open(address, { before: WITHOUT_NEW_FUNCTIONS })
    await find(page, pack.area.name)
    await page.getByRole('heading', { level: 3, name: 'Yield' }).waitFor()
    await page.getByText('For an area').click()
    await page.getByLabel('Area in hectares').fill('2')
    await page.getByRole('table', { name: 'Fertilizer, 2 ha' }).waitFor()
    expect(await page.evaluate(`[].at ?? ''.replaceAll ?? globalThis.structuredClone ?? null`)).toBeNull()
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test.each(['en-GB', 'fr-FR'])('reads numbers as people type them, and keeps them: %s', async (locale) => {
    const { pack, address } = await keep('eth', 'ETH-09-02')
    const { page } = await open(address, { locale })
    await find(page, pack.area.name)
    await page.getByText('For an area').click()
    const type = async (label: string, text: string) => {
      await page.getByLabel(label).fill('')
      await page.getByLabel(label).pressSequentially(text)
    }
    const table = page.locator('.quantities table', { hasText: 'Fertilizer' })
    const rowOf = async () => {
      const cells = table.locator('tbody tr', { hasText: 'Urea' }).first().locator('th, td')
      const texts = await cells.allInnerTexts()
      return texts.slice(-3).map((text) => Number(text.replace(/[^\d.]/g, '')))
    }
    await type('Area in hectares', '2.5')
    await type('Kilograms in a bag', '25')
    await type('Price of a bag of Urea', '1200.5')
    const [total, bags, cost] = (await rowOf()) as [number, number, number]
    expect(bags).toBe(Math.ceil(total / 25))
    expect(cost).toBeCloseTo(bags * 1200.5, 0)
    await type('Area in hectares', '2,5')
    await type('Price of a bag of Urea', '1 200,5')
    expect(await rowOf()).toEqual([total, bags, cost])
    await type('Price of a bag of Urea', '1,200')
    expect((await rowOf())[2]).toBe(bags * 1200)
    await page.locator('select[name^=condition]').first().selectOption({ index: 1 })
    const shown = (label: string) => page.getByLabel(label).inputValue()
    const all = () =>
      Promise.all(['Area in hectares', 'Kilograms in a bag', 'Price of a bag of Urea'].map(shown))
    expect(await all()).toEqual(['2,5', '25', '1,200'])
    await find(page, pack.area.places[0]?.name as string)
    expect(await all()).toEqual(['2,5', '25', '1,200'])
    expect((await rowOf())[1]).toBeGreaterThan(0)
    await type('Area in hectares', 'two')
    await page.getByText('“two” is no number above 0.').waitFor()
    expect(await table.count()).toBe(0)
    await page.context().close()
  })

  test('finds the area itself, by its name and its code, and says that coordinates are swapped', async () => {
    const { pack, address } = await keep('eth', 'ETH-03-01-01')
    const { page } = await open(address)
    for (const wanted of [pack.area.name, 'eth-03-01-01']) {
      await find(page, '-1, 36.5')
      await find(page, wanted)
      await page.getByRole('heading', { level: 2, name: pack.area.name }).waitFor()
      await page.getByRole('heading', { level: 3, name: 'Yield' }).waitFor()
    }
    const { latitude, longitude } = pack.area
    await find(page, `${longitude}, ${latitude}`)
    await page.getByText('outside this file. With lat and lng swapped it would lie there').waitFor()
    await find(page, '-1, 36.5')
    expect(await page.getByText('swapped').count()).toBe(0)
    await page.context().close()
  })

  test('shows an area as other pages do, with the season whose name does not say itself', async () => {
    const { pack, address } = await keep('eth', 'ETH-09-02')
    const { page } = await open(address)
    await find(page, pack.area.name)
    await page.locator('.season-note').waitFor()
    const { latitude: lat, longitude: lng } = pack.area
    const payload = { lat, lng, country_code: 'eth', crop: pack.crops[0] }
    const { body } = await service.post('/advisory/point', { payload })
    await expectState(page.locator('.place'), 'place', figuresOfPlace(body))
    await page.context().close()
  })

  test('answers for the place that is tapped, and says what lies outside', async () => {
    const { address } = await keep('eth', 'ETH-09-02')
    const { page } = await open(address)
    const map = page.locator('.pack-map')
    const { width = 0, height = 0 } = (await map.boundingBox()) ?? {}
    await map.click({ position: { x: width / 2, y: height / 2 } })
    await page.getByRole('heading', { level: 3, name: 'Yield' }).waitFor()
    await find(page, '-1, 36.5')
    await page.getByText('This place is outside this file.').first().waitFor()
    await find(page, "38°30'15\"E 99°30'N")
    await page.getByText('must have a latitude').waitFor()
    await page.context().close()
  })

  test('says which products are demo data where others are not, as the map does', async () => {
    const { rows } = await sql<{ code: string }>`
      select code from admin_area
      where country_code = 'eth' and level = 2 and st_covers(geom, st_setsrid(st_makepoint(38.5, 9.5), 4326))
    `.execute(mixed.database.reader)
    const { address } = await keep('eth', rows[0]?.code as string, null, mixed)
    const { page } = await open(address)
    expect(await page.locator('.pack-head .notice').innerText()).toBe(
      'In part demo data, not advice: Fertilizer, wheat; Organic inputs, wheat; Forage.',
    )
    const marksOf = async (of: Page) => {
      const sections = await of.locator('.place .product:not(.none)').all()
      const names = await Promise.all(sections.map((one) => one.locator('h3').innerText()))
      const marks = await Promise.all(sections.map((one) => one.locator('.notice').count()))
      return names.map((name, at) => [name.split(' ')[0], marks[at]])
    }
    const expected = [
      ['Yield', 0],
      ['Fertilizer', 1],
      ['Organic', 1],
      ['Forage', 1],
    ]
    await find(page, '9.5, 38.5')
    await page.getByRole('heading', { level: 3, name: 'Yield' }).waitFor()
    expect(await marksOf(page)).toEqual(expected)
    const visitors = await receiveVisitors(mixed)
    onTestFinished(() => visitors.close())
    const visit = await visitors.open('/#at=9.5,38.5&country=eth&product=yield')
    await visit.page.getByRole('heading', { level: 3, name: 'Yield' }).waitFor()
    expect(await marksOf(visit.page)).toEqual(expected)
    expect(await visit.page.locator('.place > .notice:visible').count()).toBe(0)
    await page.context().close()
  })
})
