// Runs on a server alone: what is refused never gets to the database.
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { zlibZeros } from './bombs.ts'
import { fixture, ingestManifest, kindFixture, manifestText, writeManifest } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest, refusalsOf } from './refusals.ts'
import { TAGS, type Tag, type TiffOptions } from './tiff.ts'

/* Each file of refused/ has what is refused, and the sentence that says why. */

type Options = Partial<TiffOptions>
type Settings = Record<string, unknown>

let ingest: RefusingIngest
beforeAll(async () => {
  ingest = await createRefusingIngest()
})
afterAll(() => ingest.close())

/** Lines that name nine of what the line before has named. */
function aliases(first: string, ...names: string[]): string {
  const before = [first, ...names]
  const lines = names.map(
    (name, index) => `${name}: &${name} [${Array(9).fill(`*${before[index]}`).join(', ')}]`,
  )
  return [`${first}: &${first} [x, x, x, x, x, x, x, x, x]`, ...lines].join('\n')
}

const FILE = fixture('type-uint8.tif')
const HEAD =
  'product: yield\ncountry_code: eth\ncrop: wheat\nforecast_period: 2025-01\nsource: A test\nlicence: CC0-1.0\n'
const layer = (...lines: string[]) => `  - file: ${FILE}\n${lines.map((line) => `    ${line}\n`).join('')}`
const TAIL = `layers:\n${layer('scenario: Normal', 'unit: kg/ha')}`
const said = (...lines: string[]) => `${HEAD}layers:\n${layer('scenario: Normal', 'unit: kg/ha', ...lines)}`
const changed = (from: string | RegExp, to: string) => HEAD.replace(from, to) + TAIL
const FORAGE = 'product: forage\ncountry_code: eth\ncrop: wheat\nsource: A test\nlicence: CC0-1.0\nlayers:\n'

const MANIFESTS: Record<string, string> = {
  'a layer that comes twice': `${HEAD}${TAIL}${layer('band: 2', 'scenario: Normal', 'unit: kg/ha')}`,
  'another unit': `${HEAD}layers:\n${layer('scenario: Normal', 'unit: t/ha')}`,
  'forage of a crop': `${FORAGE}${layer('input: Lablab', 'unit: score')}`,
  'no month': changed(/forecast_period.*\n/, ''),
  'a month 13': changed('2025-01', '2025-13'),
  'a day that there is not': `${HEAD}valid_until: 2025-02-30\n${TAIL}`,
  'an end before the beginning': `${HEAD}valid_until: 2024-12-31\n${TAIL}`,
  'no truth value': `${HEAD}synthetic: maybe\n${TAIL}`,
  'names that are not known': said('bnad: 2').replace('layers:', 'colour: green\nlayers:'),
  'a product that is not known': changed('yield', 'yeild'),
  'no layers': `${HEAD}layers: []\n`,
  'numbers out of range': said('band: 0', 'decimals: 11', 'scale: 0'),
  'a scale of 0': said('scale: 0'),
  'a nodata that is no number': said('nodata: nothing'),
  'a mask of another file': said('mask: other.tif'),
  'srid and srs': said('srid: 4326', 'srs: EPSG:4326'),
  'an input, and no scenario': `${HEAD}layers:\n${layer('input: Urea', 'unit: kg/ha')}`,
  'a country by its name': changed('eth', 'Ethiopia'),
  'a country that is not known': changed('eth', 'uga'),
  'a crop that is not offered': changed('wheat', 'potato'),
  'a crop where none is offered': changed('eth', 'ken'),
  'what is no YAML': `${HEAD}layers:\n  - file: [${FILE}\n`,
  'a name that comes twice': `${HEAD}source: Another\n${TAIL}`,
  'names of names of names': aliases('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'),
  'lists in lists': '['.repeat(100_000),
  'lists in lists, by dashes': '- '.repeat(100_000),
  'a long comment': `# ${'x'.repeat(300_000)}\n`,
  'a list': '- 1\n',
  'a layer without a file': said().replace(`file: ${FILE}\n    `, ''),
  'file and files': said(`files: ['${FILE}']`),
  'files that are none': said().replace(`file: ${FILE}`, 'files: []'),
  'stars that fit no file': said().replace(FILE, 'nowhere-*.tif'),
  'a source with a colon': changed('A test', 'CIAT: July'),
  'a hyphen without a space': `${HEAD}layers:\n  -file: ${FILE}\n`,
  'a hyphen without a space, before another line': `${HEAD}layers:\n  -file: ${FILE}\n    unit: kg/ha\n`,
  'names in other cases': said().replace('scenario', 'Scenario').replace('source', 'SOURCE'),
  'a backslash in double quotes': said().replace(FILE, '"tiles\\yield.tif"'),
  'files that are not there': ['rian.tif', 'RAIN.TIF', 'tiles\\rain.tif', 'nothing-like-it.tif']
    .map((file) => `  - file: ${file}\n    scenario: ${file[0]}\n    unit: kg/ha\n`)
    .reduce((text, layer) => text + layer, `${HEAD}layers:\n`),
  'stars in a folder that is not there': said().replace(FILE, 'nowhere/*.tif'),
}

