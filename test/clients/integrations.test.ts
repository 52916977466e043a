import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newFolder } from '#test/setup/folders.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { runs, runWith } from './run.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'examples/integrations')
const FARMS = readFileSync(join(ROOT, 'examples/rwanda/farms.csv'), 'utf8')

type Row = Record<string, string>

const withPython = await runs('python3', '--version')
const withR = await runs('Rscript', '-e', 'library(jsonlite); library(curl)')

let service: TestAppWithPerson
let environment: Record<string, string>

beforeAll(async () => {
  service = await createTestAppWithPerson()
  environment = {
    AGRO_URL: await service.app.listen({ port: 0, host: '127.0.0.1' }),
    AGRO_KEY: service.person.access_token,
    PYTHONPATH: join(ROOT, 'clients/python'),
    PYTHONDONTWRITEBYTECODE: '1',
  }
})
afterAll(() => service.close())

const rowsOf = (text: string): Row[] => parse(text, { columns: true })
const python = (...args: string[]) => runWith(environment, FOLDER, 'python3', ...args)

/** What the service says of the same farms, and what that comes to on each. */
async function farmsByService(): Promise<Row[]> {
  const { body } = await service.app.inject({
    method: 'POST',
    url: '/advisory/fertilizer/points?crop=potato&country_code=rwa&pass=area_ha',
    headers: { 'content-type': 'text/csv' },
    payload: FARMS,
  })
  return rowsOf(body).flatMap((row): Row[] => {
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
  const program = `exec python3 farms.py < ${join(ROOT, 'examples/rwanda/farms.csv')}`
  const rows = rowsOf(await runWith(environment, FOLDER, 'sh', '-c', program))
  const expected = await farmsByService()
  expect(new Set(expected.map(({ id }) => id)).size).toBe(500)
  expect(rows.map(({ kg_ha, kg, ...row }) => ({ ...row, kg_ha: Number(kg_ha), kg: Number(kg) }))).toEqual(
    likeNumbers(expected),
  )
})

test('they are advised in TypeScript by the package that the service offers', async () => {
  const folder = await newFolder()
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  const { rawPayload } = await service.app.inject('/docs/clients/agro-advisory.tgz')
  writeFileSync(join(folder, 'client.tgz'), rawPayload)
  // As npm does it, which would ask the registry for the only dependency.
  await runWith({}, folder, 'tar', '-xzf', 'client.tgz')
  renameSync(join(folder, 'package'), join(modules, 'agro-advisory-client'))
  symlinkSync(join(ROOT, 'node_modules/openapi-fetch'), join(modules, 'openapi-fetch'))
  cpSync(join(FOLDER, 'farms.ts'), join(folder, 'farms.ts'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')

  const stripsTypes = (process.features as { typescript?: unknown }).typescript
  const tsx = createRequire(import.meta.url).resolve('tsx')
  const loader = stripsTypes ? [] : ['--import', pathToFileURL(tsx).href]
  const program = `exec "$0" "$@" < ${join(ROOT, 'examples/rwanda/farms.csv')}`
  const args = ['-c', program, process.execPath, ...loader, 'farms.ts']
  const rows = rowsOf(await runWith(environment, folder, 'sh', ...args))
  expect(rows).toEqual(await farmsByService())
})

/** The areas that the examples are about, as the service has them in one table. */
async function areasByService(product: string): Promise<Row[]> {
  const { body } = await service.app.inject({
    method: 'POST',
    url: `/advisory/${product}/polygons?format=csv`,
    headers: service.person.headers,
    payload: { admin: { country_code: 'rwa', level: 1 }, crop: 'potato' },
  })
  return rowsOf(body)
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
  const url = `${formula?.[1]}${rest}`.replace('{B2}', '-1.95').replace('{C2}', '30.06').replaceAll(' ', '')
  const { body, headers } = await service.app.inject(url)
  expect(headers['content-type']).toMatch(/^text\/csv/)
  const [row] = rowsOf(body)
  expect(row).toMatchObject({
    lat: '-1.95',
    lng: '30.06',
    'rate_kg_ha Urea Normal': expect.stringMatching(/^\d/),
  })
})

test.runIf(withPython)('the client for Python passes its own tests', async () => {
  await runWith(environment, join(ROOT, 'clients/python'), 'python3', '-m', 'unittest', 'test_agro_advisory')
})

test.runIf(withR)('the client for R passes its own tests', async () => {
  const said = await runWith(
    environment,
    join(ROOT, 'clients/r'),
    'Rscript',
    '--vanilla',
    'test-agro_advisory.R',
  )
  expect(said).toContain('all passed')
})
