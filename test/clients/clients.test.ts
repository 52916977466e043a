import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'csv-parse/sync'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { buildApp } from '#src/app.ts'
import { VERSION } from '#src/lib/version.ts'
import { call } from '#test/setup/calls.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'examples/integrations')
const FARMS = join(ROOT, 'examples/rwanda/farms.csv')
const TGZ = '/docs/clients/agro-advisory.tgz'
const WHEEL = `/docs/clients/agro_advisory_client-${VERSION}-py3-none-any.whl`

type Row = Record<string, string>

const runs = (command: string, ...args: string[]) =>
  promisify(execFile)(command, args).then(
    () => true,
    () => false,
  )

const withPython = await runs('python3', '--version')

const service = openService()
let url: string
let environment: Record<string, string>

beforeAll(async () => {
  url = await service.app.listen({ port: 0, host: '127.0.0.1' })
  environment = {
    AGRO_URL: url,
    AGRO_KEY: service.person.access_token,
    PYTHONPATH: join(ROOT, 'clients/python'),
    PYTHONDONTWRITEBYTECODE: '1',
  }
})

test.each([
  [TGZ, 'application/gzip'],
  [WHEEL, 'application/zip'],
  ['/docs/clients/agro_advisory.R', 'text/plain; charset=utf-8'],
])('%s is there, and is not sent again to whoever has it', async (path, mediaType) => {
  const response = await service.get(path)
  expect([response.status, response.headers['content-type']]).toEqual([200, mediaType])
  const { etag } = response.headers
  expect([etag, response.headers['cache-control']]).toEqual([expect.stringMatching(/^".{27}"$/), 'no-cache'])
  const again = await service.get(path, { headers: { 'if-none-match': etag as string } })
  expect([again.status, again.text]).toEqual([304, ''])
})

test.each(['agro-advisory-0.tgz', '..%2Fapi', '__proto__'])('%s is no client', async (name) => {
  expect((await service.get(`/docs/clients/${name}`)).status).toBe(404)
})

test('two services make the same bytes of them', async () => {
  const app = await buildApp(service.testDatabase.config, service.database)
  onTestFinished(() => app.close())
  for (const path of [TGZ, WHEEL]) {
    const [one, two] = [await service.get(path), await call(app, `GET ${path}`)]
    expect(one.bytes.equals(two.bytes)).toBe(true)
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
  const folder = await projectWithPackage()
  writeFileSync(join(folder, 'program.ts'), PROGRAM.replace('URL', url))
  const lib = ['es2022', 'dom']
  const compilerOptions = { strict: true, module: 'nodenext', target: 'es2022', types: [], lib }
  const project = { compilerOptions, include: ['program.ts'] }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(project))
  await runIn(folder, process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.')
  const said = await runIn(folder, process.execPath, 'program.js')
  expect(JSON.parse(said)).toEqual(['number', 'eth', 'AdvisoryError'])
})

const withPip = await runs('python3', '-m', 'pip', '--version')

test.runIf(withPip)('the package for Python is installed by pip and asks the service', async () => {
  const folder = await newFolder()
  const python = (...args: string[]) =>
    runIn(folder, 'env', `PYTHONPATH=${join(folder, 'site')}`, 'python3', ...args)
  await python('-m', 'pip', 'install', '--no-index', '--no-deps', '--target', 'site', `${url}${WHEEL}`)
  const program = `from agro_advisory import AdvisoryClient; print(AdvisoryClient("${url}").point("yield", lat=9.5, lng=38.5)["yield_data"][0]["scenario"])`
  expect(await python('-c', program)).toBe('Above Normal\n')
  expect(readdirSync(join(folder, 'site'))).toContain(`agro_advisory_client-${VERSION}.dist-info`)
})

test.each([
  ['clients/typescript/package.json', /"version": "([^"]+)"/, VERSION],
  ['clients/python/pyproject.toml', /^version = "([^"]+)"/m, VERSION],
  ['clients/python/README.md', /(\/docs\/clients\/\S+\.whl)/, WHEEL],
  ['docs/guide/clients.md', /(\/docs\/clients\/\S+\.whl)/, WHEEL],
])('the version of the service is in %s', (file, pattern, expected) => {
  expect(pattern.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1]).toBe(expected)
})