test('manifests are refused with the line and what would be right', async () => {
  await mkdir(join(ingest.folder, 'tiles'))
  for (const name of ['rain.tif', 'tiles/rain.tif']) await ingest.writeRaster(name, {})
  const refusals = await refusalsOf(MANIFESTS, ingest.refusalOf)
  await expect(refusals).toMatchFileSnapshot('refused/manifests.txt')
})

test.each<[refusal: RegExp, manifest: string]>([
  [
    /^manifest\.yaml:7: layers must have at most 256 entries\n(manifest\.yaml:7: layers\[\d+\] must be a mapping of keys to values\n){49}manifest\.yaml: and 9951 more\.$/,
    `${HEAD}layers: [${'1,'.repeat(10_000)}]\n`,
  ],
  [
    /^(manifest\.yaml:\d+: x\d+ is not known; [^\n]+\n){50}manifest\.yaml: and 950 more\.$/,
    `${HEAD}${TAIL}${Array.from({ length: 1000 }, (_, index) => `x${index}: 1\n`).join('')}`,
  ],
])('of many mistakes in a manifest fifty are told: %s', async (refusal, manifest) => {
  expect(await ingest.refusalOf(manifest)).toMatch(refusal)
})

/** By name, what files begin with that are given as a manifest. */
const NO_MANIFESTS: Record<string, string> = {
  ...{ 'rain.tif': 'II*\0', 'big.tif': `MM\0+${'\0'.repeat(300_000)}`, 'rain.nc': 'CDF\x01' },
  ...{ 'season.zip': 'PK\x03\x04', 'season.xlsx': 'PK\x03\x04', 'season.xls': '\xd0\xcf\x11\xe0' },
  ...{ 'season.ods': 'PK\x03\x04', 'season.yaml.gz': '\x1f\x8b', 'season.7z': '7z\xbc\xaf' },
  ...{ 'areas.gpkg': 'SQLite format 3\0', 'a.yaml': 'yield: \xff' },
}

test('what is no manifest is refused, with what to give: what is not there, folders, rasters, archives, workbooks', async () => {
  const [empty, full, rasters] = ['empty', 'full', 'rasters'].map((name) => join(ingest.folder, name))
  for (const folder of [empty, full, rasters]) await mkdir(folder as string)
  for (const name of ['b.yml', 'a.yaml', 'c.tif']) await writeManifest(full as string, HEAD, name)
  for (const name of ['a.tif', 'b.TIFF', 'c.txt']) await writeManifest(rasters as string, '', name)
  for (const [name, content] of Object.entries(NO_MANIFESTS)) await ingest.write(name, content)
  const names = ['missing.yaml', 'empty', 'full', 'rasters', ...Object.keys(NO_MANIFESTS)]
  const refusals = await refusalsOf(Object.fromEntries(names.map((name) => [name, name])), (name) =>
    ingestManifest(ingest.database, join(ingest.folder, name)).then(String, String),
  )
  for (const name of Object.keys(NO_MANIFESTS)) await ingest.remove(name)
  await expect(refusals.replaceAll(`${ingest.folder}/`, '')).toMatchFileSnapshot('refused/no-manifests.txt')
})

const short = (...values: number[]): Tag => ['short', values]
const tagged = (tags: Record<number, Tag>): Options => ({ tags })

