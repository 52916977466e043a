// Runs on a server alone: what is refused never gets to the database.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, ingestManifest } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'

let ingest: RefusingIngest
beforeAll(async () => {
  ingest = await createRefusingIngest()
})
afterAll(() => ingest.close())

/** Lines that name nine of what the line before has named. */
function aliases(first: string, ...names: string[]): string[] {
  const before = [first, ...names]
  return names.map((name, index) => `${name}: &${name} [${Array(9).fill(`*${before[index]}`).join(', ')}]`)
}

describe('manifests', () => {
  const FILE = fixture('type-uint8.tif')
  const HEAD =
    'product: yield\ncountry_code: eth\ncrop: wheat\nforecast_period: 2025-01\nsource: A test\nlicence: CC0-1.0\n'
  const layer = (...lines: string[]) => `  - file: ${FILE}\n${lines.map((line) => `    ${line}\n`).join('')}`
  const LAYER = layer('scenario: Normal', 'unit: kg/ha')

  test('that are not there', async () => {
    const path = join(ingest.folder, 'missing.yaml')
    await expect(ingestManifest(ingest.database, path)).rejects.toThrow(`${path} does not exist.`)
  })

  test('that are folders', async () => {
    await expect(ingestManifest(ingest.database, ingest.folder)).rejects.toThrow(
      `${ingest.folder} cannot be read: EISDIR: illegal operation on a directory, read.`,
    )
  })

  test.each([
    [
      'two layers for the same scenario',
      `${HEAD}layers:\n${LAYER}${layer('band: 2', 'scenario: Normal', 'unit: kg/ha')}`,
      'manifest.yaml:11: layers[1] is for Normal again, as layers[0] is',
    ],
    [
      'the wrong unit',
      `${HEAD}layers:\n${layer('scenario: Normal', 'unit: t/ha')}`,
      'manifest.yaml:10: layers[0].unit must be kg/ha for yield; for values in another unit, give the scale that turns them into kg/ha',
    ],
    [
      'a crop for forage',
      `product: forage\ncountry_code: eth\ncrop: wheat\nsource: A test\nlicence: CC0-1.0\nlayers:\n${layer('input: Lablab', 'unit: score')}`,
      'manifest.yaml:3: crop is not allowed: forage releases are not made for a crop',
    ],
    [
      'no month',
      `${HEAD.replace(/forecast_period.*\n/, '')}layers:\n${LAYER}`,
      'manifest.yaml:1: forecast_period is missing: yield releases are made for a month',
    ],
    [
      'a month that is none',
      `${HEAD.replace('2025-01', '2025-13')}layers:\n${LAYER}`,
      'manifest.yaml:4: forecast_period must be a month such as "2026-07"',
    ],
    [
      'a last day that no month has',
      `${HEAD}valid_until: 2025-02-30\nlayers:\n${LAYER}`,
      'manifest.yaml:7: valid_until is not a day of the calendar',
    ],
    [
      'a last day before its month',
      `${HEAD}valid_until: 2024-12-31\nlayers:\n${LAYER}`,
      'manifest.yaml:7: valid_until must not be before 2025-01, its month',
    ],
    [
      'synthetic that is neither true nor false',
      `${HEAD}synthetic: maybe\nlayers:\n${LAYER}`,
      'manifest.yaml:7: synthetic must be true or false',
    ],
    [
      'unknown keys, all of them',
      `${HEAD}colour: green\nlayers:\n${layer('scenario: Normal', 'unit: kg/ha', 'bnad: 2')}`,
      [
        'manifest.yaml:7: colour is not known; allowed here: product, country_code, crop, forecast_period, valid_until, source, licence, synthetic, lossy, allow, layers',
        'manifest.yaml:12: layers[0].bnad is not known; allowed here: file, files, band, input, scenario, unit, scale, offset, nodata, mask, srid, srs, decimals',
      ].join('\n'),
    ],
    [
      'an unknown product',
      `${HEAD.replace('yield', 'yeild')}layers:\n${LAYER}`,
      'manifest.yaml:1: product must be one of yield, fertilizer, isfm, forage',
    ],
    ['no layers', `${HEAD}layers: []\n`, 'manifest.yaml:7: layers must have at least one entry'],
    [
      'numbers out of range',
      `${HEAD}layers:\n${layer('scenario: Normal', 'unit: kg/ha', 'band: 0', 'decimals: 11', 'scale: 0')}`,
      [
        'manifest.yaml:11: layers[0].band must be a number from 1, or the name of a band',
        'manifest.yaml:12: layers[0].decimals must be <= 10',
      ].join('\n'),
    ],
    [
      'a scale of 0',
      `${HEAD}layers:\n${layer('scenario: Normal', 'unit: kg/ha', 'scale: 0')}`,
      'manifest.yaml:11: layers[0].scale must not be 0',
    ],
    [
      'a nodata value that is none',
      `${HEAD}layers:\n${layer('scenario: Normal', 'unit: kg/ha', 'nodata: nothing')}`,
      'manifest.yaml:11: layers[0].nodata must be a number, nan or none',
    ],
    [
      'a mask that is anything but none',
      `${HEAD}layers:\n${layer('scenario: Normal', 'unit: kg/ha', 'mask: other.tif')}`,
      'manifest.yaml:11: layers[0].mask must be none',
    ],
    [
      'an input for yield, and no scenario',
      `${HEAD}layers:\n${layer('input: Urea', 'unit: kg/ha')}`,
      [
        'manifest.yaml:9: layers[0].input is not allowed: yield layers have none',
        'manifest.yaml:8: layers[0].scenario is missing: yield layers are for a scenario',
      ].join('\n'),
    ],
    [
      'a country that is none',
      `${HEAD.replace('eth', 'Ethiopia')}layers:\n${LAYER}`,
      'manifest.yaml:2: country_code must be a country code such as "eth"',
    ],
    [
      'a country that is not served',
      `${HEAD.replace('eth', 'uga')}layers:\n${LAYER}`,
      'country_code must be one of eth, gha, ken, rwa, not uga.',
    ],
    [
      'a crop that the country does not offer',
      `${HEAD.replace('wheat', 'potato')}layers:\n${LAYER}`,
      'eth does not offer the crop potato; it offers: wheat.',
    ],
    [
      'a crop where there is forage only',
      `${HEAD.replace('eth', 'ken')}layers:\n${LAYER}`,
      'ken does not offer the crop wheat; it offers: none, only forage.',
    ],
    [
      'a syntax error',
      `${HEAD}layers:\n  - file: [${FILE}\n`,
      /^manifest\.yaml:\d+: is not YAML: [^\n]+[^:\n]$/,
    ],
    [
      'a key twice',
      `${HEAD}source: Another\nlayers:\n${LAYER}`,
      'manifest.yaml:7: is not YAML: Map keys must be unique',
    ],
    [
      'aliases that become thousands of millions of values',
      ['a: &a [x, x, x, x, x, x, x, x, x]', ...aliases('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i')].join(
        '\n',
      ),
      'manifest.yaml cannot be read as a manifest: Excessive alias count indicates a resource exhaustion attack.',
    ],
    ['lists in lists', '['.repeat(100_000), 'manifest.yaml is nested too deeply for a manifest.'],
    ['entries in entries', '- '.repeat(100_000), 'manifest.yaml is nested too deeply for a manifest.'],
    [
      'more text than any has',
      `# ${'x'.repeat(300_000)}\n`,
      'manifest.yaml has 300003 bytes; a manifest has at most 262144.',
    ],
    [
      'hundreds of layers too many',
      `${HEAD}layers: [${'1,'.repeat(100_000)}]\n`,
      /^manifest\.yaml:7: layers must have at most 256 entries\n(manifest\.yaml:7: layers\[\d+\] must be a mapping of keys to values\n){49}manifest\.yaml: and 99951 more\.$/,
    ],
    [
      'thousands of keys that are not known',
      `${HEAD}layers:\n${LAYER}${Array.from({ length: 9000 }, (_, index) => `x${index}: 1\n`).join('')}`,
      /^(manifest\.yaml:\d+: x\d+ is not known; [^\n]+\n){50}manifest\.yaml: and 8950 more\.$/,
    ],
    ['nothing', '', 'manifest.yaml:1: must be a mapping of keys to values'],
    ['a list', '- 1\n', 'manifest.yaml:1: must be a mapping of keys to values'],
  ])('with %s', async (_, text, message) => {
    const refusal = await ingest.refusalOf(text)
    if (typeof message === 'string') expect(refusal).toBe(message)
    else expect(refusal).toMatch(message)
  })
})
