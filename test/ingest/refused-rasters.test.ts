// Runs on a server alone: what is refused never gets to the database.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { zlibZeros } from './bombs.ts'
import { fixture, kindFixture } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'
import { TAGS, type Tag, type TiffOptions } from './tiff.ts'

let ingest: RefusingIngest
beforeAll(async () => {
  ingest = await createRefusingIngest()
})
afterAll(() => ingest.close())

type Options = Partial<TiffOptions>
type Settings = Record<string, unknown>

const short = (...values: number[]): Tag => ['short', values]
const tagged = (tags: Record<number, Tag>): Options => ({ tags })

const NO_PLACE: Record<number, Tag> = { [TAGS.pixelScale]: ['double', []], [TAGS.tiepoints]: ['double', []] }
const transformed = (width: number, skew: number) =>
  tagged({
    ...NO_PLACE,
    [TAGS.transformation]: ['double', [width, skew, 0, 38, skew, -0.01, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1]],
  })
const POINTS = [0, 0, 0, 38, 9, 0, 20, 0, 0, 38.2, 9, 0, 0, 20, 0, 38, 8.8, 0]
const placed = (...place: number[]) => tagged({ [TAGS.tiepoints]: ['double', [0, 0, 0, ...place]] })
/** On both sides of the 180th meridian. */
const across = (pixel: number) =>
  tagged({
    [TAGS.pixelScale]: ['double', [pixel, pixel, 0]],
    [TAGS.tiepoints]: ['double', [0, 0, 0, 180 - 10 * pixel, 9, 0]],
  })
const withKeys = (keys: number[], ascii = '') =>
  tagged({
    [TAGS.geoKeys]: short(1, 1, 0, keys.length / 4, ...keys),
    [TAGS.geoAscii]: ['ascii', ascii],
  })
const ofMethod = (method: number) => withKeys([1024, 0, 1, 1, 3072, 0, 1, 32767, 3075, 0, 1, method])
const saying = (...items: string[]) =>
  tagged({ 42112: ['ascii', `<GDALMetadata>${items.join('')}</GDALMetadata>\0`] })
const item = (role: string, text: string, sample = 0) =>
  `<Item name="${role.toUpperCase()}" sample="${sample}" role="${role}">${text}</Item>`
/** Several samples a pixel. */
const ofSamples = (count: number, bits: number, format: number): Record<number, Tag> => ({
  258: short(...Array(count).fill(bits)),
  277: short(count),
  339: short(...Array(count).fill(format)),
})
const jpegOf = (samples: number, photometric: number): Options => ({
  bits: 8,
  row: () => new Uint8Array(20 * samples),
  tags: { ...ofSamples(samples, 8, 1), 259: short(7), 262: short(photometric) },
})

const SINUSOIDAL = '+proj=sinu +lon_0=0 +R=6371007.181 +units=m +no_defs'
const UNREAD_JPEG = 'JPEG of pixels other than one or three bytes'
const MAKES = 'gdal_translate -co COMPRESS=DEFLATE it.tif it-deflate.tif makes a file that is.'
const CHANGED = ', and may have changed its values'
const COMPRESSED: [compression: number, name: string, loss: string, options?: Options][] = [
  [6, 'JPEG of an older form', CHANGED],
  [7, UNREAD_JPEG, CHANGED],
  [7, UNREAD_JPEG, CHANGED, jpegOf(2, 1)],
  [7, UNREAD_JPEG, CHANGED, jpegOf(4, 1)],
  [7, UNREAD_JPEG, CHANGED, jpegOf(1, 6)],
  [50001, 'WebP', CHANGED],
  [34925, 'LZMA', ''],
  [40000, 'method 40000', ''],
]

