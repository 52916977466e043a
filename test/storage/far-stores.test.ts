import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openBucket } from '#src/storage/bucket.ts'
import { openFolder } from '#src/storage/folder.ts'
import { openWebServer } from '#src/storage/http.ts'
import type { FileStore, ListedFile } from '#src/storage/store.ts'
import { newFolder } from '#test/setup/folders.ts'

const run = promisify(execFile)
const NGINX = '/usr/sbin/nginx'
const hasNginx = await run(NGINX, ['-v']).then(
  () => true,
  () => false,
)
if (!hasNginx) console.warn('test/storage/far-stores.test.ts is skipped in part: it needs nginx.')

const NAME = `${'ab'.repeat(32)}.tif`
const OTHER = `${'cd'.repeat(32)}.tif`
const BYTES = Buffer.from('0123456789')
const CREDENTIALS = { accessKeyId: 'key', secretAccessKey: 'secret', region: 'here' }

const closing: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})

/** A port that is nobody's, at least for a while. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** nginx with a folder that can be written as well. */
async function startNginx(folder: string): Promise<number> {
  const port = await freePort()
  const own = await newFolder()
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${own}/${kind};`)
    .join(' ')
  await writeFile(
    join(own, 'nginx.conf'),
    `${user} daemon off; pid ${own}/pid; error_log stderr; events {} http { access_log off; ${paths}
     server { listen 127.0.0.1:${port}; root ${folder};
       location / { dav_methods PUT DELETE; create_full_put_path on; } } }`,
  )
  const nginx = spawn(NGINX, ['-p', own, '-c', join(own, 'nginx.conf')], { stdio: 'ignore' })
  closing.push(async () => {
    nginx.kill()
    await once(nginx, 'exit')
  })
  while (
    !(await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    ))
  )
    await setTimeout(20)
  return port
}

/** What lies between: all that passes is late by 20 ms. Says where, and how to cut it off. */
async function startFarAway(port: number): Promise<{ port: number; cut: () => void }> {
  const sockets = new Set<{ destroy(): unknown }>()
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => to.destroy())
      from.on('data', (data) => void setTimeout(20).then(() => to.write(data)))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  closing.push(cut)
  return { port: (server.address() as AddressInfo).port, cut }
}

describe.skipIf(!hasNginx)('a store behind nginx, 20 ms away', () => {
  let folder: string
  let away: Awaited<ReturnType<typeof startFarAway>>
  let web: FileStore
  let bucket: FileStore
  beforeAll(async () => {
    folder = await newFolder()
    await openFolder(folder).write(NAME, BYTES)
    await mkdir(join(folder, 'bucket'))
    away = await startFarAway(await startNginx(folder))
    const endpoint = `http://127.0.0.1:${away.port}`
    web = openWebServer(new URL(endpoint), 5000)
    bucket = openBucket({ endpoint, bucket: 'bucket', prefix: 'tiles', credentials: CREDENTIALS }, 5000)
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
    expect(String(await openFolder(join(folder, 'bucket/tiles')).read(OTHER, 0, 10))).toBe(String(BYTES))
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
  const store = openBucket({ endpoint, bucket: 'b', prefix: 'tiles', credentials: CREDENTIALS }, 5000)
  const found: ListedFile[] = []
  for await (const file of store.list()) found.push(file)
  const writtenAt = new Date('2026-11-01T10:00:00Z')
  expect(found).toEqual([NAME, OTHER].map((name) => ({ name, bytes: 10, writtenAt })))
  expect(asked).toEqual([
    '/b?list-type=2&prefix=tiles%2F',
    '/b?list-type=2&prefix=tiles%2F&continuation-token=a%2Bb',
  ])
})
