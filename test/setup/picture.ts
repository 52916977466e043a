import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { Page } from 'playwright-core'

// The picture of the README: `scripts/make-picture.ts` takes it, and a test compares what its page says with what it said.

export const PICTURE = 'docs/map.png'

/** The point of the README's first call. */
export const PICTURE_PATH = '/#product=yield&country=eth&at=9.5,38.5'
export const PICTURE_WINDOW = { viewport: { width: 1440, height: 900 }, colorScheme: 'light' } as const

/** What the page of the picture says; what the map itself has on it comes late. */
const PARTS = ['.purpose', '.side', '.stage .notice', '.legends', '.place']

/** The typefaces of words and headings, which are there then. */
const TYPEFACES = `document.fonts.ready.then(() =>
  [document.body, document.querySelector('h2')].map((one) => getComputedStyle(one).fontFamily))`

/** A digest of all words on the page of the picture, and of their typefaces. */
export async function digestPage(page: Page): Promise<string> {
  await page.locator('.place .product').first().waitFor()
  await page.locator('.legend li').first().waitFor()
  const texts = await Promise.all(PARTS.map((part) => page.locator(part).innerText()))
  const words = texts.flatMap((text) => text.split('\n').map((line) => line.trim())).filter(Boolean)
  const typefaces = await page.evaluate<string[]>(TYPEFACES)
  return createHash('sha256')
    .update([...words, ...typefaces].join('\n'))
    .digest('hex')
}

/** Of a chunk with a text, and of the first chunk of each PNG with its signature. */
const TYPE = 'tEXt'
const HEAD_BYTES = 33
const KEYWORD = 'Digest'

/** A PNG with the digest of the page that it shows. */
export function withDigest(png: Buffer, digest: string): Buffer {
  const body = Buffer.from(`${TYPE}${KEYWORD}\0${digest}`, 'latin1')
  const chunk = Buffer.alloc(body.length + 8)
  chunk.writeUInt32BE(body.length - TYPE.length, 0)
  body.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(body), body.length + 4)
  return Buffer.concat([png.subarray(0, HEAD_BYTES), chunk, png.subarray(HEAD_BYTES)])
}

/** Undefined where the script has not made it. */
export function digestIn(png: Buffer): string | undefined {
  const text = png.subarray(HEAD_BYTES, HEAD_BYTES + 200).toString('latin1')
  return new RegExp(`${TYPE}${KEYWORD}\0([0-9a-f]{64})`).exec(text)?.[1]
}
