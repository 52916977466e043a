import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { openBucket } from '#src/data/files/bucket.ts'
import { openWebServer } from '#src/data/files/http.ts'

const NAME = `${'ab'.repeat(32)}.tif`
const CREDENTIALS = { accessKeyId: 'key', secretAccessKey: 'secret', region: 'here' }
const LIMITS = { timeoutMs: 5000, pausesMs: [0, 0] }

let server: Server | undefined
afterEach(() => {
  server?.closeAllConnections()
  server?.close()
})

async function serve(listener: RequestListener): Promise<string> {
  server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const openWeb = async (listener: RequestListener) => openWebServer(new URL(await serve(listener)), 5000)
const openS3 = async (listener: RequestListener) =>
  openBucket({ endpoint: await serve(listener), bucket: 'b', prefix: '', credentials: CREDENTIALS }, LIMITS)

test.each([
  ['all of a file in the place of a part', 200, 'the answer is 200'],
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

test('a server that ends a connection which was kept open is asked once more, and no more than that', async () => {
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
    'the files at s3://b cannot be reached: the answer is 403 (SignatureDoesNotMatch)',
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

const entry = (written: string) =>
  `<Contents><Key>ab/${NAME}</Key><LastModified>${written}</LastModified><Size>10</Size></Contents>`
const list = (inside: string) => `<ListBucketResult>${inside}</ListBucketResult>`
const NEXT = '<NextContinuationToken>same</NextContinuationToken>'

test.each([
  ['a page of HTML', '<!doctype html><p>Welcome'],
  ['another document', '<Error><Code>AccessDenied</Code></Error>'],
  ['a file without a time', list(entry(''))],
  ['a list that is cut off', list(`${entry('2026-11-01T10:00:00Z')}<IsTruncated>true</IsTruncated>`)],
  ['the same page without end', list(entry('2026-11-01T10:00:00Z') + NEXT)],
])('a bucket that lists %s cannot be swept', async (_, body) => {
  const files = await openS3((_, response) => void response.end(body))
  const listing = (async () => {
    for await (const file of files.list()) expect(file.writtenAt.getTime()).toBe(Date.UTC(2026, 10, 1, 10))
  })()
  await expect(listing).rejects.toMatchObject({ name: 'StorageUnavailable' })
})
