// Runs on a server alone: what is refused never gets to the database.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { zlibZeros } from './bombs.ts'
import { kindFixture } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'
import { TAGS, type TiffOptions } from './tiff.ts'

let ingest: RefusingIngest
beforeAll(async () => {
  ingest = await createRefusingIngest()
})
afterAll(() => ingest.close())

const raster = (name: string, options: Partial<TiffOptions>) => ingest.writeRaster(name, options)

describe('masks that cannot be used', () => {
  test('a band that is the alpha of the others', async () => {
    expect(await ingest.refusalOfFile(kindFixture('alpha-uint8.tif'), { band: 2 })).toBe(
      `Band 2 of ${kindFixture('alpha-uint8.tif')} is an alpha band, which says where the others have values; where it has values of its own, give the layer "mask: none".`,
    )
  })

  const masked = async (name: string, mask: Partial<TiffOptions>) => {
    await raster(name, {})
    await raster(`${name}.msk`, { bits: 8, format: 1, row: () => new Uint8Array(20).fill(255), ...mask })
    return ingest.refusalOfFile(name)
  }

  test('of another size', async () => {
    expect(await masked('size.tif', { height: 10 })).toBe(
      'size.tif.msk has a mask of 20 x 10 pixels, and its image has 20 x 20.',
    )
  })

  test('of 16-bit pixels', async () => {
    expect(await masked('deep.tif', { bits: 16, row: () => new Uint16Array(20).fill(1) })).toBe(
      'deep.tif.msk has a mask of 16-bit pixels; masks of 1 or 8 bits are read.',
    )
  })

  test('that is no TIFF', async () => {
    await writeFile(join(ingest.folder, `${await raster('text.tif', {})}.msk`), 'not a mask')
    expect(await ingest.refusalOfFile('text.tif')).toBe(
      'text.tif.msk, the mask of text.tif, is damaged or not a TIFF file.',
    )
  })

  test('that holds more than its pixels', async () => {
    const tags: TiffOptions['tags'] = { 259: ['short', [8]], 278: ['long', [20]] }
    expect(await masked('bomb.tif', { tags, strips: [zlibZeros(1e9)] })).toBe(
      'bomb.tif.msk cannot be read at rows 0 to 19: its DEFLATE data hold more than the 400 bytes of its pixels.',
    )
  })
})

describe('side files that cannot be used', () => {
  const beside = async (name: string, text: string) => {
    await writeFile(join(ingest.folder, `${await raster(name, {})}.aux.xml`), text)
    return ingest.refusalOfFile(name)
  }

  test.each([
    [
      'cut off',
      '<PAMDataset><SRS>',
      'aux.tif.aux.xml is damaged: Missing end tag for element SRS (line 1, column 18).',
    ],
    [
      'of another kind',
      '<html/>',
      'aux.tif.aux.xml is not what GDAL keeps of a raster: it is no PAMDataset.',
    ],
    [
      'with a geotransform of text',
      '<PAMDataset><GeoTransform>1, 2, x</GeoTransform></PAMDataset>',
      'aux.tif.aux.xml has a GeoTransform that is not six numbers.',
    ],
    [
      'with entities that would grow',
      '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]><PAMDataset><SRS>&c;</SRS></PAMDataset>',
      "aux.tif.aux.xml is damaged: Named entity isn't defined: &c; (line 1, column 74).",
    ],
    // GDAL takes it for 0.
    [
      'with a scale with a decimal comma',
      '<PAMDataset><PAMRasterBand band="1"><Scale>0,125</Scale></PAMRasterBand></PAMDataset>',
      'aux.tif.aux.xml says scale "0,125" of band 1, which is no number: give the layer\'s scale.',
    ],
    ['of 9 MB', ' '.repeat(9e6), 'aux.tif.aux.xml has 9000000 bytes; at most 8388608 are read.'],
  ])('%s', async (_, text, message) => {
    expect(await beside('aux.tif', text)).toBe(message)
  })
})

const DEGREES_WKT =
  'GEOGCS["ours",DATUM["ours",SPHEROID["Clarke",6378249.145,293.465]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
const HEIGHTS_WKT = 'VERT_CS["ours",VERT_DATUM["ours",2005],UNIT["metre",1]]'
const NOT_PROJECTED =
  "its WKT is of a compound or bound CRS without a code that is not projected; give the layer's srid or srs."

describe('world files and CRSs of the manifest that cannot be used', () => {
  test('a world file of words', async () => {
    const nowhere: TiffOptions['tags'] = {
      [TAGS.pixelScale]: ['double', []],
      [TAGS.tiepoints]: ['double', []],
    }
    await writeFile(join(ingest.folder, 'words.tfw'), 'north of here')
    expect(await ingest.refusalOfFile(await raster('words.tif', { tags: nowhere }))).toBe(
      'words.tfw is not a world file: it does not begin with six numbers.',
    )
  })

  test.each([
    [
      'somewhere',
      "the srs of the manifest is neither a code nor PROJ nor WKT; give the layer's srid or srs.",
    ],
    ['+proj=nonsense', 'PROJ makes nothing of "+proj=nonsense".'],
    ['EPSG:20033', 'PostGIS does not know EPSG:20033.'],
    [`COMPD_CS["with PROJCS[heights]",${DEGREES_WKT},${HEIGHTS_WKT}]`, NOT_PROJECTED],
    [`BOUNDCRS[SOURCECRS[${DEGREES_WKT}],TARGETCRS[${DEGREES_WKT}]]`, NOT_PROJECTED],
  ])('srs: %s', async (srs, reason) => {
    expect(await ingest.refusalOfFile(await raster('srs.tif', {}), { srs })).toBe(
      `srs.tif has an unknown CRS: ${reason}`,
    )
  })

  test('srs of more characters than PostGIS keeps', async () => {
    const srs = `+proj=igh +lon_0=0 ${'+no_defs '.repeat(300)}`.trim()
    expect(await ingest.refusalOfFile(await raster('srs.tif', {}), { srs })).toBe(
      "srs.tif has a CRS of 2718 characters, and PostGIS keeps at most 2048; give the layer's srs as a code or a PROJ string.",
    )
  })
})