const UNKNOWN_CRS: [reason: string, options: Options, settings?: Settings][] = [
  ["it names none; give the layer's srid or srs.", tagged({ [TAGS.geoKeys]: short() })],
  [
    "it is neither geographic nor projected; give the layer's srid or srs.",
    withKeys([1024, 0, 1, 32767, 1026, 34737, 9, 0], 'Our farm|\0'),
  ],
  [
    'its projection ("Our Lamb") has no EPSG code; give the layer\'s srid or srs.',
    withKeys([1024, 0, 1, 1, 1026, 34737, 9, 0, 3072, 0, 1, 32767], 'Our Lambert|\0'),
  ],
  ...(
    [
      [15, 'polar stereographic, whose keys are not read (PROJ has it as +proj=stere)'],
      [18, 'Cassini-Soldner, whose keys are not read (PROJ has it as +proj=cass)'],
      [23, 'Robinson, whose keys are not read (PROJ has it as +proj=robin)'],
      [9815, 'oblique Mercator, whose keys are not read (PROJ has it as +proj=omerc)'],
      [99, 'method 99, which is not known here'],
    ] as const
  ).map(([method, name]): [string, Options] => [
    `its projection is ${name}; give the layer's srid or srs.`,
    ofMethod(method),
  ]),
  [
    "its geographic CRS has no EPSG code and no ellipsoid; give the layer's srid or srs.",
    withKeys([1024, 0, 1, 2, 2048, 0, 1, 32767, 2056, 0, 1, 7012]),
  ],
  ['PostGIS does not know EPSG:20033.', withKeys([1024, 0, 1, 1, 3072, 0, 1, 20033])],
  ['PostGIS does not know EPSG:999999.', {}, { srid: 999999 }],
]

const CASES: [refusal: string | RegExp, options: Options, settings?: Settings][] = [
  ['it.tif has a rotated or sheared grid; warp it to a north-up grid first.', transformed(0.01, 0.001)],
  ['it.tif has a geotransform with a pixel size of zero, a mirrored one or none.', transformed(-0.01, 0)],
  [
    'it.tif is placed by ground control points; warp it to a north-up grid first.',
    tagged({ ...NO_PLACE, [TAGS.tiepoints]: ['double', POINTS] }),
  ],
  [
    'it.tif has no geotransform: it is a snapshot without a place on the Earth.',
    tagged({ ...NO_PLACE, [TAGS.geoKeys]: short() }),
  ],
  [
    'it.tif lies on both sides of the 180th meridian, and 360 degrees are not a whole number of its columns: cut it there with gdal_translate -projwin, or give it other pixels with gdalwarp -tr.',
    across(0.7),
  ],
  [
    'it.tif has 500 degrees of longitude, and places twice that are the same: cut it with gdal_translate -projwin, or have all files of its layer count longitudes in one way with gdal_translate -a_ullr.',
    across(25),
  ],
  [
    'it.tif, once around the Earth, has 360000 x 20 pixels; at most 250000 a side and 10000000000 in all are read: cut it with gdal_translate -projwin.',
    across(0.001),
  ],
  ...UNKNOWN_CRS.map(([reason, ...rest]): (typeof CASES)[number] => [
    `it.tif has an unknown CRS: ${reason}`,
    ...rest,
  ]),
  [
    `it.tif band 1 has a grid that does not lie on the Earth in ${SINUSOIDAL}: is that its CRS?`,
    placed(9e7, 9e7, 0),
    { srs: SINUSOIDAL },
  ],
  [
    'it.tif band 1 has a grid that does not lie on the Earth in EPSG:4326: is that its CRS?',
    placed(9, 138, 0),
  ],
  [
    'it.tif has several bands "Urea": 1, 2; give the number.',
    {
      row: () => new Float32Array(40),
      tags: {
        ...ofSamples(2, 32, 3),
        ...saying(item('description', 'Urea'), item('description', 'Urea', 1)).tags,
      },
    },
    { band: 'Urea' },
  ],
  [
    /^What it\.tif says of its bands is damaged: .+\.$/,
    tagged({ 42112: ['ascii', '<GDALMetadata><Item\0'] }),
  ],
  ...[
    ['scale', '1,000.5'],
    ['scale', '0.125 kg'],
    ['offset', 'none'],
  ].flatMap(([role = '', text = '']): (typeof CASES)[number][] => [
    [
      `it.tif says ${role} "${text}" of band 1, which is no number: give the layer's ${role}.`,
      saying(item(role, text)),
    ],
    // The manifest's comes first.
    [
      'it.tif has an unknown CRS: PostGIS does not know EPSG:999999.',
      saying(item(role, text)),
      { [role]: 2, srid: 999999 },
    ],
  ]),
  ...(
    [
      ['64-bit complex numbers', { bits: 64, format: 6, row: () => new Float32Array(40) }],
      ['32-bit complex numbers', { bits: 32, format: 5, row: () => new Int16Array(40) }],
      ['4-bit integers', { bits: 4, format: 1, row: () => new Uint8Array(10) }],
    ] as const
  ).map(([kind, options]): (typeof CASES)[number] => [
    `it.tif has pixels that are ${kind}, which cannot be stored; convert it to Float64 or to integers of 8, 16 or 32 bits.`,
    options,
  ]),
  [
    'it.tif cannot be read at rows 0 to 19: it has the pixel 9007199254740993, and whole numbers beyond 2^53 cannot be stored exactly.',
    { bits: 64, format: 2, row: () => new BigInt64Array(20).fill(2n ** 53n + 1n) },
  ],
  ...COMPRESSED.map(([compression, name, loss, options]): (typeof CASES)[number] => [
    `it.tif is compressed with ${name}, which is not read here${loss}: ${MAKES}`,
    options ?? tagged({ 259: short(compression) }),
  ]),
  [
    `it.tif has the lowest bit of each byte first (FillOrder 2), which is not read here: ${MAKES}`,
    tagged({ 266: short(2) }),
  ],
  [
    'it.tif is cut off or damaged: not all of its strips are there.',
    { strips: [Buffer.alloc(1600)], tags: { 278: short(20), 279: ['long', [0]] } },
  ],
]

