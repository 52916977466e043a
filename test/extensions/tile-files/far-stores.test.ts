import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openBucket } from '#src/extensions/tile-files/bucket.ts'
import { openWebServer } from '#src/extensions/tile-files/http.ts'
import { type FileStore, type ListedFile, openFolder } from '#src/extensions/tile-files/store.ts'
import { startTcpProxy, type TcpProxy } from '#test/data/tcp-proxy.ts'
import { newFolder } from '#test/setup/folders.ts'
import { MISSING, startNginx } from './nginx.ts'

if (MISSING) console.warn('test/extensions/tile-files/far-stores.test.ts is skipped in part: it needs nginx.')

const NAME = `${'ab'.repeat(32)}.tif`
const OTHER = `${'cd'.repeat(32)}.tif`

const CREDENTIALS = { accessKeyId: 'key', secretAccessKey: 'secret', region: 'here' }
const LIMITS = { timeoutMs: 5000, pausesMs: [0, 0] }

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

test.each([
  ['all of a file for a part', 200, 'the answer is 200'],
  ['more than it was asked for', 206, 'the answer has more than 65536 bytes'],
])('a server that sends %s fills no memory', async (_, status, reason) => {
  let sent = 0
  let end = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const files = await openWeb((_, response) => {
    response.writeHead(status)
    const send = () => {
      while (!response.destroyed && sent < 1e9 && response.write(Buffer.alloc(65_536))) sent += 65_536
    }
    response.on('drain', send)
    response.on('close', end)
    send()
  })
  await expect(files.read(NAME, 0, 10)).rejects.toThrow(reason)
  await ended
  expect(sent).toBeLessThan(20e6)
})

test('a server that ends a connection which was left open is asked once more, and no more than that', async () => {
  let asked = 0
  const endAt = new Set([2, 4, 5])
  const files = await openWeb((request, response) => {
    if (endAt.has(++asked)) request.socket.destroy()
    else response.writeHead(206).end('0123456789')
  })
  expect(String(await files.read(NAME, 0, 10))).toBe('0123456789')
  expect(String(await files.read(NAME, 0, 10))).toBe('0123456789')
  expect(asked).toBe(3)
  await expect(files.read(NAME, 0, 10)).rejects.toMatchObject({
    name: 'StorageUnavailable',
    hasAnswered: false,
  })
  expect(asked).toBe(5)
})

test('what a provider calls an error is said, of an answer that is one', async () => {
  const answers: [string, string][] = [
    ['application/xml', '<?xml version="1.0"?><Error><Code>SignatureDoesNotMatch</Code></Error>'],
    ['text/html', '<Code>AccessDenied</Code>'],
    ['application/xml', `<Error>${' '.repeat(100_000)}<Code>AccessDenied</Code></Error>`],
  ]
  const files = await openS3((_, response) => {
    const [type, body] = answers.shift() as [string, string]
    response.writeHead(403, { 'content-type': type }).end(body)
  })
  const messageOf = () => files.read(NAME, 0, 10).catch(({ message }) => message)
  expect(await messageOf()).toBe(
    'the files at s3://b/tiles cannot be reached: the answer is 403 (SignatureDoesNotMatch)',
  )
  expect(await messageOf()).toMatch(/the answer is 403$/)
  expect(await messageOf()).toMatch(/the answer is 403$/)
})

test('a provider that asks for patience is asked again, and one that refuses is not', async () => {
  const statuses = [503, 429, 200, 403]
  const asked: string[] = []
  const files = await openS3((request, response) => {
    asked.push(String(request.method))
    request.resume()
    response.writeHead(statuses.shift() as number).end()
  })
  await files.write(NAME, Buffer.from('bytes'))
  expect(asked).toEqual(['PUT', 'PUT', 'PUT'])
  await expect(files.remove(NAME)).rejects.toMatchObject({ name: 'StorageUnavailable', hasAnswered: true })
  expect(asked).toHaveLength(4)
})

const TIME = '2026-11-01T10:00:00.000Z'
const entry = (written: string, key = `ab/${NAME}`) =>
  `<Contents><Key>tiles/${key}</Key><LastModified>${written}</LastModified><Size>10</Size></Contents>`
const list = (inside: string) => `<ListBucketResult>${inside}</ListBucketResult>`
const NEXT = '<NextContinuationToken>same</NextContinuationToken>'

test.each([
  ['a page of HTML', '<!doctype html><p>Welcome'],
  ['another document', '<Error><Code>AccessDenied</Code></Error>'],
  ['a file without a time', list(entry(''))],
  ['a list that is cut off', list(`${entry(TIME)}<IsTruncated>true</IsTruncated>`)],
  ['the same page without end', list(entry(TIME) + NEXT)],
])('a bucket that lists %s cannot be swept', async (_, body) => {
  const files = await openS3((_, response) => void response.end(body))
  const listing = (async () => {
    for await (const file of files.list()) expect(file.writtenAt.getTime()).toBe(Date.UTC(2026, 10, 1, 10))
  })()
  await expect(listing).rejects.toMatchObject({ name: 'StorageUnavailable' })
})

test('a bucket is listed page by page, without what is none of ours', async () => {
  const asked: string[] = []
  const store = await openS3((request, response) => {
    asked.push(String(request.url))
    const isFirst = !request.url?.includes('continuation-token')
    const keys = isFirst ? [`ab/${NAME}`, 'README'] : [`cd/${OTHER}`, `ab/${OTHER}`]
    const next = isFirst ? '<NextContinuationToken>a+b</NextContinuationToken>' : ''
    response.end(`<?xml version="1.0"?>${list(keys.map((key) => entry(TIME, key)).join('') + next)}`)
  })
  const found: ListedFile[] = []
  for await (const file of store.list()) found.push(file)
  const writtenAt = new Date(TIME)
  expect(found).toEqual([NAME, OTHER].map((name) => ({ name, bytes: 10, writtenAt, unfinished: false })))
  expect(asked).toEqual([
    '/b?list-type=2&prefix=tiles%2F',
    '/b?list-type=2&prefix=tiles%2F&continuation-token=a%2Bb',
  ])
})

const BYTES = Buffer.from('0123456789')

describe.skipIf(MISSING)('a store behind nginx, 20 ms away', () => {
  let folder: string
  let away: TcpProxy
  let web: FileStore
  let bucket: FileStore
  let stop: () => unknown
  beforeAll(async () => {
    folder = await newFolder()
    await openFolder(folder).write(NAME, BYTES)
    await mkdir(join(folder, 'bucket'))
    const nginx = await startNginx(folder)
    away = await startTcpProxy(`http://127.0.0.1:${nginx.port}`, 20)
    stop = nginx.stop
    const endpoint = new URL(away.url).origin
    web = openWebServer(new URL(endpoint), 5000)
    bucket = openBucket({ endpoint, bucket: 'bucket', prefix: 'a b/50%', credentials: CREDENTIALS }, LIMITS)
  })

  afterAll(async () => {
    await away.close()
    await stop()
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
    await away.cut()
    await expect(web.read(NAME, 0, 1)).rejects.toMatchObject({ name: 'StorageUnavailable' })
    await expect(bucket.write(OTHER, BYTES)).rejects.toMatchObject({ name: 'StorageUnavailable' })
  })
})

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const openWeb = async (listener: RequestListener) => openWebServer(new URL(await serve(listener)), 5000)
const openS3 = async (listener: RequestListener) =>
  openBucket(
    { endpoint: await serve(listener), bucket: 'b', prefix: 'tiles', credentials: CREDENTIALS },
    LIMITS,
  )