const NO_PLACE: Record<number, Tag> = { [TAGS.pixelScale]: ['double', []], [TAGS.tiepoints]: ['double', []] }
const NO_KEYS: Record<number, Tag> = { [TAGS.geoKeys]: short() }
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
const metadata = (text: string) => tagged({ 42112: ['ascii', `${text}\0`] })
const saying = (...items: string[]) => metadata(`<GDALMetadata>${items.join('')}</GDALMetadata>`)
const item = (role: string, text: string, sample = 0) =>
  `<Item name="${role.toUpperCase()}" sample="${sample}" role="${role}">${text}</Item>`
const UREA_TWICE = saying(item('description', 'Urea'), item('description', 'Urea', 1)).tags
/** Several samples a pixel. */
const ofSamples = (count: number, bits: number, format: number): Record<number, Tag> => ({
  258: short(...Array(count).fill(bits)),
  277: short(count),
  339: short(...Array(count).fill(format)),
})
const compressedBy = (method: number) => tagged({ 259: short(method) })
const jpegOf = (samples: number, photometric: number): Options => ({
  bits: 8,
  row: () => new Uint8Array(20 * samples),
  tags: { ...ofSamples(samples, 8, 1), 259: short(7), 262: short(photometric) },
})
const SINUSOIDAL = '+proj=sinu +lon_0=0 +R=6371007.181 +units=m +no_defs'
const POLE = '+proj=ob_tran +o_proj=longlat +o_lon_p=-162 +o_lat_p=39.25 +lon_0=180 +datum=WGS84'
const POLE_WKT = `PROJCS["turned",GEOGCS["WGS 84"],EXTENSION["PROJ4","${POLE} +wktext"]]`
const DEGREES_WKT =
  'GEOGCS["ours",DATUM["ours",SPHEROID["Clarke",6378249.145,293.465]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
const HEIGHTS_WKT = 'VERT_CS["ours",VERT_DATUM["ours",2005],UNIT["metre",1]]'

const RASTERS: Record<string, [options: Options, settings?: Settings]> = {
  'a sheared grid': [transformed(0.01, 0.001)],
  'a mirrored grid': [transformed(-0.01, 0)],
  'ground control points': [tagged({ ...NO_PLACE, [TAGS.tiepoints]: ['double', POINTS] })],
  'no place': [tagged({ ...NO_PLACE, ...NO_KEYS })],
  'columns that do not go around the Earth': [across(0.7)],
  'more than the Earth': [across(25)],
  'too many columns around the Earth': [across(0.001)],
  'no CRS': [tagged(NO_KEYS)],
  'a CRS of another kind': [withKeys([1024, 0, 1, 32767, 1026, 34737, 9, 0], 'Our farm|\0')],
  'a projection without a code': [
    withKeys([1024, 0, 1, 1, 1026, 34737, 9, 0, 3072, 0, 1, 32767], 'Our Lambert|\0'),
  ],
  'polar stereographic': [ofMethod(15)],
  'Cassini-Soldner': [ofMethod(18)],
  Robinson: [ofMethod(23)],
  'oblique Mercator': [ofMethod(9815)],
  'a method that is not known': [ofMethod(99)],
  'no ellipsoid': [withKeys([1024, 0, 1, 2, 2048, 0, 1, 32767, 2056, 0, 1, 7012])],
  'a code that PostGIS has not': [withKeys([1024, 0, 1, 1, 3072, 0, 1, 20033])],
  'a code of the manifest that PostGIS has not': [{}, { srid: 999999 }],
  'a geographic CRS that PostGIS cannot transform': [withKeys([1024, 0, 1, 2, 2048, 0, 1, 9000])],
  'a CRS of another planet': [{}, { srid: 104905 }],
  'a projection without an inverse': [{}, { srid: 22300 }],
  'metres beyond the Earth': [placed(9e7, 9e7, 0), { srs: SINUSOIDAL }],
  'degrees beyond the Earth': [placed(9, 138, 0)],
  'two bands of one name': [
    { row: () => new Float32Array(40), tags: { ...ofSamples(2, 32, 3), ...UREA_TWICE } },
    { band: 'Urea' },
  ],
  'damaged metadata': [metadata('<GDALMetadata><Item')],
  'a scale that is no number': [saying(item('scale', '1,000.5'))],
  'a scale that is no number, and that the manifest has': [
    saying(item('scale', '1,000.5')),
    { scale: 2, srid: 999999 },
  ],
  'an offset that is no number': [saying(item('offset', 'none'))],
  'complex floats': [{ bits: 64, format: 6, row: () => new Float32Array(40) }],
  'complex integers': [{ bits: 32, format: 5, row: () => new Int16Array(40) }],
  'integers of 4 bits': [{ bits: 4, format: 1, row: () => new Uint8Array(10) }],
  'an integer beyond 2^53': [{ bits: 64, format: 2, row: () => new BigInt64Array(20).fill(2n ** 53n + 1n) }],
  'JPEG of an older form': [compressedBy(6)],
  'JPEG of floats': [compressedBy(7)],
  'JPEG of two samples': [jpegOf(2, 1)],
  'JPEG of one sample in YCbCr': [jpegOf(1, 6)],
  WebP: [compressedBy(50001)],
  LZMA: [compressedBy(34925)],
  'a compression that is not known': [compressedBy(40000)],
  'the lowest bit first': [tagged({ 266: short(2) })],
  'a strip of no bytes': [{ strips: [Buffer.alloc(1600)], tags: { 278: short(20), 279: ['long', [0]] } }],
  'four thousand million bands': [tagged({ 277: ['long', [4_294_967_295]] })],
  'four thousand million rows and columns': [
    { width: 4_294_967_295, tags: { 257: ['long', [4_294_967_295]] } },
  ],
  'no columns': [{ width: 0 }],
  'an srs of one word': [{}, { srs: 'somewhere' }],
  'an srs that PROJ makes nothing of': [{}, { srs: '+proj=nonsense' }],
  'an srs by a code that PostGIS has not': [{}, { srs: 'EPSG:20033' }],
  'an srs with heights': [{}, { srs: `COMPD_CS["with PROJCS[heights]",${DEGREES_WKT},${HEIGHTS_WKT}]` }],
  'an srs that is bound': [{}, { srs: `BOUNDCRS[SOURCECRS[${DEGREES_WKT}],TARGETCRS[${DEGREES_WKT}]]` }],
  'an srs that is too long': [{}, { srs: `+proj=igh +lon_0=0 ${'+no_defs '.repeat(300)}`.trim() }],
  'a rotated pole by PROJ': [{}, { srs: POLE }],
  'a rotated pole by PROJ in WKT': [{}, { srs: POLE_WKT }],
  'a rotated pole by WKT': [
    {},
    { srs: 'GEOGCRS["turned",BASEGEOGCRS["WGS 84"],DERIVINGCONVERSION["turned"]]' },
  ],
}

