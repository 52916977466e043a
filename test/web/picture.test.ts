// Runs on either database: pages ask for what other tests try on both.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createTestApp } from '#test/setup/app.ts'
import { CHROMIUM } from '#test/setup/chromium.ts'
import { openFor } from '#test/setup/open-service.ts'
import { digestIn, digestPage, PICTURE, PICTURE_PATH, PICTURE_WINDOW } from '#test/setup/picture.ts'
import { receiveVisitors } from './pages.ts'

describe.skipIf(!CHROMIUM)('the picture of the README', () => {
  const service = openFor(createTestApp)
  const visitors = openFor(() => receiveVisitors(service))

  test('shows the page as it is: `npm run picture` takes it anew', async () => {
    const { page, close } = await visitors.open(PICTURE_PATH, PICTURE_WINDOW)
    expect(digestIn(readFileSync(PICTURE))).toBe(await digestPage(page))
    await close()
  })
})
