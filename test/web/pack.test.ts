// Runs on either database: the page of a pack asks none.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PackVersion } from '#src/standards/packs/html.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openApp } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { drawPlaces, makePack } from '#test/standards/packs/made-packs.ts'
import { allFaultsOf } from './looks.ts'

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

const SLOWDOWN = 4

/** A folder for pictures to look at, where there is one. */
const { SHOTS } = process.env

interface Opened {
  page: Page
  /** Errors, warnings, and requests but for the file. */
  complaints: string[]
}

/** Types each place into the search, and reads what the page shows as data; null where it shows none. */
const ASK_ALL = `(places) => places.map(({ lat, lng }) => {
  document.querySelector('input[name=place]').value = lat + ', ' + lng
  document.querySelector('form.search').requestSubmit()
  return new Promise((resolve) => setTimeout(() => resolve(document.querySelector('.calls code')?.textContent ?? null)))
}).reduce(async (before, one) => [...(await before), await one], Promise.resolve([]))`

describe.skipIf(!CHROMIUM)('the file of an area, in a browser without a network', () => {
  const service = openApp()
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

  async function keep(country: string, code: string, version: PackVersion | null = null) {
    const { html, pack } = await makePack(service, country, code, version)
    const path = join(folder, `${code}${version ? ' versioned' : ''}.html`)
    await writeFile(path, html)
    return { pack, address: pathToFileURL(path).href, bytes: html.length }
  }

  async function open(address: string, options: BrowserContextOptions = {}): Promise<Opened> {
    const context = await browser.newContext({ offline: true, reducedMotion: 'reduce', ...options })
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
      const answer = await service.app.inject({ method: 'POST', url: '/advisory/point', payload })
      const { location: _, request_id: __, ...expected } = answer.json()
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

  test('opens on a slow phone, in little memory', async () => {
    const { address, bytes } = await keep('ken', 'KEN')
    const context = await browser.newContext({ offline: true, viewport: { width: 360, height: 640 } })
    const page = await context.newPage()
    const client = await context.newCDPSession(page)
    await client.send('Performance.enable')
    await client.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
    const begun = performance.now()
    await page.goto(address)
    await page.locator('.pack-legend').waitFor()
    const ms = Math.round(performance.now() - begun)
    const { metrics } = await client.send('Performance.getMetrics')
    const read = (name: string) => metrics.find((one) => one.name === name)?.value ?? 0
    console.log(
      `${bytes} bytes: open in ${ms} ms at a ${SLOWDOWN}th of the speed, ${read('TaskDuration')} s of tasks, heap ${read('JSHeapUsedSize')}`,
    )
    expect(read('JSHeapUsedSize')).toBeLessThan(MOST_HEAP)
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
      await page.getByLabel('Area or coordinates').fill(inside.name)
      await page.getByRole('button', { name: 'Find' }).click()
      await page.getByRole('heading', { level: 2, name: inside.name }).waitFor()
      await page.getByText('For an area').click()
      await page.getByLabel('Area in hectares').fill('2')
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

  test('answers for the place that is tapped, and says what lies outside', async () => {
    const { address } = await keep('eth', 'ETH-09-02')
    const { page } = await open(address)
    const map = page.locator('.pack-map')
    const { width = 0, height = 0 } = (await map.boundingBox()) ?? {}
    await map.click({ position: { x: width / 2, y: height / 2 } })
    await page.getByRole('heading', { level: 3, name: 'Yield' }).waitFor()
    await page.getByLabel('Area or coordinates').fill('-1, 36.5')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByText('This place is outside this file.').first().waitFor()
    await page.getByLabel('Area or coordinates').fill("38°30'15\"E 99°30'N")
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByText('must have a latitude').waitFor()
    await page.context().close()
  })
})