test.each(CASES)('a raster is refused: %s', async (refusal, options, settings) => {
  await ingest.writeRaster('it.tif', options)
  const found = await ingest.refusalOfFile('it.tif', settings)
  if (typeof refusal === 'string') expect(found).toBe(refusal)
  else expect(found).toMatch(refusal)
})

const POLE = '+proj=ob_tran +o_proj=longlat +o_lon_p=-162 +o_lat_p=39.25 +lon_0=180 +datum=WGS84'
const ROTATED =
  'type-uint8.tif has a CRS with a rotated pole, whose degrees are none of longitude and latitude: warp it with gdalwarp -t_srs EPSG:4326.'

test.each<[refusal: string, file: string, settings: Settings]>([
  [ROTATED, 'type-uint8.tif', { srs: POLE }],
  [
    ROTATED,
    'type-uint8.tif',
    { srs: `PROJCS["turned",GEOGCS["WGS 84"],EXTENSION["PROJ4","${POLE} +wktext"]]` },
  ],
  [
    ROTATED,
    'type-uint8.tif',
    { srs: 'GEOGCRS["turned",BASEGEOGCRS["WGS 84"],DERIVINGCONVERSION["turned"]]' },
  ],
  [
    'crs-32637.tif band 1 has a grid that does not lie on the Earth in EPSG:4326: is that its CRS?',
    'crs-32637.tif',
    { srid: 4326 },
  ],
  ['type-uint8.tif has 1 band; band 2 is not there.', 'type-uint8.tif', { band: 2 }],
  ['bands-pixel-int16.tif has 3 bands; band 4 is not there.', 'bands-pixel-int16.tif', { band: 4 }],
  ['type-uint8.tif has no band "Urea": its bands have no names.', 'type-uint8.tif', { band: 'Urea' }],
])('a layer that its raster does not fit is refused: %s', async (refusal, file, settings) => {
  expect(await ingest.refusalOfFile(fixture(file), settings)).toBe(refusal)
})

test('a band that is called otherwise is refused with the names there are, and an alpha band as one', async () => {
  const [names, alpha] = [kindFixture('names.tif'), kindFixture('alpha-uint8.tif')]
  expect(await ingest.refusalOfFile(names, { band: 'urea' })).toBe(
    `${names} has no band "urea": it has 1 "Urea", 2 "DAP & NPS", 3 "Engrais composé".`,
  )
  expect(await ingest.refusalOfFile(alpha, { band: 2 })).toBe(
    `Band 2 of ${alpha} is an alpha band, which says where the others have values; where it has values of its own, give the layer "mask: none".`,
  )
})

