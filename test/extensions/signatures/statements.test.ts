import { execFileSync } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { appendFileSync } from 'node:fs'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { canonicalize } from '#src/extensions/signatures/canonical.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { kindFixture, type LayerText, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'
import { onePixelRelease } from '#test/setup/releases.ts'
import { EXAMPLE, loadFiles, makeKey } from './made.ts'

let code: string
const service = openService({
  template: 'empty',
  settings: { SIGNING_KEY: makeKey(), RELEASE_MAX_AGE_MS: '0' },
  async prepare(database) {
    code = (await loadFiles(database)).code
  },
})

const get = async (path: string) => (await service.get(path)).body
const getText = async (path: string) => (await service.get(path)).text
const sum = (file: string) => execFileSync('sha256sum', [file], { encoding: 'utf8' }).slice(0, 64)

test('a release has its files as sha256sum prints them, with their layers, bands and pixels without a value', async () => {
  const { files } = await get(`/releases/${code}`)
  expect(files).toEqual(
    ['urea-normal.tif', 'urea-below-normal.tif'].map((name, at) => ({
      ...{ name, sha256: sum(`examples/rwanda/${name}`), bytes: 53_652 },
      layers: [{ layer: at + 1, band: 1, nodata: -9999, masked: false }],
    })),
  )
})

test('the statement says all that the release was loaded as, in its canonical form', async () => {
  const text = await getText(`/releases/${code}/statement`)
  const statement = JSON.parse(text)
  expect(canonicalize(statement)).toBe(text)
  const { files, checksum, source, licence } = await get(`/releases/${code}`)
  const layer = {
    input: 'Urea',
    condition: null,
    role: null,
    unit: 'kg/ha',
    scale: 1,
    offset: 0,
    decimals: 2,
  }
  expect(statement).toEqual({
    ...{
      format: 'agro release 2',
      release: code,
      product: 'fertilizer',
      country_code: 'rwa',
      crop: 'potato',
    },
    ...{ forecast_month: '2026-08', valid_until: null, version: 1, synthetic: true, lossy: false },
    ...{ source, licence, checksum, conditions: null, files },
    grids: [{ srid: 4326, crs: null, origin: [28, -1], pixel: [0.02, -0.02], size: [145, 92] }],
    layers: ['Normal', 'Below Normal'].map((scenario, at) => ({
      ...{ layer: at + 1, grid: 1, ...layer, scenario, probability: null, range: null },
    })),
  })
})

async function verifies(statement: string, release = code): Promise<boolean> {
  const { signature } = await get(`/releases/${release}`)
  const [head, , signed] = signature.split('.')
  const { kid } = JSON.parse(String(Buffer.from(head, 'base64url')))
  const { keys } = await get('/.well-known/jwks.json')
  const key = createPublicKey({ format: 'jwk', key: keys.find((one: { kid: string }) => one.kid === kid) })
  return verify(null, Buffer.from(`${head}.${statement}`), key, Buffer.from(signed, 'base64url'))
}

test('the signature is of the bytes of the statement', async () => {
  const text = await getText(`/releases/${code}/statement`)
  expect(await verifies(text)).toBe(true)
  expect(await verifies(`${text} `)).toBe(false)
})

test('an archive, and a file that is packed alone, are hashed as they are', async () => {
  const folder = await newFolder()
  const manifest = join(folder, 'manifest.yaml')
  await copyFile('examples/rwanda/urea-normal.tif', join(folder, 'normal.tif'))
  execFileSync('python3', ['-m', 'zipfile', '-c', 'rasters.zip', 'normal.tif'], { cwd: folder })
  await writeFile(
    join(folder, 'below.tif.gz'),
    gzipSync(await readFile('examples/rwanda/urea-below-normal.tif')),
  )
  const text = String(await readFile(EXAMPLE))
    .replace('urea-normal.tif', 'rasters.zip/normal.tif')
    .replace('urea-below-normal.tif', 'below.tif.gz')
  await writeFile(manifest, text.replace(/^forecast_period: .*$/m, 'forecast_period: 2026-09'))
  const loaded = await loadFiles(service.database, manifest)
  const { files } = await get(`/releases/${loaded.code}`)
  expect(files).toMatchObject([
    {
      name: 'rasters.zip',
      sha256: sum(join(folder, 'rasters.zip')),
      layers: [{ layer: 1, path: 'normal.tif' }],
    },
    { name: 'below.tif.gz', sha256: sum(join(folder, 'below.tif.gz')), layers: [{ layer: 2, band: 1 }] },
  ])
  expect(files[1].layers[0]).not.toHaveProperty('path')
})

