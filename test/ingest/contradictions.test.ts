import { describe, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import type { ReleaseSource } from '#src/ingest/source.ts'
import { OUTLOOK, slopes, withPixels } from '#test/advice/certainty/releases.ts'
import { openFor } from '#test/setup/open-service.ts'
import { fixture } from './fixtures.ts'
import { createRefusingIngest, refusalsOf } from './refusals.ts'

const ingest = openFor(createRefusingIngest)

const FILE = fixture('type-uint8.tif')
const HEAD =
  'product: yield\ncountry_code: eth\ncrop: wheat\nforecast_period: 2025-01\nsource: A test\nlicence: CC0-1.0\n'
const layer = (...lines: string[]) => `  - file: ${FILE}\n${lines.map((line) => `    ${line}\n`).join('')}`
const said = (...lines: string[]) => `${HEAD}layers:\n${layer('scenario: Normal', 'unit: kg/ha', ...lines)}`
const FORAGE = 'product: forage\ncountry_code: eth\nsource: A test\nlicence: CC0-1.0\nlayers:\n'
const FERTILIZER = HEAD.replace('yield', 'fertilizer')
const ofInput = (input: string, odds: number) =>
  layer(`input: ${input}`, 'scenario: Normal', 'unit: kg/ha', `probability: ${odds}`)
const ofSeasons = (...odds: number[]) =>
  ['Above Normal', 'Normal', 'Below Normal']
    .map((scenario, at) => layer(`scenario: ${scenario}`, 'unit: kg/ha', `probability: ${odds[at]}`))
    .join('')
const SLOPE = 'conditions: { question: Where?, titles: { hill: Hill, foot: Foot slope } }\n'
const onSlope = (...conditions: string[]) =>
  `layers:\n${conditions.map((condition) => layer('scenario: Normal', 'unit: kg/ha', `condition: ${condition}`)).join('')}`

const MANIFESTS: Record<string, string> = {
  'odds above 1': said('probability: 1.2'),
  'odds in a text': said('probability: likely'),
  'odds of a file with another unit': said(`probability: { file: ${FILE}, unit: percent }`),
  'odds with a key that is not known': said(`probability: { fiel: ${FILE} }`),
  'odds that sum to 1.1': `${HEAD}layers:\n${ofSeasons(0.4, 0.4, 0.3)}`,
  'odds of a scenario that differ': `${FERTILIZER}layers:\n${ofInput('DAP', 0.4)}${ofInput('Urea', 0.5)}`,
  'odds of Dominant': `${HEAD}layers:\n${layer('scenario: Dominant', 'unit: kg/ha', 'probability: 0.4')}`,
  'odds of forage': `${FORAGE}${layer('input: Lablab', 'unit: score', 'probability: 0.4')}`,
  'a low without a high': said(`low: { file: ${FILE} }`),
  'a spread beside the ends': said('low: { band: 1 }', 'high: { band: 1 }', 'stddev: { band: 1 }'),
  'a range without ends': said('range: [0.1, 0.9]'),
  'a range that descends': said('stddev: { band: 1 }', 'range: [0.9, 0.1]'),
  'a range to 1': said('stddev: { band: 1 }', 'range: [0.1, 1]'),
  'a low that is nowhere': said('low: {}', 'high: { band: 1 }'),
  'odds that are nowhere': said("probability: { unit: '%' }"),
  'a range above the mean': said('stddev: { band: 1 }', 'range: [0.6, 0.9]'),
  'a condition without a list': said('condition: hill'),
  'a condition that is not in the list': `${HEAD}${SLOPE}${onSlope('hill', 'valley')}`,
  'a condition that no layer is for': `${HEAD}${SLOPE}${onSlope('hill')}`,
  'an input without one of the conditions': `${FERTILIZER}${SLOPE}layers:\n${['DAP, hill', 'DAP, foot', 'Urea, hill'].map((one) => layer(`input: ${one.split(', ')[0]}`, 'scenario: Normal', 'unit: kg/ha', `condition: ${one.split(', ')[1]}`)).join('')}`,
  'one condition': `${HEAD}conditions: { question: Where?, titles: { hill: Hill } }\n${onSlope('hill')}`,
  'titles that are the same': `${HEAD}conditions: { question: Where?, titles: { hill: Top, foot: top } }\n${onSlope('hill', 'foot')}`,
  'a landscape that does not know all pixels with values': `${HEAD}${SLOPE.replace(' }', ` }, raster: { file: ${FILE}, codes: { 1: hill } }`)}${onSlope('hill', 'foot')}`,
  'a landscape that is missing': `${HEAD}${SLOPE.replace(' }', ' }, default: from raster')}${onSlope('hill', 'foot')}`,
  'codes that are no numbers, and mean nothing': `${HEAD}${SLOPE.replace(' }', ` }, default: from raster, raster: { file: ${FILE}, codes: { one: hill, 2: valley } }`)}${onSlope('hill', 'foot')}`,
}