const rowsOf = (text: string): Row[] => parse(text, { columns: true })
const python = (...args: string[]) => runIn(FOLDER, 'python3', ...args)

/** What the service says of the same farms, and what that comes to on each. */
async function farmsByService(): Promise<Row[]> {
  const { text } = await service.post(
    '/advisory/fertilizer/points?crop=potato&country_code=rwa&pass=area_ha',
    { headers: { 'content-type': 'text/csv' }, payload: readFileSync(FARMS, 'utf8') },
  )
  return rowsOf(text).flatMap((row): Row[] => {
    const { id = '', release = '', code = '', area_ha } = row
    if (code !== '') return [{ id, input: '', kg_ha: '', kg: '', release, why_not: code }]
    const inputs = Object.keys(row).flatMap((column) => /^rate_kg_ha (\S+) Normal$/.exec(column)?.[1] ?? [])
    return inputs.map((input) => {
      const rate = Number(row[`rate_kg_ha ${input} Normal`])
      const amount = Math.round(rate * Number(area_ha) * 10) / 10
      return { id, input, kg_ha: String(rate), kg: String(amount), release, why_not: '' }
    })
  })
}

/** Python writes whole numbers with a decimal place, and rounds halves to even ones. */
function likeNumbers(rows: Row[]) {
  return rows.map(({ kg_ha, kg, ...row }) => ({
    ...row,
    kg_ha: Number(kg_ha),
    kg: expect.closeTo(Number(kg), 0),
  }))
}

test.runIf(withPython)('500 farms of a file are advised in Python', async () => {
  const rows = rowsOf(await runIn(FOLDER, 'sh', '-c', `exec python3 farms.py < ${FARMS}`))
  const expected = await farmsByService()
  expect(new Set(expected.map(({ id }) => id)).size).toBe(500)
  expect(rows.map(({ kg_ha, kg, ...row }) => ({ ...row, kg_ha: Number(kg_ha), kg: Number(kg) }))).toEqual(
    likeNumbers(expected),
  )
})

test('they are advised in TypeScript by the package that the service offers', async () => {
  const folder = await projectWithPackage()
  cpSync(join(FOLDER, 'farms.ts'), join(folder, 'farms.ts'))
  const stripsTypes = (process.features as { typescript?: unknown }).typescript
  const tsx = createRequire(import.meta.url).resolve('tsx')
  const loader = stripsTypes ? [] : ['--import', pathToFileURL(tsx).href]
  const args = ['-c', `exec "$0" "$@" < ${FARMS}`, process.execPath, ...loader, 'farms.ts']
  const rows = rowsOf(await runIn(folder, 'sh', ...args))
  expect(rows).toEqual(await farmsByService())
})

/** The areas that the examples are about, as the service has them in one table. */
async function areasByService(product: string): Promise<Row[]> {
  const { text } = await service.post(`/advisory/${product}/polygons?format=csv`, {
    by: service.person,
    payload: { admin: { country_code: 'rwa', level: 1 }, crop: 'potato' },
  })
  return rowsOf(text)
}

test.runIf(withPython)('the report has every district, with the highest yield first', async () => {
  const report = await python('district_report.py', 'rwa', 'potato')
  const areas = await areasByService('yield')
  const yieldOf = (area: Row) => Number(area['yield_kg_ha Normal'])
  const sorted = areas.toSorted((one, other) => yieldOf(other) - yieldOf(one))
  const lines = report.split('\n').filter((line) => line.startsWith('| '))
  expect(lines.slice(1).map((line) => line.split(' | ').slice(0, 1))).toEqual(
    sorted.map(({ name }) => [`| ${name}`]),
  )
  expect(lines[1]).toContain(`| ${yieldOf(sorted[0] as Row).toLocaleString('en')} |`)
  expect(report).toContain('A formula made these numbers')
})