test('rasters are refused for what their tags say, with what would help', async () => {
  const refusals = await refusalsOf(RASTERS, async ([options, settings]) => {
    await ingest.writeRaster('it.tif', options)
    return ingest.refusalOfFile('it.tif', settings)
  })
  await expect(refusals).toMatchFileSnapshot('refused/rasters.txt')
})

const LAYERS: Record<string, [file: string, settings?: Settings]> = {
  'metres as degrees': [fixture('crs-32637.tif'), { srid: 4326 }],
  'a second band of one': [FILE, { band: 2 }],
  'a fourth band of three': [fixture('bands-pixel-int16.tif'), { band: 4 }],
  'a band by a name, where none has one': [FILE, { band: 'Urea' }],
  'a band by another name': [kindFixture('names.tif'), { band: 'urea' }],
  'an alpha band': [kindFixture('alpha-uint8.tif'), { band: 2 }],
  'a file that is not there': ['nowhere/missing.tif'],
}

test('layers are refused that their rasters do not fit', async () => {
  const refusals = await refusalsOf(LAYERS, ([file, settings]) => ingest.refusalOfFile(file, settings))
  await expect(refusals).toMatchFileSnapshot('refused/layers.txt')
})

test('a raster that is a folder, or may not be read, is refused', async () => {
  await mkdir(join(ingest.folder, 'folder.tif'))
  expect(await ingest.refusalOfFile('folder.tif')).toBe(
    'folder.tif is a folder: give a raster in it, or those of one layer, as in "files: [folder.tif/*.tif]".',
  )
  if (process.getuid?.() === 0) return
  await chmod(join(ingest.folder, await ingest.write('secret.tif', 'II')), 0)
  expect(await ingest.refusalOfFile('secret.tif')).toBe('secret.tif may not be read.')
})

const ENTITIES = '<!DOCTYPE a [<!ENTITY b "bbbb"><!ENTITY c "&b;&b;&b;">]>'

