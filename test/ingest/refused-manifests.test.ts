// Runs on a server alone: what is refused never gets to the database.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fixture, ingestManifest } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'

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
const LAYER = layer('scenario: Normal', 'unit: kg/ha')
const TAIL = `layers:\n${LAYER}`
const said = (...lines: string[]) => `${HEAD}layers:\n${layer('scenario: Normal', 'unit: kg/ha', ...lines)}`
const changed = (from: string | RegExp, to: string) => HEAD.replace(from, to) + TAIL

test.each<[refusal: string | RegExp, manifest: string]>([
  [
    'manifest.yaml:11: layers[1] is for Normal again, as layers[0] is',
    `${HEAD}${TAIL}${layer('band: 2', 'scenario: Normal', 'unit: kg/ha')}`,
  ],
  [
    'manifest.yaml:10: layers[0].unit must be kg/ha for yield; for values in another unit, give the scale that turns them into kg/ha',
    `${HEAD}layers:\n${layer('scenario: Normal', 'unit: t/ha')}`,
  ],
  [
    'manifest.yaml:3: crop is not allowed: forage releases are not made for a crop',
    `product: forage\ncountry_code: eth\ncrop: wheat\nsource: A test\nlicence: CC0-1.0\nlayers:\n${layer('input: Lablab', 'unit: score')}`,
  ],
  [
    'manifest.yaml:1: forecast_period is missing: yield releases are made for a month',
    changed(/forecast_period.*\n/, ''),
  ],
  ['manifest.yaml:4: forecast_period must be a month such as "2026-07"', changed('2025-01', '2025-13')],
  ['manifest.yaml:7: valid_until is not a day of the calendar', `${HEAD}valid_until: 2025-02-30\n${TAIL}`],
  [
    'manifest.yaml:7: valid_until must not be before 2025-01, its month',
    `${HEAD}valid_until: 2024-12-31\n${TAIL}`,
  ],
  ['manifest.yaml:7: synthetic must be true or false', `${HEAD}synthetic: maybe\n${TAIL}`],
  [
    `manifest.yaml:7: colour is not known; allowed here: product, country_code, crop, forecast_period, valid_until, source, licence, synthetic, lossy, allow, layers
manifest.yaml:12: layers[0].bnad is not known; allowed here: file, files, band, input, scenario, unit, scale, offset, nodata, mask, srid, srs, decimals`,
    said('bnad: 2').replace('layers:', 'colour: green\nlayers:'),
  ],
  ['manifest.yaml:1: product must be one of yield, fertilizer, isfm, forage', changed('yield', 'yeild')],
  ['manifest.yaml:7: layers must have at least one entry', `${HEAD}layers: []\n`],
  [
    `manifest.yaml:11: layers[0].band must be a number from 1, or the name of a band
manifest.yaml:12: layers[0].decimals must be <= 10`,
    said('band: 0', 'decimals: 11', 'scale: 0'),
  ],
  ['manifest.yaml:11: layers[0].scale must not be 0', said('scale: 0')],
  ['manifest.yaml:11: layers[0].nodata must be a number, nan or none', said('nodata: nothing')],
  ['manifest.yaml:11: layers[0].mask must be none', said('mask: other.tif')],
  [
    'manifest.yaml:12: layers[0].srs is not allowed: the srid says it already',
    said('srid: 4326', 'srs: EPSG:4326'),
  ],
  [
    `manifest.yaml:9: layers[0].input is not allowed: yield layers have none
manifest.yaml:8: layers[0].scenario is missing: yield layers are for a scenario`,
    `${HEAD}layers:\n${layer('input: Urea', 'unit: kg/ha')}`,
  ],
  ['manifest.yaml:2: country_code must be a country code such as "eth"', changed('eth', 'Ethiopia')],
  ['country_code must be one of eth, gha, ken, rwa, not uga.', changed('eth', 'uga')],
  ['eth does not offer the crop potato; it offers: wheat.', changed('wheat', 'potato')],
  ['ken does not offer the crop wheat; it offers: none, only forage.', changed('eth', 'ken')],
  [/^manifest\.yaml:\d+: is not YAML: [^\n]+[^:\n]$/, `${HEAD}layers:\n  - file: [${FILE}\n`],
  ['manifest.yaml:7: is not YAML: Map keys must be unique', `${HEAD}source: Another\n${TAIL}`],
  [
    'manifest.yaml cannot be read as a manifest: Excessive alias count indicates a resource exhaustion attack.',
    aliases('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'),
  ],
  ['manifest.yaml is nested too deeply for a manifest.', '['.repeat(100_000)],
  ['manifest.yaml is nested too deeply for a manifest.', '- '.repeat(100_000)],
  ['manifest.yaml has 300003 bytes; a manifest has at most 262144.', `# ${'x'.repeat(300_000)}\n`],
  [
    /^manifest\.yaml:7: layers must have at most 256 entries\n(manifest\.yaml:7: layers\[\d+\] must be a mapping of keys to values\n){49}manifest\.yaml: and 99951 more\.$/,
    `${HEAD}layers: [${'1,'.repeat(100_000)}]\n`,
  ],
  [
    /^(manifest\.yaml:\d+: x\d+ is not known; [^\n]+\n){50}manifest\.yaml: and 8950 more\.$/,
    `${HEAD}${TAIL}${Array.from({ length: 9000 }, (_, index) => `x${index}: 1\n`).join('')}`,
  ],
  ['manifest.yaml:1: must be a mapping of keys to values', ''],
  ['manifest.yaml:1: must be a mapping of keys to values', '- 1\n'],
  ['manifest.yaml:8: layers[0].file is missing', said().replace(`file: ${FILE}\n    `, '')],
  ['manifest.yaml:11: layers[0].files is not allowed: the file says it already', said(`files: ['${FILE}']`)],
  [
    'manifest.yaml:8: layers[0].files must have at least one entry',
    said().replace(`file: ${FILE}`, 'files: []'),
  ],
  ['nowhere-*.tif fits no file.', said().replace(FILE, 'nowhere-*.tif')],
  ['nowhere does not exist.', said().replace(FILE, 'nowhere/*.tif')],
])('a manifest is refused: %s', async (refusal, manifest) => {
  const found = await ingest.refusalOf(manifest)
  if (typeof refusal === 'string') expect(found).toBe(refusal)
  else expect(found).toMatch(refusal)
})

test('a manifest that is not there, or is a folder, is refused', async () => {
  const path = join(ingest.folder, 'missing.yaml')
  await expect(ingestManifest(ingest.database, path)).rejects.toThrow(`${path} does not exist.`)
  await expect(ingestManifest(ingest.database, ingest.folder)).rejects.toThrow(
    `${ingest.folder} cannot be read: EISDIR: illegal operation on a directory, read.`,
  )
})
