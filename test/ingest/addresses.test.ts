// Runs on a server alone: what is stored of a raster is the same on both; rasters.test.ts tries each type of pixel.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { download } from '#src/ingest/geotiff/open-files.ts'
import { newFolder } from '#test/setup/folders.ts'
import { kindFixture } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'
import { storedLayer } from './stored-layer.ts'

/** What the server does at other paths than those of fixtures. */
const ELSEWHERE: Record<string, (response: ServerResponse) => void> = {
  '/moved.tif': (response) => response.writeHead(302, { location: '/names.tif' }).end(),
  '/plain.tif': (response) =>
    response.writeHead(302, { location: 'http://127.0.0.1/names.tif?key=s3cret' }).end(),
  '/circle.tif': (response) => response.writeHead(301, { location: '/circle.tif' }).end(),
  '/broken.tif': (response) => response.writeHead(500).end(),
  '/silent.tif': (response) => response.writeHead(200).flushHeaders(),
}

const temporary = process.env.TMPDIR
let ingest: RefusingIngest
let server: Server
let base: string
let downloaded: string
/** What was asked for: the path, and the range. */
let asked: [string, string | undefined][]

beforeAll(async () => {
  ingest = await createRefusingIngest()
  const pem = await readFile(new URL('../fixtures/mail-server.pem', import.meta.url))
  server = createServer({ key: pem, cert: pem }, async (request, response) => {
    const { pathname } = new URL(request.url ?? '', base)
    const range = request.headers.range
    asked.push([pathname, range])
    if (ELSEWHERE[pathname]) return ELSEWHERE[pathname](response)
    const path = kindFixture(pathname.replace('/torn-', '/').slice(1))
    if (!existsSync(path)) return response.writeHead(404).end()
    const bytes = await readFile(path)
    const tag = { etag: '"1"' }
    if (range) {
      const start = Number(/\d+/.exec(range)?.[0])
      const part = { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }
      return response.writeHead(206, { ...tag, ...part }).end(bytes.subarray(start))
    }
    response.writeHead(200, { ...tag, 'content-length': bytes.length })
    if (!pathname.startsWith('/torn-')) return response.end(bytes)
    response.write(bytes.subarray(0, 1000), () => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await ingest.close()
})

const certificates = process.env.NODE_TLS_REJECT_UNAUTHORIZED
beforeEach(async () => {
  asked = []
  downloaded = await newFolder()
  set('TMPDIR', downloaded)
  set('NODE_TLS_REJECT_UNAUTHORIZED', '0')
})
afterEach(async () => {
  set('TMPDIR', temporary)
  set('NODE_TLS_REJECT_UNAUTHORIZED', certificates)
  expect(await readdir(downloaded)).toEqual([])
})

function set(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

const load = (layer: Record<string, unknown>, month: string) => storedLayer(ingest, layer, month)

describe('a raster at an https address is loaded as it would be here', () => {
  test('with what lies beside it there', async () => {
    const names = ['beside-scale.tif', 'mask-beside-float32.tif', 'world-prj.tif', 'world-upper.TIF']
    for (const [index, name] of names.entries()) {
      const expected = await load({ file: kindFixture(name) }, `2022-0${index + 1}`)
      expect(await load({ file: `${base}/${name}` }, `2021-0${index + 1}`)).toEqual(expected)
    }
    expect(asked).toContainEqual(['/mask-beside-float32.tif.msk', undefined])
  })

  test('from where a torn connection left it', async () => {
    const expected = await load({ file: kindFixture('names.tif'), band: 2 }, '2024-04')
    expect(await load({ file: `${base}/torn-names.tif`, band: 2 }, '2023-04')).toEqual(expected)
    const tries = asked.filter(([path]) => path === '/torn-names.tif')
    expect(tries).toEqual([
      ['/torn-names.tif', undefined],
      ['/torn-names.tif', 'bytes=1000-'],
    ])
  })

  test('where it leads elsewhere', async () => {
    const expected = await load({ file: kindFixture('names.tif') }, '2024-05')
    expect(await load({ file: `${base}/moved.tif` }, '2023-05')).toEqual(expected)
  })
})

describe('what cannot be had is refused, without what may be a secret', () => {
  const refusalOf = async (file: string) => (await ingest.refusalOfFile(file)).replaceAll(base, 'BASE')

  test.each([
    ['gone.tif?key=s3cret', 'BASE/gone.tif is not there, or may not be read.'],
    ['plain.tif', 'BASE/plain.tif leads to http://127.0.0.1/names.tif, which is not https.'],
    ['circle.tif', 'BASE/circle.tif leads elsewhere more than 5 times.'],
    ['broken.tif?key=s3cret', 'BASE/broken.tif cannot be downloaded: it answers 500.'],
  ])('%s', async (path, refusal) => {
    expect(await refusalOf(`${base}/${path}`)).toBe(refusal)
  })

  test('an address of http, and one with a password', async () => {
    expect(await refusalOf('http://example.org/yield.tif?key=s3cret')).toBe(
      'http://example.org/yield.tif is not read: rasters are at https addresses.',
    )
    expect(await refusalOf('https://me:s3cret@example.org/yield.tif')).toBe(
      'https://example.org/yield.tif is given with a name or a password, which manifests do not keep secret: download it first.',
    )
  })

  test('a server whose certificate nobody vouches for', async () => {
    set('NODE_TLS_REJECT_UNAUTHORIZED', certificates)
    // By another name than before, since connections are kept.
    const elsewhere = base.replace('127.0.0.1', 'localhost')
    expect((await refusalOf(`${elsewhere}/names.tif`)).replaceAll(elsewhere, 'BASE')).toMatch(
      /^BASE\/names\.tif cannot be downloaded: .*certificate.*\.$/,
    )
  })
})

describe('a download has limits', () => {
  const limits = { maxBytes: 1000, silenceMs: 60_000, wholeMs: 60_000 }

  test.each([
    ['names.tif', {}, 'has more than the 1000 bytes that are downloaded.'],
    ['silent.tif', { silenceMs: 50 }, 'cannot be downloaded: nothing came for 0.05 s.'],
    ['silent.tif', { wholeMs: 100 }, 'cannot be downloaded: it takes more than 0.1 s.'],
  ])('%s with %j', async (path, limit, refusal) => {
    const target = join(ingest.folder, 'target')
    await expect(download(new URL(`${base}/${path}`), target, { ...limits, ...limit })).rejects.toThrow(
      `${base}/${path} ${refusal}`,
    )
  })
})