/** Texts are what lies beside, options are of a mask. */
const BESIDE: Record<string, [beside: string, content: string | Options, tags?: Record<number, Tag>]> = {
  'a mask of another size': ['it.tif.msk', { height: 10 }],
  'a mask of 16 bits': ['it.tif.msk', { bits: 16, row: () => new Uint16Array(20).fill(1) }],
  'a mask that is a bomb': [
    'it.tif.msk',
    { tags: { 259: short(8), 278: short(20) }, strips: [zlibZeros(1e9)] },
  ],
  'a mask with loss': ['it.tif.msk', compressedBy(7)],
  'a mask that is none': ['it.tif.msk', 'not a mask'],
  'a world file of words': ['it.tfw', 'north of here', NO_PLACE],
  'half a document': ['it.tif.aux.xml', '<PAMDataset><SRS>'],
  'another document': ['it.tif.aux.xml', '<html/>'],
  'a place that is none': ['it.tif.aux.xml', '<PAMDataset><GeoTransform>1, 2, x</GeoTransform></PAMDataset>'],
  'entities of entities': ['it.tif.aux.xml', `${ENTITIES}<PAMDataset><SRS>&c;</SRS></PAMDataset>`],
  // GDAL takes it for 0.
  'a scale with a comma': [
    'it.tif.aux.xml',
    '<PAMDataset><PAMRasterBand band="1"><Scale>0,125</Scale></PAMRasterBand></PAMDataset>',
  ],
  'nine million blanks': ['it.tif.aux.xml', ' '.repeat(9e6)],
}

test('rasters are refused for files that lie beside them', async () => {
  const refusals = await refusalsOf(BESIDE, async ([beside, content, tags = {}]) => {
    await ingest.writeRaster('it.tif', { tags })
    const row = () => new Uint8Array(20).fill(255)
    if (typeof content === 'string') await ingest.write(beside, content)
    else await ingest.writeRaster(beside, { bits: 8, format: 1, row, ...content })
    return ingest.refusalOfFile('it.tif').finally(() => ingest.remove(beside))
  })
  await expect(refusals).toMatchFileSnapshot('refused/beside.txt')
})

/** Returns other bytes, or changes these. */
type Damage = (bytes: Buffer) => unknown

/** Why a copy of a fixture is refused after something was done to its bytes. */
async function refusalOf(file: string, damage: Damage, settings: Settings = {}): Promise<string> {
  const bytes = await readFile(fixture(file))
  const found = damage(bytes)
  await ingest.write('it.tif', found instanceof Buffer ? found : bytes)
  return ingest.refusalOf(manifestText([{ file: 'it.tif' }], settings))
}

/** Where the entry of a tag lies in a little-endian classic TIFF. */
function entryOf(bytes: Buffer, tag: number): number {
  const directory = bytes.readUInt32LE(4)
  const count = bytes.readUInt16LE(directory)
  const entries = Array.from({ length: count }, (_, index) => directory + 2 + index * 12)
  return entries.find((entry) => bytes.readUInt16LE(entry) === tag) as number
}

/** Where its values lie. */
function placeOf(bytes: Buffer, tag: number): number {
  const entry = entryOf(bytes, tag)
  const size = bytes.readUInt32LE(entry + 4) * ({ 3: 2, 4: 4 }[bytes.readUInt16LE(entry + 2)] ?? 8)
  return size > 4 ? bytes.readUInt32LE(entry + 8) : entry + 8
}

const stripIn = (bytes: Buffer) => bytes.readUInt32LE(placeOf(bytes, 273))
const turn = (bytes: Buffer, at: number) => void bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at)
const fillStrip: Damage = (bytes) => void bytes.fill(0xfe, stripIn(bytes), stripIn(bytes) + 12)
const inBlob = (damage: Damage) => (bytes: Buffer) => void damage(bytes.subarray(bytes.indexOf('Lerc2 ')))
/** The frame of the last stream of JPEG. */
const inFrame = (damage: Damage) => (bytes: Buffer) =>
  void damage(bytes.subarray(bytes.lastIndexOf(Buffer.of(0xff, 0xc0))))
const JPEG = '../raster-kinds/jpeg.tif'
const YCBCR = '../raster-kinds/jpeg-ycbcr.tif'
const LERC = '../raster-kinds/lerc-float64.tif'
const LOSSY = { lossy: true }
const nothing = () => {}

