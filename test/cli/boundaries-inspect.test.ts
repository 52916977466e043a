import { join } from 'node:path'
import { expect, test } from 'vitest'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { runAgro } from '#test/setup/cli.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures/boundaries')

const inspect = (...parameters: string[]) =>
  runAgro({ environment: {} }, 'boundaries', 'inspect', ...parameters)

test('the properties of a file are listed, with the source and level that they tell', async () => {
  const { code, stdout, stderr } = await inspect(join(FIXTURES, 'shapes.gpkg'))
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout.split('\n')).toEqual([
    'shapes.gpkg has 10 features of level 1 with properties of OCHA COD-AB: code adm1_pcode, name adm1_name, parent none.',
    '  PROPERTY    FIRST VALUE  BLANK',
    '  fid         1            0',
    '  adm1_pcode  ET00         0',
    '  adm1_name   square ሀ é   0',
    '  people      0            1',
    '  share       0.25         1',
    '  order       -1           1',
    '',
  ])
})

test('properties of no source that is known are listed as well, and what is guessed is noted', async () => {
  const geometry = rectangle(37, 8, 38, 9)
  const path = await boundaryFile([
    feature({ a: null }, geometry),
    feature({ a: 'x'.repeat(50), b: 1 }, geometry),
  ])
  const { code, stdout, stderr } = await inspect(
    path,
    join(FIXTURES, 'encoding-unlabelled-1252.zip'),
    '--json',
  )
  expect([code, stderr]).toEqual([
    0,
    'note: encoding-unlabelled-1252.zip/areas.shp does not say what its texts are in, and they are not UTF-8: they are read as Windows-1252. If names look damaged, give --encoding.\n',
  ])
  expect(JSON.parse(stdout)).toEqual([
    {
      file: 'areas.geojson',
      features: 2,
      source: null,
      level: null,
      properties: null,
      columns: [
        { name: 'a', example: 'x'.repeat(40), blank: 1 },
        { name: 'b', example: '1', blank: 1 },
      ],
    },
    {
      file: 'encoding-unlabelled-1252.zip',
      features: 2,
      source: 'this project',
      level: null,
      properties: { code: ['CODE'], name: ['NAME'], parent: [] },
      columns: [
        { name: 'CODE', example: 'ET0', blank: 0 },
        { name: 'NAME', example: 'Ségou', blank: 0 },
      ],
    },
  ])
})

test('of several layers one has to be named', async () => {
  const path = join(FIXTURES, 'layers.gpkg')
  const { code, stderr } = await inspect(path)
  expect([code, stderr]).toEqual([
    1,
    'layers.gpkg has several layers: give --layer, one of eth_admbnda_adm1_2021, eth_admbnda_adm2_2021, in utm, no_srs, seen.\n',
  ])
  const { stdout } = await inspect(path, '--layer', 'no_srs')
  expect(stdout).toContain('layers.gpkg has 1 feature of level 1 with properties of OCHA COD-AB')
})
