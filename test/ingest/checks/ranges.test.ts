import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { readReference } from '#src/data/reference.ts'
import { RANGE_CHECKS } from '#src/ingest/checks/ranges.ts'
import type { LayerFacts, ReleaseFacts, Surroundings } from '#src/ingest/checks/rules.ts'
import { Tally } from '#src/ingest/statistics.ts'

test('the range that an operator set for a crop of small yields is held to no larger bound', () => {
  const layers = [layerOf('kg/ha', [2, 5, 8])]
  expect(judge('yield', 'saffron', layers, { maximum: 20 })).toEqual([])
  expect(judge('yield', 'saffron', layers, { maximum: 7 })).toHaveLength(1)
  expect(judge('yield', 'saffron', layers, { maximum: 2000 })).toHaveLength(1)
})

/** What layers have in truth, as their least and largest value. */
const TRUE: [product: string, crop: string, from: number, to: number][] = [
  ['yield', 'wheat', 1200, 5400],
  ['yield', 'wheat', 5194, 8589],
  ['yield', 'wheat', 300, 1800],
  ['yield', 'potato', 6000, 24_000],
  ['yield', 'potato', 2000, 8000],
  ['fertilizer', 'wheat', 30, 199],
  ['fertilizer', 'wheat', 5, 33],
  ['fertilizer', 'potato', 60, 400],
  ['isfm', 'wheat', 3, 10],
  ['isfm', 'potato', 5, 15],
]

const ZEROS: [what: string, values: number[]][] = [
  ['alone', []],
  ['beside zeros in most places', Array.from({ length: 900 }, () => 0)],
]

const spaced = (from: number, to: number) =>
  Array.from({ length: 101 }, (_, at) => from + ((to - from) * at) / 100)

test.each(ZEROS)('layers as there are of them pass, %s', (_, zeros) => {
  const found = TRUE.flatMap(([product, crop, from, to]) =>
    judgeValues(product, crop, [...zeros, ...spaced(from, to)]),
  )
  expect(found).toEqual([])
})

function scalesIn(sentence = ''): number[] {
  const [, scales = ''] = /Write scale: (.*)\.$/.exec(sentence) ?? []
  return scales
    .split(/, | or /)
    .filter(Boolean)
    .map(Number)
}

/** A true layer in another unit: the factor, and the scale that mends it. */
const MISTAKES: [what: string, of: string[], factor: number, scale: number, look: string][] = [
  ['tonnes', ['yield', 'fertilizer'], 1 / 1000, 1000, 'like tonnes'],
  ['quintals', ['yield'], 1 / 100, 100, 'like quintals'],
  ['kilograms', ['isfm'], 1000, 0.001, 'like kilograms'],
  ['grams', ['yield', 'fertilizer'], 1000, 0.001, 'like grams'],
]

test.each(MISTAKES)('layers in %s are found, and mended by a scale', (_, products, factor, scale, look) => {
  for (const [product, crop, from, to] of TRUE.filter(([product]) => products.includes(product))) {
    for (const [, zeros] of ZEROS) {
      const [sentence, ...more] = judgeValues(product, crop, [
        ...zeros,
        ...spaced(from * factor, to * factor),
      ])
      expect([product, crop, from, more]).toEqual([product, crop, from, []])
      expect(sentence).toContain('it.tif has ')
      // Other factors may be as plausible: all are offered.
      expect(scalesIn(sentence)).toContain(scale)
      expect(sentence).toContain(look)
    }
  }
})

test.each<[product: string, crop: string, values: number[], sentence: string]>([
  [
    'yield',
    'potato',
    spaced(2, 8),
    'it.tif has 8 kg/ha as its largest value, and a mean of 5, but yield of potato has at least 3000 somewhere: these look like tonnes. Write scale: 1000.',
  ],
  [
    'yield',
    'potato',
    spaced(10, 260),
    'it.tif has 260 kg/ha as its largest value, and a mean of 135, but yield of potato has at least 3000 somewhere: these look like quintals or like bags of 50 kg. Write scale: 100 or 50.',
  ],
  [
    'yield',
    'potato',
    spaced(25_000, 50_000),
    'it.tif has a mean of 37500 kg/ha, but that of yield of potato is at most 30000: these look ten times too large. Write scale: 0.1.',
  ],
  [
    'yield',
    'wheat',
    spaced(519, 859),
    'it.tif has 859 kg/ha as its largest value, and a mean of 689, but yield of wheat has at least 1000 somewhere: these look ten times too small or like kilograms an acre. Write scale: 10 or 2.471054.',
  ],
  [
    'yield',
    'wheat',
    [...spaced(2, 8), 5000],
    'it.tif has 5000 kg/ha as its largest value, and a mean of 53.97059, but yield of wheat has at least 1000 somewhere: is its nodata value missing, or its scale or unit wrong?',
  ],
  [
    'yield',
    'maize',
    spaced(1, 12),
    'it.tif has 12 kg/ha as its largest value, and a mean of 6.5, but yield of maize has at least 200 somewhere: these look like tonnes, like quintals or like bags of 50 kg. Write scale: 1000, 100 or 50.',
  ],
  [
    'fertilizer',
    'wheat',
    spaced(0.1, 0.5),
    'it.tif has 0.5 kg/ha as its largest value, and a mean of 0.3, but fertilizer of wheat has at least 3 somewhere: these look like tonnes, like quintals, like bags of 50 kg or ten times too small. Write scale: 1000, 100, 50 or 10.',
  ],
  [
    'fertilizer',
    'wheat',
    spaced(300, 1990),
    'it.tif has a mean of 1145 kg/ha, but that of fertilizer of wheat is at most 700: these look ten times too large or a hundred times too large. Write scale: 0.1 or 0.01.',
  ],
  [
    'isfm',
    'wheat',
    spaced(50, 150),
    'it.tif has a mean of 100 t/ha, but that of isfm of wheat is at most 40: these look like kilograms, like quintals or a hundred times too large. Write scale: 0.001, 0.1 or 0.01.',
  ],
  [
    'isfm',
    'wheat',
    spaced(3000, 5000),
    'it.tif has values of 3000 to 5000 t/ha, but isfm of wheat is plausible from 0 to 200: these look like kilograms or a hundred times too large. Write scale: 0.001 or 0.01.',
  ],
])('a layer in another unit is found: %s of %s', (product, crop, values, sentence) => {
  expect(judgeValues(product, crop, values)).toEqual([sentence])
})

