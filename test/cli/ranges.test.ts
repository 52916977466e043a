import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeField } from '#test/ingest/checks/rasters.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'

let testDatabase: TestDatabase
const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

beforeAll(async () => {
  testDatabase = await createTestDatabase('empty')
})
afterAll(() => testDatabase.drop())

test('ranges are those of the products, and those that a new database begins with, until an operator sets others', async () => {
  const { stdout } = await agro('ranges', 'list')
  expect(stdout.split('\n')).toEqual([
    'PRODUCT     CROP        MINIMUM  MAXIMUM  UNIT   FROM',
    'yield       all others  0        100000   kg/ha  of the product',
    'yield       potato      0        125000   kg/ha  set',
    'yield       wheat       0        18000    kg/ha  set',
    'fertilizer  all others  0        2000     kg/ha  of the product',
    'isfm        all others  0        200      t/ha   of the product',
    'forage      all others  0        100      score  of the product',
    '',
  ])
  expect(await agro('ranges', 'set', 'yield', '0', '15000', '--crop', 'wheat')).toEqual({
    code: 0,
    stdout: 'yield of wheat is plausible from 0 to 15000 kg/ha now.\n',
    stderr: '',
  })
  await agro('ranges', 'set', 'yield', '0', '2000', '--crop', 'wheat')
  await agro('ranges', 'set', 'yield', '0', '50000')
  expect(JSON.parse((await agro('ranges', 'list', '--json')).stdout).slice(0, 4)).toEqual([
    { product: 'yield', cropCode: null, minimum: 0, maximum: 50_000, unit: 'kg/ha', set: true },
    { product: 'yield', cropCode: 'potato', minimum: 0, maximum: 125_000, unit: 'kg/ha', set: true },
    { product: 'yield', cropCode: 'wheat', minimum: 0, maximum: 2000, unit: 'kg/ha', set: true },
    { product: 'fertilizer', cropCode: null, minimum: 0, maximum: 2000, unit: 'kg/ha', set: false },
  ])
})

test('a release is held to the range of its crop, or else to that of all crops', async () => {
  const folder = await newFolder()
  await writeField(folder, 'yields.tif', () => 2500)
  const path = await writeManifest(folder, manifestText([{ file: 'yields.tif' }]))
  const plausible = async () => {
    const { stdout } = await agro('ingest', path, '--dry-run', '--json')
    return JSON.parse(stdout).findings.map(
      ({ figures }: { figures: { plausibleMaximum: number } }) => figures.plausibleMaximum,
    )
  }
  expect(await plausible()).toEqual([2000])
  expect(await agro('ranges', 'remove', 'yield', '--crop', 'wheat')).toMatchObject({
    code: 0,
    stdout: 'What was set for yield of wheat is removed.\n',
  })
  expect(await plausible()).toEqual([])
  await agro('ranges', 'set', 'yield', '0', '1000')
  expect(await plausible()).toEqual([1000])
  await agro('ranges', 'remove', 'yield')
  expect(await plausible()).toEqual([])
  const { stdout } = await agro('audit', '--kind', 'reference_changed', '--json')
  expect(JSON.parse(stdout.split('\n')[0] as string)).toMatchObject({
    detail: { change: 'What was set for yield is removed.' },
  })
})

test.each([
  [['set', 'lime', '0', '1'], 'There is no product lime; there are yield, fertilizer, isfm, forage.'],
  [['set', 'yield', '0', 'many'], '"many" is not a number.'],
  [['set', 'yield', '2', '1'], '2 is more than 1: the minimum comes first.'],
  [['set', 'yield', '0', '1', '--crop', 'rice'], 'There is no crop rice; there are potato, wheat.'],
  [['set', 'forage', '0', '1', '--crop', 'wheat'], 'forage releases are not made for a crop.'],
  [['remove', 'isfm'], 'Nothing is set for isfm; `agro ranges list` shows what is.'],
])('ranges %j is refused', async (parameters, sentence) => {
  expect(await agro('ranges', ...parameters)).toEqual({ code: 1, stdout: '', stderr: `${sentence}\n` })
})

test('compositions are those that a new database begins with, and what operators add', async () => {
  const of = async () => (await agro('compositions', 'list')).stdout.split('\n').map((line) => line.trimEnd())
  expect(await of()).toEqual([
    'INPUT  N %  P2O5 %  K2O %  S %',
    'DAP    18   46      0      0',
    'NPS    19   38      0      7',
    'Urea   46   0       0      0',
    '',
  ])
  expect((await agro('compositions', 'set', 'nps', '18.9', '37.7', '0', '6.95')).stdout).toBe(
    'nps is 18.9-37.7-0 + 6.95 S now.\n',
  )
  await agro('compositions', 'remove', 'DAP')
  expect((await of()).slice(1)).toEqual([
    'Urea   46    0       0      0',
    'nps    18.9  37.7    0      6.95',
    '',
  ])
  expect(await agro('compositions', 'remove', 'DAP')).toMatchObject({ code: 1, stdout: '' })
  expect((await agro('compositions', 'set', 'X', '60', '60', '0')).stderr).toContain(
    'The percentages come to 120',
  )
})
