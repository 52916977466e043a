// Runs on a server alone: what is stored of a raster is the same on both.
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { copyTo, findSource } from '#src/extensions/formats/addresses.ts'
import { digestFile, openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { readManifest } from '#src/ingest/manifest.ts'
import { ingestManifest, kindFixture, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'

/** What the server does at other paths than those of fixtures. */
const ELSEWHERE: Record<string, (response: ServerResponse) => void> = {
  '/moved.tif': (response) => response.writeHead(302, { location: '/names.tif' }).end(),
  '/away.tif': (response) =>
    response.writeHead(302, { location: 'https://elsewhere.example.org/names.tif?key=s3cret' }).end(),
  '/inward.tif': (response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/names.tif' }).end(),
  '/circle.tif': (response) => response.writeHead(301, { location: '/circle.tif' }).end(),
  '/broken.tif': (response) => response.writeHead(500).end(),
  '/silent.tif': (response) => response.writeHead(200).flushHeaders(),
}

let service: TestApp
let server: Server
let host: string
let base: string
let temporary: string
let folder: string
/** What was asked for: the path, the range, and the signature. */
let asked: { path: string; range: string | undefined; signature: string | undefined }[]

beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? '', base)
    const { range, authorization: signature } = request.headers
    asked.push({ path: pathname, range, signature })
    if (ELSEWHERE[pathname]) return ELSEWHERE[pathname](response)
    const path = kindFixture(pathname.replace(/^.*\/(?:torn-)?/, ''))
    if (!existsSync(path)) return response.writeHead(404).end()
    const bytes = await readFile(path)
    const tag = { etag: '"1"' }
    if (range) {
      const start = Number(/\d+/.exec(range)?.[0])
      const part = { 'content-range': `bytes ${start}-${bytes.length - 1}/${bytes.length}` }
      return response.writeHead(206, { ...tag, ...part }).end(bytes.subarray(start))
    }
    response.writeHead(200, { ...tag, 'content-length': bytes.length })
    if (!pathname.includes('/torn-')) return response.end(bytes)
    response.write(bytes.subarray(0, 1000), () => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  base = `http://${host}`
})
afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await service.close()
})

beforeEach(async () => {
  asked = []
  folder = await newFolder()
  temporary = await newFolder()
  vi.stubEnv('TMPDIR', temporary)
  vi.stubEnv('INGEST_HOSTS', host)
  vi.stubEnv('INGEST_ALLOW_PRIVATE', 'true')
})
afterEach(async () => {
  vi.unstubAllEnvs()
  expect(await readdir(temporary)).toEqual([])
})

let years = 2000

/** What is stored of a layer, which is a release of a year of its own. */
async function load(layer: Record<string, unknown>): Promise<unknown[]> {
  const text = manifestText([layer], { forecast_period: `${years++}-01` })
  const { code } = await ingestManifest(service.database, await writeManifest(folder, text))
  const { rows } = await sql`
    select checksum, layer.scale, layer.minimum, layer.maximum, layer.mean, layer.valid_count
    from release join layer on layer.release_id = release.id
    where code = ${code}`.execute(service.database.writer)
  return rows
}

async function refusalOf(file: string): Promise<string> {
  const error = await load({ file }).catch((error: Error) => error)
  expect(error).toMatchObject({ name: 'OperatorError' })
  return (error as Error).message.replaceAll(`${folder}/`, '')
}

test.each(['beside-scale.tif', 'mask-beside-float32.tif', 'world-prj.tif', 'world-upper.TIF'])(
  '%s at an address is loaded as it would be here, with what lies beside it',
  async (name) => {
    expect(await load({ file: `${base}/${name}` })).toEqual(await load({ file: kindFixture(name) }))
    if (name.startsWith('mask')) expect(asked.map(({ path }) => path)).toContain(`/${name}.msk`)
  },
)

test('a raster is loaded from where a torn connection left it, and where it leads elsewhere at the same host', async () => {
  const layer = { file: kindFixture('names.tif'), band: 2 }
  expect(await load({ ...layer, file: `${base}/torn-names.tif` })).toEqual(await load(layer))
  const torn = asked.filter(({ path }) => path === '/torn-names.tif')
  expect(torn.map(({ range }) => range)).toEqual([undefined, 'bytes=1000-'])
  expect(await load({ ...layer, file: `${base}/moved.tif` })).toEqual(await load(layer))
})

test('a release has the address of its file, without what may be a secret, and the hash of its bytes', async () => {
  const text = manifestText([{ file: `${base}/names.tif?key=s3cret`, band: 1 }])
  const release = await openGeoTiffs(
    service.database.writer,
    await readManifest(await writeManifest(folder, text)),
  )
  await release.close()
  expect(release.files).toMatchObject([
    { name: `${base}/names.tif`, ...(await digestFile(kindFixture('names.tif'))) },
  ])
})

