import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { openFrame } from './frame.ts'

const frame = openFrame()

const HEAD = 'ncols 3\nnrows 2\nxllcorner 36\nyllcorner 9\ncellsize 0.5\n'

async function write(text: string, prj?: string): Promise<string> {
  const path = frame.newPath('.asc')
  await writeFile(path, text)
  if (prj !== undefined) await writeFile(path.replace('.asc', '.prj'), prj)
  return path
}

const read = async (...of: Parameters<typeof write>) => frame.read(await write(...of))

test('numbers may have decimal commas, exponents and any spaces, and headers capitals and centres', async () => {
  const grid = { originX: 36, originY: 10, pixelWidth: 0.5, pixelHeight: -0.5, width: 3, height: 2 }
  expect(await read(`${HEAD}1 2 3\n4 5 6\n`)).toMatchObject({
    grid,
    pixelType: '32BSI',
    pixels: [1, 2, 3, 4, 5, 6],
  })
  const centres =
    'NROWS 2\r\nNCOLS 3\r\nXLLCENTER 36,25\r\nYLLCENTER 9.25\r\nDX 0.5\r\nDY 0.5\r\nNODATA_VALUE -9999\r\n'
  expect(
    await read(
      `${centres}1,5 2e2\t-.5   nan\r\n-9999 6`,
      'GEOGCS["x",DATUM["x",SPHEROID["x",6378137,298]],PRIMEM["Greenwich",0],AUTHORITY["EPSG","4326"]]',
    ),
  ).toMatchObject({
    ...{ grid, crs: { kind: 'epsg', code: 4326 }, pixelType: '32BF', nodata: -9999, scale: 1, offset: 0 },
    ...{ description: undefined, pixels: [1.5, 200, -0.5, Number.NaN, -9999, 6] },
  })
  expect(await read(`${HEAD}1 2 3 4 5 3000000000`)).toMatchObject({ pixelType: '64BF' })
})

test('grids that are cut off, have words or too many numbers, or say nonsense are refused', async () => {
  const cases: Record<string, string> = {
    'one that is cut off': `${HEAD}1 2 3 4 5`,
    'one that is far too short': `${HEAD.replace('ncols 3', 'ncols 200000').replace('nrows 2', 'nrows 9')}1 2`,
    'too many numbers': `${HEAD}1 2 3 4 5 6 7`,
    'a word': `${HEAD}1 2 three 4 5 6`,
    'no size of cells': `${HEAD.replace('cellsize 0.5\n', '')}1 2 3 4 5 6`,
    'cells without a size': `${HEAD.replace('0.5', '0')}1 2 3 4 5 6`,
    'columns in part': `${HEAD.replace('ncols 3', 'ncols 2.5')}1 2 3 4 5 6`,
    'too many cells': HEAD.replace('ncols 3', 'ncols 9000000'),
    'a word without an end': `${HEAD}${'1'.repeat(600_000)}`,
  }
  const lines: string[] = []
  for (const [what, text] of Object.entries(cases)) {
    lines.push(`${what}: ${await frame.refusalOf(await write(text))}\n`)
  }
  await expect(lines.join('')).toMatchFileSnapshot('refused/ascii-grid.txt')
})
