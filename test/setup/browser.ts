import { type Browser, chromium, type Page } from 'playwright-core'
import { CHROMIUM } from './chromium.ts'

/** A window of a browser that takes down what goes wrong in it. */
export interface WatchedPage {
  page: Page
  /** Errors of scripts, failed requests, and what the content security policy has kept from being done. */
  complaints: string[]
  close(): Promise<void>
}

/** @param size of the window, in CSS pixels */
export async function openWatchedPage(size: { width: number; height: number }): Promise<WatchedPage> {
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM as string,
    // Chromium has no sandbox as root, which containers and CI run as.
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  const page = await browser.newPage({ viewport: size })
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText
    // Whoever leaves a page gives up what it was still loading.
    if (reason !== 'net::ERR_ABORTED') complaints.push(`${request.url()} failed: ${reason}`)
  })
  return { page, complaints, close: () => browser.close() }
}