const DAMAGED: Record<string, [file: string, damage: Damage, settings?: Settings]> = {
  'LERC of too many rows': [LERC, inBlob((blob) => void blob.writeInt32LE(1_000_000, 14))],
  'LERC of as many pixels, which lie otherwise': [
    LERC,
    inBlob((blob) => void blob.writeInt32LE(27, blob.writeInt32LE(37, 14))),
  ],
  'LERC whose bytes changed': [LERC, inBlob((blob) => void blob.fill(0x55, 200, 220))],
  'LERC of another version': [LERC, inBlob((blob) => void blob.writeInt32LE(99, 6))],
  // Before memory is taken.
  'JPEG of too many rows': [JPEG, inFrame((frame) => void frame.writeUInt16BE(65_535, 5)), LOSSY],
  'JPEG of too many columns': [JPEG, inFrame((frame) => void frame.writeUInt16BE(65_535, 7)), LOSSY],
  'JPEG of no rows': [JPEG, inFrame((frame) => void frame.writeUInt16BE(0, 5)), LOSSY],
  'JPEG that is progressive': [YCBCR, inFrame((frame) => void frame.writeUInt8(0xc2, 1)), LOSSY],
  'JPEG of 12 bits': [YCBCR, inFrame((frame) => void frame.writeUInt8(12, 4)), LOSSY],
  'JPEG of another sampling': [YCBCR, inFrame((frame) => void frame.writeUInt8(0x41, 11)), LOSSY],
  'JPEG of no sampling': [YCBCR, inFrame((frame) => void frame.writeUInt8(0, 11)), LOSSY],
  'JPEG without a table': [YCBCR, inFrame((frame) => void frame.writeUInt8(3, 12)), LOSSY],
  'JPEG that ends before its pixels': [
    JPEG,
    inFrame((frame) => void frame.writeUInt16BE(0xffd9, frame.indexOf(Buffer.of(0xff, 0xda)) + 40)),
    LOSSY,
  ],
  'JPEG whose common tables are damaged': [
    JPEG,
    (bytes) => void bytes.writeUInt16BE(65_000, bytes.indexOf(Buffer.of(0xff, 0xdb)) + 2),
    LOSSY,
  ],
  'JPEG of which the manifest says nothing': [JPEG, nothing],
  'JPEG of which the manifest says that it has no loss': [JPEG, nothing, { lossy: false }],
  'DEFLATE that begins otherwise': ['deflate-float64.tif', fillStrip],
  'LZW that begins otherwise': ['lzw-uint8.tif', fillStrip],
  'DEFLATE of another sum': [
    'deflate-float64.tif',
    (bytes) => void bytes.writeUInt32LE(0, stripIn(bytes) + bytes.readUInt32LE(placeOf(bytes, 279)) - 4),
  ],
  'Zstandard of another magic number': ['zstd-uint16.tif', (bytes) => turn(bytes, stripIn(bytes))],
  'Zstandard of another header': ['zstd-uint16.tif', (bytes) => turn(bytes, stripIn(bytes) + 4)],
  'Zstandard of another block': ['zstd-uint16.tif', (bytes) => turn(bytes, stripIn(bytes) + 7)],
  'Zstandard of other bytes': ['zstd-uint16.tif', (bytes) => turn(bytes, stripIn(bytes) + 9)],
  'a strip that is short': ['type-int16.tif', (bytes) => void bytes.writeUInt16LE(100, placeOf(bytes, 279))],
  'what ends in its header': ['type-float32.tif', (bytes) => bytes.subarray(0, 6)],
  'what ends in its directory': ['type-float32.tif', (bytes) => bytes.subarray(0, 100)],
  'what ends before its tags': ['type-float32.tif', (bytes) => bytes.subarray(0, 300)],
  'what lacks a byte': ['lzw-2-int16.tif', (bytes) => bytes.subarray(0, -1)],
  'a table of four thousand million strips': [
    'type-float32.tif',
    (bytes) => void bytes.writeUInt32LE(0xffff_ffff, entryOf(bytes, 273) + 4),
  ],
  'GeoKeys of four thousand million numbers': [
    'type-float32.tif',
    (bytes) => void bytes.writeUInt32LE(0xffff_ffff, entryOf(bytes, TAGS.geoKeys) + 4),
  ],
  'a directory that is followed by itself': [
    'type-float32.tif',
    (bytes) => {
      const directory = bytes.readUInt32LE(4)
      bytes.writeUInt32LE(directory, directory + 2 + bytes.readUInt16LE(directory) * 12)
    },
  ],
  'no bytes': ['type-float32.tif', (bytes) => bytes.subarray(0, 0)],
  'two bytes': ['type-float32.tif', (bytes) => bytes.subarray(0, 2)],
  'a letter': ['type-float32.tif', () => Buffer.from('Dear operator, this is not a raster.')],
}