test('which pixels count as no value is stated as the load has it, of the manifest, of files beside and of masks', async () => {
  const cases: [LayerText, object][] = [
    [{ file: 'mask-and-nodata.tif' }, { nodata: 150, masked: true }],
    [
      { file: 'mask-and-nodata.tif', nodata: 7 },
      { nodata: 7, masked: true },
    ],
    [
      { file: 'mask-and-nodata.tif', nodata: 'none', mask: 'none' },
      { nodata: null, masked: false },
    ],
    [{ file: 'mask-beside-float32.tif' }, { nodata: null, masked: true }],
    // As gdallocationinfo prints such a pixel.
    [
      { file: 'mask-beside-float32.tif', nodata: 0.1 },
      { nodata: 0.10000000149011612, masked: true },
    ],
    [{ file: 'alpha-uint8.tif' }, { nodata: null, masked: true }],
    [
      { file: 'alpha-uint8.tif', mask: 'none' },
      { nodata: null, masked: false },
    ],
    // What its .aux.xml says.
    [{ file: 'beside-nodata.tif' }, { nodata: 150, masked: false }],
  ]
  const layers = cases.map(([{ file, ...layer }], at) => ({
    ...{ file: kindFixture(file as string), band: 1, input: `input ${at}`, ...layer },
  }))
  const settings = { product: 'fertilizer', forecast_period: '2030-01' }
  const manifest = await writeManifest(await newFolder(), manifestText(layers, settings))
  const loaded = await loadFiles(service.database, manifest)
  const { files } = JSON.parse(await getText(`/releases/${loaded.code}/statement`))
  const parts = files.flatMap((file: { layers: { layer: number; band?: number }[] }) => file.layers)
  const ofLayers = parts.filter(({ band }: { band?: number }) => band !== undefined)
  ofLayers.sort((a: { layer: number }, b: { layer: number }) => a.layer - b.layer)
  expect(ofLayers).toEqual(cases.map(([, none], at) => ({ layer: at + 1, band: 1, ...none })))
  const masks = parts.filter(({ band }: { band?: number }) => band === undefined)
  expect(masks).toEqual([{ layer: 4 }, { layer: 5 }])
})

test('a statement of before has no such members, and keeps its bytes and its signature', async () => {
  const loaded = await loadRelease(
    service.database,
    onePixelRelease({ Urea: 4 }, { forecastPeriod: '2031-01-01' }),
  )
  const files = [{ name: 'a.tif', sha256: '0'.repeat(64), bytes: 1, layers: [{ layer: 1, band: 1 }] }]
  const before = canonicalize({ format: 'agro release 1', release: loaded.code, files })
  await service.database.pool.query(
    `update release_statement set statement = '${before}' where release_id = (select id from release where code = '${loaded.code}')`,
  )
  expect((await get(`/releases/${loaded.code}`)).files).toEqual(files)
  expect(await getText(`/releases/${loaded.code}/statement`)).toBe(before)
  expect(await verifies(before, loaded.code)).toBe(true)
})

test('a file that is written to while it is loaded is refused, for its hash may be of other bytes', async () => {
  const folder = await newFolder()
  const manifest = join(folder, 'manifest.yaml')
  const files = ['urea-normal.tif', 'urea-below-normal.tif']
  for (const name of files) await copyFile(join('examples/rwanda', name), join(folder, name))
  const text = String(await readFile(EXAMPLE))
  await writeFile(manifest, text.replace(/^forecast_period: .*$/m, 'forecast_period: 2026-10'))
  const progress = () => appendFileSync(join(folder, 'urea-normal.tif'), ' ')
  await expect(loadFiles(service.database, manifest, { progress })).rejects.toThrow(
    'urea-normal.tif changed while it was loaded: load it again when it is whole.',
  )
  await expect(loadFiles(service.database, manifest)).resolves.toMatchObject({ published: true })
})

test('a release of a formula has no files, and one that an older version has loaded says so', async () => {
  const loaded = await loadRelease(service.database, onePixelRelease({ Urea: 4 }))
  expect(await get(`/releases/${loaded.code}`)).toMatchObject({ files: [], signature: expect.any(String) })
  await service.database.pool.query(
    `delete from release_statement where release_id = (select id from release where code = '${loaded.code}')`,
  )
  expect(await get(`/releases/${loaded.code}`)).toMatchObject({ files: null, signature: null })
  const { status, body } = await service.get(`/releases/${loaded.code}/statement`)
  expect([status, body]).toEqual([
    404,
    {
      code: 'NOT_FOUND',
      error: `${loaded.code} was loaded by an older version, which kept no hashes of files: it has no statement.`,
    },
  ])
})

test('releases that never were published have no statement for others, unknown ones for none', async () => {
  const source = onePixelRelease({ Urea: 4 }, { forecastPeriod: '2030-04-01' })
  const hidden = await loadRelease(service.database, source, { publish: false })
  for (const one of [hidden.code, 'none', '%00']) {
    expect((await service.get(`/releases/${one}/statement`)).status).toBe(404)
  }
})

test.each([
  'GET /advisory/fertilizer/point?lat=-1.95&lng=30.06&proof=true',
  'POST /advisory/fertilizer/point?lat=-1.95&lng=30.06&proof=true',
  'GET /advisory/point?lat=-1.95&lng=30.06&proof=1',
  'GET /advisory/fertilizer?place=-1.95,30.06&proof=true',
  'POST /advisory/fertilizer/points?proof=true',
  ['POST /advisory/fertilizer/points', { points: [{ lat: -1.95, lng: 30.06 }], proof: true }] as const,
  ['POST /advisory/fertilizer/point', { lat: -1.95, lng: 30.06, proof: true }] as const,
])('%s is told where to look', async (sent) => {
  const [request, body] = typeof sent === 'string' ? [sent] : sent
  const answer = await service.ask(request, { payload: body })
  const message =
    'proof must be left out: the files and the signature of a release prove its answers, as /docs/proof says'
  expect([answer.status, answer.body]).toEqual([
    400,
    { code: 'INVALID_PARAMETERS', error: `${message}.`, details: [{ field: 'proof', message }] },
  ])
})

test('without a wish for proofs `proof` is like any other name', async () => {
  const { body } = await service.get(
    '/advisory/fertilizer/point?lat=-1.95&lng=30.06&crop=potato&country_code=rwa&proof=false',
  )
  expect(body).toMatchObject({ ignored: [{ name: 'proof' }] })
})