test('a scale that is there already is part of the one to write', () => {
  const [sentence] = judgeValues('yield', 'wheat', spaced(2, 8), { scale: 0.01 })
  expect(sentence).toMatch(/Write scale: 10\.$/)
})

test('a recommendation of nothing, small ends of a range and a microdose pass; a spread in tonnes does not', () => {
  expect(judgeValues('fertilizer', 'wheat', spaced(0, 0))).toEqual([])
  expect(judgeValues('fertilizer', 'wheat', spaced(20, 60))).toEqual([])
  expect(judgeValues('yield', 'wheat', spaced(0, 400), { role: 'low' })).toEqual([])
  expect(judgeValues('yield', 'wheat', spaced(200, 900), { role: 'stddev' })).toEqual([])
  expect(judgeValues('yield', 'wheat', spaced(0.2, 0.9), { role: 'stddev' })).toMatchObject([
    expect.stringContaining(
      'these look like tonnes, like quintals or like bags of 50 kg. Write scale: 1000, 100 or 50.',
    ),
  ])
})

test('percentages beside scores from 0 to 1 are found', () => {
  const layers = (...ends: number[]) =>
    ends.map((to) => layerOf('score', spaced(0, to), { origin: `${to}.tif` }))
  expect(judge('forage', null, layers(0.4, 1, 0))).toEqual([])
  expect(judge('forage', null, layers(40, 100))).toEqual([])
  expect(judge('forage', null, layers(0.9, 87))).toEqual([
    '87.tif has scores up to 87, and 0.9.tif up to 0.9: is one of them in percent? Write scale: 0.01.',
  ])
})

test('no scale that a sentence offers leaves a finding', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(
        ['yield', 'wheat'],
        ['yield', 'potato'],
        ['yield', 'teff'],
        ['fertilizer', 'wheat'],
        ['isfm', 'wheat'],
      ),
      fc.array(
        fc.integer({ min: 0, max: 999_983 }).map((value) => value + 0.37),
        { minLength: 1, maxLength: 19 },
      ),
      fc.integer({ min: -6, max: 0 }),
      ([product, crop], values, power) => {
        const scaled = (factor: number) => values.map((value) => value * factor * 10 ** power)
        const [sentence] = judgeValues(product as string, crop as string, scaled(1))
        for (const scale of scalesIn(sentence))
          expect(judgeValues(product as string, crop as string, scaled(scale))).toEqual([])
      },
    ),
    { numRuns: 2000 },
  )
})

const { crops } = await readReference()

const UNITS: Record<string, string> = { yield: 'kg/ha', fertilizer: 'kg/ha', isfm: 't/ha', forage: 'score' }

function layerOf(unit: string, values: number[], more: Partial<LayerFacts> = {}): LayerFacts {
  const tally = new Tally()
  tally.add(Float64Array.from(values), undefined)
  const [minimum, maximum] = [Math.min(...values), Math.max(...values)]
  const statistics = { validCount: values.length, minimum, maximum, mean: tally.sum / tally.count }
  const frame = { corners: [], values: new Tally() }
  const raw = { values: tally, frame, pixelType: '64BF' } as unknown as NonNullable<LayerFacts['raw']>
  return { input: null, scenario: 'Normal', unit, origin: 'it.tif', scale: 1, statistics, raw, ...more }
}

/** The sentences about layers of a release, by the bounds that a new database has. */
function judge(product: string, crop: string | null, layers: LayerFacts[], set: object = {}): string[] {
  const stated = crops.find(({ code }) => code === crop)?.plausible[product]
  const { largest_from: largestFrom, mean_to: meanTo, ...range } = stated ?? {}
  const plausible = {
    ...PRODUCTS.of(product).plausible,
    ...(stated && { ...range, largestFrom, meanTo }),
    ...set,
  }
  const release = { series: { product, cropCode: crop }, coverages: [{ layers }] } as unknown as ReleaseFacts
  return RANGE_CHECKS.flatMap((check) => check(release, { plausible } as Surroundings)).map(
    ({ sentence }) => sentence,
  )
}

const judgeValues = (product: string, crop: string | null, values: number[], more?: Partial<LayerFacts>) =>
  judge(product, crop, [layerOf(UNITS[product] as string, values, more)])