test.each<[refusal: string, mask: Options]>([
  ['it.tif.msk has a mask of 20 x 10 pixels, and its image has 20 x 20.', { height: 10 }],
  [
    'it.tif.msk has a mask of 16-bit pixels; masks of 1 or 8 bits are read.',
    { bits: 16, row: () => new Uint16Array(20).fill(1) },
  ],
  [
    'it.tif.msk cannot be read at rows 0 to 19: its DEFLATE data hold more than the 400 bytes of its pixels.',
    { tags: { 259: short(8), 278: short(20) }, strips: [zlibZeros(1e9)] },
  ],
  // The keys of a mask do not matter.
  [
    'it.tif.msk has a mask that is compressed with loss: its zeros are not reliable.',
    { tags: { 259: short(7) } },
  ],
])('a mask beside a raster is refused: %s', async (refusal, mask) => {
  const row = () => new Uint8Array(20).fill(255)
  await ingest.writeRaster('it.tif', {})
  await ingest.writeRaster('it.tif.msk', { bits: 8, format: 1, row, ...mask })
  expect(await ingest.refusalOfFile('it.tif')).toBe(refusal)
  await ingest.remove('it.tif.msk')
})

const DEGREES_WKT =
  'GEOGCS["ours",DATUM["ours",SPHEROID["Clarke",6378249.145,293.465]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
const HEIGHTS_WKT = 'VERT_CS["ours",VERT_DATUM["ours",2005],UNIT["metre",1]]'
const NOT_PROJECTED =
  "its WKT is of a compound or bound CRS without a code that is not projected; give the layer's srid or srs."

test.each([
  ["the srs of the manifest is neither a code nor PROJ nor WKT; give the layer's srid or srs.", 'somewhere'],
  ['PROJ makes nothing of "+proj=nonsense".', '+proj=nonsense'],
  ['PostGIS does not know EPSG:20033.', 'EPSG:20033'],
  [NOT_PROJECTED, `COMPD_CS["with PROJCS[heights]",${DEGREES_WKT},${HEIGHTS_WKT}]`],
  [NOT_PROJECTED, `BOUNDCRS[SOURCECRS[${DEGREES_WKT}],TARGETCRS[${DEGREES_WKT}]]`],
])('the srs of a layer is refused: %s', async (reason, srs) => {
  await ingest.writeRaster('it.tif', {})
  expect(await ingest.refusalOfFile('it.tif', { srs })).toBe(`it.tif has an unknown CRS: ${reason}`)
})

test('the srs of a layer is refused with more characters than PostGIS keeps', async () => {
  const srs = `+proj=igh +lon_0=0 ${'+no_defs '.repeat(300)}`.trim()
  await ingest.writeRaster('it.tif', {})
  expect(await ingest.refusalOfFile('it.tif', { srs })).toBe(
    "it.tif has a CRS of 2718 characters, and PostGIS keeps at most 2048; give the layer's srs as a code or a PROJ string.",
  )
})

test.each<[refusal: string, beside: string, text: string, tags?: TiffOptions['tags']]>([
  ['it.tif.msk, the mask of it.tif, is damaged or not a TIFF file.', 'it.tif.msk', 'not a mask'],
  ['it.tfw is not a world file: it does not begin with six numbers.', 'it.tfw', 'north of here', NO_PLACE],
  [
    'it.tif.aux.xml is damaged: Missing end tag for element SRS (line 1, column 18).',
    'it.tif.aux.xml',
    '<PAMDataset><SRS>',
  ],
  ['it.tif.aux.xml is not what GDAL keeps of a raster: it is no PAMDataset.', 'it.tif.aux.xml', '<html/>'],
  [
    'it.tif.aux.xml has a GeoTransform that is not six numbers.',
    'it.tif.aux.xml',
    '<PAMDataset><GeoTransform>1, 2, x</GeoTransform></PAMDataset>',
  ],
  [
    "it.tif.aux.xml is damaged: Named entity isn't defined: &c; (line 1, column 74).",
    'it.tif.aux.xml',
    '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]><PAMDataset><SRS>&c;</SRS></PAMDataset>',
  ],
  // GDAL takes it for 0.
  [
    'it.tif.aux.xml says scale "0,125" of band 1, which is no number: give the layer\'s scale.',
    'it.tif.aux.xml',
    '<PAMDataset><PAMRasterBand band="1"><Scale>0,125</Scale></PAMRasterBand></PAMDataset>',
  ],
  ['it.tif.aux.xml has 9000000 bytes; at most 8388608 are read.', 'it.tif.aux.xml', ' '.repeat(9e6)],
])('a file beside a raster is refused: %s', async (refusal, beside, text, tags = {}) => {
  await ingest.writeRaster('it.tif', { tags })
  await ingest.write(beside, text)
  expect(await ingest.refusalOfFile('it.tif')).toBe(refusal)
  await ingest.remove(beside)
})
