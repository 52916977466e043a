/**
 * node bin/run.mjs bench/first-view.ts SERVICE [RUNS]
 *
 * Opens the pages of a service as a slow phone does that was never there, in Debian's Chromium or that of CHROME_PATH:
 * what they transfer, and when something is to be seen and a control answers.
 */
import { loadavg } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { type Browser, type CDPSession, chromium } from 'playwright-core'
import { formatTable } from '#src/cli/table.ts'
import { median } from './bench.ts'
import { describeMachine } from './machine.ts'

/** What is there when a page has drawn its map, and has asked for all that is on it. */
const DRAWN_MAP = '.pane[data-state="idle"]'

/** The pages, and what each of them shows when it is complete. */
const PAGES = [
  ['/', DRAWN_MAP],
  ['/account', 'form'],
  ['/field', DRAWN_MAP],
  ['/points', 'input'],
  ['/districts', DRAWN_MAP],
] as const

/** What Lighthouse takes for a slow network of the fourth generation: bytes a second, and milliseconds. */
const NETWORK = {
  offline: false,
  latency: 150,
  downloadThroughput: 1_600_000 / 8,
  uploadThroughput: 750_000 / 8,
}

/** How much slower than this machine the phone computes. */
const SLOWDOWN = 4

const SCREEN = { width: 360, height: 640 }

/** What a page that is still empty may take. */
const PATIENCE_MS = 120_000

/** After so long without a byte nothing more is loaded. */
const QUIET_MS = 2000

/** Notes when the page has drawn a control and has time to answer to it. */
const WATCH = `{
  const watch = () => {
    if (!document.querySelector('main :is(input, select, button)')) return requestAnimationFrame(watch)
    requestAnimationFrame(() => setTimeout(() => { globalThis.usableAt = performance.now() }))
  }
  requestAnimationFrame(watch)
}`

const PAINTED_AND_USABLE = `new Promise((resolve) => {
  const look = () => {
    const [paint] = performance.getEntriesByName('first-contentful-paint')
    if (!paint || !globalThis.usableAt) return setTimeout(look, 50)
    resolve([paint.startTime, globalThis.usableAt])
  }
  look()
})`

/** A page that is opened for the first time. Times are milliseconds since its address was asked for. */
interface View {
  paintedAt: number
  usableAt: number
  /** As they come over the network, compressed and with headers: until nothing more is asked for. */
  bytes: number
  /** Those of the libraries that draw maps. */
  ofLibraries: number
}

const [service, runs = '5'] = process.argv.slice(2)
if (!service) throw new Error('give the address of the service')

const { cpu, cores } = describeMachine()
console.log(`${cpu}, ${cores} cores, load ${loadText()} before, medians of ${runs}`)
const browser = await chromium.launch({
  executablePath: process.env.CHROME_PATH ?? '/usr/bin/chromium',
  // Maps are drawn without a graphics card; and Chromium has no sandbox as root.
  args: [
    ...['--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ],
})
const rows: string[][] = []
for (const [path, complete] of PAGES) {
  const views: View[] = []
  while (views.length < Number(runs)) views.push(await viewOf(browser, service + path, complete))
  const figure = (of: (view: View) => number) => String(Math.round(median(views.map(of))))
  rows.push([
    path,
    figure(({ paintedAt }) => paintedAt),
    figure(({ usableAt }) => usableAt),
    figure(({ bytes, ofLibraries }) => (bytes - ofLibraries) / 1000),
    figure(({ bytes }) => bytes / 1000),
  ])
}
await browser.close()
console.log(formatTable(['page', 'painted ms', 'usable ms', 'kB', 'kB with libraries'], rows))
console.log(`load ${loadText()} after`)

/**
 * Opens a page in a browser that has kept nothing.
 *
 * @param complete selects what is there when it has begun to load all that it loads
 */
async function viewOf(browser: Browser, address: string, complete: string): Promise<View> {
  const context = await browser.newContext({
    viewport: SCREEN,
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
    // It would load all pages beside the one that is measured.
    serviceWorkers: 'block',
  })
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  const { counted, quiet } = await watchNetwork(session)
  await session.send('Network.emulateNetworkConditions', NETWORK)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  await page.addInitScript(WATCH)
  await page.goto(address, { waitUntil: 'commit', timeout: PATIENCE_MS })
  const [paintedAt, usableAt] = await page.evaluate<[number, number]>(PAINTED_AND_USABLE)
  await page.locator(complete).first().waitFor({ timeout: PATIENCE_MS })
  await quiet()
  await context.close()
  return { paintedAt, usableAt, ...counted }
}

/** Counts what a page is sent from now on; `quiet` waits until nothing more comes. */
async function watchNetwork(
  session: CDPSession,
): Promise<{ counted: Pick<View, 'bytes' | 'ofLibraries'>; quiet: () => Promise<void> }> {
  const counted = { bytes: 0, ofLibraries: 0 }
  let heardAt = performance.now()
  const heard = () => {
    heardAt = performance.now()
  }
  const libraries = new Set<string>()
  session.on('Network.requestWillBeSent', ({ requestId, request }) => {
    heard()
    if (request.url.includes('/lib/')) libraries.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    counted.bytes += encodedDataLength
    if (libraries.has(requestId)) counted.ofLibraries += encodedDataLength
    heard()
  })
  session.on('Network.dataReceived', heard)
  await session.send('Network.enable')
  const quiet = async () => {
    while (performance.now() - heardAt < QUIET_MS) await setTimeout(QUIET_MS / 10)
  }
  return { counted, quiet }
}

/** Processes that wanted to run in the minute before: figures of a busy machine are worth little. */
function loadText(): string {
  return (loadavg()[0] as number).toFixed(1)
}