test('odds, ranges and conditions that contradict each other in a manifest are refused', async () => {
  const refusals = await refusalsOf(MANIFESTS, ingest.refusalOf)
  await expect(refusals).toMatchFileSnapshot('refused/companions.txt')
})

describe('a load is refused at the first pixel that contradicts another, and nothing stays', () => {
  const named = slopes({ 1: 'foot slope', 3: 'hill' })
  test.each<[what: string, source: ReleaseSource, sentence: string]>([
    [
      'a value below its range',
      withPixels(OUTLOOK, 0, 4, 1500, 2500),
      'the test has 2400, below its low of 2500, at 38.75, 9.5.',
    ],
    [
      'a value above its range',
      withPixels(OUTLOOK, 0, 5, 1999, 2900),
      'the test has 2000, above its high of 1999, at 38.25, 9.5.',
    ],
    [
      'a negative standard deviation',
      withPixels(OUTLOOK, 0, 6, 100, -1),
      'the test has the standard deviation -1, below 0, at 38.75, 9.5. Or does the pixel value -1 mean none? Then write `nodata: -1` in the stddev of its layer.',
    ],
    [
      'a percentage taken for a probability',
      withPixels(OUTLOOK, 1, 0, 50, 5000),
      'the test has 50, which is no probability (0 to 1; a percentage has the unit %), at 38.875, 9.5.',
    ],
    [
      'odds that do not sum to 1',
      withPixels(OUTLOOK, 1, 1, 30, 33),
      'the test has with those of Above Normal, Normal, Below Normal the sum 1.03, not 1, at 38.875, 9.5.',
    ],
    [
      'a fill of the end of a type as odds',
      withPixels(OUTLOOK, 1, 0, 50, 255),
      'the test has 2.55, which is no probability (0 to 1; a percentage has the unit %), at 38.875, 9.5. Or does the pixel value 255 mean none? Then write `nodata: 255` in the probability of its layer.',
    ],
    [
      'a negative fill as odds',
      withPixels(OUTLOOK, 1, 0, 50, -1),
      'Or does the pixel value -1 mean none? Then write `nodata: -1` in the probability of its layer.',
    ],
    [
      'a code without a condition',
      withPixels(named, 0, 4, 1, 2, -9999),
      'the test has the code 2, which means no condition (1, 3), at 38.75, 9.5.',
    ],
  ])('%s', async (_, source, sentence) => {
    await expect(loadRelease(ingest.database, source)).rejects.toThrow(sentence)
    expect(await ingest.database.writer.selectFrom('release').select('checksum').execute()).toHaveLength(1)
  })
})

test('a fill of 0 in all odds is refused with the line to write in each layer', async () => {
  const filled = [0, 1, 2].reduce(
    (source, layer) => withPixels(source, 1, layer, [20, 50, 30][layer] as number, 0),
    OUTLOOK,
  )
  await expect(loadRelease(ingest.database, filled)).rejects.toThrow(
    'the sum 0, not 1, at 38.875, 9.5. Or does the pixel value 0 mean none? Then write `nodata: 0` in the probability of its layer.',
  )
})

test('rounded odds, equal ends and pixels without a value are no contradiction', async () => {
  const rounded = withPixels(withPixels(OUTLOOK, 1, 1, 32, 28), 0, 4, 2000, -9999)
  const { published } = await loadRelease(ingest.database, rounded)
  expect(published).toBe(true)
})
