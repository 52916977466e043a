import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBucket } from '#src/data/files/bucket.ts'
import { openWebServer } from '#src/data/files/http.ts'
import { type FileStore, type ListedFile, openFolder } from '#src/data/files/store.ts'
import { type FarAway, startFarAway } from '#test/setup/far-away.ts'
import { newFolder } from '#test/setup/folders.ts'
import { MISSING, startNginx } from '#test/setup/nginx.ts'

if (MISSING) console.warn('test/data/files/far-stores.test.ts is skipped in part: it needs nginx.')

const NAME = `${'ab'.repeat(32)}.tif`
const OTHER = `${'cd'.repeat(32)}.tif`
const BYTES = Buffer.from('0123456789')
const CREDENTIALS = { accessKeyId: 'key', secretAccessKey: 'secret', region: 'here' }

const LIMITS = { timeoutMs: 5000, pausesMs: [0] }

const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

describe.skipIf(MISSING)('a store behind nginx, 20 ms away', () => {
  let folder: string
  let away: FarAway
  let web: FileStore
  let bucket: FileStore
  beforeAll(async () => {
    folder = await newFolder()
    await openFolder(folder).write(NAME, BYTES)
    await mkdir(join(folder, 'bucket'))
    const nginx = await startNginx(folder)
    away = await startFarAway(nginx.port, 20)
    closing.push(nginx.stop, away.close)
    const endpoint = `http://127.0.0.1:${away.port}`
    web = openWebServer(new URL(endpoint), 5000)
    bucket = openBucket({ endpoint, bucket: 'bucket', prefix: 'a b/50%', credentials: CREDENTIALS }, LIMITS)
  })

  test('a web server gives parts of files, and takes none', async () => {
    expect(String(await web.read(NAME, 2, 5))).toBe('23456')
    await expect(web.read(NAME, 5, 6)).rejects.toThrow('has not all of')
    await expect(web.read(OTHER, 0, 1)).rejects.toMatchObject({ name: 'FileMissing' })
    await expect(web.write(OTHER, BYTES)).rejects.toMatchObject({ name: 'OperatorError' })
  })

  test('a bucket takes files, gives parts of them, and removes them', async () => {
    await bucket.write(OTHER, BYTES)
    expect(String(await bucket.read(OTHER, 7, 3))).toBe('789')
    expect(String(await openFolder(join(folder, 'bucket/a b/50%')).read(OTHER, 0, 10))).toBe(String(BYTES))
    await bucket.remove(OTHER)
    await bucket.remove(OTHER)
    await expect(bucket.read(OTHER, 0, 1)).rejects.toMatchObject({ name: 'FileMissing' })
  })

  test('what is cut off, or answers something else, is unavailable', async () => {
    // nginx has no lists: it answers with a page.
    await expect(bucket.list()[Symbol.asyncIterator]().next()).rejects.toThrow()
    away.cut()
    await expect(web.read(NAME, 0, 1)).rejects.toMatchObject({ name: 'StorageUnavailable' })
    await expect(bucket.write(OTHER, BYTES)).rejects.toMatchObject({ name: 'StorageUnavailable' })
  })
})

test('a bucket is listed page by page, without what is none of ours', async () => {
  const entry = (key: string) =>
    `<Contents><Key>${key}</Key><LastModified>2026-11-01T10:00:00.000Z</LastModified><Size>10</Size></Contents>`
  const asked: string[] = []
  const server = createHttpServer((request, response) => {
    asked.push(String(request.url))
    const isFirst = !request.url?.includes('continuation-token')
    const keys = isFirst ? [`tiles/ab/${NAME}`, 'tiles/README'] : [`tiles/cd/${OTHER}`, `tiles/ab/${OTHER}`]
    const next = isFirst ? '<NextContinuationToken>a+b</NextContinuationToken>' : ''
    response.end(
      `<?xml version="1.0"?><ListBucketResult>${keys.map(entry).join('')}${next}</ListBucketResult>`,
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => server.close())
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const store = openBucket({ endpoint, bucket: 'b', prefix: 'tiles', credentials: CREDENTIALS }, LIMITS)
  const found: ListedFile[] = []
  for await (const file of store.list()) found.push(file)
  const writtenAt = new Date('2026-11-01T10:00:00Z')
  expect(found).toEqual([NAME, OTHER].map((name) => ({ name, bytes: 10, writtenAt, unfinished: false })))
  expect(asked).toEqual([
    '/b?list-type=2&prefix=tiles%2F',
    '/b?list-type=2&prefix=tiles%2F&continuation-token=a%2Bb',
  ])
})