test.runIf(withPython)('the file for a form has a row for each area', async () => {
  const areas = await areasByService('fertilizer')
  expect(rowsOf(await python('odk_lookup.py', 'rwa', 'potato'))).toEqual(
    areas.map((area) => ({
      code: area.id,
      name: area.name,
      ...{ urea_kg_ha: expect.any(String), dap_kg_ha: expect.any(String), release: area.release },
    })),
  )
})

test.runIf(withPython)(
  'the data value set has the values of the areas under the names of its tables',
  async () => {
    const { dataValues, left_out, release } = JSON.parse(await python('dhis2.py', 'rwa', 'potato'))
    const tableOf = (name: string) => rowsOf(readFileSync(join(FOLDER, name), 'utf8'))
    const areas = await areasByService('yield')
    const elements = tableOf('data_elements.csv')
    expect(release).toBe(areas[0]?.release)
    expect(left_out).toEqual([])
    expect(dataValues).toEqual(
      tableOf('org_units.csv').flatMap(({ id, org_unit: orgUnit }) =>
        elements.map(({ column = '', data_element: dataElement }) => {
          const value = areas.find((area) => area.id === id)?.[column]
          return { dataElement, period: '202607', orgUnit, value }
        }),
      ),
    )
  },
)

test('the formula of the spreadsheet gives a header and a row', async () => {
  const readme = readFileSync(join(FOLDER, 'README.md'), 'utf8')
  const formula = /IMPORTDATA\("https:\/\/advisory\.example\.org([^"]*)" (.*)\)/.exec(readme)
  const rest = formula?.[2]
    ?.replace(/& "([^"]*)"/g, '$1')
    .replace(/ ?& SUBSTITUTE\((B2|C2), ",", "\."\) ?/g, '{$1}')
  const asked = `${formula?.[1]}${rest}`.replace('{B2}', '-1.95').replace('{C2}', '30.06').replaceAll(' ', '')
  const { text, headers } = await service.get(asked)
  expect(headers['content-type']).toMatch(/^text\/csv/)
  const [row] = rowsOf(text)
  expect(row).toMatchObject({
    lat: '-1.95',
    lng: '30.06',
    'rate_kg_ha Urea Normal': expect.stringMatching(/^\d/),
  })
})

test.runIf(withPython)('the client for Python passes its own tests', async () => {
  await runIn(join(ROOT, 'clients/python'), 'python3', '-m', 'unittest', 'test_agro_advisory')
})

const withR = await runs('Rscript', '-e', 'library(jsonlite); library(curl)')

test.runIf(withR)('the client for R passes its own tests', async () => {
  const said = await runIn(join(ROOT, 'clients/r'), 'Rscript', '--vanilla', 'test-agro_advisory.R')
  expect(said).toContain('all passed')
})

/** What a command writes that knows the service; it fails with what the command says of itself. */
async function runIn(folder: string, command: string, ...args: string[]): Promise<string> {
  const options = { cwd: folder, env: { ...process.env, ...environment }, maxBuffer: 64 * 1024 * 1024 }
  return (await promisify(execFile)(command, args, options)).stdout
}

/** A project with the package for TypeScript that the service offers. */
async function projectWithPackage(): Promise<string> {
  const folder = await newFolder()
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  writeFileSync(join(folder, 'client.tgz'), (await service.get(TGZ)).bytes)
  // As npm does it, which would ask the registry for the only dependency.
  await runIn(folder, 'tar', '-xzf', 'client.tgz')
  renameSync(join(folder, 'package'), join(modules, 'agro-advisory-client'))
  symlinkSync(join(ROOT, 'node_modules/openapi-fetch'), join(modules, 'openapi-fetch'))
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  return folder
}
