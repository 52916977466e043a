import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createTestApp } from '#test/setup/app.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { drawn, receiveVisitors } from './pages.ts'

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

test.skipIf(!CHROMIUM)(
  'the map has tiles of an operator below its values, with the name of their source',
  async () => {
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
    const others = await receiveVisitors(other)
    onTestFinished(() => others.close())
    const { page, complaints } = await others.open('/#map=8,-1.95,30.06')
    await drawn(page)
    expect(asked).toContain('/9/298/258.png')
    expect(await page.locator('.maplibregl-ctrl-attrib').innerText()).toBe('© <b>Example</b>')
    expect(complaints.toSorted()).toEqual(asked.map((path) => `asked ${tiles}${path}`).toSorted())
  },
)