test('rasters are refused whose bytes are damaged', async () => {
  const refusals = await refusalsOf(DAMAGED, ([file, damage, settings]) => refusalOf(file, damage, settings))
  await expect(refusals).toMatchFileSnapshot('refused/damaged.txt')
})

const CUT_OFF =
  /^\S+ is cut off(, damaged or not a GeoTIFF: its directory cannot be read \(.+\)| or damaged: not all of its (strips|tiles) are there)\.$/

test.each(['lzw-3-float32', 'bands-band-float32-tiled', 'bigtiff-float32', 'big-endian-int16'])(
  '%s is refused where it is cut off, at every 397th byte',
  async (name) => {
    const { length: whole } = await readFile(fixture(`${name}.tif`))
    for (let length = 8; length < whole; length += 397) {
      expect(await refusalOf(`${name}.tif`, (bytes) => bytes.subarray(0, length))).toMatch(CUT_OFF)
    }
  },
)

test('a raster is refused whose table of strips is beyond its end', async () => {
  const inTable: Damage = (bytes) => {
    const directory = bytes.readUInt32BE(4)
    for (let index = 0; index < bytes.readUInt16BE(directory); index++) {
      const entry = directory + 2 + index * 12
      if (bytes.readUInt16BE(entry) === 279) bytes.writeUInt32BE(bytes.length - 300, entry + 8)
    }
  }
  expect(await refusalOf('big-endian-many-strips.tif', inTable)).toMatch(CUT_OFF)
})

test('LZW that is damaged anywhere ends, and is refused', async () => {
  const { length } = await readFile(fixture('lzw-full-table.tif'))
  for (let at = 700; at < length; at += 997) {
    expect(await refusalOf('lzw-full-table.tif', (bytes) => void bytes.fill(0xff, at, at + 40))).toMatch(
      /^it\.tif cannot be read at rows 0 to 60: (its LZW data are damaged|the block at byte \d+ is damaged: it is too short)\.$/,
    )
  }
})

/** By name, what files begin with; a shell would not take the last name as it is. */
const FORMATS: [file: string, beginning: string][] = [
  ['rain.nc', 'CDF\x05\0\0\0\0'],
  ['rain.nc4', '\x89HDF\r\n\x1a\n'],
  ['rain.hdf', '\x0e\x03\x13\x01'],
  ['rain.grb', 'GRIB\0\0\0\x02'],
  ['rain.asc', 'NCOLS 20\nnrows 10\n'],
  ['rain.img', 'EHFA_HEADER_TAG\0'],
  ['rain.vrt', '<VRTDataset rasterXSize="2">'],
  ['rain.jp2', '\0\0\0\x0cjP  '],
  ['rain.png', '\x89PNG\r\n'],
  ['rain.tif', '\x89PNG\r\n'],
  ['rain.jpg', '\xff\xd8\xff\xe0'],
  ['rain.gif', 'GIF89a'],
  ["wheat's rain.asc", 'ncols 20\n'],
  ['rain.gpkg', 'SQLite format 3\0'],
  ...['rain.sgrd', 'rain.sdat', 'rain.rst', 'rain.rdc', 'rain.bil', 'rain.flt', 'rain.hdr'].map(
    (name): [string, string] => [name, 'raw'],
  ),
]

test('files of other formats are refused, with the line that makes a GeoTIFF of them', async () => {
  const cases = Object.fromEntries(FORMATS.map((format) => [format[0], format]))
  const refusals = await refusalsOf(cases, async ([file = '', beginning = '']) =>
    ingest.refusalOfFile(await ingest.write(file, beginning)),
  )
  await expect(refusals).toMatchFileSnapshot('refused/formats.txt')
})
