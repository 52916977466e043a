/**
 * Takes docs/map.png, the picture of the README, of a running service with demo data. `test/web/picture.test.ts` says when
 * the page has changed since.
 *
 *     npm run picture -- http://127.0.0.1:3000
 */
import { writeFileSync } from 'node:fs'
import { chromium } from 'playwright-core'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { digestPage, PICTURE, PICTURE_PATH, PICTURE_WINDOW, withDigest } from '#test/setup/picture.ts'

const [url = 'http://127.0.0.1:3000'] = process.argv.slice(2)
if (CHROMIUM === undefined) throw new Error('There is no Chromium: CHROME_PATH says where it is.')
const browser = await chromium.launch({
  executablePath: CHROMIUM,
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
})
const page = await browser.newPage(PICTURE_WINDOW)
await page.goto(url + PICTURE_PATH)
const digest = await digestPage(page)
await page.locator('.pane[data-state="idle"]').first().waitFor()
writeFileSync(PICTURE, withDigest(await page.screenshot(), digest))
await browser.close()
