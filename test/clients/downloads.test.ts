import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { VERSION } from '#src/lib/version.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { runs, runWith } from './run.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TGZ = '/docs/clients/agro-advisory.tgz'
const WHEEL = `/docs/clients/agro_advisory_client-${VERSION}-py3-none-any.whl`
const R = '/docs/clients/agro_advisory.R'

const withPip = await runs('python3', '-m', 'pip', '--version')

let service: TestApp
let url: string
beforeAll(async () => {
  service = await createTestApp()
  url = await service.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => service.close())

test.each([
  [TGZ, 'application/gzip'],
  [WHEEL, 'application/zip'],
  [R, 'text/plain; charset=utf-8'],
])('%s is there, and is not sent again to whoever has it', async (path, mediaType) => {
  const response = await service.app.inject(path)
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, mediaType])
  const { etag } = response.headers
  expect([etag, response.headers['cache-control']]).toEqual([expect.stringMatching(/^".{27}"$/), 'no-cache'])
  const again = await service.app.inject({ url: path, headers: { 'if-none-match': etag as string } })
  expect([again.statusCode, again.body]).toEqual([304, ''])
})

test.each(['agro-advisory-0.tgz', '..%2Fapi', '__proto__'])('%s is no client', async (name) => {
  expect((await service.app.inject(`/docs/clients/${name}`)).statusCode).toBe(404)
})

test('two services make the same bytes of them', async () => {
  const app = await buildApp(service.testDatabase.config, service.database)
  onTestFinished(() => app.close())
  for (const path of [TGZ, WHEEL]) {
    const [one, two] = [await service.app.inject(path), await app.inject(path)]
    expect(one.rawPayload.equals(two.rawPayload)).toBe(true)
  }
})

const PROGRAM = `
import { createAdvisoryClient, AdvisoryError, type PointAnswer } from 'agro-advisory-client'
const client = createAdvisoryClient({ baseUrl: 'URL' })
const answer: PointAnswer<'yield'> = await client.point('yield', { lat: 9.5, lng: 38.5 })
const value: number | undefined = answer.yield_data[0]?.yield_kg_ha
const { data } = await client.api.GET('/catalog')
console.log(JSON.stringify([typeof value, data?.countries[0]?.code, AdvisoryError.name]))
`

test('the package for TypeScript is whole, compiles strictly and asks the service', async () => {
  const folder = await newFolder()
  const modules = join(folder, 'node_modules')
  await mkdir(modules)
  const { rawPayload } = await service.app.inject(TGZ)
  await writeFile(join(folder, 'client.tgz'), rawPayload)
  // As npm does it, which would ask the registry for the only dependency.
  await runWith({}, folder, 'tar', '-xzf', 'client.tgz')
  await rename(join(folder, 'package'), join(modules, 'agro-advisory-client'))
  await symlink(join(ROOT, 'node_modules/openapi-fetch'), join(modules, 'openapi-fetch'))
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'src/program.ts'), PROGRAM.replace('URL', url))
  const options = {
    strict: true,
    module: 'nodenext',
    target: 'es2022',
    rootDir: 'src',
    outDir: 'out',
    types: [],
    lib: ['es2022', 'dom'],
  }
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, include: ['src'] }),
  )
  await runWith({}, folder, process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.')
  const said = await runWith({}, folder, process.execPath, 'out/program.js')
  expect(JSON.parse(said)).toEqual(['number', 'eth', 'AdvisoryError'])
})

test.runIf(withPip)('the package for Python is installed by pip and asks the service', async () => {
  const folder = await newFolder()
  const pip = (...args: string[]) =>
    runWith({ PYTHONPATH: join(folder, 'site') }, folder, 'python3', '-m', 'pip', ...args)
  await pip('install', '--no-index', '--no-deps', '--target', 'site', `${url}${WHEEL}`)
  const program = `from agro_advisory import AdvisoryClient; print(AdvisoryClient("${url}").point("yield", lat=9.5, lng=38.5)["yield_data"][0]["scenario"])`
  expect(await runWith({ PYTHONPATH: join(folder, 'site') }, folder, 'python3', '-c', program)).toBe(
    'Above Normal\n',
  )
  const shown = await pip('show', 'agro-advisory-client')
  expect(shown).toContain(`Version: ${VERSION}`)
})

test('the clients have the version of the service', async () => {
  const versionIn = async (file: string, pattern: RegExp) =>
    pattern.exec(await readFile(join(ROOT, file), 'utf8'))?.[1]
  expect(await versionIn('clients/typescript/package.json', /"version": "([^"]+)"/)).toBe(VERSION)
  expect(await versionIn('clients/python/pyproject.toml', /^version = "([^"]+)"/m)).toBe(VERSION)
  for (const file of ['clients/python/README.md', 'docs/guide/clients.md']) {
    expect(await versionIn(file, /(\/docs\/clients\/\S+\.whl)/)).toBe(WHEEL)
  }
})