test('a file of a named bucket is asked for at the endpoint, and signed where there is a key', async () => {
  const layer = { file: kindFixture('names.tif'), band: 2 }
  vi.stubEnv('INGEST_HOSTS', 's3://Rasters')
  vi.stubEnv('INGEST_S3_ENDPOINT', base)
  const expected = await load(layer)
  expect(await load({ ...layer, file: 's3://rasters/2026/names.tif' })).toEqual(expected)
  expect(asked[0]).toEqual({ path: '/rasters/2026/names.tif', range: undefined, signature: undefined })
  vi.stubEnv('INGEST_S3_ACCESS_KEY_ID', 'AKIATEST')
  expect(await refusalOf('s3://rasters/2026/names.tif')).toContain('are needed together')
  vi.stubEnv('INGEST_S3_SECRET_ACCESS_KEY', 'secret')
  asked = []
  expect(await load({ ...layer, file: 's3://rasters/2026/torn-names.tif' })).toEqual(expected)
  const signed = asked.filter(({ path }) => path.endsWith('torn-names.tif'))
  expect(signed.map(({ range }) => range)).toEqual([undefined, 'bytes=1000-'])
  for (const { signature } of signed) {
    expect(signature).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIATEST\/\d{8}\/us-east-1\/s3\/aws4_request, /)
  }
})

test('addresses are refused, without what may be a secret', async () => {
  const cases = {
    'what is not there': 'BASE/gone.tif?key=s3cret',
    'what leads to a host that is not named': 'BASE/away.tif',
    'what leads into the network': 'BASE/inward.tif',
    'what leads to itself': 'BASE/circle.tif',
    'what fails': 'BASE/broken.tif?key=s3cret',
    'a host that is not named': 'https://example.org/a.tif?key=s3cret',
    'a bucket that is not named': 's3://rasters/a.tif',
    'an address with a password': 'https://me:s3cret@example.org/a.tif',
    'an address that is none': 'https://[/a.tif',
  }
  const lines: string[] = []
  for (const [what, address] of Object.entries(cases)) {
    lines.push(`${what}: ${await refusalOf(address.replace('BASE', base))}\n`)
  }
  const refusals = lines.join('').replaceAll(base, 'BASE')
  expect(refusals).not.toContain('s3cret')
  await expect(refusals).toMatchFileSnapshot('refused/addresses.txt')
})

test('no address is read until it is named, and then neither by http nor in a private network', async () => {
  vi.stubEnv('INGEST_ALLOW_PRIVATE', 'false')
  const secure = 'https://127.0.0.1/a.tif'
  vi.stubEnv('INGEST_HOSTS', '')
  expect(await refusalOf(secure)).toContain('INGEST_HOSTS does not name 127.0.0.1.')
  vi.stubEnv('INGEST_HOSTS', `127.0.0.1,localhost,${host}`)
  expect(await refusalOf(secure)).toBe(`${secure} is not read: it must be a public address.`)
  expect(await refusalOf('https://localhost/a.tif')).toContain('must be a public host')
  expect(await refusalOf(`${base}/names.tif`)).toBe(
    `${base}/names.tif is not read: rasters are at https addresses.`,
  )
  expect(asked).toEqual([])
})

test('a server whose certificate is not vouched for is refused', async () => {
  const pem = await readFile(new URL('../../fixtures/mail-server.pem', import.meta.url))
  const secure = createSecureServer({ key: pem, cert: pem }, (_request, response) => response.end())
  secure.listen(0, '127.0.0.1')
  await once(secure, 'listening')
  const other = `127.0.0.1:${(secure.address() as AddressInfo).port}`
  vi.stubEnv('INGEST_HOSTS', other)
  expect(await refusalOf(`https://${other}/names.tif`)).toMatch(/cannot be downloaded: .*certificate.*\.$/)
  secure.close()
})

test.each([
  ['has more than the 1000 bytes that are downloaded.', 'names.tif', {}],
  ['cannot be downloaded: nothing came for 0.05 s.', 'silent.tif', { silenceMs: 50 }],
  ['cannot be downloaded: it takes more than 0.1 s.', 'silent.tif', { wholeMs: 100 }],
])('a download %s', async (refusal, path, limit) => {
  const limits = { maxBytes: 1000, silenceMs: 60_000, wholeMs: 60_000, ...limit }
  const address = new URL(`${base}/${path}`)
  const target = join(folder, 'target')
  const done = copyTo(findSource(address, loadConfig()), address, target, limits)
  await expect(done).rejects.toThrow(`${base}/${path} ${refusal}`)
})

test.each([
  ['a path', { INGEST_HOSTS: 'https://data.example.org/a' }, 'INGEST_HOSTS must list hosts'],
  [
    'a path of an endpoint',
    { INGEST_S3_ENDPOINT: 'https://s3.example.org/b' },
    'INGEST_S3_ENDPOINT must look like',
  ],
])('settings with %s end the start', (_what, settings, refusal) => {
  expect(() => loadConfig(settings)).toThrow(refusal)
})
